// Package linear checks the answers that shoppers got: is there an order of events, with each request taking effect
// at one moment between its call and its answer, in which every answer is true? In: the operations of a run, recorded
// by whatever played the shoppers, and facts about the world (data losses of the stock, the true state of items).
// Out: nil, a *Contradiction in words, or ErrUndecided. It starts no process and reads no clock; the verdict depends
// only on its input. The search is porcupine's; the specification is ours.
//
// # The specification
//
// It is sequential, for one shopper and one item. An order is absent until a purchase makes it queued. From then on
// it moves by itself, at any moment, along the table of shared/seckill, never back, and never becomes absent again.
//
//   - An accepted purchase with a key: the key's order exists from then on. If it existed before, nothing changes.
//   - An accepted purchase without a key: a new order, at a moment when no order of the shopper with the same count and
//     address was queued and not hidden; or an existing one with the same count and address. (It may be in any state:
//     the stock recognises a repetition until it knows the ledger's decision, which a crash delays.)
//   - "unconfirmed" with an order's id has the same effect as an accepted purchase.
//   - No answer, or a fault: the purchase may take effect once, at any moment after its call, or never.
//   - limit_reached and not_enough cannot answer a repetition. With a key: its order did not exist, or had given its
//     units back or been rejected, after which the stock has forgotten the key. Without one: no order with this count
//     and address was queued. The order that limit_reached names exists. Other refusals prove nothing about orders: an
//     instance may answer them from memory.
//   - A read of an order shows its state at that moment. "No such order": it was absent.
//   - The newest order is one that exists, in the state shown. "No order": all were absent.
//   - A list shows past states; only pending_payment is the state at that moment. What it omits proves nothing.
//   - A cancel answered with closing or cancelled: the order is in that state from then on. still_queued: it was
//     queued. cancel_limit: it was pending_payment, and MaxCancels other cancels were made or may have been.
//     not_cancellable: it was past both. An unanswered cancel proves nothing, because an order may begin to close by
//     itself.
//   - A data loss of the stock: a queued order may be hidden, which reads as absent, until a message or a repetition of
//     the purchase restores it. A repetition with the key of an order that existed at a loss may meet the limit.
//
// In addition some facts hold always, whatever the order of events: see rules. A refusal is true if its reason held
// at some moment between Stale before its call and its answer: see Truth.
package linear

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/your-org/seckill/shared/seckill"
)

// Kind is the kind of a shopper's request.
type Kind uint8

// The kinds.
const (
	Buy    Kind = iota // POST /seckill/buy
	Cancel             // POST /order/{id}/cancel
	Read               // GET /order/{id}
	Newest             // GET /seckill/order/{seckill_id}
	List               // GET /order/list
)

// OutcomeKind is the kind of an answer.
type OutcomeKind uint8

// The kinds of answers.
const (
	Unknown  OutcomeKind = iota // no answer, or a fault: the effect may still happen at any later moment
	Accepted                    // a purchase; see Order
	Refused                     // see Code, and Order if the refusal names one
	Shown                       // see Seen: one order, or the orders of a list
	Missing                     // a read: there is no such order; the newest: there is no order
)

// Seen is one order in an answer.
type Seen struct {
	Item    string // only in a list; otherwise the operation has the item
	Order   string
	State   seckill.State
	Count   int    // 0 if the answer has neither count, address nor units
	Address string // meaningful if Count is not 0; "" for a rejected order, which stores none, and after erasure
	Units   []int  // meaningful if Count is not 0
}

// Outcome is an answer.
type Outcome struct {
	Kind  OutcomeKind
	Code  seckill.Code // for Refused
	Order string       // for Accepted, and for Refused if the refusal names one
	Seen  []Seen       // for Shown: exactly one, except in a list
}

// Answer returns the outcome of a call that ended with an error; err is not nil. A fault is Unknown, "no such order"
// is Missing.
func Answer(err error) Outcome {
	var e *seckill.Error
	if !errors.As(err, &e) {
		return Outcome{}
	}
	switch e.Code {
	case seckill.CodeUnavailable, seckill.CodeInternal:
		return Outcome{}
	case seckill.CodeOrderUnknown:
		return Outcome{Kind: Missing}
	}
	return Outcome{Kind: Refused, Code: e.Code, Order: e.Order}
}

