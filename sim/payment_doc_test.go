package sim

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"seckill/shared/adapter/ledger"
	"seckill/shared/seckill"
)

var updatePayment = flag.Bool("update-payment", false, "write the table of docs/PAYMENT.md")

// answers is a provider that says what it is told to, and counts what it was asked.
type answers struct {
	query   []seckill.TradeState // one after another, the last for ever; "" gives no answer
	close   seckill.CloseResult  // "" gives no answer
	refund  seckill.RefundState  // likewise
	status  seckill.RefundState
	amount  seckill.Fen
	queries int
	asked   int
}

var errSilent = errors.New("no answer")

func (a *answers) Prepare(seckill.Order) (string, error) { return "pay", nil }

func (a *answers) Query(context.Context, string) (seckill.Trade, error) {
	s := a.query[min(a.queries, len(a.query)-1)]
	a.queries++
	a.asked++
	if s == "" {
		return seckill.Trade{}, errSilent
	}
	return seckill.Trade{State: s, TradeNo: "t1", Amount: a.amount}, nil
}

func (a *answers) Close(context.Context, string) (seckill.CloseResult, error) {
	a.asked++
	if a.close == "" {
		return "", errSilent
	}
	return a.close, nil
}

func (a *answers) Refund(context.Context, seckill.Refund) (seckill.RefundAnswer, error) {
	a.asked++
	if a.refund == "" {
		return seckill.RefundAnswer{}, errSilent
	}
	if a.refund == seckill.RefundRefused {
		return seckill.RefundAnswer{State: a.refund, Code: "BALANCE"}, nil
	}
	return seckill.RefundAnswer{State: a.refund}, nil
}

func (a *answers) RefundStatus(context.Context, seckill.Refund) (seckill.RefundAnswer, error) {
	a.asked++
	return seckill.RefundAnswer{State: a.status}, nil
}

// Trade says of every trade what the first query says.
func (a *answers) Trade(_ context.Context, _, no string) (seckill.Trade, error) {
	if a.query[0] == "" {
		return seckill.Trade{}, errSilent
	}
	return seckill.Trade{State: a.query[0], TradeNo: no, Amount: a.amount}, nil
}

// Verify takes a form for authentic when it says so itself.
func (a *answers) Verify(form url.Values) (seckill.Notice, error) {
	if form.Get("sign") != "ok" {
		return seckill.Notice{}, seckill.Refuse(seckill.CodeForged)
	}
	amount, err := seckill.ParseYuan(form.Get("amount"))
	return seckill.Notice{ID: "n", Order: form.Get("order"), TradeNo: form.Get("trade_no"), Amount: amount, Paid: form.Get("paid") == "yes"}, err
}

// docStates are the states that an order is brought into before something happens. One state is several, by note, where more than it decides.
var docStates = []struct {
	state   seckill.State
	note    string
	prepare func(*World, *Instance) error
}{
	{seckill.Queued, "", steps(install, bought("1", 1, "k"))},
	{seckill.PendingPayment, "", placed("1", 1)},
	{seckill.Closing, "unpaid", steps(placed("1", 1), closing("1", seckill.Expired))},
	{seckill.Closing, "cancelled", steps(placed("1", 1), closing("1", seckill.Cancelled))},
	{seckill.Paid, "", inState(seckill.Paid)},
	{seckill.Confirmed, "", inState(seckill.Confirmed)},
	{seckill.Shipped, "", inState(seckill.Shipped)},
	{seckill.Received, "", inState(seckill.Received)},
	{seckill.Completed, "", inState(seckill.Completed)},
	{seckill.Expired, "", steps(placed("1", 1), due, expired)},
	{seckill.Cancelled, "", steps(placed("1", 1), cancelled("1"), expired)},
	{seckill.Rejected, "", steps(install, bought("1", 1, "k"), stop, next)},
	{seckill.RefundOwed, "", lateTrade},
	{seckill.Refunded, "", steps(lateTrade, event{provider: answers{refund: seckill.RefundMade}}.swept)},
}

