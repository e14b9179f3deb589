package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/flow/office/fulfil"
	"github.com/your-org/seckill/shared/seckill"
)

// fulfil makes staff confirm, ship, note or hide a placed order, or its shopper say that it came or that they want a
// refund. Half of the shipments race with a refund of the same order.
func (s *Sim) fulfil(t Act) {
	if t.Kind == actConsole {
		s.atConsole(t)
		return
	}
	if len(s.truth.list) == 0 {
		return
	}
	ctx := context.Background()
	id := s.truth.list[pick(t.A, 8, len(s.truth.list))]
	user := s.truth.orders[id].user
	do := func(id int, what string, body func(i *Instance)) { s.spawn(id, t.Kind, what, t.A, body) }
	switch pick(t.A, 40, 12) {
	case 0:
		if pick(t.A, 44, 2) == 0 {
			do(t.ID, "staff note something on "+id, func(i *Instance) {
				_, _ = i.Fulfil.Note(ctx, id, "ann", "a gift")
			})
			return
		}
		number := fmt.Sprint(1 + pick(t.A, 48, 3))
		do(t.ID, "staff correct the parcel of "+id, func(i *Instance) { s.correct(i, id, number) })
	case 1:
		hidden := pick(t.A, 44, 3) > 0
		do(t.ID, fmt.Sprintf("staff hide %s: %t", id, hidden), func(i *Instance) {
			_, _ = i.Fulfil.Hide(ctx, id, "ann", "a test", hidden)
		})
	case 2:
		do(t.ID, "the shopper wants a refund of "+id, func(i *Instance) {
			_, _ = i.Shop.AskRefund(ctx, user, id, "too small")
		})
	case 3, 4:
		do(t.ID, "the shopper has "+id, func(i *Instance) { s.received(i, user, id) })
	case 5:
		do(t.ID, "others want what only staff and the shopper may, with "+id,
			func(i *Instance) { s.meddle(i, user, id) })
	case 6, 7:
		do(t.ID, "staff confirm "+id, func(i *Instance) { _, _ = i.Fulfil.Confirm(ctx, id, "ann") })
	default:
		number := fmt.Sprint(1 + pick(t.A, 44, 2))
		do(t.ID, "staff ship "+id, func(i *Instance) { s.ship(i, id, number) })
		if pick(t.A, 52, 2) == 0 {
			restock := pick(t.A, 48, 2) == 0
			do(t.ID+1, fmt.Sprintf("%s refunds %s, restock %t", staffOf(t), id, restock), func(i *Instance) {
				s.giveBack(i, t, id, restock)
			})
		}
	}
}

// ship ships an order, and checks what staff hear.
func (s *Sim) ship(i *Instance, id, number string) {
	done, err := i.Fulfil.Ship(context.Background(), "ann", []fulfil.Parcel{{Order: id, Carrier: "SF", Number: number}},
		true, false)
	if o := s.truth.orders[id]; err == nil && done.Shipped+done.Same > 0 && o.parcel != "SF "+number {
		s.truth.fail("I16 staff hear that order %s is shipped as %s, its row says %q", id, number, o.parcel)
	}
}

// correct corrects an order's parcel, and checks what staff hear.
func (s *Sim) correct(i *Instance, id, number string) {
	is, err := i.Fulfil.Correct(context.Background(), "ann", fulfil.Parcel{Order: id, Carrier: "SF", Number: number},
		"a typo")
	if o := s.truth.orders[id]; err == nil && is && !slices.ContainsFunc(o.history, func(h string) bool {
		return strings.Contains(h, " to SF "+number+": ")
	}) {
		s.truth.fail("I16 staff hear that the parcel of order %s is %s; its history is %q", id, number, o.history)
	}
}

// received makes a shopper confirm a receipt, and checks what they hear.
func (s *Sim) received(i *Instance, user, id string) {
	v, err := i.Shop.Received(context.Background(), user, id)
	if o := s.truth.orders[id]; err == nil && (v.State != seckill.Received && v.State != seckill.Completed ||
		!o.left) {
		s.truth.fail("I16 a shopper hears that order %s is received: %s, its row is %s", id, v.State, o.state)
	}
}

// meddle makes other shoppers try what they may not do: no answer may confirm it.
func (s *Sim) meddle(i *Instance, user, id string) {
	ctx := context.Background()
	made := map[string]error{}
	_, made["a receipt of another's order"] = i.Shop.Received(ctx, user+"0", id)
	_, made["a refund asked for by another"] = i.Shop.AskRefund(ctx, user+"0", id, "mine")
	_, made["a refund for no reason"] = i.Shop.AskRefund(ctx, user, id, " ")
	_, made["confirmed by nobody"] = i.Fulfil.Confirm(ctx, id, "")
	_, made["a note of two lines"] = i.Fulfil.Note(ctx, id, "ann", "a\nb")
	_, made["a list of no state"] = i.Fulfil.List(ctx, fulfil.Query{State: "lost"}, "", 10)
	done, err := i.Fulfil.Ship(ctx, "ann", []fulfil.Parcel{{Order: id, Carrier: "SF", Number: "1"},
		{Order: id, Carrier: "SF"}}, true, false)
	if err == nil && done.Shipped > 0 {
		s.truth.fail("I16 order %s is shipped beside a parcel that is wrong", id)
	}
	for what, err := range made {
		if err == nil {
			s.truth.fail("I16 somebody hears that this is done: %s, order %s", what, id)
		}
	}
}

