package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os/user"
	"regexp"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
	"github.com/your-org/seckill/shared/seckill"
)

const someOrder = "obbbbbbbbbbbbbbbbbbbbbbbbbb"

// shopper is a client of a running shop.
type shopper struct {
	t *testing.T
	contracttest.Client
	token string
}

// firstShopper returns the address that a run printed, and its first shopper.
func firstShopper(t *testing.T, printed string) (base string, s *shopper) {
	t.Helper()
	base = find(t, printed, `(?m)^  S=(\S+)$`)
	return base, &shopper{t, contracttest.Client{URL: base, HTTP: http.DefaultClient}, find(t, printed, `(?m)^  A=(\S+)$`)}
}

func (s *shopper) call(method, path string, body any, headers ...string) contracttest.Answer {
	s.t.Helper()
	a, err := s.Call(s.t.Context(), s.token, method, path, body, headers...)
	if err != nil || a.Status != http.StatusOK {
		s.t.Fatalf("%s %s: %v, %v", method, path, a, err)
	}
	return a
}

// becomes waits until the shopper's order is in a state, and returns it.
func (s *shopper) becomes(want seckill.State) contracttest.Answer {
	s.t.Helper()
	deadline, tick := time.After(time.Minute), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for {
		a := s.call("GET", "/seckill/order/"+local.DemoLive, nil)
		if a.Text("state") == string(want) && (want != seckill.PendingPayment || a.Text("alipay_order") != "") {
			return a
		}
		select {
		case <-deadline:
			s.t.Fatalf("not %s within a minute: %v", want, a)
		case <-tick.C:
		}
	}
}

// buy places an order and opens its cashier; it returns the order's id and the cashier's page.
func (s *shopper) buy() (order, page string) {
	s.t.Helper()
	s.call("POST", "/seckill/buy", map[string]any{"seckill_id": local.DemoLive, "count": 1,
		"address": "浙江省杭州市西湖区文三路 1 号"})
	a := s.becomes(seckill.PendingPayment)
	return a.Text("order_id"), s.call("GET", "/cashier?"+a.Text("alipay_order"), nil).Raw
}

