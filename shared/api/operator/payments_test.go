package operator_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/money/refund"
	"github.com/your-org/seckill/shared/seckill"
)

const home = "杭州市西湖区文三路 1 号"

// bank is a provider that makes refunds, refuses them, or does not answer.
type bank struct {
	answer seckill.RefundAnswer
	err    error
}

func (b *bank) Refund(context.Context, seckill.Refund) (seckill.RefundAnswer, error) {
	return b.answer, b.err
}

func (b *bank) RefundStatus(context.Context, seckill.Refund) (seckill.RefundAnswer, error) {
	return seckill.RefundAnswer{State: seckill.RefundMissing}, b.err
}

// Trade returns one fixed paid trade.
func (b *bank) Trade(_ context.Context, _, no string) (seckill.Trade, error) {
	if no != "t-billed" {
		return seckill.Trade{State: seckill.TradeUnknown}, b.err
	}
	return seckill.Trade{State: seckill.TradePaid, TradeNo: no, Amount: 88_80}, b.err
}

type uncounted struct{}

func (uncounted) Count(seckill.Event, int) {}

// payments is a handler for money and its client.
type payments struct {
	t      *testing.T
	clock  *memory.Clock
	ledger *ledger.Ledger
	bank   bank
	flow   *refund.Flow
	handle func(context.Context, []byte) ([]byte, error)
	client operator.Client
	shop   // provides the audit log
	said   string
	units  int
}

func newPayments(t *testing.T) *payments {
	t.Helper()
	w := &payments{t: t, clock: memory.NewClock(now)}
	w.ledger = ledger.New(memory.NewRows(memory.RowsOptions{Clock: w.clock}))
	w.flow = refund.New(refund.Deps{Ledger: w.ledger, Refunds: &w.bank, Trades: &w.bank,
		Orders: memory.NewQueue(w.clock, memory.QueueOptions{}), Clock: w.clock, Meter: uncounted{}})
	w.handle = operator.Serve(telemetry.NewLog(&w.audit, slog.LevelInfo), operator.NewPaymentHandler(w.flow))
	w.client = operator.Client{Who: "arn:aws:sts::123456789012:assumed-role/Operators/liu",
		Call: func(ctx context.Context, event []byte) ([]byte, error) {
			out, err := w.handle(ctx, event)
			w.said = string(out)
			return out, err
		}}
	return w
}

// order places an order of 88.80 yuan and applies an event to it: "paid", "late" (money after the hold), "closing".
func (w *payments) order(key, happens string) string {
	w.t.Helper()
	ctx := w.t.Context()
	w.units++
	o := seckill.Order{ID: seckill.KeyedOrderID("7", "1001", key), Item: "7", User: fmt.Sprint(1001 + w.units/5),
		Count: 1, Units: []int{w.units}, Price: 88_80, Amount: 88_80, Given: seckill.Given{Address: home}, Title: "表",
		Created: w.clock.Now(), Placed: w.clock.Now(), PayBy: w.clock.Now().Add(time.Minute), Buckets: 1}
	p := seckill.Payment{Order: o.ID, TradeNo: "t-" + key, Amount: o.Amount, State: seckill.Captured, At: w.clock.Now(),
		Cause: "notify", Due: w.clock.Now()}
	err := w.ledger.Place(ctx, o, 10_000)
	switch happens {
	case "paid":
		err = errors.Join(err, w.ledger.RecordPayment(ctx, p, seckill.PendingPayment, seckill.Paid))
	case "late":
		p.State = seckill.RefundDue
		err = errors.Join(err, w.ledger.BeginClosing(ctx, o, seckill.Expired, w.clock.Now(), "not paid in time"))
		o.State, o.CloseTo = seckill.Closing, seckill.Expired
		err = errors.Join(err, w.ledger.GiveBack(ctx, o, w.clock.Now(), "trade closed"), w.ledger.RecordPayment(ctx, p,
			seckill.Expired, seckill.RefundOwed))
	case "closing":
		err = errors.Join(err, w.ledger.BeginClosing(ctx, o, seckill.Cancelled, w.clock.Now(),
			"cancelled by the shopper"))
	}
	must.OK(w.t, err)
	return o.ID
}

