package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/money/reconcile"
	"github.com/your-org/seckill/shared/seckill"
)

var aConsoleRefund = regexp.MustCompile(`\bconsole\d+\b`)

// TestReconcileOfARunningShop refunds half of a payment in the provider's console. "Yesterday" is by the shop's
// clock, which is moved.
func TestReconcileOfARunningShop(t *testing.T) {
	t.Parallel()
	startedLog(t, noEnv, func(printed string) {
		base, s := firstShopper(t, printed)
		now := func() time.Time {
			at, err := time.Parse(time.RFC3339, s.call("GET", "/_local/clock", nil).Text("now"))
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		try := func(code int, stdout, stderr string, args ...string) {
			t.Helper()
			gotCode, out, errs := command(t, append(append([]string{"reconcile"}, args...), "--url", base)...)
			if out = aConsoleRefund.ReplaceAllString(same(out), "CONSOLE"); gotCode != code || out != stdout ||
				errs != stderr {
				t.Errorf("%v: exit %d\n%s%swant exit %d\n%s%s", args, gotCode, out, errs, code, stdout, stderr)
			}
		}
		if at := now(); seckill.Day(at.Add(time.Hour)) != seckill.Day(at) {
			s.pass(time.Hour) // the rest happens on one day
		}
		_, page := s.buy()
		s.pay(page)
		today := seckill.Day(now())
		try(exitOK, "At TIME there was no bill of "+seckill.Day(now().Add(-24*time.Hour))+
			": no money moved on that day, or the bill is not ready yet (it is by 10:00 UTC+8 of the next day).\n", "")
		try(exitUsage, "", "seckill: bill of "+today+
			": The day must be one that is over in UTC+8, as YYYY-MM-DD: its bill comes the next morning. (see: "+
			"seckill reconcile --help)\n", "--date", today)
		try(exitOK, "The bill of "+today+" has not been matched yet. To match it: seckill reconcile --date "+today+
			" --url URL\n",
			"", "--date", today, "--list")
		s.pass(24 * time.Hour)
		text := "Bill of " + today +
			", matched at TIME:\n  1 payment  199.00 yuan captured\n  1 refund  99.50 yuan returned\n" +
			"Bill and ledger differ. HERE is the ledger, THERE the bill, in yuan:\n  DIFFERENCE  ORDER  TRADE  " +
			"REFUND  HERE  THERE  MEANS\n" +
			"  refund_foreign  ORDER  TRADE  CONSOLE  0.00  99.50  refunded in the provider's console, not by this " +
			"shop\n" +
			"What to do: docs/runbooks/bill-differences.md. An order's money: seckill payments ORDER --url URL\n"
		one := "seckill: bill of " + today + ": 1 difference\n"
		try(exitFault, text, one)
		code, out, errs := command(t, "reconcile", "--url", base, "--list", "--json")
		var all operator.Reconciled
		if err := json.Unmarshal([]byte(out), &all); err != nil || code != exitFault || errs != one ||
			all.Day != today || len(all.Reconciliations) == 0 {
			t.Fatalf("as JSON: exit %d, %v\n%s%s", code, err, out, errs)
		}
		for _, r := range all.Reconciliations { // the schedule's, from after 10:00, and the command's
			if r.Count != 1 || len(r.Differences) != 1 || r.Differences[0].Kind != seckill.RefundForeign ||
				r.Differences[0].There != 99_50 || r.Captured != 199_00 {
				t.Errorf("as JSON: %+v", r)
			}
		}
		try(exitFault, strings.Repeat(text, len(all.Reconciliations)), one, "--list", "--date", today)
	}, "--gateway-faults", "refund-partial=1")
}

// aBill is the same for each day, and has a line of another shop.
type aBill []seckill.BillLine

func (b aBill) Bill(context.Context, string) (seckill.Bill, error) {
	return seckill.Bill{Lines: b, Others: 1}, nil
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
	function, audit := executes(operator.NewBillHandler(flow))
	c := &cloud{outputs: anAPI, function: function}
	account(t, served(t, c).URL)
	for _, step := range []struct {
		args   []string
		code   int
		stdout []string
		stderr string
	}{
		{[]string{"--date", "2026-11-11", "--list"}, exitOK,
			[]string{
				"The bill of 2026-11-11 has not been matched yet. To match it: seckill reconcile --date 2026-11-11 " +
					"--stack sale " +
					"--region eu-central-1\n"}, ""},
		{[]string{"--date", "2026-11-11"}, exitFault,
			[]string{
				"Bill of 2026-11-11, matched at TIME:\n  1001 payments  88888.80 yuan captured\n  0 refunds  0.00 " +
					"yuan returned\n" +
					"  1 line  of the seller's other shops, not matched\n",
				"  payment_not_here  ORDER  t1  -  0.00  88.80  the bill has a payment that the ledger does not have\n",
				"  payment_twice  ORDER  t1  -  0.00  88.80  the bill has the payment more than once\n",
				"\n  … and 1 more\nTo record a payment that is not here: seckill unknown ORDER --trade TRADE --why " +
					"TEXT --stack sale --region eu-central-1\n",
				"seckill payments ORDER --stack sale --region eu-central-1\n"},
			"seckill: bill of 2026-11-11: 1001 differences\n"},
		{[]string{"--date", "2026-11-11", "--list"}, exitFault, []string{"Bill of 2026-11-11, matched at TIME:\n"},
			"seckill: bill of 2026-11-11: 1001 differences\n"},
		{nil, exitFault, []string{"Bill of " + seckill.Day(time.Now().Add(-24*time.Hour)) + ", matched at TIME:\n"},
			"1001 differences\n"},
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
	if log := audit.String(); strings.Count(log, "\n") != 8 || strings.Count(log, caller) != 8 ||
		strings.Count(log, `"command":"reconcile","day":"2026-11-11","differences":1001`) != 1 {
		t.Errorf("audit log:\n%s", log)
	}
}

// aTornBill is a bill that cannot be read.
type aTornBill struct{}

func (aTornBill) Bill(_ context.Context, day string) (seckill.Bill, error) {
	return seckill.Bill{}, errors.New("alipay: bill of " + day + ": line 17: 业务类型 \"转账\"")
}

// TestReconcileSaysWhatABillLacks checks that the operator's one line says what the stack's reconcile function could
// not read.
func TestReconcileSaysWhatABillLacks(t *testing.T) {
	clock := memory.NewRealClock()
	flow := reconcile.New(reconcile.Deps{Ledger: ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock})),
		Bills: aTornBill{}, Clock: clock, Meter: uncounted{}})
	function, _ := executes(operator.NewBillHandler(flow))
	account(t, served(t, &cloud{outputs: anAPI, function: function}).URL)
	const want = "seckill: alipay: bill of 2026-11-11: line 17: 业务类型 \"转账\"\n"
	if code, stdout, stderr := command(t, "reconcile", "--date", "2026-11-11", "--stack", "sale"); code != exitFault ||
		stdout != "" || stderr != want {
		t.Errorf("exit %d\n%s%swant exit %d\n%s", code, stdout, stderr, exitFault, want)
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
		seckill.RefundTwice} {
		if meanings[kind] == "" {
			t.Errorf("%s has no meaning", kind)
		}
		if n := strings.Count(string(runbook), "`"+string(kind)+"`"); n != 1 {
			t.Errorf("the runbook has %s %d times, want one row with what it means and what to do", kind, n)
		}
	}
}

