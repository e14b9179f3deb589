package sim

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Each test in this file failed once: a review or the explorer found the bug.

func newTestWorld(t *testing.T, stock, limit int) *World {
	t.Helper()
	w, err := NewWorld(stock, limit)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func do(t *testing.T, w *World, f func(*World, *Instance) error) {
	t.Helper()
	if err := f(w, w.Start(nil)); err != nil {
		t.Fatal(err)
	}
}

// TestHoleBuildStolen: consumers A and B, B's clock a little behind A's. Each wake message that B handled took the
// build over from A, however recently A had used it (its age was negative), and the other way round if the skew
// exceeded BuildPatience. Four consumers handle the wake messages of a crowd, 200 a second; a port call takes 2 ms;
// the build needs about 40. No process dies and no call fails.
func TestHoleBuildStolen(t *testing.T) {
	for _, c := range []struct{ skew []time.Duration }{
		{[]time.Duration{0, 0, 0, 0}},
		{[]time.Duration{0, -50 * time.Millisecond, 30 * time.Millisecond, -20 * time.Millisecond}},
		{[]time.Duration{-2 * time.Second, 2 * time.Second, 0, time.Second}},
	} {
		t.Run(fmt.Sprint(c.skew), func(t *testing.T) {
			w := newTestWorld(t, 100, 50)
			w.Item.Buckets, w.Item.Version = 16, 2
			if err := w.items.Put(ctx, w.Item, nil); err != nil {
				t.Fatal(err)
			}
			do(t, w, placed("1", 40))
			w.Forget()
			e := of(w, Plan{Skew: c.skew})
			id, from := 0, w.Clock.Now()
			defer e.close()
			// 2 ms in which each consumer makes a port call; every 5 ms an idle one gets a wake message
			for w.Clock.Now().Sub(from) < time.Minute {
				w.Clock.Advance(2 * time.Millisecond)
				for n := range e.instances {
					var p *process
					for _, q := range e.processes {
						if q.on == n {
							p = q
						}
					}
					if p != nil {
						e.step(p)
					} else if w.Clock.Now().UnixMilli()%20 == int64(4*n) {
						id++
						e.spawn(id, actConsume, "wake", uint64(n), func(i *Instance) {
							_ = i.Repair.Wake(ctx, seckill.Message{Item: w.Item.ID})
						})
					}
				}
				if n, _ := w.numbers(); n != nil {
					t.Logf("installed after %s, %d wakes", w.Clock.Now().Sub(from), id)
					return
				}
			}
			t.Errorf("after a minute and %d wakes the item is not installed; builds begun: %d", id,
				e.Calls["stock.BuildStart"])
		})
	}
}

// TestHoleQueuedAfterEnd: an acknowledged order that still waited for its placement when the sale ended was unknown
// to its shopper.
func TestHoleQueuedAfterEnd(t *testing.T) {
	w := newTestWorld(t, 5, 2)
	do(t, w, install)
	w.Clock.Advance(w.Item.End.Add(-time.Second).Sub(w.Clock.Now()))
	id, err := w.Start(nil).Purchase("1", 1, "k")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := w.Start(nil).Shop.Order(ctx, "1", id); err != nil || v.Order.State != seckill.Queued {
		t.Fatalf("before the end: %v %v", v.Order.State, err)
	}
	w.Clock.Advance(2 * time.Second)
	if v, err := w.Start(nil).Shop.Order(ctx, "1", id); err != nil {
		t.Errorf("a second after the end the acknowledged order is: %v %v", v.Order.State, err)
	}
}

// TestHoleQueuedWhileRebuilding: while the stock was not installed, an acknowledged order was reported as unknown
// instead of "not ready".
func TestHoleQueuedWhileRebuilding(t *testing.T) {
	w := newTestWorld(t, 5, 2)
	do(t, w, install)
	id, err := w.Start(nil).Purchase("1", 1, "k")
	if err != nil {
		t.Fatal(err)
	}
	w.Forget()
	if _, err := w.Start(nil).Shop.Order(ctx, "1", id); seckill.CodeOf(err) == seckill.CodeOrderUnknown {
		t.Errorf("an acknowledged order whose message is on the way: %v", err)
	}
}

// TestHoleOverlappingPasses: drift passes that took longer than a minute overtook each other, and none ever counted.
// A shopper who should hear "sold out" waited for an hour.
func TestHoleOverlappingPasses(t *testing.T) {
	w := newTestWorld(t, 1, 1)
	do(t, w, placed("1", 1))
	do(t, w, paid("1"))
	do(t, w, notified)
	do(t, w, forget)
	do(t, w, bought("2", 1, "k"))
	do(t, w, next) // collides and waits
	stock := w.stock
	passes := 0
	for range 10 { // the next minute's pass overtakes each pass before it ends
		passes++
		i := w.Start(func(call string, do func() error) error {
			if call == "stock.DriftEnd" {
				w.Clock.Advance(time.Minute)
				if _, err := stock.DriftBegin(ctx, w.Item.ID, fmt.Sprint("next", passes)); err != nil {
					return err
				}
			}
			return do()
		})
		if err := i.Repair.Run(ctx); err != nil {
			t.Fatal(err)
		}
		do(t, w, next)
		do(t, w, next)
	}
	if _, err := w.ledger.Order(ctx, w.id("2")); errors.Is(err, seckill.ErrNoOrder) {
		t.Errorf("after %d whole passes the order still waits", passes)
	}
}

// TestHoleReservedAfterEnd: an instance that was frozen, or had slow calls, reserved an hour after the end, because
// the script used the time at which the request arrived. So no call may happen between reading that time and the
// script.
func TestHoleReservedAfterEnd(t *testing.T) {
	w := newTestWorld(t, 5, 2)
	do(t, w, install)
	w.Clock.Advance(w.Item.End.Add(-time.Second).Sub(w.Clock.Now()))
	var asked time.Time
	i := w.Start(func(call string, do func() error) error {
		if call == "stock.Reserve" {
			asked = w.Clock.Now()
		} else {
			w.Clock.Advance(time.Hour)
		}
		return do()
	})
	if id, err := i.Purchase("1", 1, "k"); err == nil && !asked.Before(w.Item.End) {
		t.Errorf("order %s is reserved and acknowledged %s after the end", id, asked.Sub(w.Item.End))
	}
}

// TestHoleListReadsLedger: while the stock did not answer, a page read every bucket of every item on it, again once a
// second for every request and instance, and immediately again after a failed read.
func TestHoleListReadsLedger(t *testing.T) {
	w := newTestWorld(t, 5, 2)
	it := w.Item
	it.ID, it.Stock, it.Version, it.Described = "2002", 500_000, 1, 0
	it.Buckets = seckill.BucketsFor(it.Stock)
	if err := w.items.Put(ctx, it, nil); err != nil {
		t.Fatal(err)
	}
	reads := 0
	i := w.Start(func(call string, do func() error) error {
		if call == "stock.Level" {
			return errFault
		}
		if call == "ledger.Units/Query" {
			if reads++; reads%1000 == 0 {
				return errFault
			}
		}
		return do()
	})
	for range 5 { // five shoppers at one instance within one second
		if _, err := i.Shop.Detail(ctx, it.ID); err != nil {
			t.Fatal(err)
		}
	}
	if reads > 100 {
		t.Errorf("five looks at one item within a second read %d partitions of the ledger", reads)
	}
}

// TestHoleWakesPile: wake messages of an item that could not be rebuilt were delivered a hundred times each, between
// the orders.
func TestHoleWakesPile(t *testing.T) {
	w := newTestWorld(t, 5, 2)
	do(t, w, placed("1", 1))
	w.Forget()
	for range 60 { // ten instances for a minute, while the ledger's unit rows cannot be read
		for range 10 {
			_, _ = w.Start(nil).Purchase("2", 1, "k")
		}
		w.Clock.Advance(time.Second)
	}
	i := w.Start(func(call string, do func() error) error {
		if call == "ledger.Units/Query" {
			return errFault
		}
		return do()
	})
	handled := 0
	for range 30 * 60 {
		for range 1000 {
			any, _ := i.Next()
			if !any {
				break
			}
			handled++
		}
		w.Clock.Advance(time.Second)
	}
	d, _ := w.Orders.Depth(ctx)
	if d.Visible+d.InFlight+d.Delayed > 100 {
		t.Errorf("after half an hour %d wake messages are still in the orders queue, %d deliveries were spent on them",
			d.Visible+d.InFlight+d.Delayed, handled)
	}
}

// TestHoleStockForgotten: Redis fell back to before the operator added stock. A drift pass compared units, not N:
// until stage ran, an order was rejected as sold out although the added units existed.
func TestHoleStockForgotten(t *testing.T) {
	w := newTestWorld(t, 1, 1)
	do(t, w, install)
	snap := w.Redis.Snapshot()
	do(t, w, restock(2)) // acknowledged
	do(t, w, steps(bought("1", 1, "k"), next))
	w.Recall(snap)
	do(t, w, bought("2", 1, "k")) // acknowledged; draws unit 1 again
	do(t, w, next)                // collides and waits
	do(t, w, repaired)            // a whole drift pass
	w.Clock.Advance(2 * time.Second)
	do(t, w, next)
	if o, err := w.ledger.Order(ctx, w.id("2")); err == nil && o.State == seckill.Rejected {
		t.Errorf("rejected as %s with 1 of 2 units sold", o.Reason)
	}
}
