package operator_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/money/reconcile"
	"github.com/your-org/seckill/shared/seckill"
)

// bills maps a day to its lines; each bill also has a line of another shop. A day without an entry has no bill; nil
// cannot be read.
type bills map[string][]seckill.BillLine

func (b bills) Bill(_ context.Context, day string) (seckill.Bill, error) {
	lines, ok := b[day]
	switch {
	case b == nil:
		return seckill.Bill{}, errors.New("alipay: bill of " + day + ": line 17: 业务类型 \"转账\"")
	case !ok:
		return seckill.Bill{}, seckill.ErrNoBill
	}
	return seckill.Bill{Lines: lines, Others: 1}, nil
}

func match(t *testing.T, c *operator.Client, day string) (seckill.Reconciliation, error) {
	return operator.Give[seckill.Reconciliation](t.Context(), c, &operator.Reconcile{Day: day})
}

func kept(t *testing.T, c *operator.Client, day string) (operator.Reconciled, error) {
	return operator.Give[operator.Reconciled](t.Context(), c, &operator.ListReconciled{Day: day})
}

// TestBillsThroughClientAndHandler checks that a day can be compared twice, that both results are listed, and that
// the audit log has who did it and the number of differences.
func TestBillsThroughClientAndHandler(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(now)
	yesterday := seckill.Day(now.Add(-24 * time.Hour))
	order := seckill.KeyedOrderID("7", "1001", "k")
	book := bills{yesterday: {{Order: order, TradeNo: "t-1", Amount: 88_80}}}
	l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock}))
	var w shop // provides the audit log
	handle := func(b bills) func(context.Context, []byte) ([]byte, error) {
		flow := reconcile.New(reconcile.Deps{Ledger: l, Bills: b, Clock: clock, Meter: uncounted{}})
		return operator.Serve(telemetry.NewLog(&w.audit, slog.LevelInfo), operator.NewBillHandler(flow))
	}
	client := operator.Client{Who: "arn:aws:sts::123456789012:assumed-role/Operators/liu", Call: handle(book)}
	audited := func(want string) {
		t.Helper()
		if !strings.Contains(w.audit.String(), want) {
			t.Errorf("the audit log has no %s:\n%s", want, w.audit.String())
		}
		w.audit.Reset()
	}
	if all, err := kept(t, &client, yesterday); err != nil || all.Day != yesterday ||
		all.Reconciliations == nil || len(all.Reconciliations) != 0 {
		t.Errorf("before: %+v, %v", all, err)
	}
	audited(`"who":"` + client.Who + `","command":"reconciled","day":"` + yesterday + `","result":"read"`)
	var want []seckill.Reconciliation
	for range 2 {
		clock.Advance(time.Minute)
		one := seckill.Reconciliation{Day: yesterday, At: clock.Now(), Payments: 1, Captured: 88_80, Others: 1,
			Count: 1, Differences: []seckill.Difference{{Kind: seckill.PaymentNotHere, Order: order, TradeNo: "t-1",
				There: 88_80}}}
		got, err := match(t, &client, yesterday)
		if diff := cmp.Diff(one, got); err != nil || diff != "" {
			t.Errorf("%v, want (-), got (+):\n%s", err, diff)
		}
		audited(`"command":"reconcile","day":"` + yesterday + `","differences":1,"result":"changed"`)
		want = append(want, one)
	}
	if all, err := kept(t, &client, yesterday); err != nil || cmp.Diff(want, all.Reconciliations) != "" {
		t.Errorf("%v, want (-), got (+):\n%s", err, cmp.Diff(want, all.Reconciliations))
	}
	w.audit.Reset()

	var refused *operator.Refusal
	if _, err := match(t, &client, seckill.Day(now)); !errors.As(err, &refused) ||
		refused.Code != seckill.CodeInvalid {
		t.Errorf("a day that is not over: %v", err)
	}
	audited(`"result":"invalid_request"`)
	before := seckill.Day(now.Add(-48 * time.Hour))
	if got, err := match(t, &client, before); err != nil || !got.NoBill {
		t.Errorf("a day without a bill: %+v, %v", got, err)
	}
	audited(`"day":"` + before + `","no_bill":true,"result":"changed"`)
	broken := operator.Client{Who: "a", Call: handle(nil)}
	if _, err := match(t, &broken, yesterday); !errors.As(err, &refused) ||
		refused.Code != seckill.CodeUnavailable ||
		refused.Detail != "alipay: bill of "+yesterday+": line 17: 业务类型 \"转账\"" {
		t.Errorf("a bill that cannot be read: %v", err)
	}
	audited(`"result":"unavailable"`)
	for _, bad := range []string{"", "2026-02-30", "20260228", "yesterday"} {
		if _, err := match(t, &client, bad); seckill.CodeOf(err) != seckill.CodeInvalid {
			t.Errorf("day %q: %v, want it refused before it is sent", bad, err)
		}
		w.event(t, handle(book), `"command":"reconcile","who":"a","day":"`+bad+`"`, "day")
	}
	if all, err := kept(t, &client, yesterday); err != nil || len(all.Reconciliations) != 2 {
		t.Errorf("after what was refused: %+v, %v", all, err)
	}
}

// TestTheLongestListOfBillsFits checks that the largest result, with MaxKept reconciliations of MaxDifferences each,
// fits into Lambda's answer.
func TestTheLongestListOfBillsFits(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(now)
	yesterday := seckill.Day(now.Add(-24 * time.Hour))
	book := bills{}
	for n := range seckill.MaxDifferences + 1 {
		p := seckill.Payment{Order: seckill.KeyedOrderID("7", "1001", fmt.Sprint(n)), TradeNo: strings.Repeat("9", 28)}
		book[yesterday] = append(book[yesterday], seckill.BillLine{Refund: true, Order: p.Order, TradeNo: p.TradeNo,
			RefundID: p.Refund().ID, Amount: 1e11})
	}
	flow := reconcile.New(reconcile.Deps{Ledger: ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock})),
		Bills: book, Clock: clock, Meter: uncounted{}})
	handle := operator.Serve(slog.New(slog.DiscardHandler), operator.NewBillHandler(flow))
	var size int
	client := operator.Client{Who: "a", Call: func(ctx context.Context, event []byte) ([]byte, error) {
		out, err := handle(ctx, event)
		size = len(out)
		return out, err
	}}
	for range reconcile.MaxKept {
		clock.Advance(time.Minute)
		if _, err := match(t, &client, yesterday); err != nil {
			t.Fatal(err)
		}
	}
	all, err := kept(t, &client, yesterday)
	if err != nil || len(all.Reconciliations) != reconcile.MaxKept ||
		len(all.Reconciliations[0].Differences) != seckill.MaxDifferences || size > 4<<20 {
		t.Errorf("%d reconciliations, %d bytes, %v", len(all.Reconciliations), size, err)
	}
}
