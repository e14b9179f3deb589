package sim

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/stream"
)

// wrote receives every replaced row.
func (w *World) wrote(table string, was, is ledger.Row) {
	if table == ledger.TableOrders {
		w.stream.add(text(is, "id"), was, is)
	}
	w.truth.wrote(table, was, is)
}

// Read passes at most this many writes of a shard of the stream to tell and count, as Lambda does: what is not done
// comes again.
func (i *Instance) Read(shard, most int) error {
	return i.read(i.events, &i.world.stream.next, shard, most)
}

// Post passes them to deliver.
func (i *Instance) Post(shard, most int) error {
	return i.read(i.Webhook, &i.world.stream.posted, shard, most)
}

func (i *Instance) read(to stream.Step, next *[streamShards]int, shard, most int) error {
	o, from := &i.world.stream, next[shard]
	batch := o.shards[shard][from:]
	batch = batch[:min(len(batch), most)]
	done, err := stream.Pass(context.Background(), to, batch, slog.New(slog.DiscardHandler))
	next[shard] = max(next[shard], from+done)
	return err
}

// readAll reads the stream to its end.
func (i *Instance) readAll() error { return i.readAllOf(i.events, &i.world.stream.next) }

func (i *Instance) readAllOf(to stream.Step, next *[streamShards]int) error {
	for shard, writes := range i.world.stream.shards {
		for next[shard] < len(writes) {
			if err := i.read(to, next, shard, 100); err != nil {
				return err
			}
		}
	}
	return nil
}

// catchUp reads the stream to its end, goes on with recounts that are under way, and posts everything; again reports
// whether something of it waits.
func (i *Instance) catchUp() (again bool, err error) {
	if err := i.readAll(); err != nil {
		return false, fmt.Errorf("I14 the stream's end is not reached: %w", err)
	}
	if again, err = i.world.postAll(); err != nil {
		return false, err
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

// postAll posts everything: it reads the stream to its end, resumes what was given up, and sweeps. It returns
// again if something is left, perhaps because an index lags.
func (w *World) postAll() (again bool, err error) {
	if !w.hasWebhook {
		return false, nil
	}
	w.webhookDead = false
	ctx := context.Background()
	i := w.StartAt(nil, &skewed{w.Clock, 2 * time.Hour}) // all waits are over
	for _, row := range w.Rows.Dump(ledger.TableDeliveries) {
		if row["due_shard"] == "given_up" {
			w.checkGivenUp(text(row, "order"), int(row["sent"].(int64)))
		}
	}
	if err := i.readAllOf(i.Webhook, &w.stream.posted); err != nil {
		return false, fmt.Errorf("I14 the webhook does not get the stream's end: %w", err)
	}
	if _, err := i.Webhook.Resume(ctx); err != nil {
		return false, fmt.Errorf("I14 what was given up does not resume: %w", err)
	}
	if err := i.Webhook.Sweep(ctx); err != nil {
		return false, fmt.Errorf("I14 the webhook is not swept: %w", err)
	}
	for _, row := range w.Rows.Dump(ledger.TableDeliveries) {
		again = again || row["due_at"] != nil
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
