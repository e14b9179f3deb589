package main

import (
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// open prints the money that is not where it belongs.
func (p *page) open(o *operator.OpenMoney, again string) {
	p.unreadable(o.Unreadable)
	p.waiting(&o.Waiting, again)
	if o.Due.Count+o.Refused.Count+o.Outside.Count+o.Unknown.Count == 0 && !o.Unknown.More {
		p.line("No money is due back, refused or unknown.")
		return
	}
	if o.Due.Count > 0 {
		p.line("Due back: %s. The shop asks the payment provider each minute for those that are due.",
			sum(o.Due.More, counted(o.Due.Count, "payment", "payments"), o.Due.Amount))
		p.row("ORDER", "TRADE", "YUAN", "SINCE", "TRIES", "NEXT")
		for _, m := range o.Due.Payments {
			p.row(m.Order, m.TradeNo, m.Amount.Yuan(), at(m.At), fmt.Sprint(m.Tries), next(m.Next, o.Now))
		}
		p.rest(&o.Due)
	}
	if o.Refused.Count > 0 {
		p.line("Refused: %s. The payment provider refused the refund, and a person has to act.",
			sum(o.Refused.More, counted(o.Refused.Count, "payment", "payments"), o.Refused.Amount))
		p.row("ORDER", "TRADE", "YUAN", "SINCE", "TRIES", "REFUSED")
		for _, m := range o.Refused.Payments {
			p.row(m.Order, m.TradeNo, m.Amount.Yuan(), at(m.At), fmt.Sprint(m.Tries), m.Refused)
		}
		p.rest(&o.Refused)
		p.line("Once the cause is fixed (docs/runbooks/refunds-refused.md): seckill refund ORDER --again --why TEXT%s",
			again)
	}
	if o.Outside.Count > 0 {
		p.line("Went back outside the shop, in part or whole: %s. Their orders wait until a person decides.",
			sum(o.Outside.More, counted(o.Outside.Count, "payment", "payments"), o.Outside.Amount))
		p.row("ORDER", "TRADE", "YUAN", "SINCE", "WENT BACK")
		for _, m := range o.Outside.Payments {
			p.row(m.Order, m.TradeNo, m.Amount.Yuan(), at(m.At), m.Outside.Yuan())
		}
		p.rest(&o.Outside)
		p.line("To ship one: seckill orders accept ORDER --why TEXT%s. To give the rest back: seckill refund ORDER "+
			"--why TEXT%s", again, again)
		p.line("If all went back, the shop asks the provider. If it says otherwise, look into its console: "+
			"seckill refund ORDER --gone --why TEXT%s, or seckill orders accept ORDER --back YUAN --why TEXT%s", again,
			again)
	}
	if o.Unknown.Count > 0 {
		p.line("Unknown: %s. See: seckill unknown%s", sum(o.Unknown.More, counted(o.Unknown.Count, "order", "orders"),
			o.Unknown.Amount), again)
	}
	p.unlooked(&o.Unknown)
}

// waiting prints the refunds that wait for a second person.
func (p *page) waiting(w *operator.WaitingList, again string) {
	if w.Count == 0 {
		return
	}
	p.line("Waiting for a second person: %s. To approve one: seckill refund ORDER --why TEXT%s",
		counted(w.Count, "refund", "refunds"), again)
	p.row("ORDER", "YUAN", "SINCE", "WANTED BY", "RESTOCK", "GONE", "WHY")
	for i := range w.Refunds {
		r := &w.Refunds[i]
		p.row(r.Order, r.Amount.Yuan(), at(r.Since), printable(r.Who), fmt.Sprint(r.Restock), fmt.Sprint(r.Gone),
			printable(r.Why))
	}
	if w.More {
		p.line("  … and more: the list ends at %d", w.Count)
	}
}

const maxUnreadable = 20 // rows that are named

// unreadable names rows that may be missing from a list.
func (p *page) unreadable(rows []string) {
	if len(rows) == 0 {
		return
	}
	p.line("This version cannot read %s. What to do: docs/runbooks/function-errors.md",
		counted(len(rows), "row", "rows"))
	for _, row := range rows[:min(len(rows), maxUnreadable)] {
		p.row(row)
	}
	p.more(len(rows) - maxUnreadable)
}

// unknown prints the orders whose payment is unknown.
func (p *page) unknown(u *operator.UnknownList, again string) {
	if u.Count == 0 && !u.More {
		p.line("No payment is unknown.")
		return
	}
	if u.Count > 0 {
		p.line("Unknown: %s. The shop asks the payment provider again each minute.",
			sum(u.More, counted(u.Count, "order", "orders"), u.Amount))
		p.row("ORDER", "ITEM", "YUAN", "CLOSING SINCE", "BECAUSE", "CLOSES AS")
		for _, m := range u.Orders {
			p.row(m.Order, m.Item, m.Amount.Yuan(), at(m.Since), m.Cause, string(m.End))
		}
		p.more(u.Count - len(u.Orders))
	}
	p.unlooked(u)
	p.line("To ask at once: seckill unknown ORDER --why TEXT%s. Details: docs/runbooks/unknown-payments.md", again)
}

func (p *page) more(n int) {
	if n > 0 {
		p.line("  … and %d more", n)
	}
}

// rest prints how much of a list is not shown.
func (p *page) rest(l *operator.PaymentList) {
	if l.More {
		p.line("  … and more: the list ends at %d", len(l.Payments))
		return
	}
	p.more(l.Count - len(l.Payments))
}

// unlooked prints that there may be more orders than a list has.
func (p *page) unlooked(u *operator.UnknownList) {
	if u.More {
		p.line("More orders may be unknown: the shop did not read all that are due. Try again in some minutes.")
	}
}

// sum joins a count and an amount; more means that the count is incomplete.
func sum(more bool, n string, amount seckill.Fen) string {
	if more {
		n = "at least " + n
	}
	return n + ", " + amount.Yuan() + " yuan"
}

// moneyCase prints everything about one order's money.
func (p *page) moneyCase(c *operator.MoneyCase, raw bool) {
	kept := "held by the order"
	if c.Held > 0 && (c.State == seckill.RefundOwed || c.State == seckill.Refunded) {
		kept = "kept out of sale"
	}
	p.line("Order %s is %s: %s yuan for %s of item %s (%s), by user %s. %s %s.", c.Order, c.State, c.Amount.Yuan(),
		counted(c.Count, "unit", "units"),
		printable(c.Item), printable(c.Title), printable(c.User), counted(c.Held, "unit is", "units are"), kept)
	if len(c.Payments) == 0 {
		p.line("No payment is recorded.")
	} else {
		p.line("Payments:")
		p.row("TRADE", "YUAN", "SINCE", "RECORDED BY", "STATE")
		for i := range c.Payments {
			m := &c.Payments[i]
			p.row(m.TradeNo, m.Amount.Yuan(), at(m.At), m.Cause, where(m))
		}
	}
	if len(c.Notifications) > 0 {
		p.line("Notifications:")
		p.row("TIME", "ID", "TRADE", "YUAN", "OUTCOME")
		for i := range c.Notifications {
			n := &c.Notifications[i]
			p.row(at(n.At), n.ID, n.TradeNo, n.Amount.Yuan(), n.Outcome)
		}
		if raw {
			p.line("Notifications, unabridged:")
			for i := range c.Notifications {
				p.line("  %s  %s", printable(c.Notifications[i].ID), printable(c.Notifications[i].Raw))
			}
		}
	}
	p.line("History:")
	p.row("TIME", "STATE", "CAUSE")
	for _, h := range c.History {
		p.row(at(h.At), string(h.State), h.Cause)
	}
}

// where describes where a payment's money is.
func where(m *operator.Payment) string {
	outside := ""
	if m.Outside > 0 {
		outside = "; " + m.Outside.Yuan() + " yuan went back outside the shop"
	}
	return whereRest(m) + outside
}

// whereRest describes where the rest is.
func whereRest(m *operator.Payment) string {
	switch {
	case m.State == seckill.RefundDone && m.Refund == "":
		return "went back, recorded " + at(m.Back)
	case m.State == seckill.RefundDone:
		return fmt.Sprintf("went back %s, refund %s", at(m.Back), m.Refund)
	case m.Refused != "":
		return fmt.Sprintf("its refund %s was refused: %s", m.Refund, m.Refused)
	case m.State == seckill.RefundDue && m.Tries == 0:
		return fmt.Sprintf("goes back with the next sweep, refund %s", m.Refund)
	case m.State == seckill.RefundDue:
		return fmt.Sprintf("goes back, refund %s failed %s, next try %s", m.Refund,
			counted(m.Tries, "time", "times"), at(m.Next))
	}
	return "kept"
}

// at writes a time for people; "" for the zero time.
func at(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return seckill.Local(t)
}

// next writes a due time, "now" if it has passed.
func next(t, now time.Time) string {
	if !t.After(now) {
		return "now"
	}
	return at(t)
}
