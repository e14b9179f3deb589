package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/flow/office/fulfil"
	"github.com/your-org/seckill/shared/seckill"
)

// Paid orders of user 1, and what staff and the shopper do with them.
var (
	paidOrder = steps(placed("1", 2), paid("1"), notified)
	confirmed = func(w *World, i *Instance) error {
		_, err := i.Fulfil.Confirm(ctx, w.id("1"), "ann")
		if o, _ := w.ledger.Order(ctx, w.id("1")); o.State == seckill.RefundOwed || o.State == seckill.Refunded {
			return nil // the operator who refunds was faster, and staff hear so
		}
		return err
	}
	shippedOrder = func(w *World, i *Instance) error {
		parcel := fulfil.Parcel{Order: w.id("1"), Carrier: "SF", Number: "1"}
		done, err := i.Fulfil.Ship(ctx, "ann", []fulfil.Parcel{parcel}, true, false)
		if err == nil && len(done.Faults) > 0 {
			return fmt.Errorf("not shipped: %v", done.Faults)
		}
		return err
	}
	receivedOrder = func(w *World, i *Instance) error {
		_, err := i.Shop.Received(ctx, "1", w.id("1"))
		return err
	}
	movedOn = func(w *World, i *Instance) error { return i.Expire.Sweep(ctx) }
)

// parcelTime waits for a parcel, and an hour for clocks and indexes.
func parcelTime(d time.Duration) func(*World, *Instance) error { return after(d + time.Hour) }

var fulfilScenarios = []scenario{
	{flow: "fulfil", name: "confirmed", prepare: paidOrder, step: confirmed, retry: true, atLeast: 2,
		ends: map[string]seckill.State{"1": seckill.Confirmed}},
	{flow: "fulfil", name: "shipped", prepare: paidOrder, step: shippedOrder, atLeast: 4,
		ends: map[string]seckill.State{"1": seckill.Shipped}},
	{flow: "fulfil", name: "noted and hidden", prepare: steps(placed("1", 1), cancelled("1"), expired), atLeast: 4,
		step: func(w *World, i *Instance) error {
			_, err := i.Fulfil.Note(ctx, w.id("1"), "ann", "a gift")
			_, e := i.Fulfil.Hide(ctx, w.id("1"), "ann", "a test", true)
			return errors.Join(err, e)
		}, ends: map[string]seckill.State{"1": seckill.Cancelled}},
	{flow: "shop", name: "the shopper has a shipped order", prepare: steps(paidOrder, shippedOrder),
		step: receivedOrder, retry: true, atLeast: 2, ends: map[string]seckill.State{"1": seckill.Received}},
	{flow: "shop", name: "the shopper wants a refund of a paid order", prepare: paidOrder, retry: true, atLeast: 2,
		step: func(w *World, i *Instance) error {
			_, err := i.Shop.AskRefund(ctx, "1", w.id("1"), "too small")
			return err
		}, ends: map[string]seckill.State{"1": seckill.Paid}},
	{flow: "expire", name: "shipped 15 days ago", noMoreShoppers: true, atLeast: 34,
		prepare: steps(paidOrder, shippedOrder, parcelTime(seckill.ReceivedAfter)), step: movedOn},
	{flow: "expire", name: "received 7 days ago", noMoreShoppers: true, atLeast: 34,
		prepare: steps(paidOrder, shippedOrder, receivedOrder, parcelTime(seckill.CompletedAfter)), step: movedOn},
	{flow: "refund", name: "by the operator, of a shipped order", prepare: steps(paidOrder, shippedOrder),
		step: refundedOrder("1", false), atLeast: 3, ends: map[string]seckill.State{"1": seckill.Refunded}},
}