// outside records that so much of an order's money went back outside the shop.
func (w *payments) outside(id string, total seckill.Fen) error {
	ctx := w.t.Context()
	o, err := w.ledger.Order(ctx, id)
	all, e := w.ledger.Payments(ctx, id)
	if err = errors.Join(err, e); err != nil {
		return err
	}
	p := all[0]
	p.Outside = total
	return w.ledger.WentBack(ctx, o, p, 0, w.clock.Now(), "a notification")
}

func (w *payments) open() (operator.OpenMoney, error) {
	return operator.Give[operator.OpenMoney](w.t.Context(), &w.client, &operator.ListMoney{})
}

func (w *payments) caseOf(c *operator.ReadCase) (operator.MoneyCase, error) {
	return operator.Give[operator.MoneyCase](w.t.Context(), &w.client, c)
}

func (w *payments) change(c operator.Command) (operator.MoneyChange, error) {
	return operator.Give[operator.MoneyChange](w.t.Context(), &w.client, c)
}

func (w *payments) sweep() {
	w.t.Helper()
	if err := w.flow.Sweep(w.t.Context()); err != nil && w.bank.err == nil {
		w.t.Fatal(err)
	}
}

// TestMoneyThroughClientAndHandler follows four orders: what an operator sees and does, and what the audit log and
// the history record.
func TestMoneyThroughClientAndHandler(t *testing.T) {
	t.Parallel()
	w := newPayments(t)
	line := func(result string, more ...any) map[string]any { return line(w.client.Who, result, more...) }
	open := func() string {
		o, err := w.open()
		var refused, unknown []string
		for _, p := range o.Refused.Payments {
			refused = append(refused, p.TradeNo+" "+p.Refused)
		}
		for _, u := range o.Unknown.Orders {
			unknown = append(unknown, u.Order+" "+u.Cause)
		}
		return fmt.Sprintf("due %d %s, refused %s %v, unknown %v, %v", o.Due.Count, o.Due.Amount.Yuan(),
			o.Refused.Amount.Yuan(), refused, unknown, err)
	}
	change := func(c operator.Command) func() string {
		return func() string {
			m, err := w.change(c)
			return fmt.Sprintf("%s %s %d %t %v", m.State, m.Due.Yuan(), m.Asked, m.Changed, err)
		}
	}
	swept := func(answer seckill.RefundAnswer) func() string {
		return func() string {
			w.bank.answer = answer
			w.sweep()
			return open()
		}
	}
	paid, late := w.order("a", "paid"), w.order("bb", "late")
	refund := change(&operator.Refund{Order: paid, Why: "broken", Restock: true})
	again := change(&operator.Again{Order: late, Why: "paid in"})
	for _, step := range []struct {
		name  string
		do    func() string
		want  string
		audit map[string]any
	}{
		{"late money is due", open, "due 1 88.80, refused 0.00 [], unknown [], <nil>", line("read", "command", "open")},
		{"it is refused", swept(seckill.RefundAnswer{State: seckill.RefundRefused, Code: "BALANCE"}),
			"due 0 0.00, refused 88.80 [t-bb BALANCE], unknown [], <nil>", line("read", "command", "open")},
		{"a refund", refund, "refund_due 88.80 0 true <nil>",
			line("changed", "command", "refund", "order", paid, "restock", true)},
		{"a refund again", change(&operator.Refund{Order: paid, Why: "broken"}), "refund_due 88.80 0 false <nil>",
			line("unchanged", "command", "refund", "order", paid)},
		{"the refused one again", again, "refund_due 88.80 1 true <nil>",
			line("changed", "command", "again", "order", late)},
		{"both are made", swept(seckill.RefundAnswer{State: seckill.RefundMade}),
			"due 0 0.00, refused 0.00 [], unknown [], <nil>", line("read", "command", "open")},
		{"a refund of one that is refunded", refund, "refunded 0.00 0 false <nil>",
			line("unchanged", "command", "refund", "order", paid, "restock", true)},
		{"nothing is owed", again, "refunded 0.00 0 false <nil>",
			line("unchanged", "command", "again", "order", late)},
	} {
		if got := step.do(); got != step.want {
			t.Errorf("%s: got %s, want %s", step.name, got, step.want)
		}
		if diff := cmp.Diff([]map[string]any{step.audit}, w.lines(t)); diff != "" {
			t.Errorf("%s: audit -want +got\n%s", step.name, diff)
		}
	}
	closing := w.order("ccc", "closing")
	w.clock.Advance(5 * time.Minute)
	if got, want := open(), "due 0 0.00, refused 0.00 [], unknown ["+closing+
		" cancelled by the shopper], <nil>"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	ask := change(&operator.Ask{Order: closing, Why: "the provider is back"})
	if got := ask(); got != "closing 0.00 0 true <nil>" {
		t.Errorf("ask: %s", got)
	}
	billed := w.order("ddd", "")
	for _, want := range []string{"paid 0.00 0 true <nil>", "paid 0.00 0 false <nil>"} {
		record := change(&operator.RecordTrade{Order: billed, TradeNo: "t-billed", Why: "on the bill"})
		if got := record(); got != want {
			t.Errorf("record-trade: %s, want %s", got, want)
		}
	}
	for id, want := range map[string]string{
		billed:  "query by assumed-role/Operators/liu: on the bill",
		paid:    "refund by assumed-role/Operators/liu: broken",
		late:    "refund of trade t-bb wanted again by assumed-role/Operators/liu: paid in",
		closing: "asked again by assumed-role/Operators/liu: the provider is back",
	} {
		c, err := w.caseOf(&operator.ReadCase{Order: id})
		if err != nil || !strings.Contains(fmt.Sprint(c.History), want) {
			t.Errorf("%v, history %v; want %q in it", err, c.History, want)
		}
	}
	if log := w.audit.String(); strings.Contains(log, "provider is back") {
		t.Errorf("a reason, which may have anything in it, is in the log: %s", log)
	}
}