func TestReconcileRefusesInOneLine(t *testing.T) {
	busy := served(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"code":"unavailable","detail":"The shop is busy."}`)
	}))
	silent := served(t, http.NotFoundHandler())
	silent.Close()
	refuses(t,
		step{"reconcile 2026-11-11", exitUsage, "", `"2026-11-11": unexpected argument`},
		step{"reconcile --date yesterday", exitUsage, "", `--date "yesterday": want a day such as 2026-11-11`},
		step{"reconcile --date \"\"", exitUsage, "", `--date "": want a day`},
		step{"reconcile --date 2026-02-30", exitUsage, "", `--date "2026-02-30": want a day`},
		step{"reconcile --stack sale --url " + silent.URL, exitUsage, "", "--stack and --url contradict each other"},
		step{"reconcile --url " + silent.URL, exitFault, "", "nothing answers at " + silent.URL},
		step{"reconcile --date 2026-11-11 --url " + busy.URL, exitFault, "", "The shop is busy."},
	)
	http.DefaultClient.CloseIdleConnections()
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
		code, stdout, stderr := command(t, "reconcile", "--date", "2026-11-11", "--stack", "sale", "--region",
			"eu-central-1")
		if code != tt.code || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) {
			t.Errorf("%+v: exit %d\n%s%s", tt, code, stdout, stderr)
		}
	}
}
