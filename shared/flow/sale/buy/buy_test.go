package buy_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

// counting counts a stock's reservations.
type counting struct {
	seckill.Stock
	reserves int
}

func (c *counting) Reserve(ctx context.Context, now time.Time, r seckill.Request, keyed bool,
	resend time.Duration) (seckill.ReserveResult, error) {
	c.reserves++
	return c.Stock.Reserve(ctx, now, r, keyed, resend)
}

type fixture struct {
	*buy.Flow
	clock  *memory.Clock
	stock  *counting
	items  *memory.Items
	orders *memory.Queue
	item   seckill.Item
}

func setup(tb testing.TB, stock, limit int) *fixture {
	tb.Helper()
	start := time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	f := &fixture{clock: memory.NewClock(start.Add(time.Minute)),
		stock: &counting{Stock: redisstock.New(memory.NewRedis())}, items: memory.NewItems()}
	f.orders = memory.NewQueue(f.clock, memory.QueueOptions{})
	f.item = drivertest.Item("1001", start)
	f.item.Stock, f.item.Limit = stock, limit
	ctx := context.Background()
	must.OK(tb, f.items.Put(ctx, f.item, nil), f.stock.BuildStart(ctx, start, f.item.ID, "t"),
		f.stock.Install(ctx, f.item, "t", 0, 0, 0, 0),
	)
	f.Flow = buy.New(buy.Deps{Stock: f.stock, Orders: f.orders, Items: f.items, Clock: f.clock, IDs: system.NewIDs(nil),
		Meter: memory.Meter{}})
	return f
}

func (f *fixture) buy(user, key string, count int) (string, error) {
	return f.Buy(context.Background(), buy.Purchase{Item: "1001", User: user, Count: count,
		Given: seckill.Given{Address: "杭州市西湖区1号"}, Key: key})
}

// TestSoldOutIsRemembered checks that a sold-out answer comes from memory for a second, or a tenth of it as long as
// reservations wait for the ledger, and from the stock after it.
func TestSoldOutIsRemembered(t *testing.T) {
	f := setup(t, 1, 1)
	order := must.Get(f.buy("1", "", 1))
	for _, user := range []string{"2", "3", "4"} {
		if _, err := f.buy(user, "", 1); seckill.CodeOf(err) != seckill.CodeSoldOut {
			t.Fatalf("user %s: %v", user, err)
		}
	}
	if f.stock.reserves != 2 {
		t.Errorf("%d reservations asked of the stock, want 2: one sold, one found nothing", f.stock.reserves)
	}
	for _, after := range []struct {
		wait time.Duration
		asks int
	}{{99 * time.Millisecond, 2}, {time.Millisecond, 3}, {time.Second - time.Millisecond, 3}, {time.Millisecond, 4}} {
		f.clock.Advance(after.wait)
		if _, err := f.buy("5", "", 1); seckill.CodeOf(err) != seckill.CodeSoldOut || f.stock.reserves != after.asks {
			t.Errorf("%s later: %v, %d reservations asked, want %d", after.wait, err, f.stock.reserves, after.asks)
		}
		must.OK(t, f.stock.Confirm(t.Context(), seckill.Verdict{Item: "1001", Order: order, User: "1",
			Units: []int{1}}))
	}
}

// TestARepeatHearsTheSame checks that who may have bought is not told from memory that nothing is left: a shopper whose
// answer was lost repeats the request without a key, and hears of the same order from every instance. Others cost the
// stock nothing.
func TestARepeatHearsTheSame(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(f *fixture){
		"sold out": func(*fixture) {},
		"ended":    func(f *fixture) { f.clock.Advance(f.item.End.Sub(f.clock.Now())) },
		"stopped": func(f *fixture) {
			f.item.Version, f.item.Stopped = f.item.Version+1, true
			must.OK(t, f.stock.Assert(t.Context(), f.item))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t, 2, 1)
			first, second := must.Get(f.buy("1", "", 1)), must.Get(f.buy("2", "key", 1))
			end(f)
			other := *f
			other.Flow = buy.New(f.Deps)
			for n, instance := range []*fixture{f, &other, f} {
				for _, user := range []string{"3", "4"} {
					if _, err := instance.buy(user, "", 1); err == nil {
						t.Fatal("user", user, "buys")
					}
				}
				asked := f.stock.reserves
				if id, err := instance.buy("1", "", 1); id != first || err != nil {
					t.Errorf("%d: order %q, %v; want %q", n, id, err, first)
				}
				if id, err := instance.buy("2", "key", 1); id != second || err != nil {
					t.Errorf("%d: order %q, %v; want %q", n, id, err, second)
				}
				must.Equal(t, asked+2, f.stock.reserves, "reservations asked of the stock")
				f.clock.Advance(time.Second) // the second time, the instance knows the buyers already
			}
		})
	}
}

