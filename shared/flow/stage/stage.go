// Package stage loads items into the stock before their sale, asserts their state there every minute, and removes
// them long after the end. It also carries out the operator's import, stop, resume and added stock, and publishes the
// list that pages show. In: a schedule (each minute), or an operator. It touches only items, their questions, the list
// and the stock.
package stage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// EmptyLead is the time before the start until which stage may install an item without orders as empty. After that,
// units may be sold already, and only repair, which reads the ledger, installs it.
const EmptyLead = 10 * time.Second

const maxTries = 5 // attempts of an operator's conditional write

// removing is how long after its retirement an item is removed again each run, in case a removal failed or Redis lost
// it.
const removing = 24 * time.Hour

// Stock is what stage and the operator's commands call of the stock.
type Stock interface {
	seckill.StockReader
	seckill.StockInstaller
}

// Deps are the step's dependencies.
type Deps struct {
	Stock Stock
	Items seckill.Items
	Clock seckill.Clock
	IDs   seckill.IDs

	Questions  seckill.QuestionKeeper
	Activities seckill.Activities
}

// Flow is one instance of the step. It has no memory.
type Flow struct{ Deps }

// New returns an instance.
func New(d Deps) *Flow { return &Flow{d} }

// Run publishes the list and handles every item once. A run ends when its time is up; each run begins with another
// item, so that none starves.
func (f *Flow) Run(ctx context.Context) error {
	now := f.Clock.Now()
	items, err := f.Items.List(ctx, now.Add(-seckill.KeepLoaded-removing))
	errs := []error{err}
	// List below returns the same error
	if err := f.publish(ctx); err != nil && !errors.Is(err, seckill.ErrUnreadable) {
		errs = append(errs, fmt.Errorf("publish the list: %w", err))
	}
	for i := range items {
		if ctx.Err() != nil {
			return errors.Join(append(errs, ctx.Err())...)
		}
		id := items[(i+int(now.Unix()/60))%len(items)].ID
		if err := f.item(ctx, id, now); err != nil {
			errs = append(errs, fmt.Errorf("item %s: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

func (f *Flow) item(ctx context.Context, id string, now time.Time) error {
	it, err := f.Items.Get(ctx, id)
	if err != nil {
		return err
	}
	if it.Retired(now) {
		return f.Stock.Remove(ctx, id)
	}
	if !it.Loadable(now) {
		return nil
	}
	err = f.Stock.Assert(ctx, it)
	if !errors.Is(err, seckill.ErrNotInstalled) {
		return err
	}
	if !f.Clock.Now().Before(it.Start.Add(-EmptyLead)) {
		return nil
	}
	token := f.IDs.Token()
	err = f.Stock.BuildStart(ctx, f.Clock.Now(), id, token)
	if err == nil {
		err = f.Stock.Install(ctx, it, token, 0, 0, 0)
	}
	if errors.Is(err, seckill.ErrBuildBusy) || errors.Is(err, seckill.ErrBuildLost) {
		return nil // another run loads it
	}
	return err
}

// SetStopped stops or resumes an item's sale. It returns nil only after both the items table and the stock have the
// change: then nothing more is reserved, and nothing is placed later than 2 s from now (I10). CodeItemUnknown;
// CodeNotReady: written, but the stock does not have the item now: repeat the call; any other error is a fault:
// repeat the call.
func (f *Flow) SetStopped(ctx context.Context, id string, stopped bool) error {
	return f.change(ctx, id, func(it *seckill.Item) bool { return it.SetStopped(stopped, f.Clock.Now()) })
}

// AddStock raises an item's stock to n units; it never lowers it. Errors as SetStopped, and CodeInvalid unless n is
// in 1..MaxStock.
func (f *Flow) AddStock(ctx context.Context, id string, n int) error {
	if n < 1 || n > seckill.MaxStock {
		return seckill.Invalid("stock", fmt.Sprintf("1..%d", seckill.MaxStock))
	}
	return f.change(ctx, id, func(it *seckill.Item) bool {
		old := it.Stock
		it.Stock = max(it.Stock, n)
		return it.Stock != old
	})
}

// SetAllStopped stops or resumes several items' sales: all, or as many as it can. It says of how many that changed
// something. Errors as SetStopped, one for each item that does not have the change for sure.
func (f *Flow) SetAllStopped(ctx context.Context, ids []string, stopped bool) (changed int, err error) {
	var errs []error
	for _, id := range ids {
		did := false
		err := f.write(ctx, id, func(it *seckill.Item) bool {
			did = it.SetStopped(stopped, f.Clock.Now())
			return did
		})
		if did {
			changed++
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("item %s: %w", id, err))
		}
	}
	_ = f.publish(ctx) // as after change
	return changed, errors.Join(errs...)
}

func (f *Flow) change(ctx context.Context, id string, edit func(*seckill.Item) bool) error {
	err := f.write(ctx, id, edit)
	_ = f.publish(ctx) // buying does not depend on the list; the next run publishes it or reports why it cannot
	return err
}

func (f *Flow) write(ctx context.Context, id string, edit func(*seckill.Item) bool) error {
	for range maxTries {
		it, err := f.Items.Get(ctx, id)
		if err != nil {
			return err
		}
		if edit(&it) {
			it.Version++
			err := f.Items.Put(ctx, it, nil)
			if errors.Is(err, seckill.ErrStateChanged) {
				continue
			}
			if err != nil {
				return err
			}
		}
		err = f.Stock.Assert(ctx, it)
		if errors.Is(err, seckill.ErrNotInstalled) {
			if !it.Loadable(f.Clock.Now()) {
				return nil // long before its sale: stage will load this version
			}
			return &seckill.Error{Code: seckill.CodeNotReady, RetryAfter: time.Second, Err: err}
		}
		if err != nil {
			return fmt.Errorf("it is in the items table, Redis is pending: %w", err)
		}
		return nil
	}
	return seckill.ErrStateChanged
}
