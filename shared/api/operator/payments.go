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

// maxShown is how many entries each list in an answer of PaymentHandler has.
const maxShown = 1000

// PaymentHandler executes commands about money. It is safe for concurrent use. No answer contains an address.
type PaymentHandler struct{ refund *refund.Flow }

// NewPaymentHandler returns a handler that uses the flow.
func NewPaymentHandler(flow *refund.Flow) *PaymentHandler { return &PaymentHandler{flow} }

// Payment is one trade's money.
type Payment struct {
	Order   string               `json:"order_id"`
	TradeNo string               `json:"trade_no"`
	Amount  seckill.Fen          `json:"amount"`
	State   seckill.PaymentState `json:"state"`
	At      time.Time            `json:"at"` // when the ledger recorded it
	Cause   string               `json:"cause"`
	// the provider's id of the refund; "" if the money is kept
	Refund string `json:"refund_id,omitempty"`
	Tries  int    `json:"tries,omitempty"` // due back: failed calls to the provider
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

// Waiting is a refund that one person wants, and that waits for a second one.
type Waiting struct {
	Order   string      `json:"order_id"`
	Amount  seckill.Fen `json:"amount"`
	Who     string      `json:"who"`
	Why     string      `json:"why"`
	Restock bool        `json:"restock"`
	Since   time.Time   `json:"since"`
}

// WaitingList is the first 1,000 refunds that wait for a second person, by order id.
type WaitingList struct {
	Count   int       `json:"count"`
	More    bool      `json:"more,omitempty"` // there are more than Count
	Refunds []Waiting `json:"refunds"`
}

func waiting(p *seckill.Proposal) Waiting {
	return Waiting{Order: p.Order, Amount: p.Amount, Who: p.Who, Why: p.Why, Restock: p.Restock, Since: p.At}
}

// Open lists the money that is not yet where it belongs.
func (d *PaymentHandler) Open(ctx context.Context) (OpenMoney, error) {
	open, err := d.refund.Open(ctx)
	if err != nil {
		return OpenMoney{}, err
	}
	out := OpenMoney{Now: d.refund.Clock.Now(), Due: payments(open.Due), Refused: payments(open.Refused),
		Unknown: UnknownList{Count: len(open.Unknown), More: open.MoreUnknown, Orders: []UnknownOrder{}}}
	out.Due.More, out.Refused.More = open.MoreDue, open.MoreRefused
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
	return out, nil
}

// Case reads everything about one order's money; raw: with unabridged notifications. CodeOrderUnknown.
func (d *PaymentHandler) Case(ctx context.Context, id string, raw bool) (MoneyCase, error) {
	c, err := d.refund.Case(ctx, id)
	if err != nil {
		return MoneyCase{}, err
	}
	o := &c.Order
	out := MoneyCase{Order: o.ID, Item: o.Item, Title: o.Title, User: o.User, Count: o.Count, Held: len(o.Units),
		Amount: o.Amount, State: o.State, Created: o.Created,
		PayBy: o.PayBy, Payments: payments(c.Payments).Payments, Notifications: []Notification{}, History: o.History}
	size := 0
	for i := range c.Notifications {
		n := &c.Notifications[i]
		shown := Notification{ID: n.ID, TradeNo: n.TradeNo, Amount: n.Amount, At: n.At, Outcome: n.Outcome}
		if size += TextSize([]byte(n.Raw)); raw && size <= maxPage {
			shown.Raw = n.Raw
		}
		out.Notifications = append(out.Notifications, shown)
	}
	slices.SortStableFunc(out.Notifications, func(a, b Notification) int { return a.At.Compare(b.At) })
	out.Notifications = out.Notifications[:min(len(out.Notifications), maxShown)]
	return out, nil
}

// Refund refunds a paid order. Errors as refund.Flow.Order.
func (d *PaymentHandler) Refund(ctx context.Context, id, who, why string, restock bool) (MoneyChange, error) {
	did, err := d.refund.Order(ctx, id, signature(who), why, restock)
	if err != nil {
		return MoneyChange{}, err
	}
	out, err := d.after(ctx, id, "", did.Started)
	if did.Waiting != nil {
		w := waiting(did.Waiting)
		out.Waits = &w
	}
	return out, err
}

// Withdraw drops a refund that waits for a second person. Errors as refund.Flow.Withdraw.
func (d *PaymentHandler) Withdraw(ctx context.Context, id, who, why string) (MoneyChange, error) {
	is, err := d.refund.Withdraw(ctx, id, signature(who), why)
	if err != nil {
		return MoneyChange{}, err
	}
	return d.after(ctx, id, "", is)
}

// Again retries an order's open refunds at once, including refused ones. CodeOrderUnknown; other errors as
// refund.Flow.Again.
func (d *PaymentHandler) Again(ctx context.Context, id, who, why string) (MoneyChange, error) {
	if _, err := d.refund.Case(ctx, id); err != nil {
		return MoneyChange{}, err
	}
	n, err := d.refund.Again(ctx, id, signature(who), why)
	if err != nil {
		return MoneyChange{}, err
	}
	out, err := d.after(ctx, id, "", n > 0)
	out.Asked = n
	return out, err
}

// Ask makes the shop ask the provider at once whether a closing order is paid. Errors as refund.Flow.Ask.
func (d *PaymentHandler) Ask(ctx context.Context, id, who, why string) (MoneyChange, error) {
	if err := d.refund.Ask(ctx, id, signature(who), why); err != nil {
		return MoneyChange{}, err
	}
	return d.after(ctx, id, "", true)
}

// RecordTrade asks the provider about one trade of an order and records its money. Errors as refund.Flow.RecordTrade.
func (d *PaymentHandler) RecordTrade(ctx context.Context, id, tradeNo, who, why string) (MoneyChange, error) {
	is, err := d.refund.RecordTrade(ctx, id, tradeNo, signature(who), why)
	if err != nil {
		return MoneyChange{}, err
	}
	return d.after(ctx, id, tradeNo, is)
}

// after reads an order after a command about it, or about one trade of it.
func (d *PaymentHandler) after(ctx context.Context, id, tradeNo string, is bool) (MoneyChange, error) {
	c, err := d.refund.Case(ctx, id)
	if err != nil {
		return MoneyChange{}, err
	}
	out := MoneyChange{Order: id, State: c.Order.State, Changed: is}
	for _, p := range c.Payments {
		if p.State != seckill.RefundDue || tradeNo != "" && p.TradeNo != tradeNo {
			continue
		}
		out.Due += p.Amount
		if p.Refused != "" {
			out.Refused += p.Amount
		}
	}
	return out, nil
}

// payments converts payments for an answer.
func payments(all []seckill.Payment) PaymentList {
	out := PaymentList{Count: len(all), Payments: []Payment{}}
	for i := range all {
		p := &all[i]
		shown := Payment{Order: p.Order, TradeNo: p.TradeNo, Amount: p.Amount, State: p.State, At: p.At, Cause: p.Cause}
		if p.State != seckill.Captured {
			shown.Refund = p.Refund().ID
		}
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

// signature shortens an operator's name for an order's history, which has 64 characters for it: of an ARN, the part
// after the account; of what is too long then, the name at its end. The audit log has all of it.
func signature(who string) string {
	if strings.HasPrefix(who, "arn:") {
		who = who[strings.LastIndex(who, ":")+1:]
	}
	if len(who) > seckill.MaxStaffName {
		who = who[strings.LastIndex(who, "/")+1:]
	}
	return who
}

func (d *PaymentHandler) commands() []command { return moneyCommands }

// do executes a command.
func (d *PaymentHandler) do(ctx context.Context, r *request) (done, error) {
	switch r.Command {
	case cmdOpen:
		open, err := d.Open(ctx)
		return done{result: open, outcome: read}, err
	case cmdCase:
		c, err := d.Case(ctx, r.Order, r.Raw)
		return done{result: c, outcome: read}, err
	}
	var out MoneyChange
	var err error
	before := d.money(ctx, r.Order)
	switch r.Command {
	case cmdRefund:
		out, err = d.Refund(ctx, r.Order, r.Who, r.Why, r.Restock)
	case cmdWithdraw:
		out, err = d.Withdraw(ctx, r.Order, r.Who, r.Why)
	case cmdAgain:
		out, err = d.Again(ctx, r.Order, r.Who, r.Why)
	case cmdRecordTrade:
		out, err = d.RecordTrade(ctx, r.Order, r.TradeNo, r.Who, r.Why)
	default: // the only other command that check allows
		out, err = d.Ask(ctx, r.Order, r.Who, r.Why)
	}
	did := done{result: out, outcome: changedIf(out.Changed), before: before}
	if err == nil {
		did.after = out.attrs()
	}
	if out.Waits != nil {
		did.outcome = waits
	}
	return did, err
}

// money returns the order before a command; nothing if it cannot be read, which the command itself will say.
func (d *PaymentHandler) money(ctx context.Context, order string) []slog.Attr {
	m, err := d.after(ctx, order, "", false)
	if err != nil {
		return nil
	}
	return m.attrs()
}

func (m *MoneyChange) attrs() []slog.Attr {
	out := []slog.Attr{slog.String("state", string(m.State)), slog.Int64("due", int64(m.Due)),
		slog.Int64("refused", int64(m.Refused))}
	if m.Waits != nil {
		out = append(out, slog.String("waits_for_a_second_beside", m.Waits.Who))
	}
	return out
}

// Open lists the money that is not yet where it belongs.
func (c *Client) Open(ctx context.Context) (out OpenMoney, err error) {
	err = c.give(ctx, &request{Command: cmdOpen}, &out)
	return out, err
}

// Case reads everything about one order's money; raw: with unabridged notifications.
func (c *Client) Case(ctx context.Context, id string, raw bool) (out MoneyCase, err error) {
	err = c.give(ctx, &request{Command: cmdCase, Order: id, Raw: raw}, &out)
	return out, err
}

// Refund refunds a paid order; restock: its units are sold again; otherwise they are not.
func (c *Client) Refund(ctx context.Context, id, why string, restock bool) (out MoneyChange, err error) {
	err = c.give(ctx, &request{Command: cmdRefund, Order: id, Why: why, Restock: restock}, &out)
	return out, err
}

// Withdraw drops a refund that waits for a second person.
func (c *Client) Withdraw(ctx context.Context, id, why string) (out MoneyChange, err error) {
	err = c.give(ctx, &request{Command: cmdWithdraw, Order: id, Why: why}, &out)
	return out, err
}

// Again retries an order's open refunds at once, including refused ones.
func (c *Client) Again(ctx context.Context, id, why string) (out MoneyChange, err error) {
	err = c.give(ctx, &request{Command: cmdAgain, Order: id, Why: why}, &out)
	return out, err
}

// Ask makes the shop ask the provider at once whether a closing order is paid.
func (c *Client) Ask(ctx context.Context, id, why string) (out MoneyChange, err error) {
	err = c.give(ctx, &request{Command: cmdAsk, Order: id, Why: why}, &out)
	return out, err
}

// RecordTrade asks the provider about one trade of an order and, if it is paid, records its money.
func (c *Client) RecordTrade(ctx context.Context, id, tradeNo, why string) (out MoneyChange, err error) {
	err = c.give(ctx, &request{Command: cmdRecordTrade, Order: id, TradeNo: tradeNo, Why: why}, &out)
	return out, err
}
