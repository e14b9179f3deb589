package sim

import (
	"testing"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// hide takes the messages of orders from the queue for a while, and returns them by user.
func hide(t *testing.T, w *World) map[string]seckill.Delivery {
	t.Helper()
	hidden := map[string]seckill.Delivery{}
	for {
		batch, err := w.Orders.Receive(ctx, 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(batch) == 0 {
			return hidden
		}
		for _, d := range batch {
			m, err := seckill.DecodeMessage(d.Body)
			if err != nil {
				t.Fatal(err)
			}
			wait := time.Hour
			if m.Kind == seckill.MessageWake {
				wait = time.Second
			}
			if err := w.Orders.Delay(ctx, d, wait); err != nil {
				t.Fatal(err)
			}
			hidden[m.Reservation.User] = d
		}
	}
}

// show makes a message visible, and has it handled.
func show(t *testing.T, w *World, d seckill.Delivery) {
	t.Helper()
	if err := w.Orders.Delay(ctx, d, 0); err != nil {
		t.Fatal(err)
	}
	work(t, w, 0)
}

// work handles messages for some seconds.
func work(t *testing.T, w *World, seconds int) {
	t.Helper()
	for n := 0; n <= seconds; n++ {
		if err := w.Start(nil).handleAll(); err != nil {
			t.Fatal(err)
		}
		w.Clock.Advance(time.Second)
	}
}

// kept lets everything come to rest, and fails if an acknowledged order was rejected.
func kept(t *testing.T, w *World) {
	t.Helper()
	for range 4 {
		work(t, w, 60)
		do(t, w, func(_ *World, i *Instance) error { return i.Repair.Run(ctx) })
		if err := w.Check(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestALostOrderIsRepeated: two orders are acknowledged, and the stock forgets them. One is repeated, and takes the
// other's unit. Both count once.
func TestALostOrderIsRepeated(t *testing.T) {
	t.Parallel()
	w := newTestWorld(t, 6, 1)
	do(t, w, steps(placed("1", 1), bought("2", 1, "k"), bought("3", 1, "k")))
	waiting := hide(t, w)
	do(t, w, steps(flush, woken))
	work(t, w, 6)
	do(t, w, bought("3", 1, "k"))
	again := hide(t, w)
	show(t, w, waiting["2"])
	show(t, w, waiting["3"])
	show(t, w, again["3"])
	work(t, w, 30)
	for _, user := range []string{"11", "12", "13", "14", "15"} {
		_, _ = w.Start(nil).Purchase(user, 1, "k")
	}
	kept(t, w)
}

// TestAReservationWithoutMessage: an order that the stock forgot has the unit of a reservation that was never sent. It
// is sent after the looks.
func TestAReservationWithoutMessage(t *testing.T) {
	t.Parallel()
	w := newTestWorld(t, 3, 1)
	do(t, w, steps(placed("1", 1), bought("2", 1, "k")))
	waiting := hide(t, w)
	do(t, w, steps(flush, woken))
	work(t, w, 6)
	do(t, w, unsent("9", 1))
	show(t, w, waiting["2"])
	work(t, w, 30)
	for _, user := range []string{"8", "9"} {
		_, _ = w.Start(nil).Purchase(user, 1, "k")
	}
	kept(t, w)
}

// TestALookIsLost: the message that asks for the next look cannot be sent, while messages for other items are always
// hidden. The item sells again after the next run.
func TestALookIsLost(t *testing.T) {
	t.Parallel()
	w := newTestWorld(t, 6, 1)
	do(t, w, placed("1", 1))
	work(t, w, 8)
	do(t, w, steps(flush, woken))
	sends := 0
	_, _ = w.Start(func(call string, do func() error) error {
		if call == "orders.Send" {
			if sends++; sends == 2 {
				return errFault
			}
		}
		return do()
	}).Next()
	if sends != 2 {
		t.Fatal(sends, "sends")
	}
	for n := range 90 {
		other := seckill.Message{Kind: seckill.MessageWake, Item: "77"}
		if err := w.Orders.Send(ctx, other, 3*time.Second); err != nil {
			t.Fatal(err)
		}
		work(t, w, 0)
		if n == 60 {
			do(t, w, func(_ *World, i *Instance) error { return i.Repair.Run(ctx) })
		}
	}
	do(t, w, bought("5", 1, "k"))
	kept(t, w)
}
