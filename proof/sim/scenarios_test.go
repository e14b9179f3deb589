package sim

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// A scenario prepares a world, and then one process executes one step of a flow. The step is repeated with the
// process killed before and after each of its port calls, and with each call failing before and after its effect.
type scenario struct {
	flow, name   string
	stock, limit int
	spans        bool           // there is a second variant, and the limit spans both
	checks       seckill.Checks // the item's checks; its question has one answer
	prepare      func(w *World, i *Instance) error
	step         func(w *World, i *Instance) error
	retry        bool // the shopper, or the operator, repeats the step
	atLeast      int  // the least number of port calls of the step without a fault
	// the code of the step's refusal without a fault; "" for none
	want           string
	ends           map[string]seckill.State          // how these users' keyed orders end without a fault
	then           func(w *World, i *Instance) error // runs before the system continues
	noMoreShoppers bool
}

var ctx = context.Background()

// next handles one message of the orders queue as the process under test.
func next(w *World, i *Instance) error { _, err := i.Next(); return err }

func bought(user string, count int, key string) func(*World, *Instance) error {
	return func(w *World, i *Instance) error { _, err := i.Purchase(user, count, key); return err }
}

// unsent makes the shopper reserve while the queue is down. The shopper is asked to retry, and does not.
func unsent(user string, count int) func(*World, *Instance) error {
	return func(w *World, _ *Instance) error {
		i := w.Start(func(call string, do func() error) error {
			if call == "orders.Send" {
				return errFault
			}
			return do()
		})
		if _, err := i.Purchase(user, count, "k"); seckill.CodeOf(err) != seckill.CodeUnconfirmed {
			return fmt.Errorf("want unconfirmed, got %w", err)
		}
		return nil
	}
}

// woken rebuilds the item.
func woken(w *World, i *Instance) error { return i.Repair.Wake(ctx, seckill.Message{Item: w.Item.ID}) }

func install(w *World, i *Instance) error {
	if err := i.Repair.Run(ctx); err != nil {
		return err
	}
	return w.holdNothing()
}

func placed(user string, count int) func(*World, *Instance) error {
	return steps(install, bought(user, count, "k"), next)
}

func after(d time.Duration) func(*World, *Instance) error {
	return func(w *World, i *Instance) error { w.Clock.Advance(d); return nil }
}

func flush(w *World, i *Instance) error { w.Forget(); return nil }

// forget installs the item as if nothing had been sold, like a stale restore, or a failover that loses data.
func forget(w *World, i *Instance) error {
	w.promises.wentBack = true
	w.Forget()
	if err := w.stock.BuildStart(ctx, w.Clock.Now(), w.Item.ID, "stale"); err != nil {
		return err
	}
	return w.stock.Install(ctx, w.Item, "stale", 0, 0, 0, 0)
}

func steps(list ...func(*World, *Instance) error) func(*World, *Instance) error {
	return func(w *World, i *Instance) error {
		for n, f := range list {
			if err := f(w, i); err != nil {
				return fmt.Errorf("step %d: %w", n+1, err)
			}
		}
		return nil
	}
}

// id returns the order of a keyed purchase.
func (w *World) id(user string) string { return seckill.KeyedOrderID(w.Item.ID, user, "k") }

func opened(user string) func(*World, *Instance) error {
	return func(w *World, i *Instance) error {
		if _, err := i.Shop.Newest(ctx, user, w.Item.ID); err != nil {
			return err
		}
		_, err := w.Provider.Open(w.id(user))
		return err
	}
}

func paid(user string) func(*World, *Instance) error {
	return func(w *World, i *Instance) error { return i.PayNow(user, w.id(user)) }
}

func cancelled(user string) func(*World, *Instance) error {
	return func(w *World, i *Instance) error { _, err := i.Shop.Cancel(ctx, user, w.id(user)); return err }
}

// lost drops the waiting notifications.
func lost(w *World, i *Instance) error { w.Provider.Notifications = nil; return nil }

func notified(w *World, i *Instance) error { return i.Notify.Notify(ctx, ofMoney(w)[0]) }

// ofMoney returns the waiting notifications that report a paid trade.
func ofMoney(w *World) []url.Values {
	return slices.DeleteFunc(slices.Clone(w.Provider.Notifications), func(n url.Values) bool {
		return n.Get("status") != string(seckill.TradePaid)
	})
}

func due(w *World, i *Instance) error { w.Clock.Advance(Hold + seckill.Grace); return nil }

