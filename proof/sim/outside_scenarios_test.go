package sim

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/flow/office/fulfil"
	"github.com/your-org/seckill/shared/seckill"
)

// atTheConsole refunds so much of the order's newest trade in the provider's console; 0 means all that is left.
func atTheConsole(amount seckill.Fen) func(*World, *Instance) error { return moneyGoes(amount, told) }

func moneyGoes(amount seckill.Fen, how string) func(*World, *Instance) error {
	return func(w *World, _ *Instance) error {
		trades := w.Provider.orders[w.id("1")].trades
		t := trades[len(trades)-1]
		if amount == 0 {
			amount = t.Amount - w.Provider.orders[w.id("1")].console[t.TradeNo]
		}
		return w.Provider.Console(w.id("1"), t.TradeNo, amount, how)
	}
}

// toldLast delivers the newest notification.
func toldLast(w *World, i *Instance) error {
	return i.Notify.Notify(ctx, w.Provider.Notifications[len(w.Provider.Notifications)-1])
}

func accepted(w *World, i *Instance) error {
	_, err := i.Refund.Accept(ctx, w.id("1"), "ann", "a discount", nil)
	return err
}

// saidGone makes somebody say that all went back.
func saidGone(who string, restock bool) func(*World, *Instance) error {
	return func(w *World, i *Instance) error {
		_, err := i.Refund.Gone(ctx, w.id("1"), who, "a chargeback", restock)
		return err
	}
}

// saidLess makes somebody say that less went back than the shop has heard.
func saidLess(w *World, i *Instance) error {
	id := w.id("1")
	return i.sayWhatWentBack(id, w.Provider.orders[id].trades[0].TradeNo, "ann", false)
}

var (
	partBack    = steps(paidOrder, atTheConsole(100), toldLast)
	wholeBack   = steps(paidOrder, atTheConsole(0), toldLast)
	noSum       = steps(paidOrder, moneyGoes(0, unsaid))
	partUntold  = steps(paidOrder, moneyGoes(100, unsaid), toldLast)
	chargedBack = steps(paidOrder, moneyGoes(0, charged), toldLast)
)

var outsideScenarios = []scenario{
	{flow: "notify", name: "a part went back in the console", prepare: steps(paidOrder, atTheConsole(100)),
		step: toldLast, atLeast: 5},
	{flow: "notify", name: "all went back in the console", prepare: steps(paidOrder, atTheConsole(0)),
		step: toldLast, atLeast: 5, ends: map[string]seckill.State{"1": seckill.Refunded}},
	{flow: "notify", name: "all went back before the shop heard of the payment", atLeast: 6,
		prepare: steps(placed("1", 1), paid("1"), atTheConsole(0)), step: toldLast},
	{flow: "refund", name: "all went back in the console", prepare: wholeBack, step: refunded, atLeast: 19,
		ends: map[string]seckill.State{"1": seckill.Refunded}},
	{flow: "refund", name: "all went back in two parts", prepare: steps(partBack, atTheConsole(0), toldLast),
		step: refunded, atLeast: 19, ends: map[string]seckill.State{"1": seckill.Refunded}},
	{flow: "refund", name: "late money that went back in the console, untold", step: refunded, atLeast: 20,
		prepare: steps(lateMoney, atTheConsole(0), lost), ends: map[string]seckill.State{"1": seckill.Refunded}},
	{flow: "refund", name: "the rest of late money", prepare: steps(lateMoney, atTheConsole(100), toldLast),
		step: refunded, atLeast: 19, ends: map[string]seckill.State{"1": seckill.Refunded}},
	{flow: "refund", name: "the rest, by the operator", prepare: partBack, step: refundedOrder("1", true), atLeast: 4,
		ends: map[string]seckill.State{"1": seckill.Refunded}},
	{flow: "refund", name: "accepted by the operator", prepare: partBack, step: accepted, atLeast: 3},
	{flow: "notify", name: "all went back, and no sum is told", prepare: noSum, step: toldLast, atLeast: 5,
		ends: map[string]seckill.State{"1": seckill.Refunded}},
	{flow: "refund", name: "all was charged back, and the trade stays paid", prepare: chargedBack, step: refunded,
		atLeast: 18},
	{flow: "refund", name: "all was charged back, says the operator", prepare: chargedBack, step: saidGone("ann", true),
		atLeast: 4, ends: map[string]seckill.State{"1": seckill.Refunded}},
	{flow: "refund", name: "all was charged back, says a second person", step: saidGone("bob", true), atLeast: 5,
		prepare: steps(notAlone, chargedBack, func(w *World, _ *Instance) error {
			return saidGone("ann", true)(w, w.Start(nil))
		}),
		ends: map[string]seckill.State{"1": seckill.Refunded}},
	{flow: "refund", name: "less went back, says the operator", prepare: partUntold, step: saidLess, atLeast: 4},
	{flow: "refund", name: "restocked after it was refunded", prepare: steps(wholeBack, refunded),
		step: refundedOrder("1", true), atLeast: 3, ends: map[string]seckill.State{"1": seckill.Refunded}},
	{flow: "fulfil", name: "shipped after a decision", prepare: steps(partBack, accepted), step: shippedOrder,
		atLeast: 4},
}

