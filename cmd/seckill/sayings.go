package main

import (
	"fmt"
	"strings"

	"github.com/your-org/seckill/shared/api/operator"
)

// sayings are the words of answers to the commands that come from their declarations.
var sayings = []saying{
	says(func(p *page, _ *operator.ReadItem, it *operator.ItemView) {
		p.item(it, describe(operator.ItemChange{ItemState: it.ItemState}))
	}),
	says(func(p *page, _ *operator.ListItems, a *operator.ItemRows) { p.itemRows(a) }),
	says(func(p *page, _ *operator.ReadOrder, o *operator.Order) { p.order(o) }),
	says(func(p *page, c *operator.Confirm, a *operator.OrderChange) { p.orderChange(c.Order, "confirmed", a) }),
	says(func(p *page, c *operator.CorrectParcel, a *operator.OrderChange) {
		p.orderChange(c.Order, fmt.Sprintf("sent with %s, %s", printable(a.Order.Carrier),
			printable(a.Order.Number)), a)
	}),
	says(func(p *page, c *operator.Note, a *operator.OrderChange) { p.orderChange(c.Order, "noted", a) }),
	says(func(p *page, c *operator.Hide, a *operator.OrderChange) {
		p.orderChange(c.Order, map[bool]string{false: "hidden", true: "on the lists"}[c.Undo], a)
	}),
	says(func(p *page, c *operator.Accept, a *operator.MoneyChange) {
		if a.Changed {
			p.line("Order %s may ship. It is %s.", c.Order, a.State)
		} else {
			p.line("Nothing to do: order %s waits for no decision. It is %s.", c.Order, a.State)
		}
	}),
	says(func(p *page, _ *operator.Offline, a *operator.ActivityChange) { p.activityChange(a, "offline") }),
	says(func(p *page, _ *operator.Online, a *operator.ActivityChange) { p.activityChange(a, "online") }),
	says(func(p *page, c *operator.Tell, a *operator.Told) {
		p.line("%s of order %s told once more.", counted(a.Changes, "change", "changes"), c.Order)
	}),
	says(func(p *page, _ *operator.ReadDelivery, d *operator.Delivery) {
		p.line("Order %s, %s: %d of %s (item %s), user %s.", d.Order, d.State, d.Count, printable(d.Title),
			d.Item, d.User)
		if d.Name != "" {
			p.line("%s", printable(d.Name))
		}
		if d.Address == "" {
			p.line("It has no address.")
		} else {
			for _, line := range strings.Split(d.Address, "\n") {
				p.line("%s", printable(line))
			}
		}
		if d.Network.IsValid() {
			p.line("Bought from %s.", d.Network)
		}
	}),
	says(func(p *page, _ *operator.Redeliver, a *operator.Redelivered) {
		p.line("The events of %s will be posted again.", counted(a.Orders, "order", "orders"))
	}),
	says(func(p *page, _ *operator.ListSessions, a *operator.Sessions) { p.sessions(a) }),
	says(func(p *page, _ *operator.EndSessions, a *operator.SessionsEnded) {
		p.line("%s ended.", counted(a.Ended, "session", "sessions"))
	}),
	says(func(p *page, _ *operator.SignOut, a *operator.SessionsEnded) {
		p.line("%s ended.", counted(a.Ended, "session", "sessions"))
	}),
	says(func(p *page, _ *operator.Redrive, a *operator.Redriven) {
		if a.Messages == 0 {
			p.line("Nothing to do: %s has no dead letters.", a.Queue)
			return
		}
		p.line("About %s moved back to %s.", counted(a.Messages, "message is", "messages are"), a.Queue)
	}),
}

// orderChange says that a command changed an order, or had nothing to do.
func (p *page) orderChange(id, did string, a *operator.OrderChange) {
	if a.Changed {
		p.line("Order %s: %s. It is %s.", id, did, a.Order.State)
	} else {
		p.line("Nothing to do: order %s is %s already. It is %s.", id, did, a.Order.State)
	}
}