func restock(n int) func(*World, *Instance) error {
	return func(w *World, i *Instance) error { w.Item.Stock = n; return i.Stage.AddStock(ctx, w.Item.ID, n) }
}

func stop(w *World, i *Instance) error { return i.Stop(true) }

func repaired(w *World, i *Instance) error { return i.Repair.Run(ctx) }

func staged(w *World, i *Instance) error { return i.Stage.Run(ctx) }

func swept(w *World, i *Instance) error {
	w.Clock.Advance(2 * time.Second) // the index catches up
	return i.Expire.Sweep(ctx)
}

// streamed reads the stream of orders to its end.
func streamed(w *World, i *Instance) error { return i.readAll() }

// hooked gives the world a webhook.
func hooked(w *World, i *Instance) error { w.hasWebhook = true; return nil }

// posting reads the stream to its end for the webhook.
func posting(w *World, i *Instance) error { return i.readAllOf(i.Webhook, &w.stream.posted) }

func sweptWebhook(w *World, i *Instance) error { return i.Webhook.Sweep(ctx) }

// dead lets a step meet a webhook that refuses everything.
func dead(step func(*World, *Instance) error) func(*World, *Instance) error {
	return func(w *World, i *Instance) error {
		w.webhookDead = true
		defer func() { w.webhookDead = false }()
		return step(w, i)
	}
}

// givenUp lets a dead webhook be swept for a day.
func givenUp(w *World, i *Instance) error {
	for range 30 {
		w.Clock.Advance(time.Hour)
		if err := i.Webhook.Sweep(ctx); err != nil {
			return err
		}
	}
	if w.Events[seckill.EventGivenUp] != 1 {
		return fmt.Errorf("%d orders are given up after a day, want 1", w.Events[seckill.EventGivenUp])
	}
	return nil
}

func resumed(w *World, i *Instance) error { _, err := i.Webhook.Resume(ctx); return err }

// repeated makes every shard of the stream repeat what it gave.
func repeated(w *World, i *Instance) error { clear(w.stream.next[:]); return nil }

// recounted makes an operator begin the recount of the item, or go on with it.
func recounted(w *World, i *Instance) error {
	c, err := w.ledger.Counts(ctx, w.Item.ID)
	if err != nil {
		return err
	}
	cursor := ""
	if c.Recounting {
		cursor = "."
	}
	_, err = i.recount(w.Item.ID, cursor)
	return err
}

// waited lets the time pass that a recount waits; what was written before it is checked by its own time.
func waited(w *World, i *Instance) error {
	defer w.Clock.Advance(seckill.RecountWait)
	return w.Check()
}

var scenarios = slices.Concat(doorScenarios, blockScenarios, outsideScenarios, fulfilScenarios, familyScenarios,
	saleScenarios)