// TestACase checks that a case has the order's money as in the ledger, and never the delivery address.
func TestACase(t *testing.T) {
	t.Parallel()
	w := newPayments(t)
	id := w.order("a", "paid")
	notification := seckill.KeptNotification{Order: id, ID: "n1", TradeNo: "t-a", Amount: 88_80,
		At: now.Add(time.Second), Outcome: seckill.NotificationRecorded, Raw: "a=1&b=2"}
	earlier := seckill.KeptNotification{Order: id, ID: "n2", TradeNo: "t-a", Amount: 88_80, At: now,
		Outcome: seckill.NotificationNothing, Raw: "c=3"}
	must.OK(t, w.ledger.KeepNotification(t.Context(), notification), w.ledger.KeepNotification(t.Context(), earlier))
	want := operator.MoneyCase{Second: "no", Order: id, Item: "7", Title: "表", User: "1001", Count: 1, Held: 1,
		Amount: 88_80,
		State:  seckill.Paid, Created: now, PayBy: now.Add(time.Minute),
		Payments: []operator.Payment{{Order: id, TradeNo: "t-a", Amount: 88_80, State: seckill.Captured, At: now,
			Cause: "notify"}},
		Notifications: []operator.Notification{{ID: "n2", TradeNo: "t-a", Amount: 88_80, At: now, Outcome: "nothing",
			Raw: "c=3"},
			{ID: "n1", TradeNo: "t-a", Amount: 88_80, At: now.Add(time.Second), Outcome: "recorded", Raw: "a=1&b=2"}}}
	for _, raw := range []bool{true, false} {
		got, err := w.caseOf(&operator.ReadCase{Order: id, Raw: raw})
		if !raw {
			want.Notifications[0].Raw, want.Notifications[1].Raw = "", ""
		}
		want.History = got.History
		if diff := cmp.Diff(want, got); err != nil || diff != "" || len(got.History) != 2 ||
			got.History[1].State != seckill.Paid {
			t.Errorf("raw %t: %v, history %v, -want +got\n%s", raw, err, got.History, diff)
		}
		if strings.Contains(w.said, home) || strings.Contains(w.said, "文三路") {
			t.Errorf("the answer has an address: %s", w.said)
		}
	}
	must.OK(t, w.outside(id, 20_00))
	got, err := w.caseOf(&operator.ReadCase{Order: id})
	if err != nil || !got.Undecided || got.Payments[0].Outside != 20_00 {
		t.Errorf("a part went back outside: %+v, %v", got, err)
	}
	accept := &operator.Accept{Order: id, Why: "agreed"}
	_, err = operator.Give[operator.MoneyChange](t.Context(), &w.client, accept)
	must.OK(t, err)
	if got, err := w.caseOf(&operator.ReadCase{Order: id}); err != nil || got.Undecided {
		t.Errorf("somebody has decided: %+v, %v", got, err)
	}
	w.order("bb", "late")
	if o, err := w.open(); err != nil || o.Due.Count != 1 || strings.Contains(w.said, "文三路") {
		t.Errorf("%+v, %v: %s", o, err, w.said)
	}
	if strings.Contains(w.audit.String(), "文三路") {
		t.Errorf("the log has an address: %s", w.audit.String())
	}
}