// TestOrdersThatMoneyLeft plays what staff may do with an order when a part of its money, or all, went back outside the
// shop.
func TestOrdersThatMoneyLeft(t *testing.T) {
	parcel := func(w *World, i *Instance) (fulfil.Shipped, error) {
		return i.Fulfil.Ship(context.Background(), "ann", []fulfil.Parcel{{Order: w.id("1"), Carrier: "SF",
			Number: "1"}}, true, false)
	}
	for _, tt := range []struct {
		name    string
		prepare func(*World, *Instance) error
		ships   bool
		state   seckill.State
		outside seckill.Fen
	}{
		{"a part", partBack, false, seckill.Paid, 100},
		{"a part, told twice", steps(partBack, toldLast), false, seckill.Paid, 100},
		{"two parts, the older told last", steps(paidOrder, atTheConsole(100), atTheConsole(50), toldLast, toldFirst),
			false, seckill.Paid, 150},
		{"a part, accepted", steps(partBack, accepted), true, seckill.Shipped, 100},
		{"a part, accepted, and another", steps(partBack, accepted, atTheConsole(50), toldLast), false, seckill.Paid,
			150},
		{"all", wholeBack, false, seckill.Paid, 17776},
		{"all, and no sum is told", steps(noSum, toldLast), false, seckill.Paid, 17776},
		{"all, and no sum is told, and queried", steps(noSum, toldLast, refunded), false, seckill.Refunded, 17776},
		{"a part, and no sum is told", partUntold, false, seckill.Paid, 17776},
		{"a part, says a person", steps(partUntold, saidLess), true, seckill.Shipped, 100},
		{"all, charged back, and queried", steps(chargedBack, refunded), false, seckill.Paid, 17776},
		{"all, charged back, says a person", steps(chargedBack, refunded, saidGone("ann", false)), false,
			seckill.Refunded, 17776},
		{"all, and restocked", steps(wholeBack, refunded, refundedOrder("1", true), next), false, seckill.Refunded,
			17776},
		{"all, and queried", steps(wholeBack, refunded), false, seckill.Refunded, 17776},
		{"a part, refunded by staff", steps(partBack, refundedOrder("1", false), refunded), false, seckill.Refunded,
			100},
		{"our own refund, told", steps(paidOrder, refundedOrder("1", false), refunded, toldLast), false,
			seckill.Refunded, 0},
		{"our own refund, told before it is recorded", steps(paidOrder, refundedOrder("1", false), slowRefund,
			askedOnly, toldLast, refunded), false, seckill.Refunded, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, err := NewWorld(5, 2)
			if err != nil {
				t.Fatal(err)
			}
			defer w.over()
			i := w.Start(nil)
			if err := tt.prepare(w, i); err != nil {
				t.Fatal(err)
			}
			done, err := parcel(w, i)
			if err != nil || (done.Shipped == 1) != tt.ships {
				t.Errorf("shipped: %+v, %v, want %v", done, err, tt.ships)
			}
			o, err := w.ledger.Order(ctx, w.id("1"))
			all, e := w.ledger.Payments(ctx, w.id("1"))
			if errors.Join(err, e, w.Check()) != nil || o.State != tt.state || all[0].Outside != tt.outside ||
				o.Outside != tt.outside {
				t.Errorf("the order is %s, %d fen went back outside, by its payment %d: want %s, %d (%v)", o.State,
					o.Outside, all[0].Outside, tt.state, tt.outside, errors.Join(err, e, w.Check()))
			}
		})
	}
}

// toldFirst delivers the oldest notification of a refund.
func toldFirst(w *World, i *Instance) error {
	for _, n := range w.Provider.Notifications {
		if n.Get("back") != "0" && n.Get("back") != "0.00" {
			return i.Notify.Notify(ctx, n)
		}
	}
	return errors.New("no refund is told")
}

// askedOnly has the provider make the due refund, and the shop not hear of it.
func askedOnly(w *World, _ *Instance) error {
	all, err := w.ledger.Payments(ctx, w.id("1"))
	if err == nil {
		_, err = w.Provider.Refund(ctx, all[0].Refund())
	}
	return err
}

// TestBillsTellWhatWentBack records a refund in the console that no notification told, from the bills of two days.
func TestBillsTellWhatWentBack(t *testing.T) {
	w, err := NewWorld(5, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer w.over()
	i := w.Start(nil)
	for n, want := range []seckill.Fen{100, 150} {
		prepare := steps(paidOrder, atTheConsole(100), lost)
		if n > 0 {
			prepare = steps(after(24*time.Hour), atTheConsole(50), lost)
		}
		if err := prepare(w, i); err != nil {
			t.Fatal(err)
		}
		for range 2 { // a comparison may be repeated
			if _, err := w.matchInto(recorded{w.ledger, w.Clock}, w.Provider, seckill.Day(w.Clock.Now())); err != nil {
				t.Fatal(err)
			}
		}
		o, err := w.ledger.Order(ctx, w.id("1"))
		if err != nil || o.Outside != want || !o.Undecided {
			t.Errorf("by the bill of day %d %d fen went back, want %d; undecided: %v (%v)", n, o.Outside, want,
				o.Undecided, err)
		}
	}
}