var saleScenarios = []scenario{
	{flow: "buy", name: "with a key", prepare: install, step: bought("1", 2, "k"), retry: true, atLeast: 2},
	{flow: "buy", name: "without a key", prepare: install, step: bought("1", 1, ""), retry: true, atLeast: 2},
	{flow: "buy", name: "again with the key", prepare: steps(install, bought("1", 1, "k")), step: bought("1", 1, "k"),
		retry: true, atLeast: 2},
	{flow: "buy", name: "and Redis forgets all after it", prepare: install, step: bought("1", 1, "k"), then: flush,
		atLeast: 2},
	{flow: "buy", name: "stock not installed", prepare: flush, step: bought("1", 1, "k"), atLeast: 2,
		want: "not_ready"},
	{flow: "buy", name: "stock still not installed", prepare: flush, step: steps(refusedBuy("2"), bought("1", 1, "k")),
		atLeast: 4, want: "not_ready"},
	{flow: "buy", name: "over the limit", prepare: placed("1", 2), step: bought("1", 1, "other"), atLeast: 1,
		want: "limit_reached"},
	{flow: "buy", name: "sold out", stock: 1, prepare: placed("1", 1), step: bought("2", 1, "k"), atLeast: 1,
		want: "sold_out"},

	{flow: "consume", name: "an order", prepare: steps(install, bought("1", 2, "k")), step: next, atLeast: 6},
	{flow: "consume", name: "an order delivered twice", prepare: steps(placed("1", 2), bought("1", 2, "k"), again("1")),
		step: next, atLeast: 5},
	{flow: "consume", name: "a collision", prepare: steps(placed("1", 1), forget, bought("2", 1, "k")), step: next,
		atLeast: 8, ends: map[string]seckill.State{"1": seckill.Expired, "2": seckill.Expired}},
	{flow: "consume", name: "a collision of three units", limit: 3, prepare: steps(placed("1", 2), forget,
		bought("2", 3, "k")), step: next, atLeast: 10},
	{flow: "consume", name: "an order that the stock forgot", prepare: steps(install, bought("1", 1, "k"), forget,
		bought("2", 1, "k"), reverse), step: next, atLeast: 6, ends: map[string]seckill.State{"1": seckill.Expired,
		"2": seckill.Expired}},
	{flow: "consume", name: "no unit left after a forgetful stock", stock: 2, prepare: steps(placed("1", 2), forget,
		bought("2", 2, "k"), next, repaired, after(time.Minute)), step: next, atLeast: 4,
		ends: map[string]seckill.State{"1": seckill.Expired, "2": seckill.Rejected}},
	{flow: "consume", name: "quota refuses after a forgetful stock", prepare: steps(placed("1", 2), forget,
		bought("1", 1, "other")), step: next, atLeast: 5, ends: map[string]seckill.State{"1": seckill.Expired}},
	{flow: "consume", name: "the item is stopped", prepare: steps(install, bought("1", 1, "k"), stop), step: next,
		atLeast: 5, ends: map[string]seckill.State{"1": seckill.Rejected}},
	{flow: "consume", name: "an order unplaced for an hour", prepare: steps(install, bought("1", 1, "k"),
		after(seckill.MaxUnplaced)), step: next, atLeast: 4, ends: map[string]seckill.State{"1": seckill.Rejected}},
	{flow: "consume", name: "a return", prepare: steps(placed("1", 2), due, expired), step: next, atLeast: 5},
	{flow: "consume", name: "a wake", prepare: steps(placed("1", 2), flush, refusedBuy("2"), refusedBuy("2")),
		step: next, atLeast: 10},
	{flow: "consume", name: "stock not installed", prepare: steps(install, bought("1", 1, "k"), flush), step: next,
		atLeast: 5},
	{flow: "consume", name: "an unreadable message", prepare: steps(install, poison), step: next, atLeast: 3},

	{flow: "notify", name: "in time", prepare: steps(placed("1", 1), paid("1")), step: notified, atLeast: 3,
		ends: map[string]seckill.State{"1": seckill.Paid}},
	{flow: "notify", name: "twice", prepare: steps(placed("1", 1), paid("1"), notified), step: notified, atLeast: 3},
	{flow: "notify", name: "a second trade", prepare: steps(placed("1", 1), opened("1"), paid("1"), notified,
		secondTrade("1")), step: secondNotification, atLeast: 3, ends: map[string]seckill.State{"1": seckill.Paid}},
	{flow: "notify", name: "while closing", prepare: steps(placed("1", 1), paid("1"), closing("1", seckill.Cancelled)),
		step: notified, atLeast: 3, ends: map[string]seckill.State{"1": seckill.Paid}},
	{flow: "notify", name: "after the cancel", prepare: steps(placed("1", 1), cancelled("1"), expired, paidOld("1")),
		step: notified, atLeast: 3, ends: map[string]seckill.State{"1": seckill.Refunded}},

	{flow: "refund", name: "late money", prepare: lateMoney, step: refunded, atLeast: 20,
		ends: map[string]seckill.State{"1": seckill.Refunded}},
	{flow: "refund", name: "a second trade", prepare: steps(placed("1", 1), opened("1"), paid("1"), notified,
		secondTrade("1"), secondNotification), step: refunded, atLeast: 20,
		ends: map[string]seckill.State{"1": seckill.Paid}},
	{flow: "refund", name: "a late trade and a second one", prepare: steps(lateMoney, paidOld("1"), secondNotification),
		step: refunded, atLeast: 22, ends: map[string]seckill.State{"1": seckill.Refunded}},
	{flow: "refund", name: "made, and not said to be", prepare: steps(lateMoney, slowRefund), step: refunded,
		atLeast: 20, ends: map[string]seckill.State{"1": seckill.Refunded}},
	{flow: "refund", name: "refused for want of balance", prepare: steps(lateMoney, poor), step: refunded, atLeast: 19,
		ends: map[string]seckill.State{"1": seckill.Refunded}},
	{flow: "refund", name: "wanted again after a refusal", prepare: steps(lateMoney, poor, refunded),
		step: wantedAgain("1"), atLeast: 3, ends: map[string]seckill.State{"1": seckill.Refunded}},
	{flow: "refund", name: "by the operator, with restock", prepare: steps(placed("1", 2), paid("1"), notified),
		step: refundedOrder("1", true), atLeast: 4, ends: map[string]seckill.State{"1": seckill.Refunded}},
	{flow: "refund", name: "by the operator, without restock", prepare: steps(placed("1", 2), paid("1"), notified),
		step: refundedOrder("1", false), atLeast: 3, ends: map[string]seckill.State{"1": seckill.Refunded}},
	{flow: "refund", name: "by the operator, of an order paid twice", prepare: steps(placed("1", 1), opened("1"),
		paid("1"), notified, secondTrade("1"), secondNotification), step: refundedOrder("1", true), atLeast: 4,
		ends: map[string]seckill.State{"1": seckill.Refunded}},
	{flow: "refund", name: "by one person, who may not alone", prepare: steps(notAlone, placed("1", 2), paid("1"),
		notified), step: refundedOrder("1", true), atLeast: 4, ends: map[string]seckill.State{"1": seckill.Paid}},
	{flow: "refund", name: "by a second person", prepare: steps(notAlone, placed("1", 2), paid("1"), notified,
		proposed("1")), step: refundedOrder("1", true), atLeast: 5,
		ends: map[string]seckill.State{"1": seckill.Refunded}},

	{flow: "expire", name: "nobody opened the cashier", prepare: steps(placed("1", 2), due), step: expired, atLeast: 8,
		ends: map[string]seckill.State{"1": seckill.Expired}},
	{flow: "expire", name: "a trade is open", prepare: steps(placed("1", 1), opened("1"), cancelled("1")),
		step: expired, atLeast: 8, ends: map[string]seckill.State{"1": seckill.Cancelled}},
	{flow: "expire", name: "two trades are open at the end of the hold", prepare: steps(placed("1", 1), opened("1"),
		opened("1"), due), step: expired, atLeast: 8, ends: map[string]seckill.State{"1": seckill.Expired}},
	{flow: "expire", name: "paid, the notification lost", prepare: steps(placed("1", 1), paid("1"), lost, due),
		step: expired, atLeast: 6, ends: map[string]seckill.State{"1": seckill.Paid}},
	{flow: "expire", name: "paid, then cancelled", prepare: steps(placed("1", 1), paid("1"), lost, cancelled("1")),
		step: expired, atLeast: 6, ends: map[string]seckill.State{"1": seckill.Paid}},
	{flow: "expire", name: "early", prepare: placed("1", 1), step: early, atLeast: 2},
	{flow: "expire", name: "by the sweep", prepare: steps(placed("1", 2), loseClosings, due), step: swept, atLeast: 20},

	{flow: "stage", name: "ahead of the sale", prepare: later, step: staged, then: after(5 * time.Minute), atLeast: 5},
	{flow: "stage", name: "state again", prepare: placed("1", 1), step: staged, atLeast: 3},
	{flow: "stage", name: "stop", prepare: steps(install, bought("1", 1, "k")), step: stop, atLeast: 3},
	{flow: "stage", name: "more stock", stock: 2, prepare: steps(placed("1", 2)), step: restock(4), retry: true,
		atLeast: 3},
	{flow: "stage", name: "remove", prepare: steps(placed("1", 1), paid("1"), notified,
		after(24*time.Hour+seckill.KeepLoaded)), step: staged, atLeast: 3, noMoreShoppers: true},

	{flow: "repair", name: "rebuild", prepare: steps(placed("1", 2), placed("2", 1), flush), step: repaired,
		atLeast: 10},
	{flow: "repair", name: "a look for a rebuilt item", prepare: steps(install, bought("1", 1, "k"), flush, woken,
		after(2*time.Second)), step: next, atLeast: 6},
	{flow: "repair", name: "re-send", prepare: steps(install, unsent("1", 2), after(time.Minute)), step: repaired,
		atLeast: 10},
	{flow: "repair", name: "a return whose message was lost", prepare: steps(placed("1", 2), due, expired, loseOrders),
		step: repaired, atLeast: 12},
	{flow: "repair", name: "a return while nothing is installed", prepare: steps(placed("1", 2), due, expired,
		loseOrders, flush), step: repaired, atLeast: 12},
	{flow: "repair", name: "drift: sold numbers look free", prepare: steps(placed("1", 2), placed("2", 1), forget),
		step: repaired, atLeast: 14},
	{flow: "repair", name: "drift: a number held for nobody", prepare: steps(placed("1", 2), ghost), step: repaired,
		atLeast: 14},

	{flow: "shop", name: "cancel", prepare: placed("1", 1), step: cancelled("1"), atLeast: 3},
	{flow: "shop", name: "where is my order", prepare: placed("1", 1), step: func(w *World, i *Instance) error {
		_, err := i.Shop.Newest(ctx, "1", w.Item.ID)
		return err
	}, atLeast: 5},
	{flow: "shop", name: "my orders", prepare: steps(placed("1", 1), after(time.Minute)),
		step: func(w *World, i *Instance) error {
			_, err := i.Shop.Orders(ctx, "1", 1, 10)
			return err
		}, atLeast: 4},
	{flow: "signin", name: "a new person", step: signedIn(0), retry: true, then: signedIn(0), atLeast: 3},
	{flow: "signin", name: "a person who was here before", prepare: signedIn(0), step: signedIn(0), retry: true,
		then: signedIn(0), atLeast: 2},
	{flow: "tell", name: "a batch of changes", prepare: steps(placed("1", 2), opened("1"), paid("1"), notified,
		bought("2", 1, "k"), next), step: streamed, atLeast: 4},
	{flow: "tell", name: "changes of which the first are told already", prepare: steps(placed("1", 2), streamed,
		opened("1"), paid("1"), notified), step: steps(repeated, streamed), atLeast: 4},
	{flow: "deliver", name: "a batch of changes", prepare: steps(hooked, placed("1", 2), opened("1"), paid("1"),
		notified, bought("2", 1, "k"), next), step: posting, atLeast: 10},
	{flow: "deliver", name: "what a dead webhook refused", prepare: steps(hooked, placed("1", 2), opened("1"),
		paid("1"), notified, dead(posting), after(time.Minute)), step: sweptWebhook, atLeast: 20},
	{flow: "deliver", name: "what was given up after a day", prepare: steps(hooked, placed("1", 2), paid("1"), notified,
		dead(steps(posting, givenUp)), after(time.Minute)), step: steps(resumed, waited, sweptWebhook),
		then: func(w *World, _ *Instance) error { return w.Drain() }, atLeast: 20, noMoreShoppers: true},
	{flow: "count", name: "a recount, and changes meanwhile", prepare: steps(placed("1", 2), streamed,
		bought("2", 1, "k"), next), step: steps(recounted, streamed, waited, recounted),
		atLeast: 12},
	{flow: "count", name: "a recount whose first walk misses the newest order", prepare: steps(install,
		bought("1", 2, "k"), next, streamed), step: steps(recounted, waited, recounted),
		atLeast: 8},
}

