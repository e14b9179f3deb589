package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/money/reconcile"
	"github.com/your-org/seckill/shared/seckill"
)

// TestReconcileOfARunningShop: "yesterday" is by the shop's clock, which is moved.
func TestReconcileOfARunningShop(t *testing.T) {
	t.Parallel()
	sys := localtest.Start(t, local.Options{})
	sys.Clock.Advance(72 * time.Hour)
	yesterday := seckill.Day(sys.Clock.Now().Add(-24 * time.Hour))
	shows(t, step{"reconcile --url " + sys.URL(), exitOK, "there was no bill of " + yesterday + ": no money moved", ""})
}

// aBill is the same for each day, and has a line of another shop.
type aBill []seckill.BillLine

// Bill returns the lines, and one that cannot be read.
func (b aBill) Bill(context.Context, string) (seckill.Bill, error) {
	if len(b) == 0 {
		return seckill.Bill{}, nil
	}
	return seckill.Bill{Lines: b, Others: 1}, seckill.UnreadLines{{Line: 9, Order: b[0].Order, Why: "3 fields"}}
}

// TestReconcileOfAStack checks that the stack's reconcile function executes the command and logs who gave it, that
// each kind of difference is explained, and that unlisted differences are counted.
func TestReconcileOfAStack(t *testing.T) {
	clock := memory.NewRealClock()
	bill := aBill{{Order: seckill.KeyedOrderID("7", "1001", "k"), TradeNo: "t1", Amount: 88_80}}
	for range seckill.MaxDifferences {
		bill = append(bill, bill[0])
	}
	flow := reconcile.New(reconcile.Deps{Ledger: ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock})),
		Bills: bill, Clock: clock, Meter: uncounted{}})
	c, audit := onStack(t, operator.NewBillHandler(flow))
	for _, step := range []struct {
		args   []string
		code   int
		stdout []string
		stderr string
	}{
		{[]string{"--date", "2026-11-11", "--list"}, exitOK,
			[]string{
				"The bill of 2026-11-11 has not been matched yet. To match it: seckill reconcile --date 2026-11-11 " +
					"--stack sale --region eu-central-1\n"}, ""},
		{[]string{"--date", "2026-11-11"}, exitFault,
			[]string{
				"Bill of 2026-11-11, matched at TIME:\n  1001 payments  88888.80 yuan captured\n  0 refunds  0.00 " +
					"yuan returned\n" +
					"  1 line  of the seller's other shops, not matched\n",
				"  line_unreadable  ORDER  -  -  0.00  0.00  the bill's line cannot be read, so it was not matched: " +
					"line 9, 3 fields\n",
				"  payment_not_here  ORDER  t1  -  0.00  88.80  the bill has a payment that the ledger does not have\n",
				"  payment_twice  ORDER  t1  -  0.00  88.80  the bill has the payment more than once\n",
				"\n  … and 2 more\nTo record a payment that is not here: seckill unknown ORDER --trade TRADE --why " +
					"TEXT --stack sale --region eu-central-1\n",
				"seckill payments ORDER --stack sale --region eu-central-1\n"},
			"seckill: bill of 2026-11-11: 1002 differences\n"},
		{[]string{"--date", "2026-11-11", "--list"}, exitFault, []string{"Bill of 2026-11-11, matched at TIME:\n"},
			"seckill: bill of 2026-11-11: 1002 differences\n"},
		{[]string{"--date", "2026-11-11", "--list", "--json"}, exitFault,
			[]string{`"day": "2026-11-11"`, `"reconciliations": [`, `"payments": 1001`}, "1002 differences\n"},
		{nil, exitFault, []string{"Bill of " + seckill.Day(time.Now().Add(-24*time.Hour)) + ", matched at TIME:\n"},
			"1002 differences\n"},
		{[]string{"--date", "2999-01-01"}, exitUsage, nil,
			"seckill: bill of 2999-01-01: The day must be one that is over in UTC+8, as YYYY-MM-DD"},
	} {
		code, stdout, stderr := command(t, append(append([]string{"reconcile"}, step.args...), "--stack", "sale",
			"--region", "eu-central-1")...)
		if code != step.code || !strings.Contains(stderr, step.stderr) || (stderr == "") != (step.stderr == "") {
			t.Errorf("%v: exit %d, %s, want exit %d, %s", step.args, code, stderr, step.code, step.stderr)
		}
		for _, want := range step.stdout {
			if !strings.Contains(same(stdout), want) {
				t.Errorf("%v:\n%.2000s\nhas no %s", step.args, same(stdout), want)
			}
		}
		if calls := c.called(); !strings.HasPrefix(calls, "GetCallerIdentity DescribeStacks Invoke") {
			t.Errorf("%v: called %s", step.args, calls)
		}
	}
	if log := audit.String(); strings.Count(log, "\n") != 9 || strings.Count(log, caller) != 9 ||
		strings.Count(log, `"command":"reconcile","day":"2026-11-11","differences":1002`) != 1 {
		t.Errorf("audit log:\n%s", log)
	}
}

