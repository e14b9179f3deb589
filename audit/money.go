package audit

import (
	"strings"

	"seckill/shared/adapter/ledger"
	"seckill/shared/seckill"
)

// addTrade takes in a trade of the fake gateway. Trades come before orders, so it is not yet known whose order it is.
func (s *sale) addTrade(d *decoder) {
	d.ours = true
	id := d.text("out_trade_no")
	t := &trade{no: strings.Clone(d.text("trade_no")), amount: d.number("amount"), captured: d.text("status") == "TRADE_SUCCESS", due: d.row["notify_state"] != nil}
	row := "gateway_trades " + id
	if s.trades[id] != nil {
		s.broken(i7, row, "stands there twice")
	}
	s.trades[strings.Clone(id)] = t
	d.done(i7, row, i6)
}

// addPayment takes in a payment row.
func (s *sale) addPayment(d *decoder) {
	id := d.text("order")
	i, other := s.orderOf(id)
	if other {
		return
	}
	d.ours = true
	p := payment{order: i, id: strings.Clone(id), no: strings.Clone(d.text("trade_no")), amount: d.number("amount"), due: d.row["refund_shard"] != nil && d.row["refund_at"] != nil}
	switch state := seckill.PaymentState(d.text("state")); state {
	case seckill.Captured:
		p.state = seckill.Captured
	case seckill.RefundDue:
		p.state = seckill.RefundDue
	case seckill.RefundDone:
		p.state = seckill.RefundDone
	default:
		d.fail("state", "captured, refund_due or refunded")
	}
	d.number("at")
	d.done(i6, p.row(), i7)
	s.payments = append(s.payments, p)
}

func (p *payment) row() string { return "payments " + p.id + "/" + p.no }

// addReturn takes in a return row.
func (s *sale) addReturn(d *decoder) {
	of, _ := d.row["item"].(string)
	id := d.text("order")
	i, other := s.orderOf(id)
	if of != s.id && i < 0 {
		return
	}
	d.ours = true
	row := "returns " + id
	r := returned{i, d.units("units")}
	who := d.text("user")
	d.done(i8, row, l2, l3)
	switch {
	case i < 0 && other, i >= 0 && of != s.id:
		s.broken(i8, row, "is of item %s, its order is not", of)
		return
	case i < 0:
		s.broken(i8, row, "names %s", s.nameOf(id))
		return
	case s.users[s.orders[i].user].id != who:
		s.broken(i8, row, "names user %s, its order is user %s's", who, s.users[s.orders[i].user].id)
	}
	s.returns = append(s.returns, r)
}

// judgeMoney: I6 and I7.
func (s *sale) judgeMoney() {
	known := s.whole[PartTrades]
	for _, g := range []int{i6, i7} {
		if s.use(g, ledger.TableOrders, ledger.TablePayments) {
			s.looked(g, len(s.payments), "payment rows")
		}
	}
	for i := range s.payments {
		s.judgePayment(&s.payments[i], known)
	}
	if !s.whole[ledger.TablePayments] {
		return
	}
	for i := range s.orders {
		s.judgeKept(&s.orders[i])
	}
	if known {
		s.judgeTrades()
		return
	}
	why := s.missing[PartTrades]
	if why == "" {
		why = "its trades were not read"
	}
	s.needs(i6, "the provider's bill, to know of money that has no payment row: %s", why)
	s.needs(i7, "the provider's bill, to know that it captured these payments: %s", why)
}

// judgePayment: a row is a trade that was captured for this order, over its amount.
func (s *sale) judgePayment(p *payment, known bool) {
	row := p.row()
	if known {
		switch t := s.trades[p.id]; {
		case t == nil:
			s.broken(i7, row, "is of a trade that the provider does not have")
		case t.no != p.no:
			s.broken(i7, row, "names trade %s, the provider's for this order is %s", p.no, t.no)
		case !t.captured:
			s.broken(i7, row, "is of a trade that nobody has paid")
		case t.amount != p.amount:
			s.broken(i7, row, "over %d fen, the provider captured %d", p.amount, t.amount)
		default:
			t.met = true
		}
	}
	if p.order < 0 {
		s.broken(i7, row, "names %s", s.nameOf(p.id))
		return
	}
	o := &s.orders[p.order]
	if p.amount != o.amount {
		s.broken(i7, row, "over %d fen, its order asks for %d", p.amount, o.amount)
	}
	switch p.state {
	case seckill.Captured:
		o.kept++
	case seckill.RefundDue:
		if o.back++; !p.due {
			s.broken(i6, row, "is due back and in no list of what is due: no sweep will find it")
		}
	case seckill.RefundDone:
		o.refunded++
	}
}

// judgeKept: money is kept once, by an order that is paid and holds its units; else it is due back, or went back.
func (s *sale) judgeKept(o *order) {
	row := "orders " + o.id
	switch {
	case keeps(o.state) && o.kept != 1:
		s.broken(i6, row, "is %s and keeps the money of %d trades", o.state, o.kept)
	case !keeps(o.state) && o.kept > 0:
		s.broken(i6, row, "is %s, yet the money of %d trades is kept", o.state, o.kept)
	case o.state == seckill.RefundOwed && o.back+o.refunded == 0:
		s.broken(i6, row, "is %s and no payment of it is", o.state)
	case o.state == seckill.Refunded && o.refunded == 0:
		s.broken(i6, row, "is %s and no payment of it is", o.state)
	}
	if o.kept > 0 && s.whole[ledger.TableUnits] && o.rows != o.count {
		s.broken(i6, row, "of %d keeps money and has %d unit rows", o.count, o.rows)
	}
}

// judgeTrades: what the provider captured is in the ledger.
func (s *sale) judgeTrades() {
	captured, coming := 0, 0
	for id, t := range s.trades {
		i, other := s.orderOf(id)
		if other || !t.captured {
			continue
		}
		captured++
		switch {
		case t.met:
		case t.due && i >= 0:
			coming++
		default:
			s.broken(i6, "gateway_trades "+id, "%d fen were captured for %s, and no payment row says so", t.amount, s.nameOf(id))
		}
	}
	s.looked(i6, captured, "captured trades")
	s.looked(i7, captured, "captured trades")
	if coming > 0 {
		s.needs(i6, "the notifies of %d captured trades, which are still to come", coming)
	}
}