// TestPaymentsOnTheirWay checks the texts for each state of a payment.
func TestPaymentsOnTheirWay(t *testing.T) {
	t.Parallel()
	w := newPayments(t)
	id := w.order("a", "late")
	p := operator.Payment{Order: id, TradeNo: "t-a", Amount: 88_80, State: seckill.RefundDue, At: now, Cause: "notify",
		Refund: seckill.RefundID(id, "t-a")}
	tried, refused, back := p, p, p
	p.Next = now
	tried.Tries, tried.Next = 1, now.Add(time.Minute)
	refused.Tries, refused.Refused = 2, "GONE"
	back.State, back.Back = seckill.RefundDone, now.Add(time.Minute)
	for _, step := range []struct {
		name string
		do   func()
		want operator.Payment
	}{
		{"due", func() {}, p},
		{"asked in vain", func() { w.bank.err = errors.New("no answer"); w.sweep() }, tried},
		{"refused", func() {
			w.clock.Advance(time.Minute)
			w.bank.err, w.bank.answer = nil, seckill.RefundAnswer{State: seckill.RefundRefused, Code: "GONE"}
			w.sweep()
		}, refused},
		{"made", func() {
			w.bank.answer = seckill.RefundAnswer{State: seckill.RefundMade}
			if _, err := w.change(&operator.Again{Order: id, Why: "mended"}); err != nil {
				t.Fatal(err)
			}
			w.sweep()
		}, back},
	} {
		step.do()
		c, err := w.caseOf(&operator.ReadCase{Order: id})
		if diff := cmp.Diff([]operator.Payment{step.want}, c.Payments); err != nil || diff != "" {
			t.Errorf("%s: %v, -want +got\n%s", step.name, err, diff)
		}
	}
}

// TestALongListIsCut checks that a long list shows its oldest entries, counts and sums all, and fits into Lambda's
// answer.
func TestALongListIsCut(t *testing.T) {
	t.Parallel()
	w := newPayments(t)
	first := w.order("first", "late")
	w.clock.Advance(time.Second)
	for i := range 1200 {
		w.order(fmt.Sprint(i), "late")
	}
	o, err := w.open()
	if err != nil || o.Due.Count != 1201 || o.Due.Amount != 1201*88_80 || len(o.Due.Payments) != 1000 ||
		o.Due.Payments[0].Order != first || len(w.said) > 1<<20 || strings.Contains(w.said, `"more"`) {
		t.Errorf("%v, %d of %d payments, %s yuan, %d bytes", err, len(o.Due.Payments), o.Due.Count, o.Due.Amount.Yuan(),
			len(w.said))
	}
}

// TestListsThatAreNotAll checks that each incomplete list says so. The test of package refund has the limits.
func TestListsThatAreNotAll(t *testing.T) {
	t.Parallel()
	w := newPayments(t)
	id := w.order("paid", "paid")
	for i := range 2002 {
		p := seckill.Payment{Order: id, TradeNo: fmt.Sprint(i), Amount: 1_00, State: seckill.RefundDue, At: now,
			Cause: "notify", Due: now}
		err := w.ledger.RecordPayment(t.Context(), p, seckill.Paid, seckill.Paid)
		if i%2 == 1 {
			err = errors.Join(err, w.ledger.DeferRefund(t.Context(), p, now, "GONE"))
		}
		must.OK(t, err)
	}
	for i := range 64*seckill.DueShards + 1 {
		w.order(fmt.Sprint(i), "closing")
	}
	o, err := w.open()
	if err != nil || o.Due.Count != 1000 || !o.Due.More || o.Refused.Count != 1000 || !o.Refused.More ||
		!o.Unknown.More || strings.Count(w.said, `"more":true`) != 3 {
		t.Errorf("%v: due %d %t, refused %d %t, unknown %t", err, o.Due.Count, o.Due.More, o.Refused.Count,
			o.Refused.More, o.Unknown.More)
	}
}

