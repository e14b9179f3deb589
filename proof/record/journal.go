// Package record has what an audit reads of a sale, as JSON lines: a dump, which has what the shop stores about an item
// (rows, Redis entries, queue depths), and a journal, which has a crowd's requests and answers. It also has the
// resource use that a running shop reports.
//
// The lines of a journal are numbered, and the last one counts requests and answers. The reader names the first line
// that is removed, added or moved; it does not notice a line whose content was changed. A journal has hashes of
// addresses, not addresses.
package record

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Kind is the kind of a line.
type Kind string

// The kinds of lines. The first line is the only start, the last line the only end. A journal without an end is cut
// off.
const (
	KindStart   Kind = "start"
	KindRequest Kind = "request"
	KindAnswer  Kind = "answer"
	KindEnd     Kind = "end"
)

// What a request does.
const (
	ActTime   = "time"   // GET /seckill/time
	ActBuy    = "buy"    // POST /seckill/buy
	ActOrder  = "order"  // GET /seckill/order/{item}
	ActGet    = "get"    // GET /order/{id}
	ActCancel = "cancel" // POST /order/{id}/cancel
	ActPay    = "pay"    // the cashier's form
)

// Entry is a line. Order is the order that a request names, or that an answer returns.
type Entry struct {
	N       uint64 `json:"n"` // 1, 2, …: the line's number
	Kind    Kind   `json:"kind"`
	At      int64  `json:"at"`                // microseconds since the journal's start, by a monotonic clock
	Request uint64 `json:"request,omitempty"` // of an answer: the request's N
	Shopper int    `json:"shopper,omitempty"` // 1 to the number of shoppers; above in a flood
	User    string `json:"user,omitempty"`
	Act     string `json:"act,omitempty"`
	Item    string `json:"item,omitempty"`
	Key     string `json:"key,omitempty"` // Idempotency-Key
	Count   int    `json:"count,omitempty"`
	Address string `json:"address,omitempty"` // hex SHA-256
	Ticket  string `json:"ticket,omitempty"`  // hex SHA-256 of the one that a purchase sent
	Order   string `json:"order_id,omitempty"`
	Status  int    `json:"status,omitempty"` // HTTP; 0 means no answer
	Code    string `json:"code,omitempty"`   // of a problem document
	State   string `json:"state,omitempty"`  // of an order, in an answer
	Error   string `json:"error,omitempty"`  // why there was no answer
	Date    string `json:"date,omitempty"`   // the answer's Date header
	Body    string `json:"body,omitempty"`   // hex SHA-256 of the answer's whole body
	Start   *Start `json:"start,omitempty"`
	End     *End   `json:"end,omitempty"`
}

// Start is what repeats the run.
type Start struct {
	Time      time.Time `json:"time"` // of At 0, wall clock
	Version   string    `json:"version"`
	URL       string    `json:"url"`
	Item      string    `json:"item"`
	Shoppers  int       `json:"shoppers"`
	FirstUser int64     `json:"first_user"` // user ids, LastUser included
	LastUser  int64     `json:"last_user"`
	Seed      int64     `json:"seed"`
	Ramp      string    `json:"ramp"` // durations in Go's format
	Lead      string    `json:"lead"`
	Think     string    `json:"think"`
	Timeout   string    `json:"timeout"`
	Patience  string    `json:"patience"`
	Flood     string    `json:"flood"`
	Count     int       `json:"count"`
	Shares
	Connections int `json:"connections"`
}

// Shares are how shoppers behave, each as a share from 0 to 1.
type Shares struct {
	Pay     float64 `json:"pay"`     // of orders: paid
	Cancel  float64 `json:"cancel"`  // of orders: cancelled
	Abandon float64 `json:"abandon"` // of orders: the page is closed; the remaining pages stay open and unpaid
	Repeat  float64 `json:"repeat"`  // of shoppers: press twice
	Key     float64 `json:"key"`     // of shoppers: send an Idempotency-Key
}

// End counts the lines before it. Writer sets the counts.
type End struct {
	Requests    uint64 `json:"requests"`
	Answers     uint64 `json:"answers"`
	Interrupted bool   `json:"interrupted,omitempty"` // the run was interrupted, so requests may lack answers
}

// Hash returns the hex SHA-256 of an address or a body, or "" of nothing.
func Hash(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
