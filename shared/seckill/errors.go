package seckill

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Code is the stable name of a refusal. Clients branch on it.
type Code string

// The codes.
const (
	CodeInvalid  Code = "invalid_request" // the request has a wrong shape or a wrong value
	CodeTooLarge Code = "body_too_large"  // the body is over its limit
	CodeToken    Code = "invalid_token"   // missing, expired, forged or wrong token
	CodeSignIn   Code = "signin_refused"  // what a shopper signs in with is not accepted
	// the shop and the issuer of sign-ins do not fit together: the operator has to mend it, the shopper cannot
	CodeSignInBroken  Code = "signin_broken"
	CodeItemUnknown   Code = "item_unknown"  // no such item
	CodeOrderUnknown  Code = "order_unknown" // this shopper has no such order
	CodeNotFound      Code = "not_found"     // no such route
	CodeMethod        Code = "method_not_allowed"
	CodeNotStarted    Code = "not_started"     // the sale opens later
	CodeEnded         Code = "ended"           // the sale's window is over
	CodeStopped       Code = "stopped"         // the operator stopped the sale
	CodeSoldOut       Code = "sold_out"        // no unit left
	CodeNotEnough     Code = "not_enough"      // fewer units left than asked for
	CodeLimitReached  Code = "limit_reached"   // the shopper already holds the item's limit
	CodeKeyReused     Code = "key_reused"      // the Idempotency-Key was used before with another body
	CodeStillQueued   Code = "still_queued"    // the order is not placed yet, so it cannot be cancelled
	CodeNotCancelable Code = "not_cancellable" // the order can no longer be cancelled
	// the shopper has used up the cancels for this item; the order expires by itself
	CodeCancelLimit Code = "cancel_limit"
	// what is asked for cannot be done to an order in its state, such as the receipt of one that is not on its way
	CodeWrongState  Code = "wrong_state"
	CodeNotPayable  Code = "not_payable"       // the order cannot be paid now: it is paid, closed, or its hold is over
	CodeNotPushed   Code = "not_pushed"        // this deployment pushes nothing: ask for the order
	CodeForged      Code = "notify_forged"     // the payment notification is not authentic
	CodeNotOurs     Code = "notify_not_ours"   // authentic, but for another app, seller, order or amount
	CodeNotReady    Code = "not_ready"         // the item is known; its stock is being loaded or rebuilt
	CodeTicket      Code = "ticket_required"   // the item sells to holders of a ticket; this is not one
	CodeNoChecks    Code = "no_checks"         // the item sells without a ticket
	CodeCheck       Code = "check_failed"      // the answer to the challenge is wrong
	CodeAccountNew  Code = "account_new"       // the account is younger than MinAccountAge
	CodeBlocked     Code = "blocked"           // the shopper may not buy; the shop's support says why
	CodeTooMany     Code = "too_many_requests" // the user or the network calls more often than allowed
	CodeUnavailable Code = "unavailable"       // a component does not answer; try again
	CodeUnconfirmed Code = "unconfirmed"       // reserved, but maybe not queued: the client must repeat the request
	CodeInternal    Code = "internal"          // a fault in this system
)

// codes has every code.
var codes = []Code{
	CodeInvalid, CodeTooLarge, CodeToken, CodeSignIn, CodeSignInBroken, CodeItemUnknown, CodeOrderUnknown, CodeNotFound,
	CodeMethod, CodeNotStarted, CodeEnded, CodeStopped, CodeSoldOut, CodeNotEnough, CodeLimitReached, CodeKeyReused,
	CodeStillQueued, CodeNotCancelable, CodeCancelLimit, CodeWrongState, CodeNotPayable, CodeNotPushed, CodeForged,
	CodeNotOurs, CodeNotReady, CodeTicket, CodeNoChecks, CodeCheck, CodeAccountNew, CodeBlocked, CodeTooMany,
	CodeUnavailable, CodeUnconfirmed, CodeInternal,
}

// Codes lists every code, in no order.
func Codes() []Code { return slices.Clone(codes) }