func TestMoneyRefusals(t *testing.T) {
	t.Parallel()
	w := newPayments(t)
	ctx := t.Context()
	nobody := seckill.KeyedOrderID("7", "1001", "none")
	waiting := w.order("a", "")
	paid := w.order("bb", "paid")
	const reason = "The value of why must be 1 to 200 characters on one line; it has "
	for name, c := range map[string]struct {
		c      operator.Command
		code   seckill.Code
		detail string
	}{
		"case of no order":    {&operator.ReadCase{Order: nobody}, seckill.CodeOrderUnknown, ""},
		"refund of no order":  {&operator.Refund{Order: nobody, Why: "x"}, seckill.CodeOrderUnknown, ""},
		"again of no order":   {&operator.Again{Order: nobody, Why: "x"}, seckill.CodeOrderUnknown, ""},
		"asking for no order": {&operator.Ask{Order: nobody, Why: "x"}, seckill.CodeOrderUnknown, ""},
		"refund of an unpaid order": {&operator.Refund{Order: waiting, Why: "x"}, seckill.CodeInvalid,
			"The order must be paid, and not completed; it is pending_payment."},
		"asking for a paid order": {&operator.Ask{Order: paid, Why: "x"}, seckill.CodeInvalid,
			"The order must be closing; it is paid."},
		"not a trade": {&operator.RecordTrade{Order: paid, TradeNo: "t9", Why: "x"}, seckill.CodeInvalid,
			"The value of trade_no must be a paid trade of the order; the provider says unknown."},
		"a trade of no order": {&operator.RecordTrade{Order: nobody, TradeNo: "t-billed", Why: "x"},
			seckill.CodeOrderUnknown, ""},
		"a long reason": {&operator.Refund{Order: paid, Why: strings.Repeat("因", 201)}, seckill.CodeInvalid,
			reason + "201."},
		"a reason on two lines": {&operator.Again{Order: paid, Why: "a\nb"}, seckill.CodeInvalid,
			reason + "the character U+000A."},
		"a blank reason": {&operator.Again{Order: paid, Why: " "}, seckill.CodeInvalid, reason + "none that is seen."},
	} {
		_, err := w.change(c.c)
		w.refused(t, name, w.client.Who, err, c.code, c.detail)
	}
	c, err := w.change(&operator.Again{Order: paid, Why: strings.Repeat("\U0001F600", 200)})
	if err != nil || c.Changed {
		t.Errorf("the longest reason: %+v, %v", c, err)
	}
	for id, want := range map[string]seckill.State{waiting: seckill.PendingPayment, paid: seckill.Paid} {
		if o, err := w.ledger.Order(ctx, id); err != nil || o.State != want {
			t.Errorf("order %s afterwards: %s, %v; want %s", id, o.State, err, want)
		}
	}
}

func TestMoneyEventsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newPayments(t)
	id := w.order("a", "paid")
	of := `,"order":"` + id + `"`
	for event, field := range map[string]string{
		`"who":"a","command":"stop","item":"7"`:                         "command", // the other handler's
		`"command":"open","who":""`:                                     "who",
		`"who":"a","command":"open"` + of:                               "order",
		`"who":"a","command":"case"`:                                    "order",
		`"who":"a","command":"case","order":"o1"`:                       "order",
		`"who":"a","command":"refund"` + of:                             "why",
		`"who":"a","command":"case","why":"x"` + of:                     "why",
		`"who":"a","command":"again","why":"x","restock":true` + of:     "restock",
		`"who":"a","command":"refund","why":"x","raw":true` + of:        "raw",
		`"who":"a","command":"refund","why":"x","item":"7"` + of:        "item",
		`"who":"a","command":"refund","why":"x","amount":"1.00"` + of:   "operator",
		`"who":"a","command":"refund","why":"x","order":["` + id + `"]`: "operator",
	} {
		w.event(t, w.handle, event, field)
	}
	if o, err := w.ledger.Order(t.Context(), id); err != nil || o.State != seckill.Paid {
		t.Errorf("afterwards %s, %v; want it untouched", o.State, err)
	}
}

