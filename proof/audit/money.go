package audit

import (
	"encoding/json"
	"strings"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// addTrade adds a trade of the fake gateway. Trades are read before orders, so their orders are not known yet. Rows
// whose key begins with "#" are an index of the trades.
func (s *sale) addTrade(d *decoder) {
	key := d.text("out_trade_no")
	if strings.HasPrefix(key, "#") {
		return
	}
	d.ours = true
	id, _, _ := strings.Cut(key, "#") // an order's second trade ends with "#2"
	no := d.text("trade_no")
	row := "gateway_trades " + key
	t := &trade{order: id, no: no, amount: d.number("amount"), captured: d.row["paid"] != nil,
		due: d.row["notify_state"] != nil}
	status := d.text("status")
	switch {
	case t.captured:
		d.number("paid")
	case status == "TRADE_SUCCESS" || status == "TRADE_FINISHED":
		d.fail("paid", "present, though the trade is "+status)
	}
	t.refunded = d.refunds("refunds")
	if s.tradeBy(id, no) != nil {
		s.broken(i7, row, "exists twice")
		return
	}
	s.tradesOf[id] = append(s.tradesOf[id], t)
	s.trades = append(s.trades, t)
	d.done(i7, row, i6)
}

// refunds adds up a trade's refunds, a list of JSON texts.
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

// tradeBy returns the order's trade with a number, or nil.
func (s *sale) tradeBy(order, no string) *trade {
	for _, t := range s.tradesOf[order] {
		if t.no == no {
			return t
		}
	}
	return nil
}

// addPayment adds a payment row and checks that it is a captured trade of its order, with the order's amount.
func (s *sale) addPayment(d *decoder) {
	id := d.text("order")
	if s.foreign[id] {
		return
	}
	d.ours = true
	no, amount, m := d.text("trade_no"), d.number("amount"), &s.money
	outside, _ := d.row["outside"].(int64)
	row := "payments " + id + "/" + no
	o := s.byID[id]
	into := o
	if o == nil {
		into = &order{} // stands in for an unknown order
	}
	m.count++
	m.captured += amount
	state := seckill.PaymentState(d.text("state"))
	switch state {
	case seckill.Captured:
		into.kept++
		into.outside = outside
		m.kept += amount
	case seckill.RefundDue:
		into.back++
		m.back += amount
		if d.row["refund_shard"] == nil || d.row["refund_at"] == nil {
			s.broken(i6, row, "is due back but not in the index of due refunds: no sweep will find it")
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
	if outside < 0 || outside > amount {
		s.broken(i6, row, "is over %d fen, of which %d went back outside the shop", amount, outside)
	}
	if s.whole[record.PartTrades] {
		switch t := s.tradeBy(id, no); {
		case t == nil && s.tradesOf[id] != nil:
			s.broken(i7, row, "names a trade that the provider does not have for this order")
		case t == nil:
			s.broken(i7, row, "names a trade that the provider does not have")
		case !t.captured:
			s.broken(i7, row, "names a trade that was never paid")
		case t.amount != amount:
			s.broken(i7, row, "is over %d fen, but the provider captured %d", amount, t.amount)
		default:
			t.met = true
			s.checkBack(t, state, outside, row)
		}
	}
	if o == nil {
		s.broken(i7, row, "names %s", s.nameOf(id))
	} else if amount != into.amount {
		s.broken(i7, row, "is over %d fen, but its order asks for %d", amount, into.amount)
	}
}

// checkBack compares a payment row with the provider's refunds of its trade.
func (s *sale) checkBack(t *trade, state seckill.PaymentState, outside int64, row string) {
	switch {
	case outside > t.refunded:
		s.broken(i6, row, "has %d fen that went back outside the shop, but the provider refunded %d", outside,
			t.refunded)
	case state == seckill.RefundDone && t.refunded < t.amount:
		s.broken(i6, row, "is refunded, but of %d fen the provider refunded %d", t.amount, t.refunded)
	case state == seckill.Captured && t.refunded > outside && !t.due:
		s.broken(i6, row, "is kept, but of %d fen the provider refunded %d", t.amount, t.refunded)
	case state == seckill.Captured && (t.refunded > outside || t.refunded == t.amount),
		state == seckill.RefundDue && t.refunded >= t.amount:
		s.money.coming++
	case state == seckill.RefundDue && t.refunded > outside:
		s.needs(i6, "an operator: %s is due back, but of %d fen the provider refunded %d", row, t.amount, t.refunded)
	}
}

func (s *sale) addReturn(d *decoder) {
	of, _ := d.row["item"].(string)
	id := d.text("order")
	o := s.byID[id]
	if of != s.id && o == nil {
		return
	}
	d.ours = true
	row := "returns " + id
	r := returned{o, d.units("units")}
	who := d.text("user")
	d.done(i8, row, l2, l3)
	switch {
	case s.foreign[id], o != nil && of != s.id:
		s.broken(i8, row, "is of item %s, but its order is not", of)
		return
	case o == nil:
		s.broken(i8, row, "names %s", s.nameOf(id))
		return
	case o.user.id != who:
		s.broken(i8, row, "names user %s, but its order is user %s's", who, o.user.id)
	}
	s.returns = append(s.returns, r)
}

// checkMoney checks I6 and I7.
func (s *sale) checkMoney() {
	known := s.whole[record.PartTrades]
	for _, g := range []int{i6, i7} {
		if s.use(g, ledger.TableOrders, ledger.TablePayments) {
			s.looked(g, s.money.count, "payment rows")
		}
	}
	if !s.whole[ledger.TablePayments] {
		return
	}
	for _, o := range s.orders {
		s.checkKept(o)
	}
	if known {
		s.checkTrades()
		return
	}
	why := s.missing[record.PartTrades]
	if why == "" {
		why = "trades were not read"
	}
	s.needs(i6, "the provider's bill, to find money without a payment row (seckill reconcile): %s", why)
	s.needs(i7, "the provider's bill, to confirm these payments (seckill reconcile): %s", why)
}

// checkKept checks that a paid order keeps the money of one trade and holds its units, and that other orders keep no
// money.
func (s *sale) checkKept(o *order) {
	row := "orders " + o.id
	switch {
	case keeps(o.state) && o.kept != 1:
		s.broken(i6, row, "is %s but keeps the money of %d trades", o.state, o.kept)
	case !keeps(o.state) && o.kept > 0:
		s.broken(i6, row, "is %s but keeps the money of %d trades", o.state, o.kept)
	case o.state == seckill.RefundOwed && o.back == 0:
		s.broken(i6, row, "is %s, but none of its payments is", o.state)
	case o.state == seckill.Refunded && o.refunded == 0:
		s.broken(i6, row, "is %s, but none of its payments is", o.state)
	case o.kept == 1 && o.wentBack != o.outside:
		s.broken(i6, row, "has %d fen that went back outside the shop, its payment %d", o.wentBack, o.outside)
	case o.undecided && (o.outside == 0 || o.state != seckill.Paid && o.state != seckill.Confirmed):
		s.broken(i6, row, "is %s, of %d fen %d went back, and it waits for somebody to decide about that", o.state,
			o.amount, o.outside)
	}
	if o.kept > 0 && s.whole[ledger.TableUnits] && o.rows != o.count {
		s.broken(i6, row, "of %d units keeps money but has %d unit rows", o.count, o.rows)
	}
}

// checkTrades checks that the ledger has what the provider captured.
func (s *sale) checkTrades() {
	captured, coming, m := 0, 0, &s.money
	for _, t := range s.trades {
		if s.foreign[t.order] {
			continue
		}
		o := s.byID[t.order]
		if !t.captured {
			if t.refunded > 0 {
				s.broken(i6, "gateway_trades "+t.order, "was not captured, but %d fen were refunded", t.refunded)
			}
			continue
		}
		captured++
		m.taken += t.amount
		m.givenBack += t.refunded
		if t.refunded > t.amount {
			s.broken(i6, "gateway_trades "+t.order, "was captured over %d fen, but %d were refunded", t.amount,
				t.refunded)
		}
		switch {
		case t.met:
		// the notification, or the query before closing, will record it
		case o != nil && (t.due || open(o.state)):
			coming++
		default:
			s.broken(i6, "gateway_trades "+t.order, "was captured over %d fen for %s, but has no payment row", t.amount,
				s.nameOf(t.order))
		}
	}
	s.looked(i6, captured, "captured trades")
	s.looked(i7, captured, "captured trades")
	if m.coming > 0 {
		s.needs(i6, "the record of %d refunds that the provider made but the ledger still has as due", m.coming)
	}
	if coming > 0 {
		s.needs(i6, "the payment rows of %d captured trades that the shop has not recorded yet", coming)
	}
}
