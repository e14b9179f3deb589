package crowd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/crowd"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// TestNobodysMoneyIsLost: a crowd pays late, twice and at two cashiers while the gateway loses notifications and gives
// meaningless answers. Afterwards gateway and ledger agree about the money, and an audit confirms it.
func TestNobodysMoneyIsLost(t *testing.T) {
	t.Parallel()
	const shoppers, units = 200, 100
	before := fakegateway.Faults{Seed: 9, Shares: map[fakegateway.Fault]float64{fakegateway.NotificationDuplicated: 0.5,
		fakegateway.NotificationWrongAmount: 0.5}}
	sys := localtest.Start(t, local.Options{Items: local.DemoItems(time.Now(), units, 1), GatewayFaults: before})
	var file bytes.Buffer
	o := options(sys.URL())
	o.Shoppers, o.Ramp, o.Lead, o.Secret, o.Journal = shoppers, 300*time.Millisecond, 100*time.Millisecond,
		local.DefaultSecret, &file
	o.Pay, o.Cancel, o.Abandon, o.Repeat, o.Key, o.Think = 0.8, 0.1, 0.05, 0.2, 0.5, 10*time.Millisecond
	o.Late, o.Twice, o.TwoTrades, o.LostNotifications, o.Unknown = 0.2, 0.15, 0.15, 0.2, 0.1
	rep := visit(t, o)

	x, m := rep.Odd, rep.Money
	if x.Late == 0 || x.LateTaken == 0 || x.LateTaken+x.LateRefused != x.Late || rep.Orders.Late != x.Late {
		t.Errorf("late: %+v", x)
	}
	if x.Twice == 0 || x.ToldPaid != x.Twice || x.BothPaid == 0 {
		t.Errorf("twice and at two cashiers: %+v", x)
	}
	for _, f := range []fakegateway.Fault{fakegateway.NotificationLost, fakegateway.NotificationDuplicated,
		fakegateway.NotificationWrongAmount, fakegateway.CallUnknown, fakegateway.TwoTrades, fakegateway.PayLate} {
		if x.Landed[f] == 0 {
			t.Errorf("%s never landed: %v", f, x.Landed)
		}
	}
	if len(x.TakenIn) > 0 {
		t.Errorf("the shop accepted false notifications: %v", x.TakenIn)
	}
	if s := rep.Idle; !s.Known || s.Open != 0 || s.RefundsDue != 0 {
		t.Errorf("not idle: %+v", s)
	}
	price := rep.Price
	if u := rep.Units; !m.Known || !m.Balanced || m.Differ != 0 || m.DueBack != 0 ||
		m.Kept != price*seckill.Fen(u.Sold) || m.Refunded <= price*seckill.Fen(x.BothPaid) ||
		m.Captured != m.Kept+m.Refunded ||
		m.Gateway != (crowd.GatewayMoney{Captured: m.Captured, Left: m.Kept, Refunded: m.Refunded}) {
		t.Errorf("money %+v, %+v, at %v", m, u, price)
	}
	if now := sys.Gateway.Faults().Faults; !cmp.Equal(now, before) {
		t.Errorf("the gateway's faults are %+v, want those before, %+v", now, before)
	}
	localtest.Invariants(t, sys, true)
	audited(t, sys, &file, &m)
	var text bytes.Buffer
	if err := rep.Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"paid late", "were told that the order is paid", "paid at two cashiers",
		"faults of the gateway", "they balance to the fen"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
}

// audited audits the sale's rows, trades and journal.
func audited(t *testing.T, sys *local.System, file *bytes.Buffer, m *crowd.Money) {
	t.Helper()
	it, err := sys.Items.Get(t.Context(), local.DemoLive)
	if err != nil {
		t.Fatal(err)
	}
	r, err := audit.Run(t.Context(), audit.SourceFunc(func(ctx context.Context, each func(*record.Line) error) error {
		return sys.Dump(ctx, &it, each)
	}), audit.Options{Item: it.ID, Journal: file})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"I5", "I6", "I7"} {
		if r.Of(id).Verdict != audit.Holds {
			t.Errorf("%s is %s", id, r.Of(id).Verdict)
		}
	}
	s := r.Statement.Money
	if r.Broken() || s.Provider == nil || !s.Provider.Balanced || s.Captured.Fen != int64(m.Captured) ||
		s.Kept.Fen != int64(m.Kept) || s.Refunded.Fen != int64(m.Refunded) {
		t.Errorf("the audit differs from the crowd's %+v\n%s", m, &text)
	}
}

