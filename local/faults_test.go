package local_test

import (
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/seckill"
)

// Each of these tests removes one thing that the design relies on, and would fail without the design's answer to it.

func TestAStockThatForgotASaleSellsNoUnitTwice(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 2, 1)}})
	w.earlyInAMinute()
	before := w.Redis.Snapshot()
	w.bought("1001", "5")
	w.Redis.Restore(before) // a failover to a replica that lags behind
	w.bought("1002", "5")   // gets unit 1 again, which the ledger refuses
	if n := w.Meter.Counts()[seckill.EventCollided]; n != 1 {
		t.Errorf("%d collisions, want 1", n)
	}
	w.pass(time.Minute)
	w.drained()
	w.soldOnce("5", 2)
}

func TestAMessageThatFailedComesBack(t *testing.T) {
	t.Parallel()
	later := live("5", 2, 1)
	later.Start = time.Now().Add(time.Hour) // not in the stock yet: the order is placed, and cannot be confirmed
	w := start(t, local.Options{Items: []seckill.Listing{later}})
	now := w.Clock.Now()
	m := seckill.Message{Kind: seckill.MessageOrder, Reservation: seckill.Reservation{Units: []int{1},
		Request: seckill.Request{
			Order: seckill.KeyedOrderID("5", "1001", "k"), Item: "5", User: "1001", Count: 1,
			Given: seckill.Given{Address: address}, Created: now}}}
	if err := w.Orders.Send(t.Context(), m, 0); err != nil {
		t.Fatal(err)
	}
	var d seckill.Depth
	w.eventually("failed delivery", func() bool {
		d, _ = w.Orders.Depth(t.Context())
		_, err := w.Ledger.Order(t.Context(), m.Reservation.Order)
		return err == nil && d.Visible == 0
	}, func() any { return d })
	if d, _ := w.Orders.Depth(t.Context()); d.InFlight != 1 {
		t.Errorf("the queue holds %+v, want the message to come back", d)
	}
}

func TestAnOrderPlacedByADeliveryThatDiedIsConfirmedByTheNext(t *testing.T) {
	t.Parallel()
	it := live("5", 2, 1)
	w := start(t, local.Options{Items: []seckill.Listing{it}})
	w.earlyInAMinute() // otherwise repair might run between the writes below and the message
	now := w.Clock.Now()
	r := seckill.Request{Order: seckill.KeyedOrderID("5", "1001", "k"), Item: "5", User: "1001", Count: 1,
		Given: seckill.Given{Address: address}, Created: now}
	res, err := w.Stock.Reserve(t.Context(), now, r, true, seckill.Resend)
	if err != nil || res.Code != seckill.Reserved {
		t.Fatalf("reserve: %v, %v", res, err)
	}
	err = w.Ledger.Place(t.Context(), seckill.Order{ID: r.Order, Item: "5", User: "1001", Count: 1,
		Units: res.Reservation.Units, Price: it.Price,
		Amount: it.Price, Given: seckill.Given{Address: address}, State: seckill.PendingPayment, Created: now,
		Placed: now, PayBy: now.Add(seckill.DefaultHold).Truncate(time.Second),
		Title: it.Commodity.Title, Buckets: it.Buckets}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Orders.Send(t.Context(), seckill.Message{Kind: seckill.MessageOrder, Reservation: res.Reservation},
		0); err != nil {
		t.Fatal(err)
	}
	w.drained()
	if d, _ := w.Closings.Depth(t.Context()); d.Delayed != 1 {
		t.Errorf("closings %+v, want the order's message", d)
	}
}

func TestAReturnRepeatedAfterTheUnitWasResoldFreesNothing(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("5", 1, 1)}})
	first, _ := w.bought("1001", "5")
	w.pass(seckill.DefaultHold + seckill.Grace + time.Second)
	second, _ := w.bought("1002", "5")
	if err := w.Stock.Return(t.Context(), "5", first, "1001", []int{1}); err != nil {
		t.Fatal(err)
	}
	if err := w.Stock.Confirm(t.Context(), "5", first, "1001", nil); err != nil {
		t.Fatal(err)
	}
	w.drained()
	w.soldOnce("5", 1)
	if a := w.buy("1003", "5", 1, ""); a.text("code") != "sold_out" {
		t.Errorf("a third shopper while %s has the unit: %v", second, a)
	}
}
