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
	Day     string    `json:"day" row:"day,key"`     // of UTC+8
	Seq     string    `json:"seq" row:"seq,key"`     // place within the day; earlier releases numbered the entries
	At      time.Time `json:"at" row:"at"`           // in milliseconds
	Kind    AuditKind `json:"kind" row:"kind"`       // begun and ended, of an act that changes something, or whole
	ID      string    `json:"id" row:"id"`           // of the act: the same in both entries
	Who     string    `json:"who" row:"who"`         // verified identity; in seckill run the name that the caller gives
	Roles   string    `json:"roles" row:"roles"`     // separated by commas
	Act     string    `json:"act" row:"act"`         // an operator's command, or what a person did about signing in
	Subject string    `json:"subject" row:"subject"` // what it is about, as item=2002 stock=1000
	Before  string    `json:"before" row:"before"`   // numbers and states before; "" if unknown, as after
	After   string    `json:"after" row:"after"`
	Why     string    `json:"why" row:"why"`       // the person's reason
	Result  string    `json:"result" row:"result"` // changed, unchanged, read, or a refusal's code; "" in begun
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
	// AppendAudit appends an entry that has a Stamp. It is no error if the same entry is there already, so that
	// a call can be repeated after a fault; another entry in its place is an error.
	AppendAudit(ctx context.Context, e AuditEntry) error
	// AuditOn reads entries of a day after a place, or "", ascending. Fewer than limit means that there are no more.
	AuditOn(ctx context.Context, day, after string, limit int) ([]AuditEntry, error)
}
