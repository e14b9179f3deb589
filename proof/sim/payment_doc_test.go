package sim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/flow/office/fulfil"
	"github.com/your-org/seckill/shared/seckill"
)

// answers is a provider with fixed answers that counts requests.
type answers struct {
	seckill.Verifier
	query   []seckill.TradeState // one after another, the last answer repeated; "" gives no answer
	close   seckill.CloseResult  // "" gives no answer
	refund  seckill.RefundState  // "" gives no answer
	status  seckill.RefundState  // "" gives no answer
	amount  seckill.Fen          // of the trade; 0 means the order's amount
	queries int
	asked   int
}

var errSilent = errors.New("no answer")

// word returns the page's word for an answer.
func word[T ~string](answer T) string {
	switch string(answer) {
	case "":
		return "no answer"
	case string(seckill.TradeUnknown):
		return "no trade"
	}
	return string(answer)
}

func (a *answers) Prepare(seckill.Order) (string, error) { return "pay", nil }

func (a *answers) Query(ctx context.Context, order string) (seckill.Trade, error) {
	s := a.query[min(a.queries, len(a.query)-1)]
	a.queries++
	a.asked++
	return a.trade(s, "t1")
}

func (a *answers) trade(s seckill.TradeState, no string) (seckill.Trade, error) {
	if s == "" {
		return seckill.Trade{}, errSilent
	}
	return seckill.Trade{State: s, TradeNo: no, Amount: a.amount}, nil
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
	switch a.status {
	case "":
		return seckill.RefundAnswer{}, errSilent
	case seckill.RefundOther:
		return seckill.RefundAnswer{State: a.status, Amount: 100}, nil
	}
	return seckill.RefundAnswer{State: a.status}, nil
}

// Trade returns, for every trade, the answer of the first query.
func (a *answers) Trade(_ context.Context, _, no string) (seckill.Trade, error) {
	return a.trade(a.query[0], no)
}

// docState is an order's state before an event. A state appears several times, with a note, if more than the state
// matters.
type docState struct {
	state   seckill.State
	note    string
	prepare func(*World, *Instance) error
}

var docStates = []docState{
	{seckill.Queued, "", steps(install, bought("1", 1, "k"))},
	{seckill.PendingPayment, "", placed("1", 1)},
	{seckill.Closing, "unpaid", steps(placed("1", 1), closing("1", seckill.Expired))},
	{seckill.Closing, "cancelled", steps(placed("1", 1), closing("1", seckill.Cancelled))},
	{seckill.Paid, "", inState(seckill.Paid)},
	{seckill.Paid, "1.00 outside", steps(inState(seckill.Paid), notification{back: 100}.told)},
	{seckill.Paid, "all outside", steps(inState(seckill.Paid), notification{status: "TRADE_CLOSED", back: 8888}.told)},
	{seckill.Paid, "t2 due back", steps(inState(seckill.Paid), notification{trade: "t2"}.told)},
	{seckill.Confirmed, "", inState(seckill.Confirmed)},
	{seckill.Shipped, "", inState(seckill.Shipped)},
	{seckill.Received, "", inState(seckill.Received)},
	{seckill.Completed, "", inState(seckill.Completed)},
	{seckill.Expired, "", steps(placed("1", 1), due, expired)},
	{seckill.Cancelled, "", steps(placed("1", 1), cancelled("1"), expired)},
	{seckill.Rejected, "", steps(install, bought("1", 1, "k"), stop, next)},
	{seckill.RefundOwed, "", lateTrade},
	{seckill.RefundOwed, "1.00 outside", steps(lateTrade, notification{back: 100}.told)},
	{seckill.RefundOwed, "t1 and t2", steps(lateTrade, notification{trade: "t2"}.told)},
	{seckill.RefundOwed, "refused",
		steps(lateTrade, event{provider: answers{refund: seckill.RefundRefused, status: seckill.RefundMissing,
			query: []seckill.TradeState{seckill.TradePaid}}}.swept)},
	{seckill.Refunded, "", steps(lateTrade, event{provider: answers{refund: seckill.RefundMade}}.swept)},
	{seckill.Refunded, "units kept", steps(inState(seckill.Paid), refundedOrder("1", false),
		event{provider: answers{refund: seckill.RefundMade}}.swept)},
}