// TestSignatures checks that any AWS name is shortened to fit the history, and that the log has all of it.
func TestSignatures(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("r", 64)
	for who, want := range map[string]string{
		"liu":                                    "liu",
		"刘 (room 3)":                             "刘 (room 3)",
		"arn:aws:iam::123456789012:root":         "root",
		"arn:aws:iam::123456789012:user/ops/liu": "user/ops/liu",
		"arn:aws-cn:sts::123456789012:assumed-role/" + long + "/liu@a.cn":       "liu@a.cn",
		"arn:aws:sts::123456789012:assumed-role/" + long + "/" + long[1:]:       long[1:],
		"arn:aws:sts::123456789012:assumed-role/Ops/" + strings.Repeat("s", 64): strings.Repeat("s", 64),
	} {
		w := newPayments(t)
		w.client.Who = who
		id := w.order("a", "paid")
		if _, err := w.change(&operator.Refund{Order: id, Why: "broken"}); err != nil {
			t.Errorf("%s: %v", who, err)
			continue
		}
		o, err := w.ledger.Order(t.Context(), id)
		if err != nil || o.History[len(o.History)-1].Cause != "refund by "+want+": broken" {
			t.Errorf("%s: %v, %v; want %s", who, o.History, err, want)
		}
		if l := w.lines(t); len(l) != 1 || l[0]["who"] != who {
			t.Errorf("%s: audit %v", who, l)
		}
	}
}

// TestAProviderThatDoesNotAnswer checks that the operator sees the provider's answer or the error, and never the
// call's signature.
func TestAProviderThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	w := newPayments(t)
	id := w.order("a", "")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{errors.New("alipay: alipay.trade.query " + id + ": HTTP status 502"), "alipay: alipay.trade.query " + id +
			": HTTP status 502"},
		{fmt.Errorf("alipay: alipay.trade.query %s: %w", id,
			&url.Error{Op: "Post", URL: "https://gateway.example/gateway.do?sign=S3CRET",
				Err: context.DeadlineExceeded}),
			"alipay: alipay.trade.query " + id +
				`: Post "https://gateway.example/gateway.do": context deadline exceeded`},
	} {
		w.bank.err = tt.err
		var refused *operator.Refusal
		_, err := w.change(&operator.RecordTrade{Order: id, TradeNo: "t-billed", Why: "on the bill"})
		if !errors.As(err, &refused) || refused.Code != seckill.CodeUnavailable || refused.Detail != tt.want ||
			!strings.Contains(w.said, `"retry_after_ms":1000`) || strings.Contains(w.said, "S3CRET") {
			t.Errorf("%v, want %s; answered %s", err, tt.want, w.said)
		}
	}
}

// TestMoneyOfSomethingElse checks that a faulty ledger is reported as our fault, and that another function's answer
// is refused.
func TestMoneyOfSomethingElse(t *testing.T) {
	t.Parallel()
	w := newPayments(t)
	id := w.order("a", "paid")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	w.client.Call = func(_ context.Context, event []byte) ([]byte, error) { return w.handle(stopped, event) }
	var refused *operator.Refusal
	if _, err := w.open(); !errors.As(err, &refused) || refused.Code != seckill.CodeUnavailable {
		t.Errorf("out of time: %v, want %s", err, seckill.CodeUnavailable)
	}
	items := newShop(t)
	w.client.Call = items.handle
	if _, err := w.change(&operator.Refund{Order: id, Why: "broken"}); !errors.As(err, &refused) ||
		refused.Code != seckill.CodeInvalid {
		t.Errorf("the stage function: %v, want %s", err, seckill.CodeInvalid)
	}
	w.client.Call = func(context.Context, []byte) ([]byte, error) { return []byte("null"), nil }
	if _, err := w.caseOf(&operator.ReadCase{Order: id}); !errors.Is(err, operator.ErrAnswer) {
		t.Errorf("an older release: %v, want %v", err, operator.ErrAnswer)
	}
}
