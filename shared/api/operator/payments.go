package operator

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/flow/money/refund"
	"github.com/your-org/seckill/shared/seckill"
)

// maxShown is how many entries each list in an answer about money has.
const maxShown = 1000

// NewPaymentHandler returns a handler of the commands about money. No answer contains an address.
func NewPaymentHandler(flow *refund.Flow) Handler {
	return handler(func(ctx context.Context, c does[*refund.Flow]) (Done, error) { return c.Do(ctx, flow) })
}

// Payment is one trade's money.
type Payment struct {
	Order   string               `json:"order_id"`
	TradeNo string               `json:"trade_no"`
	Amount  seckill.Fen          `json:"amount"`
	State   seckill.PaymentState `json:"state"`
	At      time.Time            `json:"at"` // when the ledger recorded it
	Cause   string               `json:"cause"`
	// the provider's id of the refund; "" if the money is kept, or all went back outside
	Refund  string      `json:"refund_id,omitempty"`
	Outside seckill.Fen `json:"outside,omitempty"` // of Amount, what went back outside the shop
	Tries   int         `json:"tries,omitempty"`   // due back: failed calls to the provider
	// due and not refused: the first sweep after it calls the provider
	Next    time.Time `json:"next,omitzero"`
	Refused string    `json:"refused,omitempty"`      // due back: the provider's code of a final refusal
	Back    time.Time `json:"refunded_time,omitzero"` // when the ledger recorded the refund
}

// PaymentList is the oldest 1,000 of Count payments, oldest first.
type PaymentList struct {
	Count    int         `json:"count"`
	Amount   seckill.Fen `json:"amount"`         // of Count
	More     bool        `json:"more,omitempty"` // there are more than Count
	Payments []Payment   `json:"payments"`
}

// UnknownOrder is an order for which the provider has not answered whether it is paid.
type UnknownOrder struct {
	Order  string        `json:"order_id"`
	Item   string        `json:"item"`
	Amount seckill.Fen   `json:"amount"`
	Since  time.Time     `json:"since"` // when it began to close
	Cause  string        `json:"cause"` // why it began to close
	End    seckill.State `json:"closes_to"`
}

// UnknownList is the oldest 1,000 of Count orders, oldest first.
type UnknownList struct {
	Count  int         `json:"count"`
	Amount seckill.Fen `json:"amount"` // of Count
	// not all due orders were read: there may be more than Count
	More   bool           `json:"more,omitempty"`
	Orders []UnknownOrder `json:"orders"`
}

// OpenMoney is the money that is not yet where it belongs.
type OpenMoney struct {
	Now     time.Time   `json:"now"`
	Due     PaymentList `json:"due"`     // goes back with one of the next sweeps
	Refused PaymentList `json:"refused"` // the provider refused: a person has to act
	Outside PaymentList `json:"outside"` // a part went back outside the shop: a person has to decide
	Unknown UnknownList `json:"unknown"`
	Waiting WaitingList `json:"waiting"` // for a second person

	// unreadable rows that may belong to a list, with the reason
	Unreadable []string `json:"unreadable,omitempty"`
}

// Notification is an authentic notification of the provider.
type Notification struct {
	ID      string      `json:"id"`
	TradeNo string      `json:"trade_no"`
	Amount  seckill.Fen `json:"amount"`
	At      time.Time   `json:"at"` // when it first came
	Outcome string      `json:"outcome"`
	Raw     string      `json:"raw,omitempty"` // unabridged; only on demand, and at most 4 MiB in total
}

