package sim

import (
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// An actor changes one order while others do. Its steps are its port calls, and a shopper's actions at the cashier.
type actor struct {
	name string
	act  func(w *World, i *Instance, stop func(call string)) error
}

// orderOne returns the only order of these worlds.
func orderOne(w *World) string { return w.id("1") }

func pays(trade int) func(*World, *Instance, func(string)) error {
	return func(w *World, i *Instance, stop func(string)) error {
		stop("the shopper pays")
		o := w.Provider.orders[orderOne(w)]
		if w.Provider.Pay(orderOne(w), o.trades[trade].TradeNo) != nil {
			return nil //nolint:nilerr // closed, or already paid: the shopper sees it
		}
		n := w.Provider.Notifications[len(w.Provider.Notifications)-1]
		w.Provider.Notifications = w.Provider.Notifications[:len(w.Provider.Notifications)-1]
		if err := i.Notify.Notify(ctx, n); err != nil {
			return err
		}
		return i.Notify.Notify(ctx, n) // the provider repeats the notification
	}
}

// repeats delivers the notification of the newest paid trade again, perhaps while it is being delivered.
func repeats(w *World, i *Instance, stop func(string)) error {
	stop("the provider repeats its notification")
	paid := w.Provider.captured(orderOne(w))
	if len(paid) == 0 {
		return nil
	}
	t, _ := w.Provider.trade(orderOne(w), paid[len(paid)-1])
	return i.Notify.Notify(ctx, notificationOf(orderOne(w), &t))
}

func refunds(restock bool) func(*World, *Instance, func(string)) error {
	return func(w *World, i *Instance, _ func(string)) error {
		_, err := i.Refund.Order(ctx, orderOne(w), "ann", "broken", restock)
		if seckill.CodeOf(err) == seckill.CodeInvalid {
			return nil // the order is not paid
		}
		return err
	}
}

var actors = []actor{
	{"pay", pays(0)},
	{"pay by a second trade", pays(1)},
	{"the same notification", repeats},
	{"cancel", func(w *World, i *Instance, _ func(string)) error {
		_, err := i.Shop.Cancel(ctx, "1", orderOne(w))
		if seckill.CodeOf(err) == seckill.CodeNotCancelable {
			return nil
		}
		return err
	}},
	{"expire", func(w *World, i *Instance, _ func(string)) error {
		m := seckill.Message{Kind: seckill.MessageClose, Order: orderOne(w)}
		return i.Expire.Handle(ctx, seckill.Delivery{Body: m.Encode(), Receives: 1})
	}},
	{"refund with restock", refunds(true)},
	{"refund without restock", refunds(false)},
	{"refund what is due", func(_ *World, i *Instance, _ func(string)) error { return i.Refund.Sweep(ctx) }},
	{"return", func(w *World, i *Instance, _ func(string)) error {
		m := seckill.Message{Kind: seckill.MessageReturn, Order: orderOne(w)}
		return i.Consume.Handle(ctx, seckill.Delivery{Body: m.Encode(), Receives: 1})
	}},
}

// situations are the states that the actors start from.
var situations = []struct {
	name    string
	prepare func(*World, *Instance) error
}{
	{"the cashier is open twice", steps(placed("1", 2), opened("1"), opened("1"))},
	{"the hold has ended", steps(placed("1", 2), opened("1"), opened("1"), due)},
	{"it is closing, cancelled", steps(placed("1", 2), opened("1"), opened("1"), cancelled("1"))},
	{"it is paid, and a second cashier open", steps(placed("1", 2), opened("1"), opened("1"), secondTrade("1"),
		notified, lost)},
}

// part is one actor at work.
type part struct {
	next func() (string, bool)
	stop func()
	call string // the next call
	done bool
	err  error
}

// silent calls are not steps: sweeps over sixteen partitions, fifteen of them empty.
var silent = map[string]bool{"ledger.RefundsDue/Index": true, "ledger.DueOrders/Index": true,
	"ledger.Returns/Query": true}

func begin(w *World, a actor) *part {
	p := &part{}
	p.next, p.stop = iter.Pull(func(yield func(string) bool) {
		defer func() {
			if thrown := recover(); thrown != nil && thrown != (death{}) {
				panic(thrown)
			}
		}()
		stop := func(call string) {
			if !yield(call) {
				panic(death{})
			}
		}
		i := w.Start(func(call string, do func() error) error {
			if !silent[call] {
				stop(call)
			}
			return do()
		})
		p.err = a.act(w, i, stop)
	})
	p.step()
	return p
}

// step executes the actor's next call.
func (p *part) step() {
	call, more := p.next()
	p.call, p.done = call, !more
}

// digest hashes the part of the world that an actor of one order can read.
func (w *World) digest() uint64 {
	h := fnv.New64a()
	for _, table := range []string{ledger.TableOrders, ledger.TableUnits, ledger.TableQuotas, ledger.TablePayments,
		ledger.TableReturns} {
		fmt.Fprintln(h, w.Rows.Dump(table))
	}
	o := w.Provider.orders[orderOne(w)]
	s, err := w.numbers()
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(h, o.trades, o.back, o.refunds, o.missing, o.kept, len(w.Provider.Notifications), s.held, s.free,
		s.users)
	return h.Sum64()
}

// path is an order of calls: the actor of each.
type path struct {
	calls []byte
	seen  []uint64 // by actor, the hash of the worlds in which it made its calls, that is, of all it has read
}

// then returns a path with one more call, made in the given world.
func (p path) then(who int, world uint64) path {
	seen := slices.Clone(p.seen)
	seen[who] = seen[who]*0x9e3779b97f4a7c15 + world
	return path{append(slices.Clip(p.calls), byte(who)), seen}
}

// played returns a world in which the actors have made these calls in this order. It checks only the last state:
// shorter paths have checked the earlier ones.
func played(prepare func(*World, *Instance) error, cast []actor, schedule []byte) (*World, []*part, error) {
	w, err := NewWorld(3, 2)
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(prepare(w, w.Start(nil)), w.Check()); err != nil {
		return nil, nil, err
	}
	parts := make([]*part, len(cast))
	for i, a := range cast {
		parts[i] = begin(w, a)
	}
	for _, who := range schedule {
		parts[who].step()
	}
	return w, parts, w.Check()
}

// interleave tries every order of the actors' calls. Two orders that lead to the same world, in which every actor has
// read the same, continue alike, so it follows only one of them.
func interleave(prepare func(*World, *Instance) error, cast []actor) (states, ends int, err error) {
	known := map[string]bool{}
	todo := []path{{seen: make([]uint64, len(cast))}}
	for len(todo) > 0 {
		way := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		w, parts, err := played(prepare, cast, way.calls)
		for err == nil {
			world := w.digest()
			key := fmt.Sprint(world, way.seen)
			for _, p := range parts {
				key += fmt.Sprint(" ", p.call, p.done)
			}
			if known[key] {
				break
			}
			known[key] = true
			states++
			next := -1 // continued in this world; every other one later, in a new world
			for n, p := range parts {
				if p.err != nil {
					err = errors.Join(err, fmt.Errorf("%s: %w", cast[n].name, p.err))
				}
				if p.done {
					continue
				}
				if next >= 0 {
					todo = append(todo, way.then(next, world))
				}
				next = n
			}
			if err != nil {
				break
			}
			if next < 0 {
				ends++
				err = w.Drain()
				break
			}
			way = way.then(next, world)
			parts[next].step()
			err = w.Check()
		}
		for _, p := range parts {
			p.stop()
		}
		if err != nil {
			return states, ends, fmt.Errorf("%s: %w", listed(prepare, cast, way.calls), err)
		}
		w.over()
	}
	return states, ends, nil
}

// listed lists the calls of a schedule.
func listed(prepare func(*World, *Instance) error, cast []actor, schedule []byte) string {
	w, parts, _ := played(prepare, cast, nil)
	defer w.over()
	var b strings.Builder
	for _, who := range schedule {
		fmt.Fprintf(&b, "%s: %s\n", cast[who].name, parts[who].call)
		parts[who].step()
	}
	for _, p := range parts {
		p.stop()
	}
	return b.String()
}

// All casts of three take hours of processor time, so `make nightly` plays a share of them, another one each day, and
// `make threes` plays all.
var (
	threes = flag.Int("threes", 0, "percent of the casts of three actors to interleave, besides all casts of two")
	draw   = flag.Uint64("draw", 0, "which share: 0 to 9 are all casts if -threes is 10")
)

// drawn reports whether a cast of three is in the share that the flags select.
func drawn(situation string, cast ...actor) bool {
	h := fnv.New64a()
	fmt.Fprintln(h, situation)
	for _, a := range cast {
		fmt.Fprintln(h, a.name)
	}
	size := uint64(*threes)
	return (h.Sum64()%100+100-*draw*size%100)%100 < size
}

// TestDrawnShares checks that ten tenths are all casts, each once.
func TestDrawnShares(t *testing.T) {
	defer func(share int, which uint64) { *threes, *draw = share, which }(*threes, *draw)
	*threes = 10
	for _, a := range actors {
		times := 0
		for *draw = range 10 {
			if drawn("paid", a, a, a) {
				times++
			}
		}
		if times != 1 {
			t.Errorf("%s is in %d of ten tenths", a.name, times)
		}
	}
}

// TestMoneyInterleaved checks that whatever two (perhaps two of a kind) or three actors do to one order concurrently,
// in whatever order of port calls, each captured fen is either kept or refunded once, and units are conserved.
func TestMoneyInterleaved(t *testing.T) {
	for _, s := range situations[:situationsOfTest] {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			total, finished, casts := 0, 0, 0
			try := func(cast ...actor) {
				states, ends, err := interleave(s.prepare, cast)
				if err != nil {
					t.Fatalf("%v", err)
				}
				total, finished, casts = total+states, finished+ends, casts+1
			}
			for i, a := range actors {
				try(a, a)
				for j, b := range actors[:i] {
					try(a, b)
					for k := range j {
						if drawn(s.name, a, b, actors[k]) {
							try(a, b, actors[k])
						}
					}
				}
			}
			t.Logf("%d casts, %d states, %d ends", casts, total, finished)
		})
	}
}
