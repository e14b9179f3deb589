package sim

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/adapter/ledger"
	"github.com/your-org/seckill/shared/adapter/stream"
	"github.com/your-org/seckill/shared/seckill"
)

// streamShards is the number of shards of the stream.
const streamShards = 3

// orderStream is the stream of the orders table. A shard has the writes of its orders, oldest first; nothing orders
// the writes of two shards.
type orderStream struct {
	shards [streamShards][]stream.Write
	next   [streamShards]int // the first write that is not done
}

func (o *orderStream) add(id string, was, is ledger.Row) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	n := h.Sum32() % streamShards
	o.shards[n] = append(o.shards[n], stream.Write{Before: was, After: is})
}

// wrote receives every replaced row.
func (w *World) wrote(table string, was, is ledger.Row) {
	if table == ledger.TableOrders {
		w.stream.add(text(is, "id"), was, is)
	}
	w.truth.wrote(table, was, is)
}

// bus keeps the events that the other systems get.
type bus struct {
	w    *World
	hook Hook
}

// Publish implements seckill.Bus.
func (b bus) Publish(_ context.Context, events []seckill.OrderEvent) []error {
	errs := make([]error, len(events))
	err := b.hook("bus.Publish", func() error {
		for i := range events {
			if b.w.refusesEvent(i) {
				errs[i] = errFault
				continue
			}
			b.w.hear(&events[i])
		}
		return nil
	})
	for i := range errs {
		errs[i] = errors.Join(errs[i], err)
	}
	return errs
}

// hear records an event and checks I14: it is a change that happened.
func (w *World) hear(e *seckill.OrderEvent) {
	o := w.truth.orders[e.Order]
	if o == nil || e.Sequence < 1 || e.Sequence > len(o.history) {
		w.truth.fail("I14 event %s tells no change of an order", e.ID())
		return
	}
	entry := strings.TrimSuffix(e.At.UTC().Format("2006-01-02T15:04:05.000Z07:00")+" "+string(e.State)+" "+e.Cause, " ")
	from := ""
	if e.Sequence > 1 {
		from = strings.Fields(o.history[e.Sequence-2])[1]
	}
	if entry != o.history[e.Sequence-1] || string(e.From) != from || e.Item != o.item || e.User != o.user ||
		e.Count != o.count || e.State == seckill.Rejected && e.Reason != o.reason {
		w.truth.fail("I14 event %s tells %q after %q, %d of item %s of shopper %s, which did not happen", e.ID(), entry,
			e.From, e.Count, e.Item, e.User)
	}
	heard := w.heardOf[e.Order]
	for len(heard) < e.Sequence {
		heard = append(heard, false)
	}
	heard[e.Sequence-1] = true
	w.heardOf[e.Order] = heard
}

// Read passes at most this many writes of a shard of the stream to tell and count, as Lambda does: what is not done
// comes again.
func (i *Instance) Read(shard, most int) error {
	o := &i.world.stream
	from := o.next[shard]
	batch := o.shards[shard][from:]
	batch = batch[:min(len(batch), most)]
	done, err := stream.Pass(context.Background(), i.events, batch, slog.New(slog.DiscardHandler))
	o.next[shard] = max(o.next[shard], from+done)
	return err
}

// readAll reads the stream to its end.
func (i *Instance) readAll() error {
	o := &i.world.stream
	for shard := range o.shards {
		for o.next[shard] < len(o.shards[shard]) {
			if err := i.Read(shard, 100); err != nil {
				return err
			}
		}
	}
	return nil
}

// catchUp reads the stream to its end and goes on with recounts that are under way; again reports whether one of them
// waits.
func (i *Instance) catchUp() (again bool, err error) {
	if err := i.readAll(); err != nil {
		return false, fmt.Errorf("I14 the stream's end is not reached: %w", err)
	}
	for _, it := range i.world.allItems() {
		c, err := i.world.ledger.Counts(context.Background(), it.ID)
		if err != nil {
			return false, err
		}
		if c.Recounting {
			next, err := i.recount(it.ID, ".")
			if err != nil {
				return false, fmt.Errorf("I15 the recount of item %s does not end: %w", it.ID, err)
			}
			again = again || next != ""
		}
	}
	return again, nil
}