// TestMoneyThatDiffers: trades are compared one by one, so equal sums do not hide a difference.
func TestMoneyThatDiffers(t *testing.T) {
	t.Parallel()
	line := func(text string) func(...any) string {
		return func(a ...any) string { return fmt.Sprintf(text+"\n", a...) }
	}
	trade := line(`{"table":"gateway_trades","row":{"out_trade_no":"%s","trade_no":"%d","amount":250,"paid":1%s}}`)
	row := line(`{"table":"payments","row":{"order":"%s","trade_no":"%d","amount":250,"state":"%s"}}`)
	const back = `,"refunds":["{\"amount\":250}"]`
	for _, tt := range []struct {
		name, dump string
		differ     int
	}{
		{"the same", trade("o1", 1, "") + row("o1", 1, "captured"), 0},
		{"a due refund", trade("o1", 1, "") + row("o1", 1, "refund_due"), 0},
		{"a refund", trade("o1", 1, back) + row("o1", 1, "refunded"), 0},
		{"two trades of an order", trade("o1", 1, "") + trade("o1#2", 2, back) + row("o1", 1, "captured") +
			row("o1", 2, "refunded"), 0},
		{"a payment without a row", trade("o1", 1, ""), 1},
		{"a row without a payment", row("o1", 1, "captured"), 1},
		{"of another order", trade("o1", 1, "") + row("o2", 1, "captured"), 2},
		{"a refund in the ledger only", trade("o1", 1, "") + row("o1", 1, "refunded"), 1},
		{"a refund at the gateway only", trade("o1", 1, back) + row("o1", 1, "refund_due"), 1},
	} {
		m := crowd.MoneyOf(t, tt.dump)
		if m.Differ != tt.differ || m.Balanced != (tt.differ == 0) || !m.Known {
			t.Errorf("%s: %+v, want %d differences", tt.name, m, tt.differ)
		}
	}
}

// TestWhatOnlyARunCanDo: options that need a `seckill run` are refused elsewhere before a shopper comes.
func TestWhatOnlyARunCanDo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		change func(*crowd.Options)
		want   string
	}{
		{func(o *crowd.Options) { o.Late = 0.1 }, "--late: the clock of "},
		{func(o *crowd.Options) { o.LostNotifications = 0.1 }, "has no test gateway whose faults can be set"},
		{func(o *crowd.Options) { o.Unknown = 0.1 }, "has no test gateway whose faults can be set"},
		{func(o *crowd.Options) { o.TwoTrades = 0.1 }, "has no test gateway whose faults can be set"},
	} {
		s := &script{buy: answers{ok}, order: answers{pending}}
		o := options(serve(t, s))
		tt.change(&o)
		_, err := crowd.Run(t.Context(), o)
		if usage := (crowd.UsageError{}); !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.want) ||
			len(s.of("/seckill/buy")) > 0 {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
}

// TestPressesPayTwice: the second press sends the same form.
func TestPressesPayTwice(t *testing.T) {
	t.Parallel()
	for told, second := range []http.HandlerFunc{say(200, cashierPage), say(200, "<html>paid</html>")} {
		s := &script{buy: answers{ok}, order: answers{pending, paid}, open: answers{say(200, cashierPage)},
			pay: answers{say(200, "<html>paid</html>"), second}}
		o := options(serve(t, s))
		o.Pay, o.Abandon, o.Twice = 1, 0, 1
		rep := visit(t, o)
		presses := s.of("/cashier/pay")
		if len(presses) != 2 || presses[0].body != presses[1].body || rep.Odd.Twice != 1 || rep.Odd.ToldPaid != told ||
			rep.Orders.Paid != 1 {
			t.Errorf("%+v, %+v", presses, rep.Odd)
		}
		var back struct {
			Odd struct{ Twice int } `json:"odd_payments"`
		}
		if data, err := json.Marshal(rep); err != nil || json.Unmarshal(data, &back) != nil || back.Odd.Twice != 1 {
			t.Errorf("%v: %s", err, data)
		}
	}
}
