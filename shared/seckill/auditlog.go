package seckill

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of the audit log.
const (
	MaxAuditText  = 500               // bytes of each text of an entry; what is longer is cut
	MaxAuditPage  = 500               // entries of a page
	MaxAuditPlace = MaxAuditText + 32 // bytes of a Seq
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

// AuditEntry is an entry of the audit log: what a staff member did. It has ids and numbers of orders and items, and the
// person's own reason; never a delivery address or a phone number.
type AuditEntry struct {
	Day     string    `json:"day"` // of UTC+8
	Seq     string    `json:"seq"` // place within the day; earlier releases numbered the entries
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
}

// Stamp gives the entry its time and its place, and cuts texts that are too long.
func (e *AuditEntry) Stamp(at time.Time) {
	for _, text := range []*string{&e.ID, &e.Who, &e.Roles, &e.Act, &e.Subject, &e.Before, &e.After, &e.Why,
		&e.Result} {
		*text = auditText(*text)
	}
	e.At = at.UTC().Truncate(time.Millisecond)
	e.Day, e.Seq = Day(e.At), AuditPlace(e.At)+"-"+e.ID+"-"+string(e.Kind)
}

// AuditPlace is the place within a day that all entries of this millisecond, and of later ones, follow.
func AuditPlace(at time.Time) string { return fmt.Sprintf("%013d", at.UnixMilli()) }

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

// AuditLog keeps what staff did. Entries are appended, and neither changed nor deleted.
type AuditLog interface {
	// AppendAudit appends an entry that has a Stamp. One that is appended already is not an error, so that a fault can
	// be repeated; another entry in its place is.
	AppendAudit(ctx context.Context, e AuditEntry) error
	// AuditOn reads entries of a day after a place, or "", ascending. Fewer than limit means that there are no more.
	AuditOn(ctx context.Context, day, after string, limit int) ([]AuditEntry, error)
}