// lateTrade makes an order that was cancelled, and paid by trade t1 all the same.
func lateTrade(w *World, i *Instance) error {
	return steps(placed("1", 1), cancelled("1"), expired, notification{}.told)(w, i)
}

// inState pays an order by trade t1 and changes its state directly: the back office that will do so does not exist
// yet.
func inState(to seckill.State) func(*World, *Instance) error {
	return steps(placed("1", 1), notification{}.told, func(w *World, _ *Instance) error {
		return w.Rows.Transact(ctx, []ledger.Write{{Key: ledger.Key{Table: ledger.TableOrders, PK: w.id("1")},
			Op: ledger.OpUpdate, Set: ledger.Row{"state": string(to)}}})
	})
}

// event is something that happens to an order, with the provider's answers.
type event struct {
	name     string
	provider answers
	happen   func(event, *World, *Instance) error
}

// deed returns an event in which the provider is not asked.
func deed(name string, do func(*World, *Instance) error) event {
	return event{name: name, happen: func(_ event, w *World, i *Instance) error { return do(w, i) }}
}

// on makes the instance use the event's provider.
func (e event) on(i *Instance) *answers {
	a := e.provider
	if a.amount == 0 {
		a.amount = 8888
	}
	if len(a.query) == 0 {
		a.query = []seckill.TradeState{""}
	}
	i.Expire.Payments, i.Refund.Refunds, i.Refund.Trades = &a, &a, &a
	return &a
}

// late delivers the closing message after the hold.
func (e event) late(w *World, i *Instance) error {
	w.Clock.Advance(Hold + seckill.Grace)
	return e.early(w, i)
}

// early delivers it before the end of the hold.
func (e event) early(w *World, i *Instance) error {
	e.on(i)
	m := seckill.Message{Kind: seckill.MessageClose, Order: w.id("1")}
	if err := i.Expire.Handle(ctx, seckill.Delivery{Body: m.Encode(), Receives: 1}); err != nil {
		return errAgain
	}
	return nil
}

func (e event) swept(w *World, i *Instance) error {
	w.Clock.Advance(2 * time.Second) // the index catches up
	a := e.on(i)
	err := i.Refund.Sweep(ctx)
	switch {
	case a.asked == 0:
		return errNothingDue
	case err != nil:
		return errAgain
	}
	return nil
}

func (e event) recordedByOperator(w *World, i *Instance) error {
	e.on(i)
	_, err := i.Refund.RecordTrade(ctx, w.id("1"), "t2", "ann", "on the bill")
	return err
}

var (
	errNothingDue = errors.New("nothing is due")
	errAgain      = errors.New("again later")
)

// closings are the events in which an order may be closed.
func closings(happen func(event, *World, *Instance) error) []event {
	paid := seckill.TradePaid
	list := []event{
		{"query: paid", answers{query: []seckill.TradeState{paid}}, happen},
		{"query: paid, another amount", answers{query: []seckill.TradeState{paid}, amount: 1}, happen},
		{"query: closed", answers{query: []seckill.TradeState{seckill.TradeClosed}}, happen},
		{"query: no answer", answers{}, happen},
	}
	for _, first := range []seckill.TradeState{seckill.TradeWaiting, seckill.TradeUnknown} {
		for _, c := range []seckill.CloseResult{seckill.CloseDone, seckill.CloseMissing, seckill.CloseRefused, ""} {
			name := "query: " + word(first) + ", close: " + word(c)
			if c == seckill.CloseMissing || c == "" {
				list = append(list, event{name, answers{query: []seckill.TradeState{first}, close: c}, happen})
				continue
			}
			for _, then := range []seckill.TradeState{seckill.TradeWaiting, seckill.TradeUnknown, paid,
				seckill.TradeClosed, ""} {
				list = append(list, event{name + ", query: " + word(then),
					answers{query: []seckill.TradeState{first, then}, close: c}, happen})
			}
		}
	}
	return list
}