// wroteFulfil checks I16 for a write of an order's row: a shipped order keeps its units and its parcel, unless
// staff correct it; no order is shipped after its money had to go back; the schedule waits; only orders that are over
// are hidden.
func (t *truth) wroteFulfil(old, o *orderRow, is ledger.Row) {
	o.left = o.state.Left()
	if o.parcel = text(is, "carrier") + " " + text(is, "number"); o.parcel == " " {
		o.parcel = ""
	}
	o.hidden = number(is, "hidden") == 1
	switch {
	case o.left && o.parcel == "":
		t.fail("I16 order %s is %s without a parcel", o.id, o.state)
	case old == nil:
		return
	case o.hidden && !old.hidden && !o.state.Over():
		t.fail("I16 order %s in %s is hidden", o.id, o.state)
	case old.parcel != "" && o.parcel != old.parcel && (len(o.history) != len(old.history)+1 ||
		!strings.Contains(o.history[len(old.history)], ": from "+old.parcel+" to "+o.parcel+": ")):
		t.fail("I16 order %s went with %q, and then with %q", o.id, old.parcel, o.parcel)
	}
	if old.left {
		o.left = true
		if !slices.Equal(old.units, o.units) {
			t.fail("I16 order %s has left, and holds %v instead of %v", o.id, o.units, old.units)
		}
	}
	if o.state.Left() && o.state != old.state {
		t.checkLeaving(o)
	}
	t.wroteOutside(old, o, is)
}

// checkLeaving checks the history of an order that is on its way, or has just ended.
func (t *truth) checkLeaving(o *orderRow) {
	first := map[string]time.Time{}
	last := ""
	for _, h := range o.history {
		f := strings.Fields(h)
		at, err := time.Parse(time.RFC3339, f[0])
		if err != nil {
			t.fail("I5 order %s has a history without a time: %v", o.id, err)
		}
		if first[f[1]].IsZero() {
			first[f[1]] = at
		}
		last = h
	}
	if !first[string(seckill.RefundOwed)].IsZero() {
		t.fail("I16 order %s is %s after its money had to go back", o.id, o.state)
	}
	since := func(later, earlier seckill.State) time.Duration {
		return first[string(later)].Sub(first[string(earlier)])
	}
	if o.state == seckill.Received && strings.HasSuffix(last, "after shipping") &&
		since(seckill.Received, seckill.Shipped) < 15*24*time.Hour-2*seckill.SkewBound {
		t.fail("I16 order %s counts as received after %s", o.id, since(seckill.Received, seckill.Shipped))
	}
	if o.state == seckill.Completed && since(seckill.Completed, seckill.Received) < 7*24*time.Hour-2*seckill.SkewBound {
		t.fail("I16 order %s is completed after %s", o.id, since(seckill.Completed, seckill.Received))
	}
}

// wroteOutside checks I6 for money that went back outside the shop: an order is neither confirmed nor shipped before a
// person has decided about all of it. Who decided is read from the order's history alone.
func (t *truth) wroteOutside(old, o *orderRow, is ledger.Row) {
	o.outside, o.accepted = number(is, "outside"), old.accepted
	if last := o.history[len(o.history)-1]; len(o.history) > len(old.history) &&
		strings.Contains(last, " ships all the same, ") {
		o.accepted = o.outside
	}
	moved := o.state == seckill.Confirmed || o.state == seckill.Shipped
	for _, p := range t.payments[o.id] {
		if p.state == seckill.Captured && int64(p.outside) > o.accepted && moved && o.state != old.state {
			t.fail("I6 order %s became %s, and nobody has decided about the %d fen that went back", o.id, o.state,
				p.outside)
		}
	}
}

// atConsole makes a person refund a paid trade in the provider's console, whole or in part, or decide in the shop about
// an order of which a part went back.
func (s *Sim) atConsole(t Act) {
	var found []seckill.BillLine
	for _, id := range s.Provider.list {
		for _, no := range s.Provider.captured(id) {
			tr, _ := s.Provider.trade(id, no)
			if s.heardAll(id, no) || !s.Provider.wentBack(id, no) {
				found = append(found, seckill.BillLine{Order: id, TradeNo: no,
					Amount: tr.Amount - s.Provider.orders[id].console[no]})
			}
		}
	}
	if len(found) == 0 {
		return
	}
	l := found[pick(t.A, 8, len(found))]
	all := s.heardAll(l.Order, l.TradeNo)
	if !all && s.Provider.orders[l.Order].unsaid[l.TradeNo] {
		return
	}
	if all {
		s.spawn(t.ID, t.Kind, "staff say what went back of "+l.Order, t.A, func(i *Instance) {
			_ = i.sayWhatWentBack(l.Order, l.TradeNo, staffOf(t), pick(t.A, 44, 2) == 0)
		})
		return
	}
	if pick(t.A, 40, 3) == 0 {
		s.spawn(t.ID, t.Kind, "staff let "+l.Order+" ship all the same", t.A, func(i *Instance) {
			_, _ = i.Refund.Accept(context.Background(), l.Order, "ann", "a discount", nil)
		})
		return
	}
	amount := l.Amount
	if pick(t.A, 48, 2) == 0 {
		amount = (l.Amount + 1) / 2
	}
	how := []string{told, told, unsaid, charged}[pick(t.A, 44, 4)]
	if how == charged {
		amount = l.Amount
	}
	if err := s.Provider.Console(l.Order, l.TradeNo, amount, how); err != nil {
		s.truth.fail("I6 %w", err)
	}
	s.trace.say(s.Clock.Now(), "%s yuan of trade %s of %s are %s", amount.Yuan(), l.TradeNo, l.Order, how)
	if pick(t.A, 52, 3) == 0 {
		s.Start(nil).Deliver()
	}
}

// heardAll reports whether the shop keeps a trade of which all went back, by what it heard.
func (s *Sim) heardAll(id, no string) bool {
	return slices.ContainsFunc(s.truth.payments[id], func(p paymentRow) bool {
		return p.tradeNo == no && p.state == seckill.Captured && int64(p.outside) == p.amount
	})
}