// MoneyCase is everything about one order's money.
type MoneyCase struct {
	Order         string           `json:"order_id"`
	Item          string           `json:"item"`
	Title         string           `json:"title"`
	User          string           `json:"user"`
	Count         int              `json:"count"`
	Held          int              `json:"held"` // units that are not for sale
	Amount        seckill.Fen      `json:"amount"`
	State         seckill.State    `json:"state"`
	Created       time.Time        `json:"create_time"`
	PayBy         time.Time        `json:"pay_by,omitzero"`
	Payments      []Payment        `json:"payments"`
	Notifications []Notification   `json:"notifications"`
	History       []seckill.Change `json:"history"`
	Second        string           `json:"second"` // whether a refund waits for a second person: yes, no, perhaps
	// a part of the money went back outside the shop, and the order stays until somebody decides
	Undecided bool `json:"undecided,omitempty"`
}

// MoneyChange is an order after a command. Changed reports whether the command changed it.
type MoneyChange struct {
	Order string        `json:"order_id"`
	State seckill.State `json:"state"`
	Due   seckill.Fen   `json:"due"` // that goes back; record-trade: of that trade only
	// the part of Due that the provider refused; it is not retried automatically
	Refused seckill.Fen `json:"refused,omitempty"`
	Asked   int         `json:"asked,omitempty"` // again: refunds that will be retried
	Changed bool        `json:"changed"`
	Waits   *Waiting    `json:"waits,omitempty"` // refund: nothing goes back until a second person refunds it, too
}

// Waiting is a refund that one person wants, and that waits for a second person.
type Waiting struct {
	Order   string      `json:"order_id"`
	Amount  seckill.Fen `json:"amount"`
	Who     string      `json:"who"`
	Why     string      `json:"why"`
	Restock bool        `json:"restock"`
	Gone    bool        `json:"gone,omitempty"` // they say that all went back outside the shop
	Since   time.Time   `json:"since"`
}

// WaitingList is the first 1,000 refunds that wait for a second person, by order id.
type WaitingList struct {
	Count   int       `json:"count"`
	More    bool      `json:"more,omitempty"` // there are more than Count
	Refunds []Waiting `json:"refunds"`
}

func waiting(p *seckill.Proposal) Waiting {
	return Waiting{Order: p.Order, Amount: p.Amount, Who: p.Who, Why: p.Why, Restock: p.Restock, Gone: p.Gone,
		Since: p.At}
}

// ListMoney lists the money that is not yet where it belongs.
type ListMoney struct{ Given }

func (*ListMoney) Spec() Spec {
	return Spec{Name: "open", Path: "payments", Roles: seeMoney, In: "refund",
		Short: "List money that is due back, refused or unknown"}
}

func (*ListMoney) Do(ctx context.Context, flow *refund.Flow) (Done, error) {
	open, err := flow.Open(ctx)
	if err != nil {
		return Done{}, err
	}
	out := OpenMoney{Now: flow.Clock.Now(), Due: payments(open.Due), Refused: payments(open.Refused),
		Unknown: UnknownList{Count: len(open.Unknown), More: open.MoreUnknown, Orders: []UnknownOrder{}}}
	out.Outside = payments(open.Outside)
	out.Due.More, out.Refused.More, out.Outside.More = open.MoreDue, open.MoreRefused, open.MoreOutside
	out.Waiting = WaitingList{len(open.Waiting), open.MoreWaiting, []Waiting{}}
	for i := range open.Waiting {
		out.Waiting.Refunds = append(out.Waiting.Refunds, waiting(&open.Waiting[i]))
	}
	for _, err := range open.Unreadable {
		out.Unreadable = append(out.Unreadable, err.Error())
	}
	for i := range open.Unknown {
		o, since := &open.Unknown[i].Order, &open.Unknown[i].Since
		out.Unknown.Amount += o.Amount
		out.Unknown.Orders = append(out.Unknown.Orders, UnknownOrder{Order: o.ID, Item: o.Item, Amount: o.Amount,
			Since: since.At, Cause: since.Cause, End: o.CloseTo})
	}
	slices.SortStableFunc(out.Unknown.Orders, func(a, b UnknownOrder) int { return a.Since.Compare(b.Since) })
	out.Unknown.Orders = out.Unknown.Orders[:min(len(out.Unknown.Orders), maxShown)]
	return readDone(out, nil)
}