// lateTrade is an order that was cancelled, and paid by trade t1 all the same.
func lateTrade(w *World, i *Instance) error {
	return steps(placed("1", 1), cancelled("1"), expired, event{}.notice("t1", 8888, true))(w, i)
}

// inState pays an order by trade t1 and moves it on: what the back office will do has no step yet.
func inState(to seckill.State) func(*World, *Instance) error {
	return steps(placed("1", 1), event{}.notice("t1", 8888, true), func(w *World, _ *Instance) error {
		return w.Rows.Transact(ctx, []ledger.Write{{Key: ledger.Key{Table: ledger.TableOrders, PK: w.id("1")}, Op: ledger.OpUpdate, Set: ledger.Row{"state": string(to)}}})
	})
}

// event is one thing that happens to an order, with what the provider answers.
type event struct {
	name     string
	provider answers
	happen   func(event) func(*World, *Instance) error
}

func (e event) on(i *Instance) *answers {
	a := e.provider
	a.amount = 8888
	if len(a.query) == 0 {
		a.query = []seckill.TradeState{""}
	}
	i.Notify.Verifier, i.Expire.Payments, i.Refund.Refunds, i.Refund.Trades = &a, &a, &a, &a
	return &a
}

func (e event) notice(trade string, amount seckill.Fen, paid bool) func(*World, *Instance) error {
	return func(w *World, i *Instance) error {
		e.on(i)
		form := url.Values{"sign": {"ok"}, "order": {w.id("1")}, "trade_no": {trade}, "amount": {amount.Yuan()}}
		if paid {
			form.Set("paid", "yes")
		}
		return i.Notify.Notify(ctx, form)
	}
}

func (e event) closed(w *World, i *Instance) error {
	e.on(i)
	w.Clock.Advance(Hold + seckill.Grace)
	m := seckill.Message{Kind: seckill.MessageClose, Order: w.id("1")}
	return i.Expire.Handle(ctx, seckill.Delivery{Body: m.Encode(), Receives: 1})
}

func (e event) swept(w *World, i *Instance) error {
	w.Clock.Advance(2 * time.Second)
	a := e.on(i)
	err := i.Refund.Sweep(ctx)
	if a.asked == 0 {
		return errNothingDue
	}
	return err
}

func (e event) learnt(w *World, i *Instance) error {
	e.on(i)
	_, err := i.Refund.Learn(ctx, w.id("1"), "t2", "ann", "on the bill")
	return err
}

var errNothingDue = errors.New("nothing is due")

