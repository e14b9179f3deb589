package seckill

import (
	"strings"
	"time"
)

// CacheNode is what one server of the stock reports about itself. Missing values were refused: hosted servers have no
// CONFIG and a shorter INFO.
type CacheNode struct {
	Address   string    `json:"address"`
	Fault     string    `json:"fault,omitempty"` // why it does not answer; then nothing else is there
	Time      time.Time `json:"time"`            // by its own clock
	TookMS    int64     `json:"took_ms"`         // until it had said the time, with connecting and greeting
	Refused   string    `json:"refused,omitempty"`
	Version   string    `json:"version,omitempty"`
	Role      string    `json:"role,omitempty"` // master, slave
	Policy    string    `json:"maxmemory_policy,omitempty"`
	Limit     int64     `json:"maxmemory"` // bytes; 0 if there is none, or it is not said
	Used      int64     `json:"used_memory"`
	Evictions int64     `json:"evicted_keys"` // since it was started
}

// cacheFullPercent is how much of its memory limit a Redis may use before a sale.
const cacheFullPercent = 80

// Full reports whether a sale might find no room.
func (n *CacheNode) Full() bool { return n.Limit > 0 && n.Used > n.Limit/100*cacheFullPercent }

// Evicts reports whether the server evicts keys of a sale when it is full. The policies volatile-… evict only keys with
// a time to live, and a sale's keys have no time to live.
func (n *CacheNode) Evicts() bool { return strings.HasPrefix(n.Policy, "allkeys-") }
