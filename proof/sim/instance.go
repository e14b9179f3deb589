package sim

import (
	"context"
	"errors"
	"net/url"

	"github.com/your-org/seckill/shared/app"
	"github.com/your-org/seckill/shared/driver/stream"
	"github.com/your-org/seckill/shared/flow/front/deliver"
	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/flow/front/signin"
	"github.com/your-org/seckill/shared/flow/front/tell"
	"github.com/your-org/seckill/shared/flow/money/notify"
	"github.com/your-org/seckill/shared/flow/money/reconcile"
	"github.com/your-org/seckill/shared/flow/money/refund"
	blocks "github.com/your-org/seckill/shared/flow/office/block"
	"github.com/your-org/seckill/shared/flow/office/count"
	"github.com/your-org/seckill/shared/flow/office/erase"
	"github.com/your-org/seckill/shared/flow/office/fulfil"
	"github.com/your-org/seckill/shared/flow/sale/admit"
	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/flow/sale/consume"
	"github.com/your-org/seckill/shared/flow/sale/expire"
	"github.com/your-org/seckill/shared/flow/sale/repair"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

// Instance is one process with all steps and empty memory.
type Instance struct {
	Buy       *buy.Flow
	Consume   *consume.Flow
	Erase     *erase.Flow
	Notify    *notify.Flow
	Expire    *expire.Flow
	Refund    *refund.Flow
	Fulfil    *fulfil.Flow
	Reconcile *reconcile.Flow
	Stage     *stage.Flow
	Repair    *repair.Flow
	Shop      *shop.Flow
	SignIn    *signin.Flow
	Tell      *tell.Flow
	Count     *count.Flow
	Webhook   *deliver.Flow
	Admit     *admit.Flow
	Block     *blocks.Flow

	clock            seckill.Clock
	keys             *keyring       // of admit
	tickets          *ticketChecker // of buy
	orders, closings seckill.Queue
	events           stream.Step // tell and count
	world            *World
}

// Start starts a process whose every port call goes through hook. If hook is nil, nothing goes wrong, and calls are
// counted.
func (w *World) Start(hook Hook) *Instance { return w.StartAt(hook, w.Clock) }

// StartAt starts a process with its own clock.
func (w *World) StartAt(hook Hook, clock seckill.Clock) *Instance {
	nameless := hook == nil
	if nameless {
		hook = w.plain
	}
	return w.start(hook, clock, Rows{w.Rows, hook, nil, nameless}, w.orders, w.Closings, w.Provider)
}

func (w *World) start(hook Hook, clock seckill.Clock, rows Rows, o, c seckill.Queue, p *Provider) *Instance {
	d := w.drivers(hook, clock, rows, o, c, p)
	teller, counter := app.Tell(d), app.Count(d)
	st := app.Stage(d)
	st.Activities = w.ledger // without the Hook: the titles on the list are no part of a sale
	return &Instance{
		Buy: app.Buy(d), Admit: app.Admit(d, painter{w}), Consume: app.Consume(d), Expire: app.Expire(d),
		Repair: app.Repair(d), Stage: st, Erase: app.Erase(d),
		Notify: app.Notify(d), Refund: app.Refund(d), Reconcile: app.Reconcile(d),
		Shop: app.Shop(d), SignIn: app.SignIn(d), Fulfil: app.Fulfil(d), Block: app.Block(d),
		Tell: teller, Count: counter, events: stream.Each(teller, counter), Webhook: app.Deliver(d),
		clock: clock, keys: d.keys, tickets: d.tickets, orders: d.orders, closings: d.closings, world: w,
	}
}

// Purchase requests units of the first item for the first address.
func (i *Instance) Purchase(user string, count int, key string) (string, error) {
	return i.PurchaseOf(buy.Purchase{Item: i.world.Item.ID, User: user, Count: count,
		Given: seckill.Given{Address: addresses[0]}, Key: key})
}

// PurchaseOf requests units and records the request and the answer.
func (i *Instance) PurchaseOf(p buy.Purchase) (string, error) {
	w, a := i.world, ask{p.User, p.Item, p.Count, p.Address}
	if p.Key != "" {
		id := seckill.KeyedOrderID(p.Item, p.User, p.Key)
		w.asked[id] = append(w.asked[id], a)
	} else {
		w.keyless[a]++
		w.keyless[a.anywhere()]++
	}
	id, err := i.pass(p)
	if err == nil {
		w.acknowledge(id)
	}
	return id, err
}

// Stop stops or resumes the first item's sale.
func (i *Instance) Stop(stopped bool) error { return i.StopOf(i.world.Item.ID, stopped) }

// StopOf stops or resumes a sale, and records when a stop was acknowledged.
func (i *Instance) StopOf(item string, stopped bool) error {
	w := i.world
	if !stopped {
		delete(w.stoppedAt, item)
		w.resumed[item]++
		w.resuming[item]++
		defer func() { w.resuming[item]-- }()
		return i.Stage.SetStopped(context.Background(), item, false)
	}
	before, alone, asked := w.resumed[item], w.resuming[item] == 0, w.Clock.Now()
	err := i.Stage.SetStopped(context.Background(), item, true)
	if err == nil && alone && w.resumed[item] == before { // no other operator sets the opposite at the same time
		w.stoppedAt[item], w.stopRequestedAt[item] = w.Clock.Now(), asked
	}
	return err
}

// Grow raises an item's stock, and records an acknowledgement.
func (i *Instance) Grow(item string, n int) error {
	err := i.Stage.AddStock(context.Background(), item, n)
	if err == nil {
		i.world.grown[item] = max(i.world.grown[item], n)
	}
	return err
}

// Next handles one message of each queue; any reports whether there was one.
func (i *Instance) Next() (any bool, err error) {
	one := func(q seckill.Queue, handle func(context.Context, seckill.Delivery) error) {
		ctx := context.Background()
		batch, e := q.Receive(ctx, 1)
		err = errors.Join(err, e)
		for _, d := range batch {
			any = true
			if e := handle(ctx, d); e == nil {
				err = errors.Join(err, q.Delete(ctx, d))
			}
		}
	}
	one(i.orders, i.Consume.Handle)
	one(i.closings, i.Expire.Handle)
	return any, err
}

// handleAll handles messages until no message is left.
func (i *Instance) handleAll() error {
	for {
		if any, err := i.Next(); !any || err != nil {
			return err
		}
	}
}

// Deliver sends every waiting notification; one that is not answered with success stays.
func (i *Instance) Deliver() {
	p := i.world.Provider
	var left []url.Values
	for _, n := range p.Notifications {
		if i.Notify.Notify(context.Background(), n) != nil {
			left = append(left, n)
		} else {
			i.world.truth.answered(n)
		}
	}
	p.Notifications = left
}

// Schedules runs the steps that run each minute.
func (i *Instance) Schedules() error {
	ctx := context.Background()
	return readable(errors.Join(i.Stage.Run(ctx), i.Repair.Run(ctx), i.Expire.Sweep(ctx), i.Refund.Sweep(ctx)))
}

// pass buys, and checks that a good ticket is not refused.
func (i *Instance) pass(p buy.Purchase) (string, error) {
	w := i.world
	p.Name, p.Network = nameOf(p.User), networkOf(p.User)
	slept := i.tickets != nil && i.tickets.wake()
	may, before := w.passes(p, slept)
	limited := w.limitReached(p)
	id, err := i.Buy.Buy(context.WithValue(context.Background(), passKey{}, may), p)
	w.door.hear("buy", err)
	limited(err)
	if before && err == nil && i.tickets != nil {
		w.door.hearKeys(i.tickets.keyring, p.Ticket)
	}
	if _, after := w.passes(p, slept); before && after && seckill.CodeOf(err) == seckill.CodeTicket {
		w.truth.fail("A1 user %s is told for item %s that their good ticket is none: %v", p.User, p.Item, err)
	}
	return id, err
}