var docEvents = []event{
	{name: "notify: paid", happen: func(e event) func(*World, *Instance) error { return e.notice("t1", 8888, true) }},
	{name: "notify: paid, delivered twice", happen: func(e event) func(*World, *Instance) error {
		return steps(e.notice("t1", 8888, true), e.notice("t1", 8888, true))
	}},
	{name: "notify: paid by a second trade", happen: func(e event) func(*World, *Instance) error { return e.notice("t2", 8888, true) }},
	{name: "notify: another amount", happen: func(e event) func(*World, *Instance) error { return e.notice("t1", 1, true) }},
	{name: "notify: the trade waits, or is closed", happen: func(e event) func(*World, *Instance) error { return e.notice("t1", 8888, false) }},
	{name: "notify: forged", happen: func(e event) func(*World, *Instance) error {
		return func(w *World, i *Instance) error {
			e.on(i)
			return i.Notify.Notify(ctx, url.Values{"order": {w.id("1")}})
		}
	}},
	{name: "the shopper cancels", happen: func(event) func(*World, *Instance) error { return cancelled("1") }},
	{name: "hold over; query: paid", provider: answers{query: []seckill.TradeState{seckill.TradePaid}}, happen: func(e event) func(*World, *Instance) error { return e.closed }},
	{name: "hold over; query: closed", provider: answers{query: []seckill.TradeState{seckill.TradeClosed}}, happen: func(e event) func(*World, *Instance) error { return e.closed }},
	{name: "hold over; query: no answer", happen: func(e event) func(*World, *Instance) error { return e.closed }},
	{name: "hold over; query: waiting, close: closed, query: waiting", provider: answers{query: []seckill.TradeState{seckill.TradeWaiting}, close: seckill.CloseDone},
		happen: func(e event) func(*World, *Instance) error { return e.closed }},
	{name: "hold over; query: waiting, close: closed, query: paid", provider: answers{query: []seckill.TradeState{seckill.TradeWaiting, seckill.TradePaid}, close: seckill.CloseDone},
		happen: func(e event) func(*World, *Instance) error { return e.closed }},
	{name: "hold over; query: waiting, close: closed, query: no answer", provider: answers{query: []seckill.TradeState{seckill.TradeWaiting, ""}, close: seckill.CloseDone},
		happen: func(e event) func(*World, *Instance) error { return e.closed }},
	{name: "hold over; query: no trade, close: not_exist", provider: answers{query: []seckill.TradeState{seckill.TradeUnknown}, close: seckill.CloseMissing},
		happen: func(e event) func(*World, *Instance) error { return e.closed }},
	{name: "hold over; query: waiting, close: refused, query: paid", provider: answers{query: []seckill.TradeState{seckill.TradeWaiting, seckill.TradePaid}, close: seckill.CloseRefused},
		happen: func(e event) func(*World, *Instance) error { return e.closed }},
	{name: "hold over; query: waiting, close: refused, again and again", provider: answers{query: []seckill.TradeState{seckill.TradeWaiting}, close: seckill.CloseRefused},
		happen: func(e event) func(*World, *Instance) error { return e.closed }},
	{name: "hold over; query: waiting, close: no answer", provider: answers{query: []seckill.TradeState{seckill.TradeWaiting}}, happen: func(e event) func(*World, *Instance) error { return e.closed }},
	{name: "refund: made", provider: answers{refund: seckill.RefundMade}, happen: func(e event) func(*World, *Instance) error { return e.swept }},
	{name: "refund: pending, status: made", provider: answers{refund: seckill.RefundPending, status: seckill.RefundMade}, happen: func(e event) func(*World, *Instance) error { return e.swept }},
	{name: "refund: pending, status: pending or missing", provider: answers{refund: seckill.RefundPending, status: seckill.RefundMissing}, happen: func(e event) func(*World, *Instance) error { return e.swept }},
	{name: "refund: refused, status: made", provider: answers{refund: seckill.RefundRefused, status: seckill.RefundMade}, happen: func(e event) func(*World, *Instance) error { return e.swept }},
	{name: "refund: refused, status: missing", provider: answers{refund: seckill.RefundRefused, status: seckill.RefundMissing}, happen: func(e event) func(*World, *Instance) error { return e.swept }},
	{name: "refund: no answer", happen: func(e event) func(*World, *Instance) error { return e.swept }},
	{name: "the operator refunds, with restock", happen: func(event) func(*World, *Instance) error { return refundedOrder("1", true) }},
	{name: "the operator refunds, without restock", happen: func(event) func(*World, *Instance) error { return refundedOrder("1", false) }},
	{name: "the operator wants refunds asked for again", happen: func(event) func(*World, *Instance) error {
		return func(w *World, i *Instance) error {
			n, err := i.Refund.Again(ctx, w.id("1"), "ann", "paid in")
			if err == nil && n == 0 {
				err = errNothingDue
			}
			return err
		}
	}},
	{name: "the operator wants a closing order asked about", happen: func(event) func(*World, *Instance) error {
		return func(w *World, i *Instance) error { return i.Refund.Ask(ctx, w.id("1"), "ann", "she waits") }
	}},
	{name: "the operator has a trade recorded; query: paid", provider: answers{query: []seckill.TradeState{seckill.TradePaid}}, happen: func(e event) func(*World, *Instance) error { return e.learnt }},
	{name: "the operator has a trade recorded; query: waiting, closed, or another order's", provider: answers{query: []seckill.TradeState{seckill.TradeWaiting}},
		happen: func(e event) func(*World, *Instance) error { return e.learnt }},
	{name: "the operator has a trade recorded; query: no answer", happen: func(e event) func(*World, *Instance) error { return e.learnt }},
}