// recount makes an operator recount an item from a cursor, "" for the beginning, until the command waits or is done.
func (i *Instance) recount(item, cursor string) (next string, err error) {
	for {
		step, err := i.Count.Recount(context.Background(), item, cursor)
		if err != nil {
			return cursor, err
		}
		if cursor = step.Next; cursor == "" || step.Wait > 0 {
			return cursor, nil
		}
	}
}

// checkTold checks I14 at rest: each change was told.
func (w *World) checkTold() error {
	for _, id := range w.truth.list {
		heard := w.heardOf[id]
		for n, entry := range w.truth.orders[id].history {
			if n >= len(heard) || !heard[n] {
				return fmt.Errorf("I14 change %d of order %s was never told: %s", n+1, id, entry)
			}
		}
	}
	return nil
}

// minute is an item's minute, by its number since 1970.
type minute struct {
	item string
	n    int64
}

// moved counts, from the rows before and after a write, what it did to the units of an order.
func (t *truth) moved(old, o *orderRow) {
	var c seckill.Count
	switch {
	case len(o.history) == 0:
		return
	case old == nil && o.state == seckill.PendingPayment:
		c.Placed = o.count
	case old == nil:
		return
	case old.state != seckill.Paid && o.state == seckill.Paid:
		c.Paid = o.count
	case len(old.units) > 0 && len(o.units) == 0:
		c.GivenBack = o.count
	default:
		return
	}
	written, _, _ := strings.Cut(o.history[len(o.history)-1], " ")
	at, err := time.Parse(time.RFC3339, written)
	if err != nil {
		t.fail("I5 order %s has a history without a time: %v", o.id, err)
	}
	m := minute{o.item, at.Unix() / 60}
	t.minutes[m] = t.minutes[m].Plus(c)
	t.totals[o.item] = t.totals[o.item].Plus(c)
}

// wroteCounts checks I15 for a write of an item's counts: they never exceed what happened.
func (t *truth) wroteCounts(is ledger.Row) {
	item := text(is, "item")
	got := seckill.Count{Placed: int(number(is, "placed")), Paid: int(number(is, "paid")),
		GivenBack: int(number(is, "back"))}
	if most := t.totals[item]; got.Placed > most.Placed || got.Paid > most.Paid || got.GivenBack > most.GivenBack {
		t.fail("I15 item %s counts %+v, what happened is %+v", item, got, most)
	}
}

// checkCounts checks I15 at rest: the counts are what happened, and what was placed and not given back has unit rows.
func (w *World) checkCounts() error {
	held := map[string]int{}
	for k := range w.truth.units {
		held[k.item]++
	}
	for _, item := range slices.Sorted(maps.Keys(w.truth.totals)) {
		c, err := w.ledger.Counts(context.Background(), item)
		if err != nil {
			return err
		}
		want := w.truth.totals[item]
		if c.Total != want || c.Recounting {
			return fmt.Errorf("I15 item %s counts %+v, recounting %t; what happened is %+v", item, c.Total,
				c.Recounting, want)
		}
		if n := c.Total.Placed - c.Total.GivenBack; n != held[item] {
			return fmt.Errorf("I15 item %s counts %d units placed and not given back, %d have a row", item, n,
				held[item])
		}
		minutes := 0
		for m := range w.truth.minutes {
			if m.item == item {
				minutes++
			}
		}
		for _, m := range c.Minutes {
			if want := w.truth.minutes[minute{item, m.Minute.Unix() / 60}]; m.Count != want {
				return fmt.Errorf("I15 item %s counts %+v in %s, what happened is %+v", item, m.Count, m.Minute, want)
			}
		}
		if len(c.Minutes) != minutes {
			return fmt.Errorf("I15 item %s counts %d minutes, something happened in %d", item, len(c.Minutes), minutes)
		}
	}
	return nil
}
