package sim

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/your-org/seckill/shared/seckill"
)

// Provider is a payment provider reduced to what matters: trades that exist only after a shopper opened the cashier,
// expire a little after their order's time_expire, and are paid or closed once. Notifications are authentic if
// sign=ok; they report a trade as paid or closed, unpaid or by its refund. It is not safe for concurrent use.
type Provider struct {
	Clock  seckill.Clock
	paid   func(order string)
	orders map[string]*providerOrder
	list   []string // their ids, oldest first
	refuse bool     // refuse the next close
	poor   bool     // refuse the next refund for lack of balance
	slow   bool     // make the next refund without saying so
	stuck  bool     // accept the next refund and do not make it
	wrong  []error  // calls that no step may make
	hands  int      // refunds made in the console
	book   []seckill.BillLine
	// Notifications are the undelivered forms; deliver one, then call Answered(i).
	Notifications []url.Values
	// Lost are the notifications that the provider sends again only after everything else has ended.
	Lost []url.Values
}

type providerOrder struct {
	order   seckill.Order // as passed to Prepare
	trades  []seckill.Trade
	back    map[string]bool        // refunded trades
	console map[string]seckill.Fen // by trade, what was refunded in the provider's console
	unsaid  map[string]bool        // by trade: a notification told of a refund in the console, and not its sum
	charged map[string]bool        // by trade: all that was left went back by a chargeback, and the trade stays paid
	refunds map[string]bool        // by id: made
	askedBy map[string]string      // by trade, the id with which its refund was first requested
	missing bool                   // a close was answered that there is no trade
	kept    bool                   // one trade was paid when another was closed
}

// NewProvider returns a provider without trades; it calls paid for every order that is paid.
func NewProvider(clock seckill.Clock, paid func(order string)) *Provider {
	return &Provider{Clock: clock, paid: paid, orders: map[string]*providerOrder{}}
}

// Prepare implements seckill.Payments.
func (p *Provider) Prepare(o seckill.Order) (string, error) {
	if p.orders[o.ID] == nil {
		p.orders[o.ID] = &providerOrder{order: o, back: map[string]bool{}, refunds: map[string]bool{},
			askedBy: map[string]string{}, console: map[string]seckill.Fen{}, unsaid: map[string]bool{},
			charged: map[string]bool{}}
		p.list = append(p.list, o.ID)
	}
	return "pay=" + o.ID, nil
}

// Open opens the cashier for the shopper: the order has a new, waiting trade. It returns an error after the order's
// hold.
func (p *Provider) Open(order string) (tradeNo string, err error) {
	o := p.orders[order]
	if o == nil || !p.Clock.Now().Before(o.order.PayBy) {
		return "", fmt.Errorf("order %s cannot be opened", order)
	}
	no := order[1:11] + strconv.Itoa(len(o.trades))
	o.trades = append(o.trades, seckill.Trade{State: seckill.TradeWaiting, TradeNo: no, Amount: o.order.Amount})
	return no, nil
}

// Pay pays an open trade for the shopper; a notification is then due. It returns an error if the trade is closed or
// expired.
func (p *Provider) Pay(order, tradeNo string) error {
	o := p.orders[order]
	if o == nil {
		return fmt.Errorf("no order %s", order)
	}
	p.age(o)
	for i := range o.trades {
		if t := &o.trades[i]; t.TradeNo == tradeNo && t.State == seckill.TradeWaiting {
			t.State = seckill.TradePaid
			p.paid(order)
			p.book = append(p.book, seckill.BillLine{Order: order, TradeNo: tradeNo, Amount: t.Amount,
				At: p.Clock.Now()})
			p.Notifications = append(p.Notifications, notificationOf(order, t))
			return nil
		}
	}
	return fmt.Errorf("trade %s of order %s cannot be paid", tradeNo, order)
}

// notificationOf returns the authentic notification of a paid or closed trade. Each has its own id.
func notificationOf(order string, t *seckill.Trade) url.Values {
	id := t.TradeNo
	if t.State == seckill.TradeClosed {
		id += "/closed"
	}
	return url.Values{"back": {"0"}, "sign": {"ok"}, "id": {id}, "order": {order}, "trade_no": {t.TradeNo},
		"amount": {t.Amount.Yuan()}, "status": {string(t.State)}}
}

// closes ends an unpaid trade, with a notification.
func (p *Provider) closes(order string, t *seckill.Trade) {
	t.State = seckill.TradeClosed
	p.Notifications = append(p.Notifications, notificationOf(order, t))
}

// tells sends the notification of a refund: sum is what went back of the trade by now. The trade itself stays paid in
// the list.
func (p *Provider) tells(order string, t seckill.Trade, id string, sum seckill.Fen) {
	o := p.orders[order]
	if sum == t.Amount && !o.charged[t.TradeNo] {
		t.State = seckill.TradeClosed
	}
	form := notificationOf(order, &t)
	form.Set("back", sum.Yuan())
	if o.unsaid[t.TradeNo] {
		form.Set("back", "0")
		form.Set("unsaid", "yes")
	}
	form.Set("id", t.TradeNo+"/"+id)
	p.Notifications = append(p.Notifications, form)
}