// refundings are the events in which a refund may be made.
func refundings() []event {
	list := []event{{"refund: made", answers{refund: seckill.RefundMade}, event.swept}, {"refund: no answer", answers{},
		event.swept}}
	for _, r := range []seckill.RefundState{seckill.RefundPending, seckill.RefundRefused} {
		for _, s := range []seckill.RefundState{seckill.RefundMade, seckill.RefundPending, seckill.RefundMissing,
			seckill.RefundOther, ""} {
			name := "refund: " + word(r) + ", status: " + word(s)
			if s != seckill.RefundMissing && (s != seckill.RefundPending || r != seckill.RefundRefused) {
				list = append(list, event{name, answers{refund: r, status: s}, event.swept})
				continue
			}
			for _, t := range []seckill.TradeState{seckill.TradePaid, seckill.TradeClosed, ""} {
				list = append(list, event{name + ", query: " + word(t), answers{refund: r, status: s,
					query: []seckill.TradeState{t}}, event.swept})
			}
		}
	}
	return list
}

// learnings are the events in which a trade may be recorded.
func learnings() []event {
	list := []event{{"query: paid, another amount", answers{query: []seckill.TradeState{seckill.TradePaid}, amount: 1},
		event.recordedByOperator}}
	for _, s := range []seckill.TradeState{seckill.TradePaid, seckill.TradeWaiting, seckill.TradeClosed,
		seckill.TradeUnknown, ""} {
		list = append(list, event{"query: " + word(s), answers{query: []seckill.TradeState{s}},
			event.recordedByOperator})
	}
	return list
}

// docEvents are all events, by who begins them.
var docEvents = []struct {
	title  string
	events []event
}{
	{"A notification comes", notifications},
	{"The shopper cancels", []event{deed("", cancelled("1"))}},
	{"The closing message comes, and the hold is over", closings(event.late)},
	{"The closing message comes before the hold is over", closings(event.early)},
	{"Refunds that are due are asked for", refundings()},
	{"The operator refunds", []event{deed("with restock", refundedOrder("1", true)),
		deed("without restock", refundedOrder("1", false))}},
	{"The operator says that all went back", []event{deed("with restock", saidGone("ann", true)),
		deed("without restock", saidGone("ann", false))}},
	{"The operator wants refunds asked for again", []event{deed("", func(w *World, i *Instance) error {
		n, err := i.Refund.Again(ctx, w.id("1"), "ann", "paid in")
		if err == nil && n == 0 {
			err = errNothingDue
		}
		return err
	})}},
	{"The operator lets it ship although money went back", []event{deed("", acceptedIn),
		{"says that 0.50 did; query: paid", answers{query: []seckill.TradeState{seckill.TradePaid}}, event.less},
		{"says that 0.50 did; query: closed", answers{query: []seckill.TradeState{seckill.TradeClosed}}, event.less},
		{"says that 0.50 did; query: no answer", answers{}, event.less}}},
	{"Staff ship it", []event{deed("", func(w *World, i *Instance) error {
		parcel := fulfil.Parcel{Order: w.id("1"), Carrier: "SF", Number: "1"}
		done, err := i.Fulfil.Ship(ctx, "ann", []fulfil.Parcel{parcel}, true, false)
		if err == nil && len(done.Faults) > 0 {
			err = seckill.Refuse(seckill.CodeInvalid)
		}
		return err
	})}},
	{"The operator wants a closing order asked about", []event{deed("", func(w *World, i *Instance) error {
		return i.Refund.Ask(ctx, w.id("1"), "ann", "she waits")
	})}},
	{"The operator has trade t2 recorded", learnings()},
}

