// Package repair keeps stock and ledger consistent: it rebuilds the stock of an item that was lost, sends the
// messages of stranded reservations again, finishes returns, corrects drift, and copies users' blocks beside each item.
// In: a schedule (each minute), or a wake message. It touches stock, ledger, items and the orders queue, never the
// payment provider.
package repair

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/flow/internal/sweep"
	"github.com/your-org/seckill/shared/flow/internal/upkeep"
	"github.com/your-org/seckill/shared/seckill"
)

// Limits of one run.
const (
	maxResend     = 1000             // messages sent again per item
	resendBatch   = 100              // reservations per call of Due
	longestResend = 15 * time.Minute // longest wait between two sends of one message
	maxUnsent     = 3                // failed sends of an item before the run skips to work without a queue
	pageReturns   = 500              // return rows per read
	maxReturns    = 500              // finished returns per shard, so that the items are reached, too
	justMade      = 2 * time.Minute  // an item made so recently was hardly ever installed before
	maxFailed     = 3                // failed returns of an item after which its others wait for the next run
)

// Stock is the part of the stock that the step repair calls.
type Stock interface {
	seckill.StockReader
	seckill.StockInstaller
	seckill.DriftCorrector
	seckill.Outbox
	seckill.ReservationKeeper
	seckill.BlockCopier
}

// Ledger is the part of the ledger that the step repair calls.
type Ledger interface {
	seckill.UnitReader
	seckill.ReturnKeeper
	seckill.BlockLister
}

// Deps are the step's dependencies.
type Deps struct {
	Stock  Stock
	Ledger Ledger
	Items  seckill.Items
	Orders seckill.Queue
	Clock  seckill.Clock
	IDs    seckill.IDs
	Meter  seckill.Meter
}

// Flow is one instance of the step. It remembers only where a run that ran out of time stopped among the returns.
// Only one run at a time.
type Flow struct {
	Deps
	due sweep.Sweep[seckill.ReturnRow]
}

// New returns an instance.
func New(d Deps) *Flow {
	f := &Flow{Deps: d}
	f.due = sweep.Sweep[seckill.ReturnRow]{Meter: d.Meter, Most: maxReturns}
	return f
}

// Run handles every return and every item once. A failing item does not stop the others; the errors are joined. A run
// ends when its time is up; each run begins with another item, so that none starves.
func (f *Flow) Run(ctx context.Context) error {
	now := f.Clock.Now()
	again, err := f.returns(ctx, now, f.due.Run)
	errs := []error{err}
	items, err := f.Items.List(ctx, now.Add(-seckill.KeepLoaded))
	errs = append(errs, err)
	blocks := upkeep.Copier{Stock: f.Stock, Ledger: f.Ledger, Clock: f.Clock}
	for i := range items {
		if ctx.Err() != nil {
			return errors.Join(append(errs, ctx.Err())...)
		}
		it := &items[(i+int(now.Unix()/60))%len(items)]
		if it.Loadable(now) {
			if err := f.item(ctx, it.ID); err != nil {
				errs = append(errs, fmt.Errorf("item %s: %w", it.ID, err))
			}
			if err := blocks.Copy(ctx, it); err != nil {
				errs = append(errs, fmt.Errorf("blocks of item %s: %w", it.ID, err))
			}
		}
	}
	if again { // the items may be rebuilt by now
		_, errs[0] = f.returns(ctx, now, f.due.Again)
	}
	return errors.Join(errs...)
}

// pass is f.due.Run or f.due.Again: it calls the function once per due return.
type pass func(context.Context, time.Time, sweep.Page[seckill.ReturnRow],
	func(context.Context, seckill.ReturnRow) error) error

// returns finishes returns, up to maxReturns per shard. It reports gone if some belong to items that the stock lost.
// After maxFailed failures of one item it skips that item's other returns: thousands of them must not use up the run's
// time.
func (f *Flow) returns(ctx context.Context, now time.Time, pass pass) (gone bool, err error) {
	failed := map[string]int{} // failures by item
	err = pass(ctx, now, f.page, func(ctx context.Context, r seckill.ReturnRow) error {
		if failed[r.Item] >= maxFailed {
			return sweep.Skipped
		}
		err := upkeep.GiveBack(ctx, upkeep.Deps{Stock: f.Stock, Ledger: f.Ledger, Items: f.Items, Clock: f.Clock,
			Meter: f.Meter}, r)
		switch {
		case err == nil:
		case errors.Is(err, seckill.ErrNotInstalled):
			gone = true
			failed[r.Item] = maxFailed
		default:
			failed[r.Item]++
		}
		return err
	})
	return gone, err
}