// signedIn signs a person in.
func signedIn(person int) func(*World, *Instance) error {
	return func(_ *World, i *Instance) error { return i.signInAs(person, 1) }
}

// lateMoney is an order that was cancelled, and paid all the same in a cashier opened before.
var lateMoney = steps(placed("1", 1), opened("1"), cancelled("1"), expired, paidOld("1"), notified)

func refunded(w *World, i *Instance) error {
	w.Clock.Advance(2 * time.Second) // the index catches up
	return i.Refund.Sweep(ctx)
}

func refundedOrder(user string, restock bool) func(*World, *Instance) error {
	return func(w *World, i *Instance) error {
		_, err := i.Refund.Order(ctx, w.id(user), "ann", "broken", restock)
		return err
	}
}

// notAlone makes every refund wait for a second person.
func notAlone(w *World, _ *Instance) error { w.truth.limit.Amount = 1; return nil }

// proposed makes the first person want a refund.
func proposed(user string) func(*World, *Instance) error {
	return func(w *World, _ *Instance) error {
		_, err := w.Start(nil).Refund.Order(ctx, w.id(user), "bob", "broken", true)
		return err
	}
}

func wantedAgain(user string) func(*World, *Instance) error {
	return func(w *World, i *Instance) error {
		_, err := i.Refund.Again(ctx, w.id(user), "ann", "topped up")
		return err
	}
}

