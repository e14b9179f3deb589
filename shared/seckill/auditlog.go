package seckill

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of the audit log.
const (
	MaxAuditText = 500       // bytes of each text of an entry; what is longer is cut
	MaxAuditSeq  = 9_999_999 // entries of a day
	MaxAuditPage = 500       // entries of a page
)

// AuditKind says which part of an act an entry is.
type AuditKind string

// The kinds. An act that changes something has two entries with one id, so that a process that dies in between leaves
// an act that began and never ended. Any other act has one.
const (
	AuditBegun AuditKind = "begun"
	AuditEnded AuditKind = "ended"
	AuditWhole AuditKind = "whole"
)

// AuditEntry is an entry of the audit log: who of the staff did what. It has ids and numbers of orders and items, and
// the person's own reason; never a delivery address or a phone number.
type AuditEntry struct {
	Day     string    `json:"day"` // of UTC+8; never before that of the entry before
	Seq     int       `json:"seq"` // place within the day, from 1
	At      time.Time `json:"at"`  // in milliseconds
	Kind    AuditKind `json:"kind"`
	ID      string    `json:"id"`      // of the act
	Who     string    `json:"who"`     // verified identity; of a `seckill run`: the name that the caller gives
	Roles   string    `json:"roles"`   // separated by commas
	Act     string    `json:"act"`     // an operator's command, or what a person did about signing in
	Subject string    `json:"subject"` // what it is about, such as "order=o… restock=true"
	Before  string    `json:"before"`  // numbers and states before; "" if unknown, as after
	After   string    `json:"after"`
	Why     string    `json:"why"`    // the person's reason
	Result  string    `json:"result"` // changed, unchanged, read, or the code of a refusal; of one that began: ""
	Prev    string    `json:"prev"`   // Hash of the entry before, also of an earlier day; "" of the first one of all
	Hash    string    `json:"hash"`   // Sum of this entry
}

// Sum is the SHA-256, in hexadecimal digits, of the entry's fields but Hash as JSON: without spaces, in this order,
// the time in Unix milliseconds, and of all characters only those escaped that JSON requires, and U+2028 and U+2029.
func (e *AuditEntry) Sum() string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Day     string `json:"day"`
		Seq     int    `json:"seq"`
		At      int64  `json:"at"`
		Kind    string `json:"kind"`
		ID      string `json:"id"`
		Who     string `json:"who"`
		Roles   string `json:"roles"`
		Act     string `json:"act"`
		Subject string `json:"subject"`
		Before  string `json:"before"`
		After   string `json:"after"`
		Why     string `json:"why"`
		Result  string `json:"result"`
		Prev    string `json:"prev"`
	}{e.Day, e.Seq, e.At.UnixMilli(), string(e.Kind), e.ID, e.Who, e.Roles, e.Act, e.Subject, e.Before, e.After, e.Why,
		e.Result, e.Prev})
	if err != nil {
		panic(err) // cannot happen: texts and numbers always marshal
	}
	sum := sha256.Sum256(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	return hex.EncodeToString(sum[:])
}

// Follow makes the entry the one after head: it sets Day, Seq, Prev and Hash, and cuts texts that are too long. Clocks
// of two machines differ, so an entry stays on the head's day if its own clock is still at the day before.
func (e *AuditEntry) Follow(head AuditHead) {
	e.At = e.At.UTC().Truncate(time.Millisecond)
	for _, text := range []*string{&e.ID, &e.Who, &e.Roles, &e.Act, &e.Subject, &e.Before, &e.After, &e.Why,
		&e.Result} {
		*text = auditText(*text)
	}
	e.Day, e.Seq, e.Prev = max(Day(e.At), head.Day), 1, head.Hash
	if e.Day == head.Day {
		e.Seq = head.Seq + 1
	}
	e.Hash = e.Sum()
}

// Head returns the head of a log whose last entry this is.
func (e *AuditEntry) Head() AuditHead { return AuditHead{e.Day, e.Seq, e.Hash} }

// auditText returns valid UTF-8 of at most MaxAuditText bytes.
func auditText(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= MaxAuditText {
		return s
	}
	s = s[:MaxAuditText-len("…")]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "…"
}

// AuditHead names an entry and its hash; that of the last entry vouches for all before it. Zero: the log is empty.
type AuditHead struct {
	Day  string `json:"day"`
	Seq  int    `json:"seq"`
	Hash string `json:"hash"`
}

// ErrAuditMoved: the entry does not follow the last one; nothing was written.
var ErrAuditMoved = errors.New("seckill: audit log moved on meanwhile")

// AuditLog keeps what staff did. Entries are appended, and neither changed nor deleted.
type AuditLog interface {
	// AppendAudit appends an entry that follows the head. One that is appended already is no error, so that a fault can
	// be repeated. ErrAuditMoved.
	AppendAudit(ctx context.Context, e AuditEntry) error
	// AuditOn reads entries of a day after one, or 0, ascending. Fewer than limit means that there are no more.
	AuditOn(ctx context.Context, day string, after, limit int) ([]AuditEntry, error)
	// AuditHead reads the head.
	AuditHead(ctx context.Context) (AuditHead, error)
}
