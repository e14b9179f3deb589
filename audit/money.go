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
	t := trade{order: strings.Clone(id), no: hashOf(d.text("trade_no")), amount: d.number("amount"), captured: d.text("status") == "TRADE_SUCCESS", due: d.row["notify_state"] != nil}
	row := "gateway_trades " + id
	if _, twice := s.tradeOf[id]; twice {
		s.broken(i7, row, "stands there twice")
	}
	s.trades = append(s.trades, t)
	s.tradeOf[t.order] = int32(len(s.trades) - 1)
	d.done(i7, row, i6)
}

// trade gives an order's trade, nil when none is known.
func (s *sale) trade(order string) *trade {
	if i, ok := s.tradeOf[order]; ok {
		return &s.trades[i]
	}
	return nil
}

// addPayment takes in a payment row and judges it: it is a trade that was captured for this order, over its amount.
func (s *sale) addPayment(d *decoder) {
	id := d.text("order")
	i, other := s.orderOf(id)
	if other {
		return
	}
	d.ours = true
	no, amount, m := d.text("trade_no"), d.number("amount"), &s.money
	row := "payments " + id + "/" + no
	var o order // of none that is known
	into := &o
	if i >= 0 {
		into = s.orders[i]
	}
	m.count++
	m.captured += amount
	switch seckill.PaymentState(d.text("state")) {
	case seckill.Captured:
		into.kept++
		m.kept += amount
	case seckill.RefundDue:
		into.back++
		m.back += amount
		if d.row["refund_shard"] == nil || d.row["refund_at"] == nil {
			s.broken(i6, row, "is due back and in no list of what is due: no sweep will find it")
		}
	case seckill.RefundDone:
		into.refunded++
		m.refunded += amount
	default:
		d.fail("state", "captured, refund_due or refunded")
	}
	d.number("at")
	d.done(i6, row, i7)
	if s.whole[PartTrades] {
		switch t := s.trade(id); {
		case t == nil:
			s.broken(i7, row, "is of a trade that the provider does not have")
		case t.no != hashOf(no):
			s.broken(i7, row, "is not the trade that the provider has for this order")
		case !t.captured:
			s.broken(i7, row, "is of a trade that nobody has paid")
		case t.amount != amount:
			s.broken(i7, row, "over %d fen, the provider captured %d", amount, t.amount)
		default:
			t.met = true
		}
	}
	if i < 0 {
		s.broken(i7, row, "names %s", s.nameOf(id))
	} else if amount != into.amount {
		s.broken(i7, row, "over %d fen, its order asks for %d", amount, into.amount)
	}
}

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
			s.looked(g, s.money.count, "payment rows")
		}
	}
	if !s.whole[ledger.TablePayments] {
		return
	}
	for i := range s.orders {
		s.judgeKept(s.orders[i])
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
	for n := range s.trades {
		t := &s.trades[n]
		i, other := s.orderOf(t.order)
		if other || !t.captured {
			continue
		}
		captured++
		switch {
		case t.met:
		case i >= 0 && (t.due || open(s.orders[i].state)): // what a notify does not bring, the query before closing does
			coming++
		default:
			s.broken(i6, "gateway_trades "+t.order, "%d fen were captured for %s, and no payment row says so", t.amount, s.nameOf(t.order))
		}
	}
	s.looked(i6, captured, "captured trades")
	s.looked(i7, captured, "captured trades")
	if coming > 0 {
		s.needs(i6, "the payment rows of %d captured trades, of which the shop is still to hear", coming)
	}
}
