package seckill

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Code is a stable name of a refusal; clients decide by it.
type Code string

// The codes.
const (
	CodeInvalid       Code = "invalid_request" // the request's shape or a value in it
	CodeTooLarge      Code = "body_too_large"  // the body is over its limit
	CodeToken         Code = "invalid_token"   // missing, expired, forged or wrong token
	CodeItemUnknown   Code = "item_unknown"    // no such item
	CodeOrderUnknown  Code = "order_unknown"   // no such order of this shopper
	CodeNotFound      Code = "not_found"       // no such route
	CodeMethod        Code = "method_not_allowed"
	CodeNotStarted    Code = "not_started"     // the sale opens later
	CodeEnded         Code = "ended"           // the sale's window is over
	CodeStopped       Code = "stopped"         // the operator stopped the sale
	CodeSoldOut       Code = "sold_out"        // no unit left
	CodeNotEnough     Code = "not_enough"      // fewer units left than asked for
	CodeLimitReached  Code = "limit_reached"   // the shopper's limit of this item
	CodeKeyReused     Code = "key_reused"      // Idempotency-Key seen with another body
	CodeStillQueued   Code = "still_queued"    // the order waits to be placed; it cannot be cancelled yet
	CodeNotCancelable Code = "not_cancellable" // the order is past cancelling
	CodeCancelLimit   Code = "cancel_limit"    // the shopper has cancelled often enough; the order closes by itself
	CodeForged        Code = "notify_forged"   // a payment notification that is not authentic
	CodeNotOurs       Code = "notify_not_ours" // authentic, yet another app, seller, order or amount
	CodeNotReady      Code = "not_ready"       // known item, its stock is being loaded or rebuilt
	CodeUnavailable   Code = "unavailable"     // a part of the system does not answer; try again
	CodeUnconfirmed   Code = "unconfirmed"     // reserved, but not yet safely queued: repeat the request
	CodeInternal      Code = "internal"        // a fault of ours
)

// codes has every code.
var codes = []Code{
	CodeInvalid, CodeTooLarge, CodeToken, CodeItemUnknown, CodeOrderUnknown, CodeNotFound, CodeMethod,
	CodeNotStarted, CodeEnded, CodeStopped, CodeSoldOut, CodeNotEnough, CodeLimitReached, CodeKeyReused,
	CodeStillQueued, CodeNotCancelable, CodeCancelLimit, CodeForged, CodeNotOurs, CodeNotReady, CodeUnavailable,
	CodeUnconfirmed, CodeInternal,
}

// Codes lists every code, in no order.
func Codes() []Code { return slices.Clone(codes) }

// Error is a refusal or a fault that a user is told of. Two are equal for errors.Is when their codes are.
type Error struct {
	Code       Code
	Field      string        // invalid_request: what is wrong, by its JSON name
	Hint       string        // invalid_request: what was wanted ("1..5"), the same in every language
	Order      string        // the order that this is about
	Start      time.Time     // not_started: when it opens
	PayBy      time.Time     // cancel_limit: until when the order can be paid; after that it closes
	Token      Reason        // invalid_token: what is wrong with the token
	RetryAfter time.Duration // when it is worth trying again; 0: not by itself
	Err        error         // the cause, for the log and for operators; no shopper is told
}

