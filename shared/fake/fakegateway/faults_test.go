package fakegateway_test

import (
	"flag"
	"fmt"
	"math"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// always returns a plan in which each fault happens at every opportunity.
func always(faults ...fakegateway.Fault) fakegateway.Faults {
	plan := fakegateway.Faults{Shares: map[fakegateway.Fault]float64{}}
	for _, f := range faults {
		plan.Shares[f] = 1
	}
	return plan
}

// faulty returns a system with a plan, in which the cashier of order(0) is open.
func faulty(t *testing.T, faults ...fakegateway.Fault) (*fakegateway.Gateway, *shop, *clock) {
	t.Helper()
	g, s, c := system(t, func(o *fakegateway.Options) { o.Faults = always(faults...) })
	open(t, g, s, order(0))
	return g, s, c
}

func landed(t *testing.T, g *fakegateway.Gateway, f fakegateway.Fault, want int) {
	t.Helper()
	must.Equal(t, want, g.Faults().Landed[f], f, "landed", "times")
}

func steps(t *testing.T, g *fakegateway.Gateway, delivered, failed int) {
	t.Helper()
	if d, f := g.Tick(t.Context()); d != delivered || f != failed {
		t.Errorf("%d delivered, %d failed, want %d, %d", d, f, delivered, failed)
	}
}

func TestNotifyLost(t *testing.T) {
	g, s, c := faulty(t, fakegateway.NotificationLost)
	must.OK(t, g.Pay(orderID))
	steps(t, g, 0, 1)
	landed(t, g, fakegateway.NotificationLost, 1)
	if len(s.got) != 0 {
		t.Error("it arrived")
	}
	must.OK(t, g.SetFaults(fakegateway.Faults{}))
	c.set(start.Add(fakegateway.AlipayRetries[0]))
	steps(t, g, 1, 0)
}

func TestNotifyDuplicated(t *testing.T) {
	g, s, _ := faulty(t, fakegateway.NotificationDuplicated)
	must.OK(t, g.Pay(orderID))
	steps(t, g, 1, 0)
	landed(t, g, fakegateway.NotificationDuplicated, 1)
	if len(s.got) != 2 || s.got[0].Get("notify_id") != s.got[1].Get("notify_id") {
		t.Errorf("%d arrived, want the same one twice", len(s.got))
	}
}

func TestNotifyDelayed(t *testing.T) {
	g, _, c := faulty(t, fakegateway.NotificationDelayed)
	must.OK(t, g.Pay(orderID))
	next, ok := g.Next()
	if late := next.Sub(start); !ok || late <= 0 || late > 10*time.Minute {
		t.Fatalf("the first attempt comes %v late, want up to 10 minutes", late)
	}
	steps(t, g, 0, 0)
	c.set(next)
	steps(t, g, 1, 0)
	landed(t, g, fakegateway.NotificationDelayed, 1)
}

func TestNotifyReordered(t *testing.T) {
	g, s, c := faulty(t, fakegateway.NotificationReordered)
	must.OK(t, g.Pay(orderID))
	landed(t, g, fakegateway.NotificationReordered, 1)
	must.OK(t, g.SetFaults(fakegateway.Faults{}))
	c.set(start.Add(time.Second))
	refund(t, g, "8.80", "r1", "Y")
	steps(t, g, 1, 0)
	c.set(start.Add(5 * time.Second))
	steps(t, g, 1, 0)
	if len(s.got) != 2 || s.got[0].Get("refund_fee") != "8.80" || s.got[1].Has("refund_fee") {
		t.Errorf("arrived: %v, want the refund's before the payment's", s.got)
	}
}

// TestFalseNotifications checks that a false notification precedes the genuine one, and that the gateway counts those
// which the shop accepts.
func TestFalseNotifications(t *testing.T) {
	for fault, want := range map[fakegateway.Fault]struct {
		code   seckill.Code // code of the adapter's refusal; "" if the caller has to refuse
		amount string
	}{
		fakegateway.NotificationForged:      {seckill.CodeForged, "0.01"},
		fakegateway.NotificationWrongAmount: {"", "88.81"},
		fakegateway.NotificationOtherApp:    {seckill.CodeNotOurs, "88.80"},
	} {
		t.Run(string(fault), func(t *testing.T) {
			g, s, _ := faulty(t, fault)
			must.OK(t, g.Pay(orderID))
			s.answer = "fail"
			steps(t, g, 0, 1)
			landed(t, g, fault, 1)
			if g.Faults().Taken[fault] != 0 || len(s.got) != 2 {
				t.Fatalf("taken: %v, %d arrived; want none taken, 2", g.Faults().Taken, len(s.got))
			}
			n, err := s.client.Verify(s.got[0])
			if got := seckill.CodeOf(err); want.code != "" && got != want.code || want.code == "" && err != nil {
				t.Errorf("the false one: %+v, %v; want code %q", n, err, want.code)
			}
			must.Equal(t, want.amount, s.got[0].Get("total_amount"), "it says")
			must.Equal(t, 88_80, must.Get(s.client.Verify(s.got[1])).Amount, "the genuine one")
			s.answer = "success"
			open(t, g, s, order(1))
			must.OK(t, g.Pay(order(1).ID))
			steps(t, g, 1, 0)
			if g.Faults().Taken[fault] != 1 {
				t.Errorf("taken: %v, want 1: this shop says success to everything", g.Faults().Taken)
			}
		})
	}
}

func TestPayLate(t *testing.T) {
	for name, tc := range map[string]struct {
		after time.Duration // time after the trade's expiry
		close bool
		want  error
	}{
		"at the end":             {0, false, nil},
		"nearly an hour later":   {time.Hour - 1, false, nil},
		"an hour later":          {time.Hour, false, fakegateway.ErrExpired},
		"closed by the shop":     {time.Minute, true, fakegateway.ErrExpired},
		"closed, its time to go": {-time.Minute, true, fakegateway.ErrClosed},
	} {
		g, s, c := faulty(t, fakegateway.PayLate)
		if tc.close {
			closeTrade(t, g, s, orderID)
		}
		c.set(start.Add(15*time.Minute + tc.after))
		if got, _ := call(t, g, alipay.MethodQuery,
			map[string]any{"out_trade_no": orderID}); got["trade_status"] != "TRADE_CLOSED" {
			t.Errorf("%s: query: %v, want TRADE_CLOSED", name, got)
		}
		must.Is(t, tc.want, g.Pay(orderID), name)
		want := 0
		if tc.want == nil {
			want = 1
		}
		landed(t, g, fakegateway.PayLate, want)
		steps(t, g, want, 0)
		must.Equal(t, tc.want == nil, g.Trades()[0].Kept() > 0, name)
	}
}

func TestCloseAndPay(t *testing.T) {
	for fault, succeeds := range map[fakegateway.Fault]bool{fakegateway.ClosePaid: true,
		fakegateway.CloseFailsPaid: false} {
		g, s, _ := faulty(t, fault)
		got, _ := call(t, g, alipay.MethodClose, map[string]any{"out_trade_no": orderID})
		unknown := got["code"] == "20000" || strings.HasSuffix(got["sub_code"], "SYSTEM_ERROR")
		if (got["code"] == "10000") != succeeds || !succeeds && !unknown {
			t.Errorf("%s: close answers %v", fault, got)
		}
		landed(t, g, fault, 1)
		if tr := g.Trades()[0]; tr.Status != fakegateway.StatusSuccess {
			t.Errorf("%s: %+v, want it paid", fault, tr)
		}
		steps(t, g, 1, 0)
		if len(s.got) != 1 || s.got[0].Get("trade_status") != "TRADE_SUCCESS" {
			t.Errorf("%s: the shop was told %v", fault, s.got)
		}
		if got, _ := call(t, g, alipay.MethodClose,
			map[string]any{"out_trade_no": orderID}); got["sub_code"] != "ACQ.REASON_TRADE_STATUS_INVALID" {
			t.Errorf("%s: closed once more: %v", fault, got)
		}
		landed(t, g, fault, 1)
	}
}

func TestACallIsCutOffOrUnavailable(t *testing.T) {
	for fault, want := range map[fakegateway.Fault]struct {
		status int
		kept   seckill.Fen
	}{fakegateway.CallCut: {0, 80_00}, fakegateway.Call5xx: {http.StatusBadGateway, 88_80}} {
		g, _, _ := faulty(t, fault)
		must.OK(t, g.Pay(orderID))
		if got, status := call(t, g, alipay.MethodRefund, back("8.80", "r1")); got != nil || status != want.status {
			t.Errorf("%s: %v, status %d; want no answer, %d", fault, got, status, want.status)
		}
		landed(t, g, fault, 1)
		if tr := g.Trades()[0]; tr.Kept() != want.kept {
			t.Errorf("%s: %s kept, want %s", fault, tr.Kept().Yuan(), want.kept.Yuan())
		}
	}
}

// TestUnknown checks that the answer is inconclusive, and that the call takes effect about half the time.
func TestUnknown(t *testing.T) {
	g, _, _ := faulty(t, fakegateway.CallUnknown)
	must.OK(t, g.Pay(orderID))
	const calls = 60
	codes := map[string]int{}
	for i := range calls {
		got, _ := call(t, g, alipay.MethodRefund, back("0.01", "r"+strings.Repeat("x", i)))
		codes[got["code"]+" "+got["sub_code"]]++
	}
	landed(t, g, fakegateway.CallUnknown, calls)
	made := len(g.Trades()[0].Refunds)
	if made < calls/4 || made > calls*3/4 {
		t.Errorf("%d of %d took effect", made, calls)
	}
	for _, c := range []string{"20000 isp.unknow-error", "20000 aop.ACQ.SYSTEM_ERROR", "40004 ACQ.SYSTEM_ERROR"} {
		if codes[c] == 0 {
			t.Errorf("no answer %q in %v", c, codes)
		}
	}
	if len(codes) != 3 {
		t.Errorf("answers %v", codes)
	}
}

func TestRefundPartial(t *testing.T) {
	g, s, _ := faulty(t, fakegateway.RefundPartial)
	must.OK(t, g.Pay(orderID))
	landed(t, g, fakegateway.RefundPartial, 1)
	if tr := g.Trades()[0]; tr.Kept() != 44_40 || tr.Status != fakegateway.StatusSuccess || len(tr.Refunds) != 1 {
		t.Errorf("%+v, want half of it kept", tr)
	}
	steps(t, g, 2, 0)
	if len(s.got) != 2 || s.got[1].Get("refund_fee") != "44.40" || s.got[1].Get("trade_status") != "TRADE_SUCCESS" {
		t.Errorf("the shop was told %v", s.got)
	}
	refund(t, g, "88.80", "r1", "ACQ.REFUND_AMT_NOT_EQUAL_TOTAL")
}

func TestTwoTrades(t *testing.T) {
	g, s, _ := faulty(t, fakegateway.TwoTrades)
	str := prepare(t, s, order(0))
	first := g.Trades()[0].TradeNo
	second := inputs(get(g, str, "en").Body.String())
	landed(t, g, fakegateway.TwoTrades, 1)
	if trades := g.Trades(); len(trades) != 2 || trades[1].TradeNo == first || trades[1].OutTradeNo != orderID {
		t.Fatalf("trades %+v, want two of one order", trades)
	}
	must.OK(t, g.PayTrade(first))
	if w := post(g, second); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Payment successful") {
		t.Errorf("the second: status %d, page\n%s", w.Code, w.Body)
	}
	if w := get(g, str, "en"); !strings.Contains(w.Body.String(), "Payment successful") {
		t.Errorf("opened once more: page\n%s", w.Body)
	}
	landed(t, g, fakegateway.TwoTrades, 1)
	steps(t, g, 2, 0)
	told := map[string]string{}
	for _, f := range s.got {
		told[f.Get("trade_no")] = f.Get("out_trade_no")
	}
	if len(told) != 2 || told[first] != orderID {
		t.Errorf("the shop was told of %v", told)
	}
	other := g.Trades()[1].TradeNo
	query := func(biz map[string]any, want string) {
		t.Helper()
		if got, _ := call(t, g, alipay.MethodQuery, biz); got["trade_no"] != want {
			t.Errorf("query %v: %v, want %s", biz, got, want)
		}
	}
	query(map[string]any{"out_trade_no": orderID}, first)
	query(map[string]any{"trade_no": other}, other)
	if got, _ := call(t, g, alipay.MethodRefund, map[string]any{"trade_no": first, "refund_amount": "88.80",
		"out_request_no": "r1"}); code(got) != "Y" {
		t.Fatal(got)
	}
	query(map[string]any{"out_trade_no": orderID}, other)
	query(map[string]any{"trade_no": first}, first)
}