// outcome says what an event makes of an order: its state, its units when they change, its money, and what the caller hears when that is no yes.
func outcome(w *World, before seckill.Order, err error) (string, error) {
	id := w.id("1")
	o, e := w.ledger.Order(ctx, id)
	state := string(o.State)
	if errors.Is(e, seckill.ErrNoOrder) {
		state = string(seckill.Queued)
	} else if e != nil {
		return "", e
	}
	if errors.Is(err, errNothingDue) {
		return "nothing is due", nil
	}
	parts := []string{state}
	if len(before.Units) > 0 && len(o.Units) == 0 {
		parts = append(parts, "units back")
	}
	all, e := w.ledger.Payments(ctx, id)
	if e != nil {
		return "", e
	}
	for _, p := range all {
		money := p.TradeNo + " " + string(p.State)
		if p.Refused != "" {
			money += ", refused"
		}
		parts = append(parts, money)
	}
	var told *seckill.Error
	switch {
	case err == nil:
	case errors.As(err, &told):
		parts = append(parts, "*"+string(told.Code)+"*")
	default:
		parts = append(parts, "*again later*")
	}
	return strings.Join(parts, "; "), nil
}

// merged are rows of a table, in which what is the same stands in one row, where it came first.
type merged struct {
	rest   []string
	labels map[string][]string
}

func newMerged() *merged { return &merged{labels: map[string][]string{}} }

func (m *merged) add(label, rest string) {
	if m.labels[rest] == nil {
		m.rest = append(m.rest, rest)
	}
	m.labels[rest] = append(m.labels[rest], label)
}

func (m *merged) text() string {
	var b strings.Builder
	for _, rest := range m.rest {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(m.labels[rest], ", "), rest)
	}
	return b.String()
}

func paymentTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, e := range docEvents {
		fmt.Fprintf(&b, "\n### %s\n\n| order is | and becomes |\n|---|---|\n", e.name)
		rows := newMerged()
		for _, s := range docStates {
			w, err := NewWorld(3, 2)
			if err != nil {
				t.Fatal(err)
			}
			i := w.Start(none)
			if err := s.prepare(w, i); err != nil {
				t.Fatalf("%s: %v", s.state, err)
			}
			before, err := w.ledger.Order(ctx, w.id("1"))
			if err == nil && before.State != s.state || err != nil && s.state != seckill.Queued {
				t.Fatalf("%s was prepared as %s (%v)", s.state, before.State, err)
			}
			cell, err := outcome(w, before, e.happen(e)(w, i))
			if err != nil || cell == "" {
				t.Fatalf("%s, %s: %q, %v", e.name, s.state, cell, err)
			}
			cell = strings.Replace(cell, string(s.state), "as it was", 1)
			label := "`" + string(s.state) + "`"
			if s.note != "" {
				label += " (" + s.note + ")"
			}
			rows.add(label, cell)
			w.over()
		}
		b.WriteString(rows.text())
	}
	return b.String()
}

const (
	paymentPage = "../docs/PAYMENT.md"
	paymentMark = "<!-- generated from here on: go test ./sim -run TestPaymentPage -update-payment -->\n"
)

// TestPaymentPage holds docs/PAYMENT.md to what the flows do: each event at each state of an order, played.
func TestPaymentPage(t *testing.T) {
	page, err := os.ReadFile(paymentPage)
	if err != nil {
		t.Fatal(err)
	}
	head, table, marked := strings.Cut(string(page), paymentMark)
	if !marked {
		t.Fatalf("%s has no line %q", paymentPage, paymentMark)
	}
	want := alipayTables(t) + paymentTable(t)
	if *updatePayment {
		if err := os.WriteFile(paymentPage, []byte(head+paymentMark+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if table != want {
		t.Errorf("%s is not what the flows do: make generate", paymentPage)
	}
}
