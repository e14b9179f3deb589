package local

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// MaxPast is the largest number of past orders that a system begins with.
const MaxPast = 100_000

// pastItem sold the past orders.
const pastItem = "1999"

// beforeEnd is how long before the end of a sale order n of the given number was made: they are a second apart, or
// less if the sale has fewer seconds.
func beforeEnd(sale time.Duration, n, orders int) time.Duration {
	return min(time.Second, (sale/time.Duration(orders+1)).Truncate(time.Millisecond)) * time.Duration(n)
}

// seedPast makes a system begin with paid orders of a sale that has long ended, to try the back office with many. The
// stock has no such item any more.
func (s *System) seedPast(ctx context.Context, orders int) error {
	if orders == 0 {
		return nil
	}
	now := s.Clock.Now().UTC().Truncate(time.Second)
	start := now.Add(-seckill.KeepLoaded - 48*time.Hour)
	it := seckill.Item{ID: pastItem, Commodity: seckill.Commodity{ID: "2999", Title: "竹纤维毛巾 三条装", Price: 59_00,
		CreateTime: start}, Price: 19_00, Start: start, End: start.Add(24 * time.Hour), CreateTime: start,
		Stock: orders, Limit: 1, Buckets: seckill.BucketsFor(orders), Version: 1}
	if err := s.Items.Put(ctx, it, nil); err != nil {
		return fmt.Errorf("item %s: %w", it.ID, err)
	}
	for n := 1; n <= orders; n++ {
		at := it.End.Add(-beforeEnd(it.End.Sub(start), n, orders))
		user := strconv.Itoa(5_000_000 + n)
		o := seckill.Order{ID: seckill.KeyedOrderID(it.ID, user, "past"), Item: it.ID, User: user, Count: 1,
			Units: []int{n}, Price: it.Price, Amount: it.Price, Given: seckill.Given{Address: "上海市浦东新区 1 号"},
			State: seckill.PendingPayment, Created: at, Placed: at, PayBy: at.Add(s.opt.Hold),
			Title: it.Commodity.Title, ListPrice: it.Commodity.Price, ItemVersion: 1, Buckets: it.Buckets,
			History: []seckill.Change{{State: seckill.PendingPayment, At: at, Cause: "placed"}}}
		if err := s.Ledger.Place(ctx, o, it.Limit); err != nil {
			return err
		}
		p := seckill.Payment{Order: o.ID, TradeNo: "2026" + strconv.Itoa(n), Amount: o.Amount, State: seckill.Captured,
			At: at, Cause: "notify"}
		if err := s.Ledger.RecordPayment(ctx, p, seckill.PendingPayment, seckill.Paid); err != nil {
			return err
		}
	}
	return nil
}