func (s *shopper) pay(page string) {
	s.t.Helper()
	action, form, err := contracttest.CashierForm(page)
	if err != nil {
		s.t.Fatal(err)
	}
	s.call("POST", "/"+action, form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	s.becomes(seckill.Paid)
	s.pass(time.Second) // the notification is stored after its effect
}

// pass moves the clock until everything due is done; on a busy machine that may take several calls.
func (s *shopper) pass(d time.Duration) {
	s.t.Helper()
	for idle := false; !idle; d = time.Second {
		idle, _ = s.call("POST", "/_local/clock",
			map[string]any{"advance_seconds": int(d / time.Second)}).JSON["idle"].(bool)
	}
}

// changing lists what differs between runs, and its placeholders.
var changing = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`http://localhost:\d+`), "URL"}, {regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`), "TIME"},
	{regexp.MustCompile(`\bo[a-z2-7]{26}(?:[a-z2-7]{5})?\b`), "ORDER"},
	{regexp.MustCompile(`\br[a-z2-7]{26}\b`), "REFUND"}, {regexp.MustCompile(`\b\d{34}\b`), "NOTIFY"},
	{regexp.MustCompile(`\b\d{28}\b`), "TRADE"}, {regexp.MustCompile(` {2,}`), "  "},
}

func same(text string) string {
	for _, c := range changing {
		text = c.pattern.ReplaceAllString(text, c.name)
	}
	return text
}

// TestMoneyCommandsAgainstARunningShop covers a refund that the gateway refuses, retries and makes; and an order
// about which it does not answer.
func TestMoneyCommandsAgainstARunningShop(t *testing.T) {
	t.Parallel()
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	started := func(part func(string)) {
		if log := startedLog(t, noEnv, part, "--hold", "30s", "--gateway-faults",
			"balance-short=1"); strings.Contains(log, "文三路") {
			t.Errorf("the log has an address: %s", log)
		}
	}
	started(func(printed string) {
		base, s := firstShopper(t, printed)
		order, page := s.buy()
		s.pay(page)
		try := func(steps ...step) {
			t.Helper()
			for _, s := range steps {
				s.line += " --url " + base
				try(t, s)
			}
		}
		const (
			head = " 199.00 yuan for 1 unit of item 2002 (云听 Pro 头戴式降噪耳机), by user 1001. "
			list = "  ORDER  TRADE  YUAN  SINCE  TRIES  NEXT\n  ORDER  TRADE  199.00  TIME  "
			past = "History:\n  TIME  STATE  CAUSE\n  TIME  pending_payment  placed\n  TIME  paid  notify\n"
			note = "Notifications:\n  TIME  ID  TRADE  YUAN  OUTCOME\n  TIME  NOTIFY  TRADE  199.00  recorded\n"
			paid = "Payments:\n  TRADE  YUAN  SINCE  RECORDED BY  STATE\n  TRADE  199.00  TIME  notify  "
			see  = " See: seckill payments ORDER --url URL\n"
		)
		try(
			step{"payments", exitOK, "No money is due back, refused or unknown.\n", ""},
			step{"payments " + order, exitOK, "Order ORDER is paid:" + head +
				"1 unit is held for the order.\n" +
				paid + "kept\n" + note + past, ""},
			step{"refund " + order + " --again --why x", exitOK,
				"Nothing to do: order ORDER is paid, and none of its money is due back." + see, ""},
			step{"unknown " + order + " --why x", exitUsage, "",
				"seckill: order ORDER: The order must be closing; it is paid. (see: seckill unknown --help)\n"},
			step{"refund " + order + " --why arrived~broken --restock", exitOK,
				"Order ORDER: 199.00 yuan go back within two minutes, and its units are sold again." + see, ""},
			step{"refund " + order + " --why arrived~broken", exitOK,
				"Nothing to do: 199.00 yuan of order ORDER are already going back." + see, ""},
			step{"payments", exitOK,
				"Due back: 1 payment, 199.00 yuan. The shop asks the payment provider each minute for those that are " +
					"due.\n" + list + "0  now\n", ""},
		)
		s.pass(time.Minute)
		try(
			step{"payments", exitOK,
				"Refused: 1 payment, 199.00 yuan. The payment provider refused the refund, and a person has to act.\n" +
					strings.Replace(list, "NEXT", "REFUSED", 1) + "1  ACQ.SELLER_BALANCE_NOT_ENOUGH\n" +
					"Once the cause is fixed (docs/runbooks/refunds-refused.md): seckill refund ORDER --again --why " +
					"TEXT --url URL\n", ""},
			step{"refund " + order + " --why arrived~broken", exitOK,
				"Order ORDER: the payment provider refused to refund 199.00 yuan, and the shop does not retry. For " +
					"the reason: seckill payments ORDER --url URL. Once the cause is fixed: seckill refund ORDER " +
					"--again --why " +
					"TEXT " +
					"--url URL\n", ""},
			step{"refund " + order + " --again --why paid~in --who 刘~(room~3)", exitOK,
				"Order ORDER: the shop asks the payment provider for 1 refund again within a minute." + see, ""},
		)
		s.call("PUT", "/faults", map[string]any{})
		s.pass(time.Minute)
		s.becomes(seckill.Refunded)
		code, stdout, stderr := command(t, "payments", order, "--raw", "--url", base)
		wanted := "Order ORDER is refunded:" + head + "0 units are held for the order.\n" + paid +
			"went back TIME, refund REFUND\n" + note
		history := past + "  TIME  refund_due  refund by " + me.Username +
			": arrived broken\n  TIME  refund_due  refund of trade TRADE wanted again by 刘 (room 3): paid in\n" +
			"  TIME  refunded  199.00 yuan of trade TRADE went back, refund REFUND\n"
		if got := same(stdout); code != exitOK || !strings.HasPrefix(got, wanted) || !strings.HasSuffix(got, history) ||
			!strings.Contains(got, "Notifications, unabridged:\n  NOTIFY  app_id=") {
			t.Errorf("raw: exit %d\n%s%s\nwant\n%s…%s", code, got, stderr, wanted, history)
		}
		var c operator.MoneyCase
		if code, stdout, _ := command(t, "payments", order, "--json", "--url", base); code != exitOK ||
			json.Unmarshal([]byte(stdout), &c) != nil ||
			c.Order != order || c.State != seckill.Refunded || c.Amount != 199_00 || strings.Contains(stdout, "文三路") {
			t.Errorf("as JSON: exit %d, %s", code, stdout)
		}

		s.token = find(t, printed, `(?m)^  B=(\S+)$`)
		order, _ = s.buy()
		s.call("PUT", "/faults", map[string]any{"shares": map[string]any{"call-cut": 1}})
		s.pass(30*time.Second + seckill.Grace + time.Second)
		s.becomes(seckill.Closing)
		try(step{"unknown", exitOK, "No payment is unknown.\n", ""})
		for range 3 {
			s.pass(time.Minute)
		}
		try(
			step{"unknown", exitOK,
				"Unknown: 1 order, 199.00 yuan. The shop asks the payment provider again each minute.\n" +
					"  ORDER  ITEM  YUAN  CLOSING SINCE  BECAUSE  CLOSES AS\n  ORDER  2002  199.00  TIME  not paid " +
					"in " +
					"time  expired\n" +
					"To ask at once: seckill unknown ORDER --why TEXT --url URL. Details: " +
					"docs/runbooks/unknown-payments.md\n", ""},
			step{"payments", exitOK, "Unknown: 1 order, 199.00 yuan. See: seckill unknown --url URL\n", ""},
			step{"unknown --json", exitOK, same(`{
  "count": 1,
  "amount": 199.00,
  "orders": [
    {
      "order_id": "ORDER",
      "item": "2002",
      "amount": 199.00,
      "since": "TIME",
      "cause": "not paid in time",
      "closes_to": "expired"
    }
  ]
}
`), ""},
			step{"unknown " + order + " --why the~gateway~is~back", exitOK,
				"Order ORDER: the shop asks the payment provider again within a minute whether it is paid." + see, ""},
		)
		s.call("PUT", "/faults", map[string]any{"shares": map[string]any{"call-5xx": 1}})
		try(step{"unknown " + order + " --trade 1 --why x", exitFault, "",
			"seckill: alipay: alipay.trade.query ORDER: HTTP status 502\n"})
		s.call("PUT", "/faults", map[string]any{})
		s.pass(time.Minute)
		s.becomes(seckill.Expired)
		try(
			step{"refund " + order + " --why x --json", exitUsage, "",
				"seckill: order ORDER: The order must be paid, and not completed; it is expired. (see: " +
					"seckill refund --help)\n"},
			step{"unknown " + order + " --trade 1 --why x", exitUsage, "",
				"seckill: order ORDER: The value of trade_no must be a paid trade of the order; the provider says " +
					"unknown. (see: seckill unknown --help)\n"},
			step{"refund " + someOrder + " --why x", exitUsage, "",
				"seckill: order ORDER: URL has no such order (see: seckill refund --help)\n"},
			step{"payments " + someOrder, exitUsage, "",
				"seckill: order ORDER: URL has no such order (see: seckill payments --help)\n"},
			step{"refund " + order + " --why " + strings.Repeat("x", 201), exitUsage, "",
				"seckill: order ORDER: The value of why must be 1 to 200 characters, no line breaks. (see: seckill " +
					"refund --help)\n"},
			step{"refund " + order + " --why x --who " + strings.Repeat("x", 65), exitUsage, "",
				"seckill: order ORDER: The value of who must be 1 to 64 characters, no line breaks. (see: seckill " +
					"refund --help)\n"},
			step{"refund " + order + " --again --why x --json", exitOK,
				"{\n  \"order_id\": \"ORDER\",\n  \"state\": \"expired\",\n  \"due\": 0.00,\n  \"changed\": false\n}\n",
				""},
		)
	})
}

func TestMoneyCommandsRefuseInOneLine(t *testing.T) {
	t.Parallel()
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	silent := "http://" + nobody.Addr().String()
	nobody.Close()
	older := served(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"code":"not_found","detail":"x"}`)
	}))
	garbled := served(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }))
	busy := served(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"code":"unavailable","detail":"The shop is busy."}`)
	}))
	refuses(t,
		step{"refund --why x", exitUsage, "", "ORDER is missing (see: seckill refund --help)"},
		step{"refund 2002 --why x", exitUsage, "", `ORDER "2002": want an order id`},
		step{"payments ../x", exitUsage, "", `ORDER "../x": want`},
		step{"unknown " + someOrder + " " + someOrder + " --why x", exitUsage, "", "unexpected argument"},
		step{"refund " + someOrder, exitUsage, "", "--why is missing: give your reason"},
		step{"refund " + someOrder + " --again --why ~", exitUsage, "", "--why is missing"},
		step{"unknown " + someOrder, exitUsage, "", "--why is missing"},
		step{"unknown --why x", exitUsage, "", "--why, --who and --trade apply to one order: give ORDER"},
		step{"refund " + someOrder + " --again --restock --why x", exitUsage, "", "--restock does not go with --again"},
		step{"payments --raw", exitUsage, "", "--raw applies to one order: give ORDER"},
		step{"refund " + someOrder + " --why x --amount 1", exitUsage, "", "unknown flag: --amount"},
		step{"payments --stack sale --url " + silent, exitUsage, "", "--stack and --url contradict each other"},
		step{"payments --region eu-west-1", exitUsage, "", "name it with --stack"},
		step{"refund " + someOrder + " --why x --who a --stack sale", exitUsage, "",
			"--who does not go with --stack: its back office records"},
		step{"refund " + someOrder + " --why x --who \"\"", exitUsage, "", "--who is empty"},
		step{"payments --url localhost:8100", exitUsage, "", `--url "localhost:8100": want an address`},
		step{"payments --url " + silent, exitFault, "", "nothing answers at " + silent},
		step{"payments --url " + older.URL, exitFault, "", "answers 404 Not Found: is it a"},
		step{"unknown --url " + garbled.URL, exitFault, "", "what answered cannot be read"},
		step{"refund " + someOrder + " --why x --url " + busy.URL, exitFault, "", "The shop is busy."},
	)
	http.DefaultClient.CloseIdleConnections()
}

// TestListsThatAreCutSayThatTheyAre checks that an incomplete list says so, in text and in JSON, and that the exit
// code stays.
func TestListsThatAreCutSayThatTheyAre(t *testing.T) {
	t.Parallel()
	const (
		payment = `{"order_id":"` + someOrder + `","trade_no":"t1","amount":1.00,"at":"2026-11-11T02:00:00Z"}`
		order   = `{"order_id":"` + someOrder +
			`","item":"7","amount":1.00,"since":"2026-11-11T02:00:00Z","cause":"not paid in time","closes_to":"expired"}`
		none   = `{"count":0,"amount":0.00,"payments":[]}`
		looked = "More orders may be unknown: the shop did not read all that are due. Try again in some minutes.\n"
		at     = "To ask at once: seckill unknown ORDER --why TEXT --url URL. Details: " +
			"docs/runbooks/unknown-payments.md\n"
		row    = "  ORDER  7  1.00  TIME  not paid in time  expired\n"
		head   = "  ORDER  ITEM  YUAN  CLOSING SINCE  BECAUSE  CLOSES AS\n"
		mended = "Once the cause is fixed (docs/runbooks/refunds-refused.md): seckill refund ORDER --again --why " +
			"TEXT --url URL\n"
	)
	for _, tt := range []struct {
		behaviour, due, refused, unknown string
		args                             []string
		want                             string
	}{
		{"due", `{"count":1200,"amount":1200.00,"more":true,"payments":[` + payment + `]}`, none, `{"count":0}`,
			[]string{"payments"},
			"Due back: at least 1200 payments, 1200.00 yuan. The shop asks the payment provider each minute for " +
				"those that are due.\n" +
				"  ORDER  TRADE  YUAN  SINCE  TRIES  NEXT\n  ORDER  t1  1.00  TIME  0  now\n  … and more: the list " +
				"ends at 1\n"},
		{"refused", none, `{"count":1,"amount":1.00,"more":true,"payments":[` + payment + `]}`, `{"count":0}`,
			[]string{"payments"},
			"Refused: at least 1 payment, 1.00 yuan. The payment provider refused the refund, and a person has to " +
				"act.\n" +
				"  ORDER  TRADE  YUAN  SINCE  TRIES  REFUSED\n  ORDER  t1  1.00  TIME  0  -\n  … and more: the list " +
				"ends at 1\n" + mended},
		{"refused, and it is all", none, `{"count":3,"amount":3.00,"payments":[` + payment + `]}`, `{"count":0}`,
			[]string{"payments"},
			"Refused: 3 payments, 3.00 yuan. The payment provider refused the refund, and a person has to act.\n" +
				"  ORDER  TRADE  YUAN  SINCE  TRIES  REFUSED\n  ORDER  t1  1.00  TIME  0  -\n  … and 2 more\n" +
				mended},
		{"rows that cannot be read", none, none,
			`{"count":0},"unreadable":["payments row a/b has version v=2, this code reads 1"]`, []string{"payments"},
			"This version cannot read 1 row. What to do: docs/runbooks/function-errors.md\n  payments row a/b " +
				"has version v=2, this code reads 1\n" +
				"No money is due back, refused or unknown.\n"},
		{"unknown", none, none, `{"count":1,"amount":1.00,"more":true,"orders":[` + order + `]}`, []string{"payments"},
			"Unknown: at least 1 order, 1.00 yuan. See: seckill unknown --url URL\n" + looked},
		{"none seen to be unknown", none, none, `{"count":0,"more":true,"orders":[]}`, []string{"payments"}, looked},
		{"the list of unknown", none, none, `{"count":1,"amount":1.00,"more":true,"orders":[` + order + `]}`,
			[]string{"unknown"},
			"Unknown: at least 1 order, 1.00 yuan. The shop asks the payment provider again each minute.\n" + head +
				row +
				looked + at},
		{"an empty list of unknown", none, none, `{"count":0,"more":true,"orders":[]}`, []string{"unknown"}, looked +
			at},
		{"as JSON", none, none, `{"count":0,"amount":0.00,"more":true,"orders":[]}`, []string{"unknown", "--json"},
			"{\n  \"count\": 0,\n  \"amount\": 0.00,\n  \"more\": true,\n  \"orders\": []\n}\n"},
	} {
		shop := served(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"result":{"now":"2026-11-11T02:00:00Z","due":%s,"refused":%s,"unknown":%s}}`, tt.due,
				tt.refused,
				tt.unknown)
		}))
		code, stdout, stderr := command(t, append(tt.args, "--url", shop.URL)...)
		if got, want := same(strings.ReplaceAll(stdout, shop.URL, "URL")), same(tt.want); code != exitOK ||
			got != want || stderr != "" {
			t.Errorf("%s: exit %d\n%s%swant\n%s", tt.behaviour, code, got, stderr, want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestMoneyHelp(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"payments", "refund", "unknown", "reconcile"} {
		code, stdout, stderr := command(t, name, "--help")
		if code != exitOK || stderr != "" || !strings.Contains(stdout, "Examples:\n  seckill "+name) ||
			!strings.Contains(stdout, "--url") || !strings.Contains(stdout, "--stack") {
			t.Errorf("%s: exit %d\n%s%s", name, code, stdout, stderr)
		}
	}
}

type uncounted struct{}

func (uncounted) Count(seckill.Event, int) {}

func TestMoneyOfAStackRefusesInOneLine(t *testing.T) {
	impatient(t)
	payload := func(text, functionError string) func([]byte) ([]byte, string) {
		return func([]byte) ([]byte, string) { return []byte(text), functionError }
	}
	for _, tt := range []struct {
		behaviour string
		cloud     *cloud
		code      int
		want      string
	}{
		{"may not take the role", &cloud{roles: []seckill.Role{seckill.RoleViewer, seckill.RoleOperator}}, exitUsage,
			"your AWS identity may not invoke operator/finance"},
		{"back office busy", &cloud{refusals: map[string]refusal{"Invoke": {429, "TooManyRequestsException",
			"Rate Exceeded."}}}, exitFault,
			"stack sale: its back office is busy, nothing was done: repeat the command"},
		{"function out of time", &cloud{function: payload(`Task timed out after 55.00 seconds`, "Unhandled")}, exitFault,
			`"function refund: it failed: Task timed out after 55.00 seconds"; the command may have been carried out, ` +
				"and can be repeated"},
		{"function of an older version", &cloud{function: payload("null", "")}, exitFault,
			"cannot be read: does stack sale have the version of this tool?"},
		{"ledger away", &cloud{function: payload(`{"problem":{"code":"unavailable","detail":"The shop is busy."}}`,
			"")}, exitFault, "The shop is busy."},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			if tt.cloud.outputs == nil {
				tt.cloud.outputs = anAPI
			}
			account(t, served(t, tt.cloud).URL)
			code, stdout, stderr := command(t, "refund", someOrder, "--why", "x", "--stack", "sale")
			if code != tt.code || stdout != "" || strings.Count(stderr, "\n") != 1 ||
				!strings.Contains(stderr, tt.want) {
				t.Errorf("exit %d\n%s%s\nwant exit %d and one line with %q", code, stdout, stderr, tt.code, tt.want)
			}
			if calls := tt.cloud.called(); strings.Count(calls, "Invoke") > 1 {
				t.Errorf("called %s", calls)
			}
		})
	}
}

// TestACaseWhoseTitleIsNotText: nothing that an order has moves a terminal's cursor.
func TestACaseWhoseTitleIsNotText(t *testing.T) {
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	(&page{w}).moneyCase(&operator.MoneyCase{Order: "o1", Item: "7", Title: "表\x1b[2J", User: "1001", Count: 2, Held: 2,
		Amount: 88_80, State: seckill.RefundOwed, Payments: []operator.Payment{{TradeNo: "t1", Amount: 88_80,
			State: seckill.RefundDue, Cause: "notify", Refund: "r1"}}}, false)
	_ = w.Flush()
	for _, want := range []string{"of item 7 (表?[2J), by user 1001. 2 units are kept out of sale.\n",
		"goes back with the next sweep, refund r1\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q has no %q", &out, want)
		}
	}
}
