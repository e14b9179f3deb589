package main

import (
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/adapter/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// open prints the money that an operator may have to care for.
func (p *page) open(o *operator.OpenMoney, again string) {
	p.unreadable(o.Unreadable)
	if o.Due.Count+o.Refused.Count+o.Unknown.Count == 0 && !o.Unknown.More {
		p.line("No money is due back, refused or unknown.")
		return
	}
	if o.Due.Count > 0 {
		p.line("Due back: %s. The payment provider is asked each minute for those whose time has come.",
			sum(o.Due.More, counted(o.Due.Count, "payment", "payments"), o.Due.Amount))
		p.row("ORDER", "TRADE", "YUAN", "SINCE", "TRIES", "NEXT")
		for _, m := range o.Due.Payments {
			p.row(m.Order, m.TradeNo, m.Amount.Yuan(), at(m.At), fmt.Sprint(m.Tries), next(m.Next, o.Now))
		}
		p.rest(&o.Due)
	}
	if o.Refused.Count > 0 {
		p.line("Refused: %s. The payment provider does not give it back, and a person has to act.",
			sum(o.Refused.More, counted(o.Refused.Count, "payment", "payments"), o.Refused.Amount))
		p.row("ORDER", "TRADE", "YUAN", "SINCE", "TRIES", "REFUSED")
		for _, m := range o.Refused.Payments {
			p.row(m.Order, m.TradeNo, m.Amount.Yuan(), at(m.At), fmt.Sprint(m.Tries), m.Refused)
		}
		p.rest(&o.Refused)
		p.line("Once its cause is mended (docs/runbooks/refunds-refused.md): seckill refund ORDER --again --why TEXT%s",
			again)
	}
	if o.Unknown.Count > 0 {
		p.line("Unknown: %s. See: seckill unknown%s", sum(o.Unknown.More, counted(o.Unknown.Count, "order", "orders"),
			o.Unknown.Amount), again)
	}
	p.unlooked(&o.Unknown)
}

const maxUnreadable = 20 // rows that are named

// unreadable says which rows may be missing in a list.
func (p *page) unreadable(rows []string) {
	if len(rows) == 0 {
		return
	}
	p.line("Cannot be read by this version: %s. What to do: docs/runbooks/function-errors.md",
		counted(len(rows), "row", "rows"))
	for _, row := range rows[:min(len(rows), maxUnreadable)] {
		p.row(row)
	}
	p.more(len(rows) - maxUnreadable)
}

// unknown prints the orders that the provider does not tell about.
func (p *page) unknown(u *operator.UnknownList, again string) {
	if u.Count == 0 && !u.More {
		p.line("The payment provider has told of every order whether it is paid.")
		return
	}
	if u.Count > 0 {
		p.line("Unknown: %s. The payment provider is asked again each minute.",
			sum(u.More, counted(u.Count, "order", "orders"), u.Amount))
		p.row("ORDER", "ITEM", "YUAN", "CLOSING SINCE", "BECAUSE", "CLOSES AS")
		for _, m := range u.Orders {
			p.row(m.Order, m.Item, m.Amount.Yuan(), at(m.Since), m.Cause, string(m.End))
		}
		p.more(u.Count - len(u.Orders))
	}
	p.unlooked(u)
	p.line("At once: seckill unknown ORDER --why TEXT%s. What it means: docs/runbooks/unknown-payments.md", again)
}

func (p *page) more(n int) {
	if n > 0 {
		p.line("  … and %d more", n)
	}
}

// rest says what of a list is not shown.
func (p *page) rest(l *operator.PaymentList) {
	if l.More {
		p.line("  … and more: the list is cut at %d", len(l.Payments))
		return
	}
	p.more(l.Count - len(l.Payments))
}

// unlooked says that there may be more orders than a list has.
func (p *page) unlooked(u *operator.UnknownList) {
	if u.More {
		p.line("More orders may be unknown: not all that are due were looked at. Look again some minutes later.")
	}
}

// sum says how many there are, and what they come to; more: that is not all.
func sum(more bool, n string, amount seckill.Fen) string {
	if more {
		n = "at least " + n
	}
	return n + ", " + amount.Yuan() + " yuan"
}

// moneyCase prints all that is known of one order's money.
func (p *page) moneyCase(c *operator.MoneyCase, raw bool) {
	kept := "held for it"
	if c.Held > 0 && (c.State == seckill.RefundOwed || c.State == seckill.Refunded) {
		kept = "kept out of sale"
	}
	p.line("Order %s is %s: %s yuan for %s of item %s (%s), by user %s. %s %s.", c.Order, c.State, c.Amount.Yuan(),
		counted(c.Count, "unit", "units"),
		printable(c.Item), printable(c.Title), printable(c.User), counted(c.Held, "unit is", "units are"), kept)
	if len(c.Payments) == 0 {
		p.line("No payment is known.")
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
			p.line("As they came:")
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

// where says where a payment's money is.
func where(m *operator.Payment) string {
	switch {
	case m.State == seckill.RefundDone:
		return fmt.Sprintf("went back %s, refund %s", at(m.Back), m.Refund)
	case m.Refused != "":
		return fmt.Sprintf("its refund %s was refused: %s", m.Refund, m.Refused)
	case m.State == seckill.RefundDue && m.Tries == 0:
		return fmt.Sprintf("goes back by refund %s with the next sweep", m.Refund)
	case m.State == seckill.RefundDue:
		return fmt.Sprintf("goes back by refund %s, asked for in vain %s, next %s", m.Refund,
			counted(m.Tries, "time", "times"), at(m.Next))
	}
	return "kept"
}

// at writes a time in UTC, to the second.
func at(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

// next is when something is done: now, or later.
func next(t, now time.Time) string {
	if !t.After(now) {
		return "now"
	}
	return at(t)
}