// TestNotEnoughIsNotRemembered checks that not_enough is not reused: it holds for one count only.
func TestNotEnoughIsNotRemembered(t *testing.T) {
	f := setup(t, 3, 3)
	must.Get(f.buy("1", "", 2))
	if _, err := f.buy("2", "", 2); seckill.CodeOf(err) != seckill.CodeNotEnough {
		t.Fatal(err)
	}
	if _, err := f.buy("3", "", 1); err != nil {
		t.Errorf("one unit is left, yet: %v", err)
	}
}

// TestBlocked: a blocked user is refused at once and as long as the block holds, with a code of its own; others buy.
func TestBlocked(t *testing.T) {
	f := setup(t, 5, 5)
	for user, item := range map[string]string{"1": "1001", "11": seckill.Everywhere} {
		b := []seckill.Block{{Subject: seckill.UserSubject(user), Item: item, Until: f.clock.Now().Add(time.Minute)}}
		must.OK(t, f.stock.CopyBlocks(t.Context(), "1001", f.clock.Now(), time.Time{}, b, nil))
		for range 2 {
			if id, err := f.buy(user, "", 1); seckill.CodeOf(err) != seckill.CodeBlocked || id != "" {
				t.Errorf("blocked for %s: %q, %v", item, id, err)
			}
		}
		must.Get(f.buy("2"+user, "", 1))
		f.clock.Advance(time.Minute)
		must.Get(f.buy(user, "", 1))
	}
}

func TestWindow(t *testing.T) {
	f := setup(t, 5, 1)
	for name, c := range map[string]struct {
		at   time.Time
		want seckill.Code
		asks int // calls of the stock by two purchases: close to the start it decides, not the instance's clock
	}{
		"long before":   {f.item.Start.Add(-time.Minute), seckill.CodeNotStarted, 1},
		"3 s and more":  {f.item.Start.Add(-3*time.Second - time.Millisecond), seckill.CodeNotStarted, 1},
		"3 s before":    {f.item.Start.Add(-3 * time.Second), seckill.CodeNotStarted, 2},
		"at the end":    {f.item.End, seckill.CodeEnded, 1},
		"ten years on ": {f.item.End.Add(87600 * time.Hour), seckill.CodeEnded, 1},
	} {
		g := setup(t, 5, 1)
		g.Clock = memory.NewClock(c.at)
		g.Flow = buy.New(g.Deps)
		_, _ = g.buy("2", "", 1)
		_, err := g.buy("1", "", 1)
		if seckill.CodeOf(err) != c.want || g.stock.reserves != c.asks {
			t.Errorf("%s: %v, the stock asked %d times; want %s, %d", name, err, g.stock.reserves, c.want, c.asks)
		}
		var e *seckill.Error
		if errors.As(err, &e); c.want == seckill.CodeNotStarted && (!e.Start.Equal(f.item.Start) ||
			e.RetryAfter < time.Second) {
			t.Errorf("%s: start %s, retry after %s", name, e.Start, e.RetryAfter)
		}
	}
}

func TestBadRequests(t *testing.T) {
	f := setup(t, 5, 2)
	for name, c := range map[string]struct {
		item    string
		count   int
		address string
		code    seckill.Code
		field   string
	}{
		"item":       {"x", 1, "a", seckill.CodeInvalid, "seckill_id"},
		"unknown":    {"9", 1, "a", seckill.CodeItemUnknown, ""},
		"count 0":    {"1001", 0, "a", seckill.CodeInvalid, "count"},
		"over limit": {"1001", 3, "a", seckill.CodeInvalid, "count"},
		"address":    {"1001", 1, " ", seckill.CodeInvalid, "address"},
	} {
		_, err := f.Buy(context.Background(), buy.Purchase{Item: c.item, User: "1", Count: c.count,
			Given: seckill.Given{Address: c.address}})
		var e *seckill.Error
		if !errors.As(err, &e) || e.Code != c.code || e.Field != c.field {
			t.Errorf("%s: %v, want %s %s", name, err, c.code, c.field)
		}
	}
	if f.stock.reserves != 2 {
		t.Errorf(
			"bad requests reached the stock %d times, want 2: an item that nobody knows, and a count that only the "+
				"item forbids", f.stock.reserves)
	}
}