// Op is one request and its answer. Times are nanoseconds of the world's one true clock. The recorder makes times
// distinct, by adding the step's number, if one event followed another; events with equal times may have happened in
// any order.
type Op struct {
	Shopper, Item string // Item may be "" for a list
	Call, Return  int64  // Return is math.MaxInt64 without an answer
	Kind          Kind
	Key           string // Buy: the Idempotency-Key, or ""
	Count         int    // Buy
	Address       string // Buy
	Order         string // Cancel, Read
	Outcome       Outcome
}

// DefaultSteps bounds the search: a history of ten operations takes about ten steps, a contradictory one of thirty
// concurrent operations billions. It counts steps instead of time so that the verdict on a seed is the same on every
// machine.
const DefaultSteps = 100_000

// Report counts what was checked.
type Report struct {
	Partitions int // pairs of shopper and item
	Operations int // with a meaningful answer
	Refusals   int // checked against the truth
	Undecided  int // partitions whose search reached its bound
}

// ErrUndecided means that the search reached its bound for at least one shopper (Report.Undecided), and that no
// contradiction was found.
var ErrUndecided = errors.New("linear: undecided")

// entry is an operation, or one order of a list, as part of a partition.
type entry struct {
	op      *Op
	seen    *Seen // the order shown, or nil
	lagging bool  // seen may be a past state
}

// body is the content of a purchase request without the item. Requests with different bodies never share an order,
// unless the stock loses data.
type body struct {
	count   int // 0 if unknown
	address string
}

func (op *Op) body() body { return body{op.Count, op.Address} }

// atRest lists the states in which an order needs no address: a rejected order stores no address, and an operator may
// erase the address of the others.
var atRest = []seckill.State{seckill.Rejected, seckill.Expired, seckill.Cancelled, seckill.RefundOwed, seckill.Refunded,
	seckill.Shipped, seckill.Received, seckill.Completed}

// bare reports whether the order has lost its address.
func (s *Seen) bare() bool { return s.Address == "" && slices.Contains(atRest, s.State) }

func (s *Seen) body() body { return body{s.Count, s.Address} }

// slot is one order of a partition.
type slot struct {
	id    string
	keyed bool
	body  body // as requested; the zero value if unknown, or if a key came with several
}

// keyed is an Idempotency-Key and its order.
type keyed struct {
	key, order string
	by         *Op // an operation that showed the order; nil if computed
}

func (op *Op) validate() error {
	o := &op.Outcome
	switch {
	case op.Call > op.Return:
		return errors.New("it returned before it was called")
	case op.Return == math.MaxInt64 && o.Kind != Unknown:
		return errors.New("an answer without a time")
	case op.Kind == Buy && (o.Kind == Shown || o.Kind == Missing) || op.Kind != Buy && o.Kind == Accepted:
		return errors.New("this kind of answer does not exist here")
	case o.Kind == Accepted && o.Order == "":
		return errors.New("accepted without an order")
	case o.Kind == Shown && op.Kind != List && len(o.Seen) != 1:
		return fmt.Errorf("shows %d orders", len(o.Seen))
	}
	for i := range o.Seen {
		if o.Seen[i].Order == "" || o.Seen[i].State.Info().State == "" {
			return fmt.Errorf("shows order %q in state %q", o.Seen[i].Order, o.Seen[i].State)
		}
	}
	return nil
}

// made returns the order that the operation certainly created or found: an accepted purchase, or an unconfirmed one.
func (op *Op) made() string {
	o := &op.Outcome
	if op.Kind == Buy && (o.Kind == Accepted || o.Kind == Refused && o.Code == seckill.CodeUnconfirmed) {
		return o.Order
	}
	return ""
}

// maybe reports whether the operation is a purchase with an unknown effect.
func (op *Op) maybe() bool {
	o := &op.Outcome
	if op.Kind != Buy {
		return false
	}
	switch o.Code {
	case seckill.CodeUnavailable, seckill.CodeInternal:
		return true
	case seckill.CodeUnconfirmed:
		return o.Order == ""
	}
	return o.Kind == Unknown
}
