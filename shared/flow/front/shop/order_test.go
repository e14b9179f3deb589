package shop_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/seckill"
)

// counting is a stock that counts the calls that look for orders.
type counting struct {
	seckill.Stock
	looks int
}

func (c *counting) Queued(ctx context.Context, item, user, order string) (seckill.Reservation, error) {
	c.looks++
	return c.Stock.Queued(ctx, item, user, order)
}

var start = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

// setup returns a shop with this many items on sale.
func setup(t testing.TB, items int) (*shop.Flow, *counting) {
	t.Helper()
	clock, stock, list := memory.NewClock(start.Add(time.Minute)), &counting{Stock: redisstock.New(memory.NewRedis())},
		memory.NewItems()
	rows := memory.NewRows(memory.RowsOptions{Clock: clock})
	ctx := context.Background()
	var published []seckill.Item
	for n := range items {
		it := drivertest.Item(strconv.Itoa(1001+n), start)
		must.OK(t, list.Put(ctx, it, nil), stock.BuildStart(ctx, start, it.ID, "t"),
			stock.Install(ctx, it, "t", 0, 0, 0, 0))
		published = append(published, it)
	}
	must.OK(t, list.Publish(ctx, seckill.List{Version: 1, Items: published}))
	return shop.New(shop.Deps{Stock: stock, Ledger: ledger.New(rows), Items: list, Closings: memory.NewQueue(clock,
		memory.QueueOptions{}), Clock: clock, Meter: memory.Meter(nil)}), stock
}

// TestLookingForAnOrderAsksFewItems counts the stock calls of one request among 1,000 items on sale.
func TestLookingForAnOrderAsksFewItems(t *testing.T) {
	f, stock := setup(t, seckill.MaxItems)
	ctx := context.Background()
	queued := drivertest.Request("1700", "7", start.Add(time.Minute))
	if res, err := stock.Reserve(ctx, queued.Created, queued, true, time.Minute); err != nil ||
		res.Code != seckill.Reserved {
		t.Fatal(res, err)
	}
	const old = "obbbbbbbbbbbbbbbbbbbbbbbbbb"
	rejected := seckill.Order{ID: old, Item: "1001", User: "7", Count: 1, Given: seckill.Given{Address: "x"},
		State: seckill.Rejected, Created: start, Placed: start, Reason: seckill.CodeSoldOut}
	must.OK(t, f.Ledger.Reject(ctx, rejected))
	for name, c := range map[string]struct {
		id   string
		most int
		code seckill.Code
	}{
		"an order that is queued": {queued.Order, 1, ""},
		"an id of an item on sale": {seckill.KeyedOrderID("1001", "8", "k"), 1,
			seckill.CodeOrderUnknown},
		"an id of an item that nobody sells":       {seckill.KeyedOrderID("99", "8", "k"), 0, seckill.CodeOrderUnknown},
		"an id that a stranger made up":            {"oaaaaaaaaaaaaaaaaaaaaaaaaaa", 0, seckill.CodeOrderUnknown},
		"an order from before ids said their item": {old, 0, ""},
		"an id made up, of today's form":           {"oaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0, seckill.CodeOrderUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			for what, ask := range map[string]func() error{
				"GET":    func() error { _, err := f.Order(ctx, "7", c.id); return err },
				"push":   func() error { return f.Has(ctx, "7", c.id) },
				"cancel": func() error { _, err := f.Cancel(ctx, "7", c.id); return err },
			} {
				stock.looks = 0
				want := c.code
				if what == "cancel" && want == "" {
					want = map[bool]seckill.Code{true: seckill.CodeNotCancelable,
						false: seckill.CodeStillQueued}[c.id == old]
				}
				got, err := seckill.Code(""), ask()
				if err != nil {
					got = seckill.CodeOf(err)
				}
				if got != want || stock.looks > c.most {
					t.Errorf("%s: code %q after %d scripts, want %q after %d at most", what, got, stock.looks, want,
						c.most)
				}
			}
		})
	}
}
