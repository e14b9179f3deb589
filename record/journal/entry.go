// Package journal keeps what a crowd asked and was answered, so that a sale can be judged afterwards by what shoppers
// were told. In: a note of each request before it is sent, and of each answer. Out: JSON lines, each with the hash of
// the line before it; and a reader that names the first line that was changed, removed, added or moved. No address is
// kept, only its hash.
//
// The chain shows damage and careless edits. Who rewrites a whole journal can chain it anew: keep its last hash, which
// the report shows, elsewhere.
package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Kind is what a line is.
type Kind string

// The kinds of lines. A journal has one start, its first line, and one end, its last; a journal without an end was cut
// off.
const (
	KindStart   Kind = "start"
	KindRequest Kind = "request"
	KindAnswer  Kind = "answer"
	KindEnd     Kind = "end"
)

// What a shopper did.
const (
	ActTime   = "time"   // GET /seckill/time
	ActBuy    = "buy"    // POST /seckill/buy
	ActOrder  = "order"  // GET /seckill/order/{item}
	ActGet    = "get"    // GET /order/{id}
	ActCancel = "cancel" // POST /order/{id}/cancel
	ActPay    = "pay"    // the cashier's form
)

// Entry is a line. In a request Order is the one that it names, in an answer what the server said.
type Entry struct {
	N       uint64 `json:"n"`                  // 1, 2, …: the line's number
	Kind    Kind   `json:"kind"`               //
	At      int64  `json:"at"`                 // microseconds since the journal's start, by a clock that nobody sets
	Request uint64 `json:"request,omitempty"`  // of an answer: the request's N
	Shopper int    `json:"shopper,omitempty"`  // 1..shoppers; above that, of a flood
	User    string `json:"user,omitempty"`     //
	Act     string `json:"act,omitempty"`      //
	Item    string `json:"item,omitempty"`     //
	Key     string `json:"key,omitempty"`      // Idempotency-Key
	Count   int    `json:"count,omitempty"`    //
	Address string `json:"address,omitempty"`  // hex SHA-256
	Order   string `json:"order_id,omitempty"` //
	Status  int    `json:"status,omitempty"`   // HTTP; 0: no answer came
	Code    string `json:"code,omitempty"`     // of a problem document
	State   string `json:"state,omitempty"`    // of an order, as answered
	Error   string `json:"error,omitempty"`    // why no answer came
	Date    string `json:"date,omitempty"`     // the answer's Date header
	Body    string `json:"body,omitempty"`     // hex SHA-256 of the answer's whole body
	Start   *Start `json:"start,omitempty"`    //
	End     *End   `json:"end,omitempty"`      //
	Prev    string `json:"prev"`               // hex SHA-256 of the line before, without its newline; "" in the first
}

// Start says what repeats the run.
type Start struct {
	Time              time.Time `json:"time"` // of At 0, by the wall clock
	Version           string    `json:"version"`
	URL               string    `json:"url"`
	Item              string    `json:"item"`
	Shoppers          int       `json:"shoppers"`
	FirstUser         int64     `json:"first_user"` // ids of the users, both included
	LastUser          int64     `json:"last_user"`
	Seed              int64     `json:"seed"`
	Ramp              string    `json:"ramp"` // durations as Go writes them
	Lead              string    `json:"lead"`
	Think             string    `json:"think"`
	Timeout           string    `json:"timeout"`
	Patience          string    `json:"patience"`
	Flood             string    `json:"flood"`
	Count             int       `json:"count"`
	Pay               float64   `json:"pay"` // shares, 0 to 1
	Cancel            float64   `json:"cancel"`
	Abandon           float64   `json:"abandon"`
	Late              float64   `json:"late,omitempty"`
	Twice             float64   `json:"twice,omitempty"`
	TwoTrades         float64   `json:"two_trades,omitempty"`
	LostNotifications float64   `json:"lost_notifications,omitempty"`
	Unknown           float64   `json:"unknown,omitempty"`
	Repeat            float64   `json:"repeat"`
	Key               float64   `json:"key"`
	Connections       int       `json:"connections"`
}

// End counts what stands before it. The writer fills in the counts.
type End struct {
	Requests    uint64 `json:"requests"`
	Answers     uint64 `json:"answers"`
	Interrupted bool   `json:"interrupted,omitempty"` // the run was broken off, so requests may lack their answers
}

// Hash is the hex SHA-256 of an address or a body; "" of nothing.
func Hash(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
