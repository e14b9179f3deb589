package refund_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/money/refund"
	"github.com/your-org/seckill/shared/seckill"
)

// trades maps trade numbers to trades; for a missing one the provider does not answer.
type trades map[string]seckill.Trade

func (t trades) Trade(_ context.Context, _, no string) (seckill.Trade, error) {
	if tr, ok := t[no]; ok {
		return tr, nil
	}
	return seckill.Trade{}, errors.New("no answer")
}

// TestMoneyThatAnOperatorHasRecorded checks that RecordTrade records a trade as its notification would have, once, in
// any state of the order, and records nothing for a trade that is unpaid or has another amount.
func TestMoneyThatAnOperatorHasRecorded(t *testing.T) {
	ctx, now := context.Background(), time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	clock := memory.NewClock(now)
	l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock}))
	f := refund.New(refund.Deps{Ledger: l, Clock: clock, Meter: memory.Meter{}, Trades: trades{
		"t1": {State: seckill.TradePaid, TradeNo: "t1", Amount: 100}, "t2": {State: seckill.TradePaid, TradeNo: "t2",
			Amount: 100},
		"waits": {State: seckill.TradeWaiting, TradeNo: "waits", Amount: 100}, "none": {State: seckill.TradeUnknown},
		"back": {State: seckill.TradeClosed, TradeNo: "back", Amount: 100}, "cheap": {State: seckill.TradePaid,
			TradeNo: "cheap", Amount: 99},
	}})
	for i, tt := range []struct {
		name        string
		end         seckill.State // the order's, before
		first, then seckill.State // the order's state after each of two trades
		due         int
	}{
		{"open", seckill.PendingPayment, seckill.Paid, seckill.Paid, 1},
		{"expired", seckill.Expired, seckill.RefundOwed, seckill.RefundOwed, 2},
		{"cancelled", seckill.Cancelled, seckill.RefundOwed, seckill.RefundOwed, 2},
	} {
		o := drivertest.Order("1", "7", now, i+1)
		must.OK(t, drivertest.Place(ctx, l, o, tt.end))
		for no, want := range map[string]seckill.Code{"waits": seckill.CodeInvalid, "none": seckill.CodeInvalid,
			"back": seckill.CodeInvalid, "cheap": seckill.CodeInvalid, "silent": seckill.CodeUnavailable} {
			if _, err := f.RecordTrade(ctx, o.ID, no, "ann", "on the bill"); seckill.CodeOf(err) != want {
				t.Errorf("%s, %s: %v, want %s", tt.name, no, err, want)
			}
		}
		for _, step := range []struct {
			no    string
			fresh bool
			want  seckill.State
		}{{"t1", true, tt.first}, {"t1", false, tt.first}, {"t2", true, tt.then}, {"t2", false, tt.then}} {
			fresh, err := f.RecordTrade(ctx, o.ID, step.no, "ann", "on the bill")
			got, e := l.Order(ctx, o.ID)
			if err != nil || e != nil || fresh != step.fresh || got.State != step.want {
				t.Errorf("%s, %s: fresh %t, %s, %v, %v; want %t, %s", tt.name, step.no, fresh, got.State, err, e,
					step.fresh, step.want)
			}
		}
		c, err := f.Case(ctx, o.ID)
		due := 0
		for _, p := range c.Payments {
			if p.State == seckill.RefundDue {
				due++
			}
			if p.Cause != "query by ann: on the bill" {
				t.Errorf("%s: cause %q", tt.name, p.Cause)
			}
		}
		if last := c.Order.History[len(c.Order.History)-1]; err != nil || len(c.Payments) != 2 || due != tt.due ||
			last.Cause != "1.00 yuan by trade t2: query by ann: on the bill" {
			t.Errorf("%s: %+v, %d due, %v", tt.name, c, due, err)
		}
	}
	if _, err := f.RecordTrade(ctx, seckill.KeyedOrderID("1", "7", "none"), "t1", "ann",
		"x"); seckill.CodeOf(err) != seckill.CodeOrderUnknown {
		t.Errorf("no order: %v", err)
	}
	if _, err := f.RecordTrade(ctx, seckill.KeyedOrderID("1", "7", "1"), "t1", "",
		"x"); seckill.CodeOf(err) != seckill.CodeInvalid {
		t.Errorf("nobody: %v", err)
	}
}

// crowded is a ledger with many orders and trades of one kind.
type crowded struct {
	*ledger.Ledger
	t     *testing.T
	clock *memory.Clock
	units int
}

func newCrowded(t *testing.T) *crowded {
	clock := memory.NewClock(time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC))
	return &crowded{Ledger: ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock})), t: t, clock: clock}
}

// place places an order of one unit.
func (c *crowded) place(id string) {
	c.t.Helper()
	c.units++
	o := drivertest.Order("1", "7", c.clock.Now(), c.units)
	o.ID, o.PayBy = id, o.Placed.Add(time.Minute)
	must.OK(c.t, c.Place(c.t.Context(), o, 1e6))
}

// sameShard returns n order ids of one shard.
func sameShard(t *testing.T, n int) []string {
	t.Helper()
	c := newCrowded(t)
	for i := range seckill.DueShards*(n-1) + 1 {
		c.place(seckill.KeyedOrderID("1", "7", fmt.Sprint(i)))
	}
	for shard := range seckill.DueShards {
		ids, err := c.DueOrders(t.Context(), shard, c.clock.Now().Add(time.Hour), "", n)
		must.OK(c.t, err)
		if len(ids.Rows) == n {
			return ids.Rows
		}
	}
	t.Fatalf("no shard has %d orders", n)
	return nil
}