// TestEachDifferenceHasAMeaning checks that the command and the runbook explain each kind.
func TestEachDifferenceHasAMeaning(t *testing.T) {
	t.Parallel()
	runbook, err := os.ReadFile("../../docs/runbooks/bill-differences.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []seckill.DifferenceKind{seckill.PaymentNotHere, seckill.PaymentNotThere,
		seckill.PaymentAmount, seckill.PaymentTwice,
		seckill.RefundNotHere, seckill.RefundNotThere, seckill.RefundAmount, seckill.RefundForeign,
		seckill.RefundTwice, seckill.RowUnreadable, seckill.LineUnreadable} {
		if meanings[kind] == "" {
			t.Errorf("%s has no meaning", kind)
		}
		if n := strings.Count(string(runbook), "`"+string(kind)+"`"); n != 1 {
			t.Errorf("the runbook has %s %d times, want one row with what it means and what to do", kind, n)
		}
	}
}

func TestReconcileRefusesInOneLine(t *testing.T) {
	refuses(t, exitUsage, "reconcile *", [][2]string{
		{"2026-11-11", `"2026-11-11": unexpected argument`},
		{"--date yesterday", `--date "yesterday": want a day such as 2026-11-11`},
		{"--date \"\"", `--date "": want a day`},
		{"--date 2026-02-30", `--date "2026-02-30": want a day`},
	})
}

// TestReconcileOutlastsItsCall: a comparison whose call was given up goes on, and its result is asked for. One that
// fails sooner is told at once.
func TestReconcileOutlastsItsCall(t *testing.T) {
	defer func(a, b, c time.Duration) { outlasts, askEvery, reconciles = a, b, c }(outlasts, askEvery, reconciles)
	askEvery = time.Millisecond
	clock := memory.NewRealClock()
	function, _ := executes(operator.NewBillHandler(reconcile.New(reconcile.Deps{Bills: aBill{}, Clock: clock,
		Ledger: ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock})), Meter: uncounted{}})))
	asked := 0
	var running []byte // the comparison
	c := &cloud{outputs: anAPI, function: func(event []byte) ([]byte, string) {
		if bytes.Contains(event, []byte(`"reconcile"`)) {
			running, asked = event, 0
			return nil, "Task timed out"
		}
		if asked++; asked == 3 && running != nil { // it ends
			function(running)
		}
		return function(event)
	}}
	account(t, served(t, c).URL)
	for _, tt := range []struct {
		outlasts, reconciles time.Duration
		code                 int
		stdout, stderr       string
	}{
		{0, time.Minute, exitOK, "Bill of 2026-11-11, matched at ", "goes on: waiting for its result"},
		{0, time.Minute, exitOK, "Bill of 2026-11-11, matched at ", "goes on: waiting for its result"},
		{0, 0, exitFault, "", "it failed"},
		{time.Minute, time.Minute, exitFault, "", "it failed"},
	} {
		outlasts, reconciles, running = tt.outlasts, tt.reconciles, nil
		shows(t, step{"reconcile --date 2026-11-11 --stack sale --region eu-central-1", tt.code, tt.stdout, tt.stderr})
	}
}