// TestAnOrdersWaitingTradesAreClosedTogether checks that a close by the order's number closes all waiting trades, and
// one by a trade's number only that trade.
func TestAnOrdersWaitingTradesAreClosedTogether(t *testing.T) {
	for name, tc := range map[string]struct {
		one  bool
		want []fakegateway.Status
	}{
		"by order": {false, []fakegateway.Status{fakegateway.StatusClosed, fakegateway.StatusClosed}},
		"by trade": {true, []fakegateway.Status{fakegateway.StatusWait, fakegateway.StatusClosed}},
	} {
		g, s, _ := faulty(t, fakegateway.TwoTrades)
		second := must.Get(g.Open(prepare(t, s, order(0))))
		biz := map[string]any{"out_trade_no": orderID}
		if tc.one {
			biz["trade_no"] = second
		}
		if got, _ := call(t, g, alipay.MethodClose, biz); got["code"] != "10000" {
			t.Errorf("%s: %v", name, got)
		}
		var got []fakegateway.Status
		for _, tr := range g.Trades() {
			got = append(got, tr.Status)
		}
		if !cmp.Equal(tc.want, got) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func TestBalanceShort(t *testing.T) {
	g, _, _ := faulty(t, fakegateway.BalanceShort)
	must.OK(t, g.Pay(orderID))
	refund(t, g, "8.80", "r1", "ACQ.SELLER_BALANCE_NOT_ENOUGH")
	landed(t, g, fakegateway.BalanceShort, 1)
	must.Equal(t, 88_80, g.Trades()[0].Kept())
}

// TestTheSameSeedHitsTheSame checks that a fault's hits depend only on the seed, not on other faults.
func TestTheSameSeedHitsTheSame(t *testing.T) {
	hits := func(plan string) (out []bool) {
		faults := must.Get(fakegateway.ParseFaults(plan))
		g, s, _ := system(t, func(o *fakegateway.Options) { o.Faults = faults })
		open(t, g, s, order(0))
		for range 40 {
			_, status := call(t, g, alipay.MethodQuery, map[string]any{"out_trade_no": orderID})
			out = append(out, status == http.StatusBadGateway)
		}
		return out
	}
	one := hits("call-5xx=0.5,seed=7")
	if diff := cmp.Diff(one, hits("call-5xx=0.5,seed=7,unknown=0.5,notification-lost=0.5")); diff != "" {
		t.Errorf("the same seed (-one +other):\n%s", diff)
	}
	if cmp.Equal(one, hits("call-5xx=0.5,seed=8")) {
		t.Error("another seed hits the same")
	}
	count := 0
	for _, hit := range one {
		if hit {
			count++
		}
	}
	if count < 10 || count > 30 {
		t.Errorf("%d of 40 hit, want about half", count)
	}
}

func TestPlansAreChecked(t *testing.T) {
	for in, want := range map[string]string{
		"":                                 "",
		" ":                                "",
		"notification-lost=0.2":            "",
		"notification-lost=0.2, unknown=1": "",
		"seed=7":                           "",
		"lost=0.2":                         "known: notification-lost, notification-duplicated",
		"notification-lost":                "known: notification-lost",
		"notification-lost=":               "0 to 1",
		"notification-lost=a":              "0 to 1",
		"notification-lost=1.1":            "0 to 1",
		"notification-lost=-0.1":           "0 to 1",
		"notification-lost=NaN":            "0 to 1",
		"notification-lost=1,notification-lost=0": "once",
		"seed=-1":  "whole number",
		"seed=1.5": "whole number",
		",":        "known:",
	} {
		_, err := fakegateway.ParseFaults(in)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", in, err, want)
		}
	}
	g, _, _ := system(t, nil)
	for name, share := range map[fakegateway.Fault]float64{"other": 0.5, fakegateway.NotificationLost: math.NaN(),
		fakegateway.CallCut: math.Inf(1)} {
		if err := g.SetFaults(fakegateway.Faults{Shares: map[fakegateway.Fault]float64{name: share}}); err == nil {
			t.Errorf("%s=%v is taken", name, share)
		}
	}
	if _, err := fakegateway.New(fakegateway.Options{Clock: &clock{now: start}, AppID: appID, SellerID: sellerID,
		MerchantPublicKey: shopKeys().Public, Faults: always("other")}); err == nil {
		t.Error("a gateway is made with a fault that is not known")
	}
}

// TestNothingGoesWrongByItself checks that without a plan no fault happens.
func TestNothingGoesWrongByItself(t *testing.T) {
	g, s, c := paid(t, nil)
	if _, err := g.Open(prepare(t, s, order(0))); err == nil {
		t.Error("a paid order was opened")
	}
	call(t, g, alipay.MethodRefund, back("8.80", "r1"))
	closeTradeOf(t, g, s, order(1))
	c.set(start.Add(time.Minute))
	g.Tick(t.Context())
	if got := g.Faults(); len(got.Landed)+len(got.Taken) != 0 {
		t.Errorf("landed: %v, taken: %v", got.Landed, got.Taken)
	}
}

func closeTradeOf(t *testing.T, g *fakegateway.Gateway, s *shop, o seckill.Order) {
	t.Helper()
	open(t, g, s, o)
	closeTrade(t, g, s, o.ID)
}

var update = flag.Bool("update", false, "write the faults in docs/LOCAL.md")

// TestEachFaultIsExplained checks that docs/LOCAL.md has exactly one row per fault; -update writes the rows.
func TestEachFaultIsExplained(t *testing.T) {
	const file, open, end = "../../../docs/LOCAL.md", "<!-- generated: faults, by make generate -->\n",
		"<!-- end: faults -->"
	page := must.Get(os.ReadFile(file))
	want := "| fault | what goes wrong |\n|---|---|\n"
	for _, f := range fakegateway.FaultNames {
		if fakegateway.Meanings[f] == "" {
			t.Errorf("%s has no meaning", f)
		}
		want += fmt.Sprintf("| `%s` | %s |\n", f, fakegateway.Meanings[f])
	}
	before, rest, opened := strings.Cut(string(page), open)
	got, after, ended := strings.Cut(rest, end)
	if !opened || !ended {
		t.Fatalf("%s has no place for the faults", file)
	}
	if *update {
		must.OK(t, os.WriteFile(file, []byte(before+open+want+end+after), 0o600))
		return
	}
	if len(fakegateway.Meanings) != len(fakegateway.FaultNames) || got != want {
		t.Errorf("%d meanings of %d faults; want in docs/LOCAL.md, by `make generate`:\n%s", len(fakegateway.Meanings),
			len(fakegateway.FaultNames), want)
	}
}
