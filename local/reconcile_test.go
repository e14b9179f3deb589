package local_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// nextMorning moves the clock past the next day's 10:00 in UTC+8, when the bill of a day exists, and returns that
// day.
func (w *shopTest) nextMorning() (day string) {
	w.t.Helper()
	now := w.Clock.Now()
	day = seckill.Day(now)
	d, err := time.ParseInLocation(time.DateOnly, day, seckill.Zone)
	if err != nil {
		w.t.Fatal(err)
	}
	w.pass(d.AddDate(0, 0, 1).Add(10*time.Hour + time.Minute).Sub(now).Round(time.Second))
	return day
}

// noMidnight moves the clock if a day in UTC+8 is about to end, so that the rest happens on one day.
func (w *shopTest) noMidnight() {
	w.t.Helper()
	if now := w.Clock.Now(); seckill.Day(now.Add(2*time.Hour)) != seckill.Day(now) {
		w.pass(2 * time.Hour)
	}
}

// kept returns the stored results of a day.
func (w *shopTest) kept(day string) []seckill.Reconciliation {
	w.t.Helper()
	all, err := gives[operator.Reconciled](w, &operator.ListReconciled{Day: day})
	if err != nil || all.Day != day {
		w.t.Fatalf("kept of %s: %+v, %v", day, all, err)
	}
	return all.Reconciliations
}

// TestTheBillOfADayAgrees checks that the bill agrees with a day's sales: paid and unpaid, late and refunded; that
// the schedule compares each day once, with the seven days before; and that an operator can repeat it.
func TestTheBillOfADayAgrees(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 3, 1)}})
	w.noMidnight()
	_, pay := w.bought("1001", "5")
	w.payAtCashier(pay)
	w.awaitState("1001", "5", seckill.Paid)
	order, late := w.bought("1002", "5")
	if a := w.call(w.token("1002"), "POST", "/order/"+order+"/cancel", nil); a.status != 200 {
		t.Fatal(a)
	}
	w.awaitState("1002", "5", seckill.Cancelled)
	w.payAtCashier(late)
	w.awaitState("1002", "5", seckill.RefundOwed)
	w.pass(time.Minute)
	w.awaitState("1002", "5", seckill.Refunded)
	today := seckill.Day(w.Clock.Now())
	_, err := gives[seckill.Reconciliation](w, &operator.Reconcile{Day: today})
	if refusal(err).Code != seckill.CodeInvalid {
		t.Errorf("a day that is not over: %v", err)
	}
	day := w.nextMorning()
	list := w.kept(day)
	if len(list) != 1 || w.Meter.Counts()[seckill.EventDifferences] != 0 {
		t.Fatalf("the morning after %s: %v, want it matched once, without differences", day, list)
	}
	want := seckill.Reconciliation{Day: day, Payments: 2, Captured: 398_00, Refunds: 1, Returned: 199_00}
	ignore := cmpopts.IgnoreFields(want, "At", "Differences")
	if diff := cmp.Diff(want, list[0], ignore); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	w.pass(local.MaxAdvance)
	r, err := gives[seckill.Reconciliation](w, &operator.Reconcile{Day: day})
	if err != nil || cmp.Diff(want, r, ignore) != "" {
		t.Errorf("matched again: %+v, %v", r, err)
	}
	if n := len(w.kept(day)); n != 2 {
		t.Errorf("%d reconciliations of %s, want the schedule's and the operator's", n, day)
	}
	for back := 1; back <= 7; back++ {
		if d := seckill.Day(w.Clock.Now().Add(-10*time.Hour).AddDate(0, 0, -back)); d != day && len(w.kept(d)) != 1 {
			t.Errorf("%s: %v, want it matched once", d, w.kept(d))
		}
	}
	w.drained()
}