func (f *Flow) page(ctx context.Context, shard int, _ time.Time, after string) (seckill.Page[seckill.ReturnRow],
	error) {
	return f.Ledger.Returns(ctx, shard, after, pageReturns)
}

func (f *Flow) item(ctx context.Context, id string) error {
	it, err := f.Items.Get(ctx, id)
	if err != nil {
		return err
	}
	err = f.resend(ctx, id)
	if errors.Is(err, seckill.ErrNotInstalled) {
		return f.rebuild(ctx, it)
	}
	return errors.Join(err, f.lookAgain(ctx, id), f.drift(ctx, it))
}

// Wake rebuilds an item that an instance found missing in the stock, or looks whether it still has to hold units back.
// m is being delivered.
func (f *Flow) Wake(ctx context.Context, m seckill.Message) error {
	it, err := f.Items.Get(ctx, m.Item)
	if seckill.CodeOf(err) == seckill.CodeItemUnknown {
		return nil
	}
	if err != nil {
		return err
	}
	if !it.Loadable(f.Clock.Now()) {
		return nil
	}
	level, err := f.Stock.Level(ctx, m.Item)
	if errors.Is(err, seckill.ErrNotInstalled) {
		return f.rebuild(ctx, it)
	}
	if err != nil || m.Look == 0 {
		return err
	}
	return f.look(ctx, &it, level, m)
}

// resend sends the messages of reservations that have waited too long again. The stock has already doubled each
// reservation's wait, so a failed send is repeated later.
func (f *Flow) resend(ctx context.Context, item string) error {
	var errs []error
	for sent := 0; sent < maxResend; {
		due, err := f.Stock.Due(ctx, f.Clock.Now(), item, resendBatch, longestResend)
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		for _, r := range due {
			if err := f.Orders.Send(ctx, seckill.Message{Kind: seckill.MessageOrder, Reservation: r}, 0); err != nil {
				errs = append(errs, err)
			}
			if len(errs) == maxUnsent {
				return errors.Join(errs...)
			}
		}
		f.Meter.Count(seckill.EventResent, len(due))
		sent += len(due)
		if len(due) < resendBatch {
			break
		}
	}
	return errors.Join(errs...)
}

// rebuild makes a new stock from the unit rows, beside the live keys, and installs it if nothing is installed. Units
// of messages under way look free here, and consume resolves the collisions; so the item holds all units back at
// first.
func (f *Flow) rebuild(ctx context.Context, it seckill.Item) error {
	token := f.IDs.Token()
	err := f.Stock.BuildStart(ctx, f.Clock.Now(), it.ID, token)
	if errors.Is(err, seckill.ErrBuildBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	back := it.Stock
	if now := f.Clock.Now(); now.Before(it.Start.Add(-2*seckill.SkewBound)) || now.Sub(it.CreateTime) < justMade {
		back = 0 // nobody bought, or hardly anybody could
	}
	units, users, highWater := 0, 0, 0
	for b := range it.Buckets {
		rows, err := f.Ledger.Units(ctx, it.ID, b)
		if err != nil {
			return err
		}
		for _, r := range rows {
			highWater = max(highWater, r.Unit)
		}
		first, err := f.Stock.BuildUnits(ctx, f.Clock.Now(), it.ID, token, rows)
		if err != nil {
			return err
		}
		units, users = units+len(rows), users+first
	}
	if err := f.Stock.BuildGaps(ctx, f.Clock.Now(), it.ID, token, 1, highWater); err != nil {
		return err
	}
	err = f.Stock.Install(ctx, it, token, units, users, highWater, back)
	if errors.Is(err, seckill.ErrBuildLost) {
		return nil // another builder installed it or will
	}
	if err != nil {
		return err
	}
	f.Meter.Count(seckill.EventRebuilt, 1)
	if back == 0 {
		return nil
	}
	return f.looks(ctx, it.ID, seckill.HeldBack{Build: token}, 0)
}
