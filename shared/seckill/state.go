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
	Planned  bool   // no code makes it yet
}

// StateInfo describes a state.
type StateInfo struct {
	State  State
	Status int    // the HTTP contract's status number
	Holds  bool   // whether an order in it holds units
	Final  bool   // whether no transition leaves it
	Means  string // in words
}

// States lists every state, in the order of an order's life.
var States = []StateInfo{
	{Queued, 7, true, false, "reserved in the stock, its message on the way to the ledger"},
	{PendingPayment, 1, true, false, "placed; waits for payment until pay_by"},
	{Closing, 1, true, false, "no payment is offered; the payment provider is asked whether it was paid"},
	{Paid, 2, true, false, "paid in time"},
	{Confirmed, 2, true, false, "taken up by the shop"},
	{Shipped, 3, true, false, "on its way"},
	{Received, 4, true, false, "received by the shopper, or 15 days after shipping"},
	{Completed, 4, true, true, "7 days after receipt"},
	{Expired, 8, false, false, "not paid in time; units given back"},
	{Cancelled, 9, false, false, "cancelled by the shopper; units given back"},
	{Rejected, 10, false, true, "could not be placed"},
	{RefundOwed, 5, false, false, "money must be refunded; units are given back or kept, as the operator chose"},
	{Refunded, 6, false, true, "money went back; units as before"},
}

// Transitions is the complete table: flows make no other change (I5). docs/state_machine.md is generated from it.
var Transitions = []Transition{
	{Queued, PendingPayment, "consume", "every unit row was free and the quota allowed it", "become rows", false},
	{Queued, Rejected, "consume", "no unit left, quota refused, item stopped, or unplaced for 1 h",
		"freed in the stock", false},
	{PendingPayment, Paid, "notify, expire", "an authentic payment", "stay", false},
	{PendingPayment, Closing, "expire, shop", "pay_by and grace have passed, or the shopper cancels", "stay", false},
	{Closing, Paid, "notify, expire", "an authentic payment", "stay", false},
	{Closing, Expired, "expire", "the trade is closed, or never existed, after the hold", "given back", false},
	{Closing, Cancelled, "expire", "the trade is closed, or never existed, after a cancel", "given back", false},
	{Paid, Confirmed, "back office", "the shop takes it up", "stay", true},
	{Confirmed, Shipped, "back office", "goods handed to the carrier", "stay", true},
	{Shipped, Received, "shop, schedule", "the shopper says so, or 15 days passed", "stay", true},
	{Received, Completed, "schedule", "7 days passed", "stay", true},
	{Expired, RefundOwed, "notify, expire", "late money", "none held", false},
	{Cancelled, RefundOwed, "notify, expire", "late money", "none held", false},
	{Paid, RefundOwed, "operator", "the operator refunds", "given back, or kept out of sale", false},
	{Confirmed, RefundOwed, "operator", "the operator refunds", "given back, or kept out of sale", true},
	{RefundOwed, Refunded, "refund", "the provider confirmed the last refund", "as before", false},
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