// Console refunds a part of a paid trade, or all that is left, as a person does in the provider's console: told, unsaid
// or charged back.
func (p *Provider) Console(order, tradeNo string, amount seckill.Fen, how string) error {
	o := p.orders[order]
	t, ok := p.trade(order, tradeNo)
	if !ok || t.State != seckill.TradePaid || o.back[tradeNo] || amount < 1 || amount > t.Amount-o.console[tradeNo] {
		return fmt.Errorf("trade %s of order %s cannot be refunded", tradeNo, order)
	}
	p.hands++
	id := "console" + strconv.Itoa(p.hands)
	o.unsaid[tradeNo], o.charged[tradeNo] = how == unsaid, how == charged
	o.console[tradeNo] += amount
	maps.DeleteFunc(o.refunds, func(_ string, made bool) bool { return !made }) // it gives up what it cannot make now
	o.back[tradeNo] = o.console[tradeNo] == t.Amount
	line := seckill.BillLine{Refund: true, Order: order, TradeNo: tradeNo, RefundID: id, Amount: amount,
		At: p.Clock.Now()}
	if how == charged {
		line.RefundID = ""
	}
	p.book = append(p.book, line)
	p.tells(order, t, id, o.console[tradeNo])
	return nil
}

// The ways in which money goes back outside the shop.
const (
	told    = "refunded in the console"
	unsaid  = "refunded in the console, and the sum is not told"
	charged = "charged back"
)

// passed reports whether all of a trade's money went back in the console, and the trade is closed.
func (p *Provider) passed(order string, t seckill.Trade) bool {
	return p.orders[order].console[t.TradeNo] == t.Amount && !p.orders[order].charged[t.TradeNo]
}

// late is how long after its order's time_expire a trade that was opened in time may still be paid: longer than the
// grace, so that expire finds it open.
const late = 2 * seckill.Grace

// age closes trades that were not paid in time.
func (p *Provider) age(o *providerOrder) {
	if p.Clock.Now().Before(o.order.PayBy.Add(late)) {
		return
	}
	for i := range o.trades {
		if o.trades[i].State == seckill.TradeWaiting {
			p.closes(o.order.ID, &o.trades[i])
		}
	}
}

// Query implements seckill.Payments.
func (p *Provider) Query(_ context.Context, order string) (seckill.Trade, error) {
	o := p.orders[order]
	if o == nil || len(o.trades) == 0 {
		return seckill.Trade{State: seckill.TradeUnknown}, nil
	}
	p.age(o)
	best := o.trades[len(o.trades)-1]
	if p.closed(order, best.TradeNo) {
		best.State = seckill.TradeClosed
	}
	for _, t := range o.trades {
		if p.closed(order, t.TradeNo) {
			continue // closed by its refund
		}
		if t.State == seckill.TradePaid {
			return t, nil
		}
		if t.State == seckill.TradeWaiting {
			best = t
		}
	}
	return best, nil
}

// Trade implements seckill.Trades.
func (p *Provider) Trade(_ context.Context, order, tradeNo string) (seckill.Trade, error) {
	t, ok := p.trade(order, tradeNo)
	if !ok {
		return seckill.Trade{State: seckill.TradeUnknown}, nil
	}
	if p.closed(order, tradeNo) {
		t.State = seckill.TradeClosed
	}
	return t, nil
}

// Close implements seckill.Payments.
func (p *Provider) Close(_ context.Context, order string) (seckill.CloseResult, error) {
	o := p.orders[order]
	if o == nil {
		return seckill.CloseMissing, nil
	}
	if len(o.trades) == 0 {
		o.missing = true
		return seckill.CloseMissing, nil
	}
	if p.refuse {
		p.refuse = false
		return seckill.CloseRefused, nil
	}
	p.age(o)
	answer := seckill.CloseRefused
	for i := range o.trades {
		if o.trades[i].State == seckill.TradeWaiting {
			p.closes(order, &o.trades[i])
			answer = seckill.CloseDone
		}
	}
	o.kept = o.kept || answer == seckill.CloseDone && p.keeps(order)
	return answer, nil
}

// Verify implements seckill.Payments.
func (p *Provider) Verify(parameters map[string][]string) (seckill.Notification, error) {
	form := url.Values(parameters)
	amount, err := seckill.ParseYuan(form.Get("amount"))
	back, bad := seckill.ParseYuan(form.Get("back"))
	if form.Get("sign") != "ok" || err != nil || bad != nil {
		return seckill.Notification{}, seckill.Refuse(seckill.CodeForged)
	}
	return seckill.Notification{ID: form.Get("id"), Order: form.Get("order"), TradeNo: form.Get("trade_no"),
		Amount: amount, Back: back, Raw: form.Encode(),
		Paid:   form.Get("status") == string(seckill.TradePaid) || form.Get("unsaid") != "",
		Unsaid: form.Get("unsaid") != "" || back == 0 && form.Get("status") == string(seckill.TradeClosed)}, nil
}

// trade returns the provider's state of one trade.
func (p *Provider) trade(order, no string) (seckill.Trade, bool) {
	if o := p.orders[order]; o != nil {
		for _, t := range o.trades {
			if t.TradeNo == no {
				return t, true
			}
		}
	}
	return seckill.Trade{}, false
}

// captured lists the paid trades of an order.
func (p *Provider) captured(order string) (nos []string) {
	if o := p.orders[order]; o != nil {
		for _, t := range o.trades {
			if t.State == seckill.TradePaid {
				nos = append(nos, t.TradeNo)
			}
		}
	}
	return nos
}

// keeps reports whether a trade of the order is paid, and did not go back whole in the console.
func (p *Provider) keeps(order string) bool {
	return slices.ContainsFunc(p.captured(order), func(no string) bool {
		t, _ := p.trade(order, no)
		return !p.passed(order, t)
	})
}

// closed reports whether a paid trade is closed, because all of it went back other than by a chargeback.
func (p *Provider) closed(order, tradeNo string) bool {
	return p.wentBack(order, tradeNo) && !p.orders[order].charged[tradeNo]
}

func (p *Provider) wentBack(order, tradeNo string) bool {
	o := p.orders[order]
	return o != nil && o.back[tradeNo]
}
