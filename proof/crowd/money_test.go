package crowd_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/crowd"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// TestNobodysMoneyIsLost: the gateway loses, doubles and falsifies notifications and gives meaningless answers.
// Afterwards gateway and ledger agree about the money, and an audit confirms it.
func TestNobodysMoneyIsLost(t *testing.T) {
	t.Parallel()
	const shoppers, units = 200, 100
	faults := map[fakegateway.Fault]float64{fakegateway.NotificationDuplicated: 0.5,
		fakegateway.NotificationWrongAmount: 0.5, fakegateway.NotificationLost: 0.2, fakegateway.CallUnknown: 0.1}
	sys := localtest.Start(t, local.Options{Items: local.DemoItems(time.Now(), units, 1),
		GatewayFaults: fakegateway.Faults{Seed: 9, Shares: faults}})
	var file bytes.Buffer
	o := options(sys.URL())
	o.Shoppers, o.Ramp, o.Lead, o.Secret, o.Journal = shoppers, 300*time.Millisecond, 100*time.Millisecond,
		local.DefaultSecret, &file
	o.Pay, o.Cancel, o.Abandon, o.Repeat, o.Key, o.Think = 0.8, 0.1, 0.05, 0.2, 0.5, 10*time.Millisecond
	o.For = 5 * time.Second // then those leave who wait for a payment of which the shop has not heard
	rep := visit(t, o)

	report := sys.Gateway.Faults()
	for f := range faults {
		if report.Landed[f] == 0 {
			t.Errorf("%s never landed: %v", f, report.Landed)
		}
	}
	if len(report.Taken) > 0 {
		t.Errorf("the shop accepted false notifications: %v", report.Taken)
	}
	if s := rep.Idle; !s.Known || s.Open != 0 || s.RefundsDue != 0 {
		t.Errorf("not idle: %+v", s)
	}
	m := rep.Money
	if u := rep.Units; !m.Known || !m.Balanced || m.Differ != 0 || m.DueBack != 0 ||
		m.Kept != rep.Price*seckill.Fen(u.Sold) || m.Captured != m.Kept+m.Refunded ||
		m.Gateway != (crowd.GatewayMoney{Captured: m.Captured, Left: m.Kept, Refunded: m.Refunded}) {
		t.Errorf("money %+v, %+v, at %v", m, u, rep.Price)
	}
	localtest.Invariants(t, sys, true)
	audited(t, sys, &file, &m)
}

// audited audits the sale's rows, trades and journal.
func audited(t *testing.T, sys *local.System, file *bytes.Buffer, m *crowd.Money) {
	t.Helper()
	it, err := sys.Items.Get(t.Context(), local.DemoLive)
	must.OK(t, err)
	r, err := audit.Run(t.Context(), audit.SourceFunc(func(ctx context.Context, each func(*record.Line) error) error {
		return sys.Dump(ctx, &it, each)
	}), audit.Options{Item: it.ID, Journal: file})
	must.OK(t, err)
	var text bytes.Buffer
	must.OK(t, r.WriteText(&text))
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
