package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/user"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/money/refund"
	"github.com/your-org/seckill/shared/seckill"
)

const someOrder = "obbbbbbbbbbbbbbbbbbbbbbbbbb"

// moneyShop is a shop that only knows commands about money, and its payment provider.
type moneyShop struct {
	t       *testing.T
	ledger  *ledger.Ledger
	clock   *memory.Clock
	flow    *refund.Flow
	handler operator.Handler
	answer  seckill.RefundAnswer // of the provider
	err     error                // instead of its answer
}

func newMoneyShop(t *testing.T, alone seckill.AloneLimit) *moneyShop {
	clock := memory.NewClock(time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC))
	s := &moneyShop{t: t, ledger: ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock})), clock: clock}
	s.flow = refund.New(refund.Deps{Ledger: s.ledger, Refunds: s, Trades: s, Clock: clock, Meter: uncounted{},
		Orders: memory.NewQueue(clock, memory.QueueOptions{}), Alone: alone})
	s.handler = operator.NewPaymentHandler(s.flow)
	return s
}

func (s *moneyShop) Refund(context.Context, seckill.Refund) (seckill.RefundAnswer, error) {
	return s.answer, s.err
}

func (s *moneyShop) RefundStatus(context.Context, seckill.Refund) (seckill.RefundAnswer, error) {
	return seckill.RefundAnswer{State: seckill.RefundMissing}, s.err
}

func (s *moneyShop) Trade(context.Context, string, string) (seckill.Trade, error) {
	return seckill.Trade{State: seckill.TradeUnknown}, s.err
}

// order places an order of 199.00 yuan, and records its payment if paid; else the order is closing.
func (s *moneyShop) order(user string, units []int, paid bool) string {
	s.t.Helper()
	now := s.clock.Now()
	o := seckill.Order{ID: seckill.KeyedOrderID("2002", user, "k"), Item: "2002", User: user, Count: len(units),
		Units: units, Price: 199_00, Amount: 199_00, Given: seckill.Given{Address: "文三路 1 号"}, Title: "表\x1b[2J",
		Created: now, Placed: now, PayBy: now.Add(time.Minute), Buckets: 1}
	p := seckill.Payment{Order: o.ID, TradeNo: strings.Repeat("7", 28), Amount: o.Amount, State: seckill.Captured,
		At: now, Cause: "notify"}
	err := s.ledger.Place(s.t.Context(), o, len(units))
	if paid {
		err = errors.Join(err, s.ledger.RecordPayment(s.t.Context(), p, seckill.PendingPayment, seckill.Paid),
			s.ledger.KeepNotification(s.t.Context(), seckill.KeptNotification{Order: o.ID, ID: strings.Repeat("8", 34),
				TradeNo: p.TradeNo, Amount: p.Amount, At: now, Outcome: seckill.NotificationRecorded, Raw: "app_id=1"}))
	} else {
		err = errors.Join(err, s.ledger.BeginClosing(s.t.Context(), o, seckill.Expired, now, "not paid in time"))
	}
	must.OK(s.t, err)
	return o.ID
}

// expire closes an order that is closing.
func (s *moneyShop) expire(order string) {
	s.t.Helper()
	o, err := s.ledger.Order(s.t.Context(), order)
	must.OK(s.t, errors.Join(err, s.ledger.GiveBack(s.t.Context(), o, s.clock.Now(), "trade closed")))
}

// sweep has the shop ask the provider, which answers so.
func (s *moneyShop) sweep(answer seckill.RefundAnswer) {
	s.t.Helper()
	s.clock.Advance(time.Minute)
	s.answer = answer
	must.OK(s.t, s.flow.Sweep(s.t.Context()))
}

