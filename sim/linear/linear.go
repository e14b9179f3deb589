// Package linear judges what shoppers asked and were told: is there an order of events, each request taking effect at
// one moment between its call and its answer, in which every answer is true? In: the operations of a run, recorded by
// whoever played the shoppers, and what the world knows (losses of the stock, the truth about items). Out: nil, a
// *Contradiction in words, or ErrUndecided. It starts no process and reads no clock; the verdict depends on its input
// alone. The search is porcupine's; the specification is ours.
//
// # The specification
//
// It is sequential, for one shopper and one item. An order is absent until a purchase makes it queued. From there it
// moves by itself, at any moment, along the table of shared/seckill, never back, and never becomes absent again.
//
//   - A purchase with a key that is accepted: the key's order exists from then on. If it existed before, nothing
//     changes.
//   - A purchase without a key that is accepted: a new order, at a moment when no order of the shopper with the same
//     count and address was queued and not hidden; or one that exists, with the same count and address. (It may be in
//     any state: the stock recognises a repeat until it has been told what the ledger decided, which a crash delays.)
//   - "unconfirmed" with an order's id does to the order what an accepted purchase does.
//   - No answer, or a fault: the purchase may take effect once, at any moment after its call, or never.
//   - limit_reached and not_enough are no answer to a repeat. With a key: its order did not exist, or had given its
//     units back or been rejected, when the stock has forgotten the key. Without one: no order with this count and
//     address was queued. The order that limit_reached names exists. Other refusals say nothing of orders: an
//     instance's memory may give them.
//   - A read of an order shows its state at that moment. "No such order": it was absent.
//   - The newest order is one that exists, in the state shown. "No order": all were absent.
//   - A list shows states of the past; only pending_payment is the state at that moment. What it does not show says
//     nothing.
//   - A cancel that is answered with closing or cancelled: the order is in that state from then on. still_queued: it
//     was queued. cancel_limit: it was pending_payment, and MaxCancels other cancels were made or may have been.
//     not_cancellable: it was past both. Without an answer a cancel says nothing, for an order may begin to close by
//     itself.
//   - A loss of the stock: an order that is queued may be hidden, which reads as absent, until a message or a repeat
//     of the purchase brings it back. A repeat with the key of an order that existed at a loss may meet the limit.
//
// Beside it some facts hold forever, whatever the order of events: see rules. A refusal is true when it was at some
// moment between Stale before its call and its answer: see Truth.
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
	Unknown  OutcomeKind = iota // none, or a fault: the effect may come at any later moment
	Accepted                    // a purchase: Order
	Refused                     // Code, and Order where the refusal names one
	Shown                       // Seen: one order, or a list's
	Missing                     // a read: there is no such order; the newest: there is none
)

// Seen is one order as an answer shows it.
type Seen struct {
	Item    string // in a list; elsewhere it is the operation's
	Order   string
	State   seckill.State
	Count   int    // 0 where the answer has neither count, address nor units
	Address string // meaningful when Count is not 0; "" of a rejected order, which keeps none, and once erased
	Units   []int  // meaningful when Count is not 0
}

// Outcome is an answer.
type Outcome struct {
	Kind  OutcomeKind
	Code  seckill.Code // Refused
	Order string       // Accepted; Refused, when the refusal names one
	Seen  []Seen       // Shown: exactly one, but for a list
}

// Answer returns the outcome of a call that ended with an error; err is not nil. A fault is Unknown, "no such order" is
// Missing.
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

// Op is one request and its answer. Times are nanoseconds of the world's one true clock; the recorder makes
// them distinct, by adding the number of the step, where one event followed another: what happened at the same time may
// have happened in any order.
type Op struct {
	Shopper, Item string // Item may be "" for a list
	Call, Return  int64  // Return is math.MaxInt64 when no answer came
	Kind          Kind
	Key           string // Buy: the Idempotency-Key, or ""
	Count         int    // Buy
	Address       string // Buy
	Order         string // Cancel, Read
	Outcome       Outcome
}

// DefaultSteps bounds the search: a history of ten operations takes about ten steps, a hopeless one of thirty at once
// billions. It is a number of steps and not a time, so that the verdict on a seed is the same on every machine.
const DefaultSteps = 100_000

// Report counts what was checked.
type Report struct {
	Partitions int // pairs of shopper and item
	Operations int // with an answer that says something
	Refusals   int // compared with the truth
	Undecided  int // partitions whose search met its bound
}

// ErrUndecided says that the search met its bound for at least one shopper (Report.Undecided), and that no
// contradiction was found.
var ErrUndecided = errors.New("linear: undecided")

// entry is an operation, or one order of a list, as its partition has it.
type entry struct {
	op      *Op
	seen    *Seen // the order shown; nil when none
	lagging bool  // seen may be of the past
}

// body is what a purchase asks for besides the item. Requests with different bodies never have the same order, unless
// the stock forgets.
type body struct {
	count   int // 0: unknown
	address string
}

func (op *Op) body() body { return body{op.Count, op.Address} }

// atRest are the states of an order that needs no address: a rejected one keeps none, of the others an operator may
// erase it.
var atRest = []seckill.State{seckill.Rejected, seckill.Expired, seckill.Cancelled, seckill.RefundOwed, seckill.Refunded}

// bare: the order has lost its address.
func (s *Seen) bare() bool { return s.Address == "" && slices.Contains(atRest, s.State) }

func (s *Seen) body() body { return body{s.Count, s.Address} }

// slot is one order of a partition.
type slot struct {
	id    string
	keyed bool
	body  body // as asked for; the zero value when unknown, or when a key came with several
}

// keyed is an Idempotency-Key and its order.
type keyed struct {
	key, order string
	by         *Op // an operation that showed the order; nil: computed
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

// made is the order that the operation certainly made or met: of an accepted purchase, or an unconfirmed one.
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