// ReadCase reads everything about one order's money, with raw also unabridged notifications. CodeOrderUnknown.
type ReadCase struct {
	Given
	Order string `json:"order" is:"order" arg:"ORDER"`
	Raw   bool   `json:"raw,omitempty"`
}

func (*ReadCase) Spec() Spec {
	return Spec{Name: "case", Roles: seeMoney, In: "refund", Short: "Show everything about one order's money"}
}

func (c *ReadCase) Do(ctx context.Context, flow *refund.Flow) (Done, error) {
	all, err := flow.Case(ctx, c.Order)
	if err != nil {
		return Done{}, err
	}
	o := &all.Order
	claim := o.Amount
	for i := range all.Payments {
		if p := &all.Payments[i]; p.State == seckill.Captured {
			claim = refund.Claim(p)
		}
	}
	out := MoneyCase{Order: o.ID, Item: o.Item, Title: o.Title, User: o.User, Count: o.Count, Held: len(o.Units),
		Amount: o.Amount, State: o.State, Created: o.Created,
		PayBy: o.PayBy, Payments: payments(all.Payments).Payments, Notifications: []Notification{}, History: o.History,
		Second: flow.Second(claim), Undecided: o.Undecided}
	size := 0
	for i := range all.Notifications {
		n := &all.Notifications[i]
		shown := Notification{ID: n.ID, TradeNo: n.TradeNo, Amount: n.Amount, At: n.At, Outcome: n.Outcome}
		if size += TextSize([]byte(n.Raw)); c.Raw && size <= maxPage {
			shown.Raw = n.Raw
		}
		out.Notifications = append(out.Notifications, shown)
	}
	slices.SortStableFunc(out.Notifications, func(a, b Notification) int { return a.At.Compare(b.At) })
	out.Notifications = out.Notifications[:min(len(out.Notifications), maxShown)]
	return readDone(out, nil)
}

// Refund refunds a paid order; with restock its units are sold again. With gone no money moves: it says that all went
// back outside the shop. Errors as refund.Flow.Order and Gone.
type Refund struct {
	Given
	Order   string `json:"order" is:"order" arg:"ORDER"`
	Why     string `json:"why" log:"-"` // the flow checks its limits
	Restock bool   `json:"restock,omitempty"`
	Gone    bool   `json:"gone,omitempty"`
}

func (*Refund) Spec() Spec {
	return Spec{Name: "refund", Path: "refund", Roles: financiers, Money: true, In: "refund",
		Short: "Give the money of a paid order back"}
}

func (c *Refund) Do(ctx context.Context, flow *refund.Flow) (Done, error) {
	return moneyDone(ctx, flow, c.Order, func() (MoneyChange, error) {
		do := flow.Order
		if c.Gone {
			do = flow.Gone
		}
		did, err := do(ctx, c.Order, signature(c.Who), c.Why, c.Restock)
		if err != nil {
			return MoneyChange{}, err
		}
		out, err := moneyAfter(ctx, flow, c.Order, "", did.Started)
		if did.Waiting != nil {
			w := waiting(did.Waiting)
			out.Waits = &w
		}
		return out, err
	})
}

// Withdraw drops a refund that waits for a second person. Errors as refund.Flow.Withdraw.
type Withdraw struct {
	Given
	Order string `json:"order" is:"order" arg:"ORDER"`
	Why   string `json:"why" log:"-"`
}

func (*Withdraw) Spec() Spec {
	return Spec{Name: "withdraw", Roles: financiers, Money: true, In: "refund",
		Short: "Drop a refund that waits for another person"}
}

func (c *Withdraw) Do(ctx context.Context, flow *refund.Flow) (Done, error) {
	return moneyDone(ctx, flow, c.Order, func() (MoneyChange, error) {
		is, err := flow.Withdraw(ctx, c.Order, signature(c.Who), c.Why)
		if err != nil {
			return MoneyChange{}, err
		}
		return moneyAfter(ctx, flow, c.Order, "", is)
	})
}