// changing lists what differs between runs, and its placeholders.
var changing = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`http://(?:localhost|127\.0\.0\.1):\d+`), "URL"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d(T[0-9:.]+Z| [0-9:]{8} UTC\+8)`), "TIME"},
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
	must.OK(t, err)
	s := newMoneyShop(t, seckill.AloneLimit{})
	base, order := running(t, nil, s.handler), s.order("1001", []int{1}, true)
	try := func(steps ...step) {
		t.Helper()
		for _, s := range steps {
			s.line += " --url " + base
			try(t, s)
		}
	}
	const (
		head = " 199.00 yuan for 1 unit of item 2002 (表\\u001b[2J), by user 1001. "
		list = "  ORDER  TRADE  YUAN  SINCE  TRIES  NEXT\n  ORDER  TRADE  199.00  TIME  "
		past = "History:\n  TIME  STATE  CAUSE\n  TIME  pending_payment  placed\n  TIME  paid  notify\n"
		note = "Notifications:\n  TIME  ID  TRADE  YUAN  OUTCOME\n  TIME  NOTIFY  TRADE  199.00  recorded\n"
		paid = "Payments:\n  TRADE  YUAN  SINCE  RECORDED BY  STATE\n  TRADE  199.00  TIME  notify  "
		see  = " See: seckill payments ORDER --url URL\n"
	)
	try(
		step{"payments", exitOK, "No money is due back, refused or unknown.\n", ""},
		step{"payments " + order, exitOK, "Order ORDER is paid:" + head +
			"1 unit is held by the order.\n" +
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
	s.sweep(seckill.RefundAnswer{State: seckill.RefundRefused, Code: "ACQ.SELLER_BALANCE_NOT_ENOUGH"})
	try(
		step{"payments", exitOK,
			"Refused: 1 payment, 199.00 yuan. The payment provider refused the refund, and a person has to act.\n" +
				strings.Replace(list, "NEXT", "REFUSED", 1) + "1  ACQ.SELLER_BALANCE_NOT_ENOUGH\n" +
				"Once the cause is fixed (docs/runbooks/refunds-refused.md): seckill refund ORDER --again --why " +
				"TEXT --url URL\n", ""},
		step{"refund " + order + " --why arrived~broken", exitOK,
			"Order ORDER: the payment provider refused to refund 199.00 yuan, and the shop does not retry. For " +
				"the reason: seckill payments ORDER --url URL. Once the cause is fixed: seckill refund ORDER " +
				"--again --why TEXT --url URL\n", ""},
		step{"refund " + order + " --again --why paid~in --who 刘~(room~3)", exitOK,
			"Order ORDER: the shop asks the payment provider for 1 refund again within a minute." + see, ""},
	)
	s.sweep(seckill.RefundAnswer{State: seckill.RefundMade})
	code, stdout, stderr := command(t, "payments", order, "--raw", "--url", base)
	wanted := "Order ORDER is refunded:" + head + "0 units are held by the order.\n" + paid +
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

	order = s.order("1002", []int{2}, false)
	try(step{"unknown", exitOK, "No payment is unknown.\n", ""})
	s.clock.Advance(3 * time.Minute)
	try(
		step{"unknown", exitOK,
			"Unknown: 1 order, 199.00 yuan. The shop asks the payment provider again each minute.\n" +
				"  ORDER  ITEM  YUAN  CLOSING SINCE  BECAUSE  CLOSES AS\n  ORDER  2002  199.00  TIME  not paid " +
				"in time  expired\n" +
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
	s.err = errors.New("alipay: alipay.trade.query " + order + ": HTTP status 502")
	try(step{"unknown " + order + " --trade 1 --why x", exitFault, "",
		"seckill: alipay: alipay.trade.query ORDER: HTTP status 502\n"})
	s.err = nil
	s.expire(order)
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
			"seckill: order ORDER: The value of why must be 1 to 200 characters on one line; it has 201. (see: " +
				"seckill refund --help)\n"},
		step{"refund " + order + " --why x --who " + strings.Repeat("x", 65), exitUsage, "",
			"seckill: order ORDER: The value of who must be 1 to 64 characters on one line; it has 65. (see: " +
				"seckill refund --help)\n"},
		step{"refund " + order + " --again --why x --json", exitOK,
			"{\n  \"order_id\": \"ORDER\",\n  \"state\": \"expired\",\n  \"due\": 0.00,\n  \"changed\": false\n}\n",
			""},
	)
}

func TestMoneyCommandsRefuseInOneLine(t *testing.T) {
	t.Parallel()
	refuses(t, exitUsage, "*", [][2]string{
		{"refund --why x", "ORDER is missing (see: seckill refund --help)"},
		{"refund 2002 --why x", `ORDER "2002": want an order id`},
		{"payments ../x", `ORDER "../x": want`},
		{"unknown " + someOrder + " " + someOrder + " --why x", "unexpected argument"},
		{"refund " + someOrder, "--why is missing: give your reason"},
		{"refund " + someOrder + " --again --why ~", "--why is missing"},
		{"unknown " + someOrder, "--why is missing"},
		{"unknown --why x", "--why, --who and --trade apply to one order: give ORDER"},
		{"refund " + someOrder + " --again --restock --why x", "--restock does not go with --again"},
		{"payments --raw", "--raw applies to one order: give ORDER"},
		{"refund " + someOrder + " --why x --amount 1", "unknown flag: --amount"},
		{"refund " + someOrder + " --why x --who a --stack sale",
			"--who does not go with --stack: its back office records"},
		{"refund " + someOrder + " --why x --who \"\"", "--who is empty"},
	})
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
				row + looked + at},
		{"an empty list of unknown", none, none, `{"count":0,"more":true,"orders":[]}`, []string{"unknown"}, looked +
			at},
		{"as JSON", none, none, `{"count":0,"amount":0.00,"more":true,"orders":[]}`, []string{"unknown", "--json"},
			"{\n  \"count\": 0,\n  \"amount\": 0.00,\n  \"more\": true,\n  \"orders\": []\n}\n"},
	} {
		shop := served(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"result":{"now":"2026-11-11T02:00:00Z","due":%s,"refused":%s,"unknown":%s}}`, tt.due,
				tt.refused, tt.unknown)
		}))
		code, stdout, stderr := command(t, append(tt.args, "--url", shop.URL)...)
		if got, want := same(strings.ReplaceAll(stdout, shop.URL, "URL")), same(tt.want); code != exitOK ||
			got != want || stderr != "" {
			t.Errorf("%s: exit %d\n%s%swant\n%s", tt.behaviour, code, got, stderr, want)
		}
	}
}

type uncounted struct{}

func (uncounted) Count(seckill.Event, int) {}