func (e *Error) Error() string {
	s := "seckill: " + string(e.Code)
	if e.Field != "" {
		s += " " + e.Field
	}
	if e.Hint != "" {
		s += ": " + e.Hint
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is compares codes.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Refuse makes a refusal that needs no more than its code.
func Refuse(c Code) *Error { return &Error{Code: c} }

// Invalid makes an invalid_request about one field.
func Invalid(field, hint string) *Error { return &Error{Code: CodeInvalid, Field: field, Hint: hint} }

// RetryAfterFault is how soon it is worth trying again after a fault that does not say when.
const RetryAfterFault = time.Second

// AsError returns what a user is told of an error: a refusal stays what it is, anything else is unavailable for now,
// with the error as its cause. err is not nil.
func AsError(err error) *Error {
	if e, ok := err.(*Error); ok { //nolint:errorlint // spares errors.As on the hot path
		return e
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: CodeUnavailable, RetryAfter: RetryAfterFault, Err: err}
}

// CodeOf returns the code of an error; a plain error is a Fault and answers unavailable.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeUnavailable
}

// Faults of ports. Any error of a port that is none of those its method documents is a fault: the effect may or may
// not have happened, now or later. A flow never takes a fault for a "no".
var (
	// ErrNotInstalled: the stock does not have the item (never loaded, flushed, being rebuilt).
	ErrNotInstalled = errors.New("seckill: item not installed in the stock")
	// ErrStateChanged: a conditional write found another state than the caller had read; nothing was written.
	ErrStateChanged = errors.New("seckill: state changed meanwhile")
	// ErrCancels: the user has cancelled MaxCancels orders of the item; nothing was written.
	ErrCancels = errors.New("seckill: too many cancels")
	// ErrOrderExists: the ledger has a row for this order id; nothing was written.
	ErrOrderExists = errors.New("seckill: order exists")
	// ErrNoOrder: the ledger has no row for this order id.
	ErrNoOrder = errors.New("seckill: no such order in the ledger")
	// ErrQuota: the order would lift the user over the item's limit; nothing was written.
	ErrQuota = errors.New("seckill: quota exceeded")
	// ErrPaymentExists: the ledger has this trade already; nothing was written.
	ErrPaymentExists = errors.New("seckill: payment exists")
	// ErrNoReturn: there is no return row for this order.
	ErrNoReturn = errors.New("seckill: no such return row")
	// ErrUnreadable: a row is there and this code does not understand it: another schema version, or a part that is
	// missing or of another type.
	ErrUnreadable = errors.New("seckill: row cannot be read")
	// ErrBuildBusy: another builder is at work; nothing was written.
	ErrBuildBusy = errors.New("seckill: another build is under way")
	// ErrSignLater: too many signatures are asked for; the order is as it was.
	ErrSignLater = errors.New("seckill: too many signatures are asked for")
	// ErrNoBill: the payment provider has no bill of that day, yet or any more.
	ErrNoBill = errors.New("seckill: no bill of that day")
	// ErrBuildLost: another builder took over, or the build is not whole; nothing was installed.
	ErrBuildLost = errors.New("seckill: build lost")
)

// Unreadable is an ErrUnreadable that names its row. It has no other value of it: that may be an address.
type Unreadable struct {
	Table  string
	PK, SK string // SK: "" in a table without
	Why    string // as it goes on behind the key
}

func (u *Unreadable) Error() string {
	key := u.PK
	if u.SK != "" {
		key += "/" + u.SK
	}
	return fmt.Sprintf("%s row %s%s", u.Table, key, u.Why)
}

// Is makes it an ErrUnreadable.
func (u *Unreadable) Is(target error) bool { return target == ErrUnreadable }

// SplitUnreadable takes an error apart: which rows cannot be read, in words, and what else went wrong, nil when nothing
// did.
func SplitUnreadable(err error) (rows []string, rest error) {
	switch e := err.(type) { //nolint:errorlint // it looks at each part
	case nil:
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			r, other := SplitUnreadable(part)
			rows, rest = append(rows, r...), errors.Join(rest, other)
		}
	default:
		if _, other := SplitUnreadable(errors.Unwrap(err)); other != nil || !errors.Is(err, ErrUnreadable) {
			return nil, err
		}
		return []string{err.Error()}, nil
	}
	return rows, rest
}

// Collision says that a unit row exists already; nothing was written.
type Collision struct {
	Unit  int
	Owner string // the order that has the unit
	User  string // that order's user
}

func (c *Collision) Error() string {
	return fmt.Sprintf("seckill: unit %d belongs to order %s", c.Unit, c.Owner)
}
