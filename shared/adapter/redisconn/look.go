package redisconn

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Node is what one server reports about itself. Missing values were refused: hosted servers have no CONFIG and a
// shorter INFO.
type Node struct {
	Address   string    `json:"address"`
	Fault     string    `json:"fault,omitempty"` // why it does not answer; then nothing else is there
	Time      time.Time `json:"time"`            // by its own clock
	TookMS    int64     `json:"took_ms"`         // until it had said the time, with connecting and greeting
	Refused   string    `json:"refused,omitempty"`
	Version   string    `json:"version,omitempty"`
	Role      string    `json:"role,omitempty"` // master, slave
	Policy    string    `json:"maxmemory_policy,omitempty"`
	Limit     int64     `json:"maxmemory"` // bytes; 0: none, or not said
	Used      int64     `json:"used_memory"`
	Evictions int64     `json:"evicted_keys"` // since it was started
}

// fullPercent is how much of its memory limit a Redis may use before a sale.
const fullPercent = 80

// Full reports whether a sale might find no room.
func (n *Node) Full() bool { return n.Limit > 0 && n.Used > n.Limit/100*fullPercent }

// Evicts reports whether the server evicts keys of a sale when it is full. volatile-… evicts only keys with a time to
// live: ours have none.
func (n *Node) Evicts() bool { return strings.HasPrefix(n.Policy, "allkeys-") }

// Look asks the server about itself; in cluster mode each master. It takes at most Options.Timeout.
func (r *Runner) Look(ctx context.Context) []Node {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	if c, ok := r.client.(*redis.ClusterClient); ok {
		var mu sync.Mutex
		var out []Node
		err := c.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
			n := look(ctx, node)
			mu.Lock()
			defer mu.Unlock()
			out = append(out, n)
			return nil
		})
		if err != nil {
			out = append(out, Node{Fault: err.Error()})
		}
		slices.SortFunc(out, func(a, b Node) int { return strings.Compare(a.Address, b.Address) })
		return out
	}
	return []Node{look(ctx, r.client.(*redis.Client))} // newRunner makes no other kind
}

func look(ctx context.Context, c *redis.Client) Node {
	n := Node{Address: c.Options().Addr}
	began := time.Now()
	at, err := c.Time(ctx).Result()
	if err != nil {
		n.Fault = err.Error()
		return n
	}
	n.Time, n.TookMS = at.UTC(), time.Since(began).Milliseconds()
	text, err := c.Info(ctx).Result()
	if err != nil {
		n.Refused = err.Error()
		return n
	}
	says := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			says[name] = value
		}
	}
	number := func(name string) int64 {
		v, _ := strconv.ParseInt(says[name], 10, 64) // 0 if missing
		return v
	}
	n.Version, n.Role, n.Policy = says["redis_version"], says["role"], says["maxmemory_policy"]
	n.Limit, n.Used, n.Evictions = number("maxmemory"), number("used_memory"), number("evicted_keys")
	return n
}