// Error is a refusal or a fault that the user sees. errors.Is treats two as equal if their codes are equal.
type Error struct {
	Code  Code
	Field string    // invalid_request: the JSON name of the wrong field
	Hint  string    // invalid_request: what is allowed ("1..5"); language-neutral
	Order string    // the order concerned
	Start time.Time // not_started: when the sale opens
	PayBy time.Time // cancel_limit: the order can be paid until then, and then expires
	// invalid_token, signin_refused, ticket_required: what is wrong with the token or ticket; too_many_requests: whose
	// limit; check_failed: which check; order_unknown: OrderForeign
	Token      Reason
	Challenge  *Challenge    // check_failed: the next one; nil if it could not be made
	RetryAfter time.Duration // how long the client should wait before it tries again; 0 if trying again does not help
	Err        error         // the cause, for logs and operators; shoppers never see it
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

// Refuse returns a refusal that carries only its code.
func Refuse(c Code) *Error { return &Error{Code: c} }

// RefuseForeign returns the refusal of another user's order.
func RefuseForeign() *Error { return &Error{Code: CodeOrderUnknown, Token: OrderForeign} }

// Invalid returns an invalid_request about one field.
func Invalid(field, hint string) *Error { return &Error{Code: CodeInvalid, Field: field, Hint: hint} }

// RetryAfterFault is the wait before a retry after a fault that sets no wait of its own.
const RetryAfterFault = time.Second

// RetryAfterHeld is the wait before a retry while units are held back after a loss of Redis: by then two looks at the
// queue have told how many.
const RetryAfterHeld = 4 * time.Second

// AsError returns the error that the user sees: an *Error unchanged; anything else becomes CodeUnavailable with err
// as its cause. err must not be nil.
func AsError(err error) *Error {
	if e, ok := err.(*Error); ok { //nolint:errorlint // avoids errors.As on the hot path
		return e
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: CodeUnavailable, RetryAfter: RetryAfterFault, Err: err}
}

// CodeOf returns the code of an error; any error that is not an *Error is CodeUnavailable.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeUnavailable
}

// Errors of ports. A method documents the errors that it returns; every other error is a fault: the effect may or may
// not have happened, or may still happen. A flow never takes a fault for a "no".
var (
	// ErrNotInstalled: the stock does not have the item: it was never loaded, was flushed, or is being rebuilt.
	ErrNotInstalled = errors.New("seckill: item not installed in the stock")
	// ErrStateChanged: a conditional write found a state other than the one that the caller had read; nothing was
	// written.
	ErrStateChanged = errors.New("seckill: state changed meanwhile")
	// ErrCancels: the user has cancelled MaxCancels orders of the item; nothing was written.
	ErrCancels = errors.New("seckill: too many cancels")
	// ErrOrderExists: the ledger already has a row for this order id; nothing was written.
	ErrOrderExists = errors.New("seckill: order exists")
	// ErrNoOrder: the ledger has no row for this order id.
	ErrNoOrder = errors.New("seckill: no such order in the ledger")
	// ErrNoActivity: there is no activity of this id.
	ErrNoActivity = errors.New("seckill: no such activity")
	// ErrQuota: the order would exceed the user's limit for the item; nothing was written.
	ErrQuota = errors.New("seckill: quota exceeded")
	// ErrBlocked: the user is blocked; nothing was written.
	ErrBlocked = errors.New("seckill: user blocked")
	// ErrPaymentExists: the ledger already has this trade; nothing was written.
	ErrPaymentExists = errors.New("seckill: payment exists")
	// ErrNoReturn: this order has no return row.
	ErrNoReturn = errors.New("seckill: no such return row")
	// ErrUnreadable: the row exists, but this release cannot read it: it has another schema version, or a field is
	// missing or has another type.
	ErrUnreadable = errors.New("seckill: row cannot be read")
	// ErrCountsChanged: the counts, or the mark of an order, are not as read; nothing was written.
	ErrCountsChanged = errors.New("seckill: counts changed meanwhile")
	// ErrNoUser: the identity has no user id.
	ErrNoUser = errors.New("seckill: identity without a user id")
	// ErrUserTaken: the user id is another identity's; nothing was written.
	ErrUserTaken = errors.New("seckill: user id of another identity")
	// ErrBuildBusy: another builder is at work; nothing was written.
	ErrBuildBusy = errors.New("seckill: another build is under way")
	// ErrSignLater: the signing rate is exhausted; the order is unchanged.
	ErrSignLater = errors.New("seckill: too many signatures are asked for")
	// ErrNoBill: the payment provider has no bill for that day.
	ErrNoBill = errors.New("seckill: no bill of that day")
	// ErrBuildLost: another builder took over, or the build is incomplete; nothing was installed.
	ErrBuildLost = errors.New("seckill: build lost")
)

// Unreadable is an ErrUnreadable that names its row. It holds no other value of the row, because that may be a
// delivery address.
type Unreadable struct {
	Table  string
	PK, SK string // SK is "" in a table without a sort key
	Why    string // completes the sentence that begins with the key
}

func (u *Unreadable) Error() string {
	key := u.PK
	if u.SK != "" {
		key += "/" + u.SK
	}
	return fmt.Sprintf("%s row %s%s", u.Table, key, u.Why)
}

// Is makes errors.Is(u, ErrUnreadable) true.
func (u *Unreadable) Is(target error) bool { return target == ErrUnreadable }

// SplitUnreadable splits a joined error into the rows that cannot be read, in words, and the remaining error, nil if
// there is none.
func SplitUnreadable(err error) (rows []string, rest error) {
	switch e := err.(type) { //nolint:errorlint // the switch inspects the wrapper itself
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

// Collision is the error of a placement whose unit already has a row; nothing was written.
type Collision struct {
	Unit  int
	Owner string // the order that owns the unit
	User  string // the owner's user
}

func (c *Collision) Error() string {
	return fmt.Sprintf("seckill: unit %d belongs to order %s", c.Unit, c.Owner)
}
