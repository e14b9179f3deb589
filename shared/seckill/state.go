package seckill

// State is the state of an order.
type State string

// The states of an order.
const (
	Queued         State = "queued" // known to the stock; not yet written to the ledger
	PendingPayment State = "pending_payment"
	Closing        State = "closing"
	Paid           State = "paid"
	Confirmed      State = "confirmed"
	Shipped        State = "shipped"
	Received       State = "received"
	Completed      State = "completed"
	Expired        State = "expired"
	Cancelled      State = "cancelled"
	Rejected       State = "rejected"
	RefundOwed     State = "refund_due"
	Refunded       State = "refunded"
)

// Transition is one allowed change of an order's state.
type Transition struct {
	From, To State
	By       string // the step that makes it
	Cause    string // why, in words
	Units    string // what happens to its units
}

// StateInfo describes a state.
type StateInfo struct {
	State  State
	Status int    // the HTTP contract's status number
	Holds  bool   // whether an order in it holds units
	Final  bool   // whether no transition leaves it
	Means  string // in words
	Older  int    // the number that older systems give it; NoOlder: none. OlderHidden is theirs for a hidden order
}

// Numbers of older systems that belong to no state.
const (
	NoOlder     = -1
	OlderHidden = 6
)

// States lists every state, in the order of an order's life.
var States = []StateInfo{
	{Queued, 7, true, false, "reserved in the stock, its message on the way to the ledger", 0},
	{PendingPayment, 1, true, false, "placed; waits for payment until pay_by", 1},
	{Closing, 1, true, false, "no payment is offered; the payment provider is asked whether it was paid", 1},
	{Paid, 2, true, false, "paid in time", 2},
	{Confirmed, 2, true, false, "taken up by the shop", 4},
	{Shipped, 3, true, false, "on its way", 7},
	{Received, 4, true, false, "received by the shopper, or 15 days after shipping", 8},
	{Completed, 4, true, false, "7 days after receipt", 9},
	{Expired, 8, false, false, "not paid in time; units given back", 3},
	{Cancelled, 9, false, false, "cancelled by the shopper; units given back", 5},
	{Rejected, 10, false, true, "could not be placed", NoOlder},
	{RefundOwed, 5, false, false, "money must be refunded; units are given back or kept, as the operator chose",
		NoOlder},
	{Refunded, 6, false, true, "money went back; units as before", NoOlder},
}

// outside is the cause of a change that nobody in the shop began.
const outside = "all money went back outside the shop, and the provider or finance confirmed it"

// Transitions is the complete table: flows make no other change (I5). docs/state_machine.md is generated from it.
var Transitions = []Transition{
	{Queued, PendingPayment, "consume", "every unit row was free and the quota allowed it", "become rows"},
	{Queued, Rejected, "consume", "no unit left, quota refused, item stopped, or unplaced for 1 h",
		"freed in the stock"},
	{PendingPayment, Paid, "notify, expire", "an authentic payment", "stay"},
	{PendingPayment, Closing, "expire, shop", "pay_by and grace have passed, or the shopper cancels", "stay"},
	{Closing, Paid, "notify, expire", "an authentic payment", "stay"},
	{Closing, Expired, "expire", "the trade is closed, or never existed, after the hold", "given back"},
	{Closing, Cancelled, "expire", "the trade is closed, or never existed, after a cancel", "given back"},
	{Paid, Confirmed, "fulfil", "staff take it up", "stay"},
	{Confirmed, Shipped, "fulfil", "staff handed the goods to a carrier", "stay"},
	{Shipped, Received, "shop, expire", "the shopper says so, or 15 days passed", "stay"},
	{Received, Completed, "expire", "7 days passed", "stay"},
	{Expired, RefundOwed, "notify, expire", "late money", "none held"},
	{Cancelled, RefundOwed, "notify, expire", "late money", "none held"},
	{Paid, RefundOwed, "operator", "the operator refunds", "given back, or kept out of sale"},
	{Confirmed, RefundOwed, "operator", "the operator refunds", "given back, or kept out of sale"},
	{Shipped, RefundOwed, "operator", "the operator refunds after shipping", "kept out of sale"},
	{Received, RefundOwed, "operator", "the operator refunds after receipt", "kept out of sale"},
	{RefundOwed, Refunded, "refund", "the provider confirmed the last refund", "as before"},
	{Paid, Refunded, "refund, operator", outside, "kept out of sale, or given back"},
	{Confirmed, Refunded, "refund, operator", outside, "kept out of sale, or given back"},
	{Shipped, Refunded, "refund, operator", outside, "kept out of sale"},
	{Received, Refunded, "refund, operator", outside, "kept out of sale"},
	{Completed, Refunded, "refund, operator", outside, "kept out of sale"},
}

// Left reports whether an order in this state has left the shop: its units are never given back.
func (s State) Left() bool { return s == Shipped || s == Received || s == Completed }

// Keeps reports whether an order in this state keeps the money of a payment.
func (s State) Keeps() bool { return s == Paid || s == Confirmed || s.Left() }

// Over reports whether nothing is left to do for an order in this state, unless money comes late.
func (s State) Over() bool {
	return s == Completed || s == Expired || s == Cancelled || s == Rejected || s == Refunded
}

// Info returns the state's description; the zero StateInfo for an unknown state.
func (s State) Info() StateInfo {
	for _, i := range States {
		if i.State == s {
			return i
		}
	}
	return StateInfo{}
}

// MayHold reports whether an order in this state may hold n of its count units. Every state allows all, none, or
// either.
func (s State) MayHold(n, count int) bool {
	switch {
	case s == RefundOwed || s == Refunded: // the operator chose whether to return them to the stock
		return n == 0 || n == count
	case s.Info().Holds:
		return n == count
	}
	return n == 0
}

// Status returns the HTTP contract's number for the state.
func (s State) Status() int { return s.Info().Status }

// CanBecome reports whether the table allows the change.
func (s State) CanBecome(to State) bool {
	for _, t := range Transitions {
		if t.From == s && t.To == to {
			return true
		}
	}
	return false
}

// OnMoney returns what an authentic payment does to an order in state s: its next state (the same if it stays), and
// whether the money is kept or must be refunded. Money for an order that is not open is refunded.
func (s State) OnMoney() (State, PaymentState) {
	switch s {
	case PendingPayment, Closing:
		return Paid, Captured
	case Expired, Cancelled:
		return RefundOwed, RefundDue
	default:
		return s, RefundDue
	}
}
