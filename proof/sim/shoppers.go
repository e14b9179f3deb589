package sim

import (
	"context"
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/your-org/seckill/proof/sim/linear"
	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

// buy makes a shopper ask for units.
func (s *Sim) buy(t Act) {
	it, shopper, count, key := s.pickItem(t.A), strconv.Itoa(1+pick(t.A, 8, s.plan.Shoppers)), 1, ""
	if pick(t.A, 16, 2) == 0 {
		key = "k" + strconv.Itoa(pick(t.A, 17, 2))
	}
	if s.plan.Hoards && pick(t.A, 36, 4) > 0 {
		shopper = hoarder
	}
	switch n := pick(t.A, 20, 4); {
	case n == 0:
		count = it.Limit
	case n == 1 && s.plan.Addresses > 0:
		count = 1 + pick(t.A, 28, it.Limit)
	}
	address := addresses[pick(t.A, 32, max(1, s.plan.Addresses))]
	name := "shopper " + shopper + " buys " + strconv.Itoa(count) + " of " + it.ID + " to " + address
	if key != "" {
		name += " with key " + key
	}
	given := seckill.Given{Address: address}
	if s.plan.SignsOut {
		given.Session = sessionOf(shopper)
	}
	s.spawn(t.ID, t.Kind, name, t.A, func(i *Instance) {
		p := s.current
		if s.plan.SignsOut && shopper == hoarder && pick(t.A, 40, 8) == 0 {
			i.signOut(shopper)
		}
		order, err := s.purchase(i, buy.Purchase{Item: it.ID, User: shopper, Count: count, Given: given, Key: key,
			Ticket: s.wayIn(i, shopper, it, t.A)})
		if err != nil {
			s.trace.step(s.Clock.Now(), p, "is refused: ", string(seckill.CodeOf(err)))
			return
		}
		s.acknowledged = append(s.acknowledged, &orderRow{id: order, user: shopper, item: it.ID})
		s.trace.step(s.Clock.Now(), p, "is answered ", order)
	})
}

// signOut ends a shopper's session.
func (i *Instance) signOut(user string) {
	i.world.signingOut(user)
	if _, err := i.SignIn.End(context.Background(), user, sessionOf(user)); err == nil {
		i.world.wasSignedOut(user)
	}
}

// signingOut records that a user's session is to end.
func (w *World) signingOut(user string) {
	if _, ok := w.signedOut[user]; !ok {
		w.signedOut[user] = time.Time{}
	}
}

// wasSignedOut records that somebody was told that a user's session has ended.
func (w *World) wasSignedOut(user string) {
	if w.signedOut[user].IsZero() {
		w.signedOut[user] = w.Clock.Now()
	}
}

// purchase requests units and records request and answer.
func (s *Sim) purchase(i *Instance, p buy.Purchase) (order string, err error) {
	h := s.heard.Begin(linear.Op{Shopper: p.User, Item: p.Item, Call: s.tick(), Return: math.MaxInt64, Kind: linear.Buy,
		Key:   p.Key,
		Count: p.Count, Address: p.Address})
	order, err = i.PurchaseOf(p)
	s.answered(h, err, linear.Outcome{Kind: linear.Accepted, Order: order})
	return order, err
}

// readOrder reads an order and records request and answer.
func (s *Sim) readOrder(i *Instance, o *orderRow) (shop.OrderView, error) {
	h := s.asks(linear.Read, o)
	v, err := i.Shop.Order(context.Background(), o.user, o.id)
	s.answered(h, err, linear.Outcome{Kind: linear.Shown, Seen: []linear.Seen{seen(&v.Order)}})
	return v, err
}

// look reads an order and opens the cashier if it can be paid.
func (s *Sim) look(i *Instance, o *orderRow) error {
	v, err := s.readOrder(i, o)
	if err == nil && v.PayString != "" {
		s.open(o.id)
	}
	return err
}

// cancel cancels an order and records request and answer.
func (s *Sim) cancel(i *Instance, o *orderRow) error {
	h := s.asks(linear.Cancel, o)
	st, err := i.Shop.Cancel(context.Background(), o.user, o.id)
	s.answered(h, err, shown(st))
	return err
}

// shop makes a shopper look at an order, open the cashier for it, or cancel it.
func (s *Sim) shop(t Act) {
	var o *orderRow
	switch placed, told := len(s.truth.list), len(s.acknowledged); {
	case told > 0 && pick(t.A, 56, 3) == 0: // it may not be in the ledger yet
		o = s.acknowledged[told-1-pick(t.A, 8, min(told, 3))]
	case s.plan.Churn && t.Kind == actCancel:
		for _, id := range slices.Backward(s.truth.list) {
			if o == nil && s.truth.orders[id].state == seckill.PendingPayment {
				o = s.truth.orders[id]
			}
		}
	case placed > 0:
		o = s.truth.orders[s.truth.list[pick(t.A, 8, placed)]]
	}
	if o == nil {
		return
	}
	who := "shopper " + o.user
	ctx := context.Background()
	switch t.Kind {
	case actCancel:
		s.spawn(t.ID, t.Kind, who+" cancels "+o.id, t.A, func(i *Instance) {
			_ = s.cancel(i, o)
		})
	case actOpen:
		s.spawn(t.ID, t.Kind, who+" opens the cashier for "+o.id, t.A, func(i *Instance) {
			_ = s.look(i, o)
		})
	case actLook:
		s.spawn(t.ID, t.Kind, who+" looks", t.A, func(i *Instance) {
			switch pick(t.A, 20, 3) {
			case 0:
				h := s.asks(linear.Newest, o)
				st, err := i.Shop.Newest(ctx, o.user, o.item)
				s.answered(h, err, shown(st))
			case 1:
				_, _ = s.readOrder(i, o)
			default:
				h := s.asks(linear.List, o)
				list, err := i.Shop.Orders(ctx, o.user, 1, 10)
				out := linear.Outcome{Kind: linear.Shown}
				for k := range list {
					out.Seen = append(out.Seen, seen(&list[k].Order))
				}
				s.answered(h, err, out)
			}
		})
	}
}

// asks records a shopper's request about an order.
func (s *Sim) asks(k linear.Kind, o *orderRow) linear.Handle {
	op := linear.Op{Shopper: o.user, Item: o.item, Call: s.tick(), Return: math.MaxInt64, Kind: k}
	switch k {
	case linear.Cancel, linear.Read:
		op.Order = o.id
	case linear.List:
		op.Item = ""
	}
	return s.heard.Begin(op)
}

// answered records the answer to a shopper.
func (s *Sim) answered(h linear.Handle, err error, out linear.Outcome) {
	if err != nil {
		out = linear.Answer(err)
	}
	for _, it := range s.allItems() { // after that a reader need not find orders that were never placed
		if s.Clock.Now().After(it.End.Add(seckill.MaxUnplaced - seckill.SkewBound)) {
			return
		}
	}
	s.heard.End(h, s.tick(), out)
}

func shown(st shop.Status) linear.Outcome {
	if st.Order == "" {
		return linear.Outcome{Kind: linear.Missing}
	}
	return linear.Outcome{Kind: linear.Shown, Seen: []linear.Seen{{Order: st.Order, State: st.State}}}
}

func seen(o *seckill.Order) linear.Seen {
	return linear.Seen{Item: o.Item, Order: o.ID, State: o.State, Count: o.Count, Address: o.Address, Units: o.Units}
}

// open begins a trade; a second one only in plans in which shoppers do so.
func (s *Sim) open(order string) {
	if p := s.Provider.orders[order]; p != nil && len(p.trades) > 0 && (!s.plan.Faults[TwoTrades] ||
		len(p.trades) > 1) {
		return
	}
	_, err := s.Provider.Open(order)
	s.trace.say(s.Clock.Now(), "the cashier opens for %s (%v)", order, err)
}

// pay makes a shopper with a pay string open the cashier or pay; some never pay.
func (s *Sim) pay(a uint64) {
	if len(s.Provider.list) == 0 {
		return
	}
	id := s.Provider.list[pick(a, 8, len(s.Provider.list))]
	if closing := s.closing(); s.plan.Cashier && len(closing) > 0 && pick(a, 48, 3) > 0 {
		s.payClosing(closing[pick(a, 8, len(closing))], a)
		return
	}
	if s.plan.Cashier && pick(a, 50, 3) > 0 {
		s.open(id) // to be paid, perhaps, at the last moment
		return
	}
	p := s.Provider.orders[id]
	if int(id[5]*7+id[9]*3+id[20])%100 >= s.plan.Pays {
		return
	}
	if len(p.trades) == 0 || len(p.trades) == 1 && pick(a, 24, 2) == 0 && s.plan.Faults[TwoTrades] {
		s.open(id)
		return
	}
	late := !s.Clock.Now().Before(p.order.PayBy)
	if late && !s.plan.Faults[PayLate] {
		return
	}
	if s.Provider.Pay(id, p.trades[pick(a, 32, len(p.trades))].TradeNo) != nil {
		return
	}
	s.trace.say(s.Clock.Now(), "%s is paid", id)
	if late {
		s.fire(PayLate)
	}
	if len(s.Provider.captured(id)) > 1 {
		s.fire(TwoTrades)
	}
}

// closing lists the orders that are closing and could still be paid.
func (s *Sim) closing() (ids []string) {
	for _, id := range s.Provider.list {
		if o := s.truth.orders[id]; o != nil && o.state == seckill.Closing {
			ids = append(ids, id)
		}
	}
	return ids
}

// payClosing makes a shopper pay at the last moment; half the time the notification arrives at once.
func (s *Sim) payClosing(id string, a uint64) {
	p := s.Provider.orders[id]
	if len(p.trades) < 2 && pick(a, 50, 2) == 0 || len(p.trades) == 0 {
		s.open(id)
	}
	if len(p.trades) == 0 || s.Provider.Pay(id, p.trades[pick(a, 32, len(p.trades))].TradeNo) != nil {
		return
	}
	s.trace.say(s.Clock.Now(), "%s is paid while it is being closed", id)
	if len(s.Provider.captured(id)) > 1 {
		s.fire(TwoTrades)
	}
	if pick(a, 52, 2) == 0 {
		s.trace.say(s.Clock.Now(), "and the notification comes at once")
		s.Start(nil).Deliver()
	}
}

// notify delivers a notification; it stays until it was answered with success.
func (s *Sim) notify(t Act) {
	var free []url.Values
	for _, n := range s.notifications() {
		if !slices.ContainsFunc(s.processes, func(p *process) bool {
			return p.name == notificationName(n)
		}) || s.plan.Faults[NotificationTwice] {
			free = append(free, n)
		}
	}
	if len(free) == 0 {
		return
	}
	n := 0
	if s.plan.Faults[NotificationReorder] {
		if n = pick(t.A, 8, len(free)); n > 0 {
			s.fire(NotificationReorder)
		}
	}
	form := free[n]
	s.spawn(t.ID, t.Kind, notificationName(form), t.A, func(i *Instance) {
		if i.Notify.Notify(context.Background(), form) != nil {
			return
		}
		s.truth.answered(form)
		if s.plan.Faults[NotificationTwice] && s.faultsOn && pick(t.A, 40, 100) < s.plan.Rates[NotificationTwice] {
			s.fire(NotificationTwice)
			return
		}
		s.Provider.Notifications = slices.DeleteFunc(slices.Clone(s.notifications()), func(f url.Values) bool {
			return notificationName(f) == notificationName(form)
		})
	})
}

// lose withholds a notification until everything else has ended: the provider retries for a day.
func (s *Sim) lose(a uint64) {
	n := len(s.notifications())
	if n == 0 {
		return
	}
	k := pick(a, 8, n)
	order := s.notifications()[k].Get("order")
	s.trace.say(s.Clock.Now(), "a notification of %s is lost", order)
	s.Provider.Lost = append(s.Provider.Lost, s.notifications()[k])
	s.Provider.Notifications = slices.Delete(slices.Clone(s.notifications()), k, k+1)
	s.fire(NotificationLost)
}

func notificationName(f url.Values) string {
	return "notification of " + f.Get("order") + "/" + f.Get("id")
}

// forge delivers a notification that is not authentic, or not ours: it must be refused.
func (s *Sim) forge(t Act) {
	if len(s.Provider.list) == 0 {
		return
	}
	id := s.Provider.list[pick(t.A, 8, len(s.Provider.list))]
	p := s.Provider.orders[id]
	form := notificationOf(id, &seckill.Trade{State: seckill.TradePaid, TradeNo: "forged", Amount: p.order.Amount})
	switch pick(t.A, 24, 3) {
	case 0:
		form.Set("sign", "bad")
	case 1:
		form.Set("amount", (p.order.Amount - 1).Yuan())
	default:
		form.Set("order", seckill.KeyedOrderID("1001", "66", "nobody's"))
	}
	s.fire(NotificationForged)
	s.spawn(t.ID, t.Kind, "a forger sends a notification", t.A, func(i *Instance) {
		if i.Notify.Notify(context.Background(), form) == nil {
			s.truth.fail("I7 a forged notification of order %s is answered with success: %v", id, form)
		}
	})
}
