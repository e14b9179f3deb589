package audit

import (
	"encoding/json"
	"strings"

	"github.com/your-org/seckill/record/dump"
	"github.com/your-org/seckill/shared/adapter/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// addTrade takes in a trade of the fake gateway. Trades come before orders, so it is not yet known whose order it is.
// Rows whose key begins with "#" only find trades.
func (s *sale) addTrade(d *decoder) {
	key := d.text("out_trade_no")
	if strings.HasPrefix(key, "#") {
		return
	}
	d.ours = true
	id, _, _ := strings.Cut(key, "#") // an order's second trade has "#2" behind
	no := d.text("trade_no")
	row := "gateway_trades " + key
	t := trade{order: strings.Clone(id), no: hashOf(no), amount: d.number("amount"), captured: d.row["paid"] != nil,
		due: d.row["notify_state"] != nil, next: -1}
	status := d.text("status")
	switch {
	case t.captured:
		d.number("paid")
	case status == "TRADE_SUCCESS" || status == "TRADE_FINISHED":
		d.fail("paid", "there, though the trade is "+status)
	}
	t.refunded = d.refunds("refunds")
	if s.tradeBy(id, no) != nil {
		s.broken(i7, row, "stands there twice")
		return
	}
	if first, ok := s.tradeOf[id]; ok {
		t.order, t.next = s.trades[first].order, s.trades[first].next
		s.trades[first].next = int32(len(s.trades))
	} else {
		s.tradeOf[t.order] = int32(len(s.trades))
	}
	s.trades = append(s.trades, t)
	d.done(i7, row, i6)
}

// refunds adds up what went back of a trade: a list of JSON.
func (d *decoder) refunds(attr string) (sum int64) {
	list, ok := d.row[attr].([]string)
	if !ok && d.row[attr] != nil {
		d.fail(attr, "a list of texts")
	}
	for _, entry := range list {
		var back struct {
			Amount int64 `json:"amount"`
		}
		if json.Unmarshal([]byte(entry), &back) != nil || back.Amount < 1 {
			d.fail(attr, "a list of refunds, each with an amount")
		}
		sum += back.Amount
	}
	return sum
}

// trade gives an order's first trade, nil when none is known.
func (s *sale) trade(order string) *trade {
	if i, ok := s.tradeOf[order]; ok {
		return &s.trades[i]
	}
	return nil
}

// tradeBy gives the order's trade with that number, nil when it has no such trade.
func (s *sale) tradeBy(order, no string) *trade {
	hash := hashOf(no)
	for t := s.trade(order); t != nil; t = &s.trades[t.next] {
		if t.no == hash {
			return t
		}
		if t.next < 0 {
			break
		}
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
	state := seckill.PaymentState(d.text("state"))
	switch state {
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
		d.number("back")
	default:
		d.fail("state", "captured, refund_due or refunded")
	}
	d.number("at")
	d.done(i6, row, i7)
	if s.whole[dump.PartTrades] {
		switch t := s.tradeBy(id, no); {
		case t == nil && s.trade(id) != nil:
			s.broken(i7, row, "is no trade that the provider has for this order")
		case t == nil:
			s.broken(i7, row, "is of a trade that the provider does not have")
		case !t.captured:
			s.broken(i7, row, "is of a trade that nobody has paid")
		case t.amount != amount:
			s.broken(i7, row, "over %d fen, the provider captured %d", amount, t.amount)
		default:
			t.met = true
			s.checkBack(t, state, row)
		}
	}
	if i < 0 {
		s.broken(i7, row, "names %s", s.nameOf(id))
	} else if amount != into.amount {
		s.broken(i7, row, "over %d fen, its order asks for %d", amount, into.amount)
	}
}

// checkBack holds a payment row to what the provider gave back of its trade.
func (s *sale) checkBack(t *trade, state seckill.PaymentState, row string) {
	switch {
	case state == seckill.RefundDone && t.refunded < t.amount:
		s.broken(i6, row, "is refunded, and of %d fen the provider gave %d back", t.amount, t.refunded)
	case state == seckill.Captured && t.refunded > 0:
		s.broken(i6, row, "is kept, and of %d fen the provider gave %d back", t.amount, t.refunded)
	case state == seckill.RefundDue && t.refunded >= t.amount:
		s.money.coming++
	case state == seckill.RefundDue && t.refunded > 0:
		s.needs(i6, "a person: %s is due back, and of %d fen the provider gave %d back", row, t.amount, t.refunded)
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

// checkMoney: I6 and I7.
func (s *sale) checkMoney() {
	known := s.whole[dump.PartTrades]
	for _, g := range []int{i6, i7} {
		if s.use(g, ledger.TableOrders, ledger.TablePayments) {
			s.looked(g, s.money.count, "payment rows")
		}
	}
	if !s.whole[ledger.TablePayments] {
		return
	}
	for i := range s.orders {
		s.checkKept(s.orders[i])
	}
	if known {
		s.checkTrades()
		return
	}
	why := s.missing[dump.PartTrades]
	if why == "" {
		why = "its trades were not read"
	}
	s.needs(i6, "the provider's bill, to know of money that has no payment row: %s", why)
	s.needs(i7, "the provider's bill, to know that it captured these payments: %s", why)
}

// checkKept: money is kept once, by an order that is paid and holds its units; else it is due back, or went back.
func (s *sale) checkKept(o *order) {
	row := "orders " + o.id
	switch {
	case keeps(o.state) && o.kept != 1:
		s.broken(i6, row, "is %s and keeps the money of %d trades", o.state, o.kept)
	case !keeps(o.state) && o.kept > 0:
		s.broken(i6, row, "is %s, yet the money of %d trades is kept", o.state, o.kept)
	case o.state == seckill.RefundOwed && o.back == 0:
		s.broken(i6, row, "is %s and no payment of it is", o.state)
	case o.state == seckill.Refunded && o.refunded == 0:
		s.broken(i6, row, "is %s and no payment of it is", o.state)
	}
	if o.kept > 0 && s.whole[ledger.TableUnits] && o.rows != o.count {
		s.broken(i6, row, "of %d keeps money and has %d unit rows", o.count, o.rows)
	}
}

// checkTrades: what the provider captured is in the ledger.
func (s *sale) checkTrades() {
	captured, coming, m := 0, 0, &s.money
	for n := range s.trades {
		t := &s.trades[n]
		i, other := s.orderOf(t.order)
		if other {
			continue
		}
		if !t.captured {
			if t.refunded > 0 {
				s.broken(i6, "gateway_trades "+t.order, "nothing was captured, and %d fen went back", t.refunded)
			}
			continue
		}
		captured++
		m.taken += t.amount
		m.givenBack += t.refunded
		if t.refunded > t.amount {
			s.broken(i6, "gateway_trades "+t.order, "%d fen were captured, and %d went back", t.amount, t.refunded)
		}
		switch {
		case t.met:
		// what a notification does not bring, the query before closing does
		case i >= 0 && (t.due || open(s.orders[i].state)):
			coming++
		default:
			s.broken(i6, "gateway_trades "+t.order, "%d fen were captured for %s, and no payment row says so", t.amount,
				s.nameOf(t.order))
		}
	}
	s.looked(i6, captured, "captured trades")
	s.looked(i7, captured, "captured trades")
	if m.coming > 0 {
		s.needs(i6, "the record of %d refunds, which the provider made and the shop still has as due", m.coming)
	}
	if coming > 0 {
		s.needs(i6, "the payment rows of %d captured trades, of which the shop is still to hear", coming)
	}
}