func slowRefund(w *World, i *Instance) error { w.Provider.slow = true; return nil }

func poor(w *World, i *Instance) error { w.Provider.poor = true; return nil }

// again puts a second message of the user's order on the queue.
func again(user string) func(*World, *Instance) error {
	return func(w *World, i *Instance) error {
		return w.Orders.Send(ctx, seckill.Message{Kind: seckill.MessageOrder, Reservation: seckill.Reservation{
			Request: seckill.Request{Order: w.id(user), Item: w.Item.ID, User: user, Count: 2,
				Given:   seckill.Given{Address: "杭州市西湖区1号"},
				Created: w.Clock.Now()}, Units: []int{1, 2}}}, 0)
	}
}

// reverse makes the queue deliver its second message first.
func reverse(w *World, i *Instance) error {
	batch, err := w.Orders.Receive(ctx, 2)
	if err != nil || len(batch) != 2 {
		return fmt.Errorf("%d messages, %w", len(batch), err)
	}
	return w.Orders.Delay(ctx, batch[0], 0)
}

func refusedBuy(user string) func(*World, *Instance) error {
	return func(w *World, i *Instance) error {
		if _, err := i.Purchase(user, 1, "k"); seckill.CodeOf(err) != seckill.CodeNotReady {
			return fmt.Errorf("want not_ready, got %w", err)
		}
		return nil
	}
}

