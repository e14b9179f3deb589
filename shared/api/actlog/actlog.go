// Package actlog writes acts as log lines, and reads them back. In: acts. Out: one JSON line for each suspicious act,
// and for others up to a rate. A line has keyed hashes in the place of user and network address, which change each day;
// only a suspicious act's line has the user id, because an operator may block that user.
package actlog

import (
	"encoding/json"
	"io"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/your-org/seckill/shared/api/bucket"
	"github.com/your-org/seckill/shared/seckill"
)

// Message is the msg of every line of an act.
const Message = "act"

// normal is how many lines of normal acts a process writes: 20 a second.
var normal = bucket.Rate{Every: 50 * time.Millisecond, Burst: 20}

// Log writes lines. It is safe for concurrent use.
type Log struct {
	hash    func(string) string
	rate    *bucket.Buckets
	omitted atomic.Int64 // normal acts since the last line about a normal act

	mu  sync.Mutex
	out io.Writer
	buf []byte
}

// New returns a log that writes to out. hash is a keyed hash.
func New(out io.Writer, hash func(string) string) *Log {
	return &Log{hash: hash, out: out, rate: bucket.New(normal, 1)}
}

// Wants reports whether Take is to be called for a normal act now. It allocates nothing.
func (l *Log) Wants(now time.Time) bool {
	if l.rate.Take("", now) == 0 {
		return true
	}
	l.omitted.Add(1)
	return false
}

// Take writes an act's line, with hashes of the user and, if it is valid, of the network.
func (l *Log) Take(a *seckill.Act, user string, network netip.Prefix, trace string) {
	userHash, networkHash := Hashes(l.hash, a.At, user, network)
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buf[:0]
	b = append(b, `{"timestamp":"`...)
	b = a.At.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","level":"INFO","msg":"`+Message+`"`...)
	b = text(b, "trace", trace)
	b = text(b, "action", string(a.Action))
	b = text(b, "item", a.Item)
	b = text(b, "result", string(a.Result))
	b = text(b, "status", a.Status())
	if a.Rules != 0 {
		b = text(b, "rules", a.Rules.String())
		b = text(b, "user", user)
	}
	b = text(b, "user_hash", userHash)
	b = text(b, "network_hash", networkHash)
	b = text(b, "agent", a.Agent)
	b = text(b, "referrer", a.Referrer)
	if a.Took > 0 {
		b = strconv.AppendInt(append(b, `,"took_ms":`...), a.Took.Milliseconds(), 10)
	}
	if a.Rules == 0 {
		if n := l.omitted.Swap(0); n > 0 {
			b = strconv.AppendInt(append(b, `,"omitted":`...), n, 10)
		}
	}
	b = append(b, "}\n"...)
	l.buf = b
	_, _ = l.out.Write(b) // a step goes on without its log
}

// Hashes returns the keyed hashes of a user and a network on the day of a time; "" without a user or network. Acts and
// refusals have the same.
func Hashes(hash func(string) string, at time.Time, user string, network netip.Prefix) (ofUser, ofNetwork string) {
	var room [96]byte
	b := at.UTC().AppendFormat(room[:0], time.DateOnly)
	day := len(b)
	if user != "" {
		b = append(append(b, "|user|"...), user...)
		ofUser = hash(string(b))
	}
	if network.IsValid() {
		b = append(b[:day], "|network|"...)
		if network.Addr().Is4() {
			b = network.Addr().AppendTo(b)
		} else {
			b = network.AppendTo(b)
		}
		ofNetwork = hash(string(b))
	}
	return ofUser, ofNetwork
}

// text appends a member whose value is not empty.
func text(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	for i := range len(value) {
		if c := value[i]; c < 0x20 || c > 0x7e || c == '"' || c == '\\' {
			quoted, err := json.Marshal(value)
			if err != nil {
				panic(err) // cannot happen: a string always marshals
			}
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), value...), '"')
}

// Parse reads a line. ok is false for a line without a suspicious act; tail distinguishes acts of the same
// millisecond.
func Parse(line []byte, tail string) (a seckill.Act, ok bool) {
	var in struct {
		At          time.Time      `json:"timestamp"`
		Message     string         `json:"msg"`
		Action      seckill.Action `json:"action"`
		Item        string         `json:"item"`
		Result      seckill.Reason `json:"result"`
		Rules       string         `json:"rules"`
		User        string         `json:"user"`
		UserHash    string         `json:"user_hash"`
		NetworkHash string         `json:"network_hash"`
		Agent       string         `json:"agent"`
		Referrer    string         `json:"referrer"`
		TookMs      int64          `json:"took_ms"`
	}
	if json.Unmarshal(line, &in) != nil || in.Message != Message || in.At.IsZero() {
		return a, false
	}
	at := in.At.UTC().Truncate(time.Millisecond)
	a = seckill.Act{ID: seckill.ActID(at, tail), At: at, Item: in.Item, Action: in.Action, Result: in.Result,
		Rules: seckill.ParseRules(in.Rules), User: in.User, UserKey: in.UserHash, Network: in.NetworkHash,
		Agent:    in.Agent,
		Referrer: in.Referrer, Took: time.Duration(in.TookMs) * time.Millisecond}
	_, valid := seckill.ActTime(a.ID)
	return a, valid && a.Rules != 0
}