// acceptedIn lets an order ship, if it waits for that.
func acceptedIn(w *World, i *Instance) error {
	is, err := i.Refund.Accept(ctx, w.id("1"), "ann", "a discount", nil)
	if err == nil && !is {
		err = errNothingDue
	}
	return err
}

// less lets an order ship, of which 0.50 yuan went back, if it waits for that.
func (e event) less(w *World, i *Instance) error {
	e.on(i)
	sum := seckill.Fen(50)
	is, err := i.Refund.Accept(ctx, w.id("1"), "ann", "billed twice", &sum)
	if err == nil && !is {
		err = errNothingDue
	}
	return err
}

// outcome returns what an event makes of an order: its state, its units if they change, its money, and the caller's
// answer unless it is a success.
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
	if o.Undecided {
		parts = append(parts, "undecided")
	}
	for _, p := range all {
		money := p.TradeNo + " " + string(p.State)
		if p.Outside > 0 {
			money += ", " + p.Outside.Yuan() + " outside"
		}
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

// merged holds rows of a table; equal rows are merged at the place of the first.
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

// paymentTables plays every event in every state. Events with equal results in all states share a table.
func paymentTables(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("\n## What happens\n")
	for _, g := range docEvents {
		fmt.Fprintf(&b, "\n### %s\n", g.title)
		tables := newMerged()
		for _, e := range g.events {
			tables.add(e.name, paymentTable(t, e))
		}
		for _, table := range tables.rest {
			b.WriteString("\n")
			for _, name := range tables.labels[table] {
				if name != "" {
					fmt.Fprintf(&b, "- %s\n", name)
				}
			}
			b.WriteString("\n| order is | and becomes |\n|---|---|\n" + table)
		}
	}
	return strings.ReplaceAll(b.String(), "\n\n\n", "\n\n")
}

func paymentTable(t *testing.T, e event) string {
	t.Helper()
	rows := newMerged()
	for _, s := range docStates {
		w, err := NewWorld(3, 2)
		if err != nil {
			t.Fatal(err)
		}
		i := w.Start(nil)
		if err := s.prepare(w, i); err != nil {
			t.Fatalf("%s: %v", s.state, err)
		}
		before, err := w.ledger.Order(ctx, w.id("1"))
		if err == nil && before.State != s.state || err != nil && s.state != seckill.Queued {
			t.Fatalf("%s was prepared as %s (%v)", s.state, before.State, err)
		}
		cell, err := outcome(w, before, e.happen(e, w, i))
		if err != nil || cell == "" {
			t.Fatalf("%s, %s: %q, %v", e.name, s.state, cell, err)
		}
		label := "`" + string(s.state) + "`"
		if s.note != "" {
			label += " (" + s.note + ")"
		}
		rows.add(label, strings.Replace(cell, string(s.state), "as it was", 1))
		w.over()
	}
	return rows.text()
}

const (
	paymentPage = "../../docs/PAYMENT.md"
	paymentMark = "<!-- generated from here on: make generate -->\n"
)

// TestPaymentPage compares docs/PAYMENT.md with what happens: each event in each state of an order, played, and each
// answer of Alipay's, read by its client.
func TestPaymentPage(t *testing.T) {
	page, err := os.ReadFile(paymentPage)
	if err != nil {
		t.Fatal(err)
	}
	head, table, marked := strings.Cut(string(page), paymentMark)
	if !marked {
		t.Fatalf("%s has no line %q", paymentPage, paymentMark)
	}
	for _, state := range seckill.States {
		if !slices.ContainsFunc(docStates, func(s docState) bool { return s.state == state.State }) {
			t.Errorf("nothing happens to an order that is %s", state.State)
		}
	}
	want := alipayTables(t) + paymentTables(t)
	if *update {
		if err := os.WriteFile(paymentPage, []byte(head+paymentMark+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if table != want {
		t.Errorf("%s is not what the flows and the client of Alipay do: make generate", paymentPage)
	}
}