func poison(w *World, i *Instance) error { return w.stranger(w.Orders, `{"v":99}`) }

func secondTrade(user string) func(*World, *Instance) error {
	return func(w *World, i *Instance) error {
		o := w.Provider.orders[w.id(user)]
		return w.Provider.Pay(w.id(user), o.trades[0].TradeNo)
	}
}

func secondNotification(w *World, i *Instance) error { return i.Notify.Notify(ctx, ofMoney(w)[1]) }

// closing makes the order begin to close, towards expired or cancelled.
func closing(user string, to seckill.State) func(*World, *Instance) error {
	return func(w *World, i *Instance) error {
		o, err := w.ledger.Order(ctx, w.id(user))
		if err != nil {
			return err
		}
		return w.ledger.BeginClosing(ctx, o, to, w.Clock.Now(), "closing")
	}
}

// paidOld pays with a pay string that was issued before the order closed.
func paidOld(user string) func(*World, *Instance) error {
	return func(w *World, i *Instance) error {
		o, err := w.ledger.Order(ctx, w.id(user))
		if err != nil {
			return err
		}
		if _, err := w.Provider.Prepare(o); err != nil {
			return err
		}
		no, err := w.Provider.Open(o.ID)
		if err != nil {
			return err
		}
		return w.Provider.Pay(o.ID, no)
	}
}

// expired makes the process handle one closing message.
func expired(w *World, i *Instance) error {
	batch, err := i.closings.Receive(ctx, 10)
	for _, d := range batch {
		if i.Expire.Handle(ctx, d) == nil {
			err = errors.Join(err, i.closings.Delete(ctx, d))
		}
	}
	return err
}

// early handles a closing message before its order is due.
func early(w *World, i *Instance) error {
	m := seckill.Message{Kind: seckill.MessageClose, Order: w.id("1")}
	return i.Expire.Handle(ctx, seckill.Delivery{Body: m.Encode(), Receives: 1})
}

func loseAll(q seckill.Queue) error {
	for {
		batch, err := q.Receive(ctx, 10)
		if err != nil || len(batch) == 0 {
			return err
		}
		for _, d := range batch {
			if err := q.Delete(ctx, d); err != nil {
				return err
			}
		}
	}
}

func loseOrders(w *World, i *Instance) error { return loseAll(w.Orders) }

func loseClosings(w *World, i *Instance) error {
	w.Clock.Advance(Hold + seckill.Grace)
	return loseAll(w.Closings)
}

// later moves the sale half an hour ahead, beyond the time at which the step stage loads it.
func later(w *World, i *Instance) error {
	w.Item.Start = w.Clock.Now().Add(5 * time.Minute)
	w.Item.Version++
	return w.items.Put(ctx, w.Item, nil)
}

// ghost makes the stock hold a unit for an order that neither ledger nor outbox has.
func ghost(w *World, i *Instance) error {
	res, err := w.stock.Reserve(ctx, w.Clock.Now(), seckill.Request{Order: w.id("ghost"), Item: w.Item.ID, User: "66",
		Count: 1, Given: seckill.Given{Address: "x"}, Created: w.Clock.Now()}, true, time.Hour)
	if err != nil || res.Code != seckill.Reserved {
		return fmt.Errorf("%v %w", res.Code, err)
	}
	_, err = w.Redis.Do("ZREM", "{"+w.Item.ID+"}:awaiting", w.id("ghost"))
	clear(w.read)
	return err
}