// Again retries an order's open refunds at once, including refused ones. CodeOrderUnknown; other errors as
// refund.Flow.Again.
type Again struct {
	Given
	Order string `json:"order" is:"order" arg:"ORDER"`
	Why   string `json:"why" log:"-"`
}

func (*Again) Spec() Spec {
	return Spec{Name: "again", Roles: financiers, Money: true, In: "refund",
		Short: "Retry an order's open refunds at once"}
}

func (c *Again) Do(ctx context.Context, flow *refund.Flow) (Done, error) {
	return moneyDone(ctx, flow, c.Order, func() (MoneyChange, error) {
		if _, err := flow.Case(ctx, c.Order); err != nil {
			return MoneyChange{}, err
		}
		n, err := flow.Again(ctx, c.Order, signature(c.Who), c.Why)
		if err != nil {
			return MoneyChange{}, err
		}
		out, err := moneyAfter(ctx, flow, c.Order, "", n > 0)
		out.Asked = n
		return out, err
	})
}

// Ask makes the shop ask the provider at once whether a closing order is paid. Errors as refund.Flow.Ask.
type Ask struct {
	Given
	Order string `json:"order" is:"order" arg:"ORDER"`
	Why   string `json:"why" log:"-"`
}

func (*Ask) Spec() Spec {
	return Spec{Name: "ask", Roles: financiers, In: "refund", Short: "Ask the provider whether an order is paid"}
}

func (c *Ask) Do(ctx context.Context, flow *refund.Flow) (Done, error) {
	return moneyDone(ctx, flow, c.Order, func() (MoneyChange, error) {
		if err := flow.Ask(ctx, c.Order, signature(c.Who), c.Why); err != nil {
			return MoneyChange{}, err
		}
		return moneyAfter(ctx, flow, c.Order, "", true)
	})
}

// RecordTrade asks the provider about one trade of an order and records its money. Errors as refund.Flow.RecordTrade.
type RecordTrade struct {
	Given
	Order   string `json:"order" is:"order" arg:"ORDER"`
	TradeNo string `json:"trade_no" is:"trade"` // the provider's number
	Why     string `json:"why" log:"-"`
}

func (*RecordTrade) Spec() Spec {
	return Spec{Name: "record-trade", Roles: financiers, Money: true, In: "refund",
		Short: "Ask the provider about one trade of an order, and record its money"}
}

func (c *RecordTrade) Do(ctx context.Context, flow *refund.Flow) (Done, error) {
	return moneyDone(ctx, flow, c.Order, func() (MoneyChange, error) {
		is, err := flow.RecordTrade(ctx, c.Order, c.TradeNo, signature(c.Who), c.Why)
		if err != nil {
			return MoneyChange{}, err
		}
		return moneyAfter(ctx, flow, c.Order, c.TradeNo, is)
	})
}

// Accept lets an order ship though a part of its money went back outside the shop. Errors as refund.Flow.Accept.
type Accept struct {
	Given
	Order string `json:"order" is:"order" arg:"ORDER"`
	Back  string `json:"back,omitempty" is:"yuan" help:"what really went back, in yuan, if it is less than what is recorded"`
	Why   string `json:"why" log:"-" help:"your reason, up to 200 characters"`
}

func (*Accept) Spec() Spec {
	return Spec{Name: "accept", Path: "orders accept", Roles: financiers, Money: true, In: "refund",
		Short: "Let an order ship, though a part of its money went back outside the shop",
		Long: `Let an order ship, though a part of its money went back outside the shop: in the payment provider's
console, or by a chargeback. Until then it is neither confirmed nor shipped. "seckill refund ORDER"
decides the other way: the rest goes back, too. "seckill payments" lists the orders that wait for it.

If the provider's console shows that less went back than the shop has recorded, say how much with
--back. The shop asks the provider, which must say that the trade is paid. If all went back, use
"seckill refund ORDER --gone" instead.`}
}