// TestWakeOnceASecond checks the answers while an item is not installed: each shopper is asked to retry, and from the
// second purchase on, one rebuild a second is requested.
func TestWakeOnceASecond(t *testing.T) {
	f := setup(t, 5, 1)
	must.OK(t, f.stock.Remove(context.Background(), "1001"))
	count := func() int {
		return must.Get(f.orders.Depth(context.Background())).Visible
	}
	for i := range 10 {
		_, err := f.buy("1", "", 1)
		var e *seckill.Error
		if !errors.As(err, &e) || e.Code != seckill.CodeNotReady || e.RetryAfter <= 0 {
			t.Fatalf("%v, want not_ready with a retry hint", err)
		}
		want := 1 + i/5
		if i == 0 {
			want = 0 // the first purchase only reads the row: each purchase makes one call to AWS
		}
		if count() != want {
			t.Fatalf("purchase %d: %d wake messages, want %d", i, count(), want)
		}
		if i == 4 {
			f.clock.Advance(time.Second)
		}
	}
}

// TestNoItemIsReadWhileTheStockHasIt checks that refusals need no read of the item. An item missing in the stock is
// read once in ten seconds.
func TestNoItemIsReadWhileTheStockHasIt(t *testing.T) {
	f := setup(t, 2, 1)
	reads := &readItems{Items: f.items}
	f.Items = reads
	f.Flow = buy.New(f.Deps)
	for _, user := range []string{"1", "1", "2", "3"} {
		_, _ = f.buy(user, "", 1)
	}
	if _, err := f.buy("9", "", 2); seckill.CodeOf(err) != seckill.CodeSoldOut || reads.reads != 0 {
		t.Errorf("%v; %d reads of the item, want none", err, reads.reads)
	}
	must.OK(t, f.stock.Remove(context.Background(), "1001"))
	for i := range 40 {
		f.clock.Advance(time.Second)
		if _, err := f.buy("1", "", 1); seckill.CodeOf(err) != seckill.CodeNotReady || reads.reads != 1+i/10 {
			t.Fatalf("second %d: %v, %d reads", i, err, reads.reads)
		}
	}
	f.clock.Advance(time.Hour)
	if _, err := f.buy("1", "", 1); seckill.CodeOf(err) != seckill.CodeEnded {
		t.Errorf("not installed, and over: %v", err)
	}
	if _, err := f.buy("1", "", 3); seckill.CodeOf(err) != seckill.CodeInvalid {
		t.Errorf("not installed, and more than the limit: %v", err)
	}
}

// TestRefusalsAreNoOlderThanASecond checks that each remembered refusal is asked for again after one second.
func TestRefusalsAreNoOlderThanASecond(t *testing.T) {
	ctx := context.Background()
	f := setup(t, 5, 1)
	stop := func(stopped bool) {
		f.item.Stopped = stopped
		f.item.Version++
		must.OK(t, f.stock.Assert(ctx, f.item))
	}
	stop(true)
	if _, err := f.buy("1", "", 1); seckill.CodeOf(err) != seckill.CodeStopped {
		t.Fatal(err)
	}
	stop(false)
	if _, err := f.buy("1", "", 1); seckill.CodeOf(err) != seckill.CodeStopped {
		t.Errorf("at once: %v", err)
	}
	f.clock.Advance(time.Second)
	if _, err := f.buy("1", "", 1); err != nil {
		t.Errorf("a second later: %v", err)
	}
}

// BenchmarkSoldOut measures the answer that most shoppers of a crowd get.
func BenchmarkSoldOut(b *testing.B) {
	f := setup(b, 1, 1)
	p := buy.Purchase{Item: "1001", User: "1", Count: 1, Given: seckill.Given{Address: "杭州市西湖区1号"}}
	ctx := context.Background()
	for i := range 2 {
		p.User = string(rune('1' + i))
		_, _ = f.Buy(ctx, p)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, err := f.Buy(ctx, p); seckill.CodeOf(err) != seckill.CodeSoldOut {
			b.Fatal(err)
		}
	}
}