// TestRowsThatCannotBeReadHideNoMoney checks that unreadable rows are named beside the lists, and that the lists are
// complete, however many unreadable rows there are.
func TestRowsThatCannotBeReadHideNoMoney(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC))
	rows := memory.NewRows(memory.RowsOptions{Clock: clock})
	c := &crowded{Ledger: ledger.New(rows), t: t, clock: clock}
	f := refund.New(refund.Deps{Ledger: c, Clock: clock, Meter: memory.Meter{}})
	const first, many = "000000000000001", 100
	for _, shard := range []string{"00", "05", "refused"} {
		for i := range many {
			id := fmt.Sprint("bad", shard, i)
			writes := []ledger.Write{{Key: ledger.Key{Table: ledger.TablePayments, PK: id, SK: "t"}, Op: ledger.OpPut,
				Row: ledger.Row{"v": ledger.SpanVersion + 1, "refund_shard": shard, "refund_at": first}}}
			if shard != "refused" {
				writes = append(writes, ledger.Write{Key: ledger.Key{Table: ledger.TableOrders, PK: id},
					Op:  ledger.OpPut,
					Row: ledger.Row{"v": ledger.SpanVersion + 1, "due_shard": shard, "due_at": first}})
			}
			must.OK(c.t, rows.Transact(t.Context(), writes))
		}
	}
	for i := range 32 {
		id := seckill.KeyedOrderID("1", "7", fmt.Sprint(i))
		c.place(id)
		must.OK(c.t,
			c.BeginClosing(t.Context(), seckill.Order{ID: id}, seckill.Expired, clock.Now(), "not paid in time"))
		p := seckill.Payment{Order: id, TradeNo: "t", Amount: 100, State: seckill.RefundDue, At: clock.Now(),
			Cause: "notify"}
		must.OK(c.t, c.RecordPayment(t.Context(), p, seckill.Closing, seckill.Closing))
		if i%2 == 0 {
			must.OK(c.t, c.DeferRefund(t.Context(), p, clock.Now(), "BALANCE"))
		}
	}
	clock.Advance(5 * time.Minute)
	o, err := f.Open(t.Context())
	if err != nil || len(o.Due) != 16 || len(o.Refused) != 16 || len(o.Unknown) != 32 || len(o.Unreadable) != 5*many {
		t.Errorf("%d due, %d refused, %d unknown, %d unreadable, %v; want 16, 16, 32, %d", len(o.Due), len(o.Refused),
			len(o.Unknown), len(o.Unreadable), err, 5*many)
	}
}

// TestEachListSaysThatItIsCut checks that each list is marked as cut above its limit, and not at its limit.
func TestEachListSaysThatItIsCut(t *testing.T) {
	t.Parallel()
	crowd := sameShard(t, 65)
	// trades pays an order once, and then n times more; the extra money is due for refund or, with a reason, refused.
	trades := func(c *crowded, from, n int, refused string) {
		ctx := c.t.Context()
		p := seckill.Payment{Order: crowd[0], TradeNo: "kept", Amount: 100, State: seckill.Captured, At: c.clock.Now(),
			Cause: "notify", Due: c.clock.Now()}
		if from == 0 {
			c.place(p.Order)
			must.OK(c.t, c.RecordPayment(ctx, p, seckill.PendingPayment, seckill.Paid))
		}
		for i := range n {
			p.TradeNo, p.State = fmt.Sprint(from+i), seckill.RefundDue
			must.OK(c.t, c.RecordPayment(ctx, p, seckill.Paid, seckill.Paid))
			if refused != "" {
				must.OK(c.t, c.DeferRefund(ctx, p, p.Due, refused))
			}
		}
	}
	for _, tt := range []struct {
		list  string
		limit int
		add   func(c *crowded, from, n int)
		more  refund.Open // what is expected of the lists
	}{
		{"due", 1000, func(c *crowded, from, n int) { trades(c, from, n, "") }, refund.Open{MoreDue: true}},
		{"refused", 1000, func(c *crowded, from, n int) {
			trades(c, from, n, "BALANCE")
		}, refund.Open{MoreRefused: true}},
		{"unknown", 64, func(c *crowded, from, n int) {
			for _, id := range crowd[from : from+n] {
				c.place(id)
				must.OK(c.t, c.BeginClosing(c.t.Context(), seckill.Order{ID: id}, seckill.Expired, c.clock.Now(),
					"not paid in time"))
			}
		}, refund.Open{MoreUnknown: true}},
	} {
		t.Run(tt.list, func(t *testing.T) {
			t.Parallel()
			c := newCrowded(t)
			f := refund.New(refund.Deps{Ledger: c, Clock: c.clock, Meter: memory.Meter{}})
			for _, step := range []struct {
				from, n int
				more    refund.Open
			}{{0, tt.limit, refund.Open{}}, {tt.limit, 1, tt.more}} {
				tt.add(c, step.from, step.n)
				c.clock.Advance(5 * time.Minute)
				o, err := f.Open(t.Context())
				n := len(o.Due) + len(o.Refused) + len(o.Unknown)
				o.Due, o.Refused, o.Unknown = nil, nil, nil
				if diff := cmp.Diff(step.more, o, cmpopts.EquateEmpty()); err != nil || n != tt.limit || diff != "" {
					t.Errorf("%d listed, %v, -want +got\n%s", n, err, diff)
				}
			}
		})
	}
}