func (c *Accept) Do(ctx context.Context, flow *refund.Flow) (Done, error) {
	return moneyDone(ctx, flow, c.Order, func() (MoneyChange, error) {
		var back *seckill.Fen
		if c.Back != "" {
			sum, err := seckill.ParseYuan(c.Back)
			if err != nil {
				return MoneyChange{}, err // its rule has been checked
			}
			back = &sum
		}
		is, err := flow.Accept(ctx, c.Order, signature(c.Who), c.Why, back)
		if err != nil {
			return MoneyChange{}, err
		}
		return moneyAfter(ctx, flow, c.Order, "", is)
	})
}

// moneyDone returns what a command did to an order's money. The state before is left out if it cannot be read, which
// the command itself will say.
func moneyDone(ctx context.Context, flow *refund.Flow, order string, do func() (MoneyChange, error)) (Done, error) {
	var did Done
	if before, err := moneyAfter(ctx, flow, order, "", false); err == nil {
		did.Before = before.attrs()
	}
	out, err := do()
	if did.Result, did.Outcome = out, changedIf(out.Changed); err == nil {
		did.After = out.attrs()
	}
	if out.Waits != nil {
		did.Outcome = waits
	}
	return did, err
}

// moneyAfter reads an order after a command about it, or about one trade of it.
func moneyAfter(ctx context.Context, flow *refund.Flow, id, tradeNo string, is bool) (MoneyChange, error) {
	c, err := flow.Case(ctx, id)
	if err != nil {
		return MoneyChange{}, err
	}
	out := MoneyChange{Order: id, State: c.Order.State, Changed: is}
	for _, p := range c.Payments {
		if p.State != seckill.RefundDue || tradeNo != "" && p.TradeNo != tradeNo {
			continue
		}
		out.Due += p.Rest()
		if p.Refused != "" {
			out.Refused += p.Rest()
		}
	}
	return out, nil
}

// payments converts payments for an answer.
func payments(all []seckill.Payment) PaymentList {
	out := PaymentList{Count: len(all), Payments: []Payment{}}
	for i := range all {
		p := &all[i]
		shown := Payment{Order: p.Order, TradeNo: p.TradeNo, Amount: p.Amount, State: p.State, At: p.At, Cause: p.Cause,
			Outside: p.Outside, Refund: p.RefundID()}
		switch p.State {
		case seckill.RefundDue:
			shown.Tries, shown.Refused = p.Tries, p.Refused
			if p.Refused == "" {
				shown.Next = p.Due
			}
		case seckill.RefundDone:
			shown.Back = p.Back
		}
		out.Amount += p.Amount
		out.Payments = append(out.Payments, shown)
	}
	slices.SortStableFunc(out.Payments, func(a, b Payment) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Order, b.Order), cmp.Compare(a.TradeNo, b.TradeNo))
	})
	out.Payments = out.Payments[:min(len(out.Payments), maxShown)]
	return out
}

// signature shortens an operator's name for an order's history, which has 64 characters for it. Of an ARN it keeps the
// part after the account; if that is too long, only the name at its end. The audit log has the whole name.
func signature(who string) string {
	if strings.HasPrefix(who, "arn:") {
		who = who[strings.LastIndex(who, ":")+1:]
	}
	if len(who) > seckill.MaxStaffName {
		who = who[strings.LastIndex(who, "/")+1:]
	}
	return who
}

func (m *MoneyChange) attrs() []slog.Attr {
	out := []slog.Attr{slog.String("state", string(m.State)), slog.Int64("due", int64(m.Due)),
		slog.Int64("refused", int64(m.Refused))}
	if m.Waits != nil {
		out = append(out, slog.String("waits_for_a_second_beside", m.Waits.Who))
	}
	return out
}
