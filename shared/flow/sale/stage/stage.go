// Package stage loads items into the stock before their sale, asserts their state there every minute, and removes
// them long after the end. It also carries out the operator's import, stop, resume and added stock, and publishes the
// list that pages show. In: a schedule (each minute), or an operator. It touches only items, their questions, the list
// and the stock.
package stage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// EmptyLead is the time before the start until which stage may install an item without orders as empty. After that,
// units may be sold already, and only repair, which reads the ledger, installs it.
const EmptyLead = 10 * time.Second

// AtOnce is how many items the stock may be asked to take at once. If no shard of the stock answers within its second,
// the 99 items of an activity take 7 s.
const AtOnce = 16

const removeFor = 24 * time.Hour // how long stage removes an item again and again

const maxTries = 5 // attempts of an operator's conditional write

// Stock is what stage and the operator's commands call of the stock.
type Stock interface {
	seckill.StockReader
	seckill.StockInstaller
	seckill.BlockCopier
}

// Deps are the step's dependencies.
type Deps struct {
	Stock Stock
	Items seckill.Items
	Clock seckill.Clock
	IDs   seckill.IDs

	Questions  seckill.QuestionKeeper
	Activities seckill.Activities
	Blocks     seckill.BlockLister

	// Each calls do for 0 to n-1, and returns when all calls have ended; if nil, they are made one after another
	Each func(n int, do func(i int))
}

// Flow is one instance of the step. It has no memory.
type Flow struct{ Deps }

// New returns an instance.
func New(d Deps) *Flow { return &Flow{d} }

// Run publishes the list, handles every item once, and removes those that are over from the stock. A run ends when its
// time is up; each run begins with another item, so that none starves.
func (f *Flow) Run(ctx context.Context) error {
	now := f.Clock.Now()
	items, err := f.Items.List(ctx, now.Add(-seckill.KeepLoaded))
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
	return errors.Join(append(errs, f.clear(ctx, now))...)
}

// clear removes ended items from the stock when their time is over, however long ago. It goes on for a day, because the
// stock may be restored, or an instance that stood still may install one; then it marks the item's row.
func (f *Flow) clear(ctx context.Context, now time.Time) error {
	old, err := f.Items.ListEnded(ctx, seckill.KeptStock, now.Add(-seckill.KeepLoaded))
	if errors.Is(err, seckill.ErrUnreadable) {
		err = nil // erase reports the rows
	}
	errs := []error{err}
	for i := range old {
		it := &old[i]
		err := f.Stock.Remove(ctx, it.ID)
		if err == nil && it.Retired(now.Add(-removeFor)) {
			err = f.Items.MarkErased(ctx, it.ID, seckill.KeptStock, now)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("remove item %s: %w", it.ID, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

func (f *Flow) item(ctx context.Context, id string, now time.Time) error {
	it, err := f.Items.Get(ctx, id)
	if err != nil {
		return err
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
	return f.install(ctx, it)
}

// install loads an item without orders into the stock, unless something is installed or about to be.
func (f *Flow) install(ctx context.Context, it seckill.Item) error {
	token := f.IDs.Token()
	err := f.Stock.BuildStart(ctx, f.Clock.Now(), it.ID, token)
	if err == nil {
		err = f.Stock.Install(ctx, it, token, 0, 0, 0, 0)
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

// NotAllError: a change of several items that some do not have for sure.
type NotAllError struct {
	Unwritten []string // items of which the table lacks the change
	Pending   []string // items of which the table has the change and the stock may not: stage's next run asserts it
	Err       error    // the first cause for each of the two lists
}

func (e *NotAllError) Error() string {
	var parts []string
	if len(e.Unwritten) > 0 {
		parts = append(parts, "not written to the items table: "+strings.Join(e.Unwritten, ", "))
	}
	if len(e.Pending) > 0 {
		parts = append(parts, "written, Redis is pending: "+strings.Join(e.Pending, ", "))
	}
	return strings.Join(append(parts, e.Err.Error()), "; ")
}

// Unwrap returns the causes.
func (e *NotAllError) Unwrap() error { return e.Err }

// SetAllStopped stops or resumes several items' sales: all, or as many as it can. All are written to the items table
// before the first is asserted, so that a shard that hangs delays no other item. It returns how many items this
// changed. CodeUnavailable with a *NotAllError: repeat the call.
func (f *Flow) SetAllStopped(ctx context.Context, ids []string, stopped bool) (changed int, err error) {
	var left NotAllError
	var written []seckill.Item
	for _, id := range ids {
		did := false
		it, err := f.write(ctx, id, func(it *seckill.Item) bool {
			did = it.SetStopped(stopped, f.Clock.Now())
			return did
		})
		switch {
		case err != nil:
			left.add(&left.Unwritten, id, err)
			continue
		case did:
			changed++
		}
		written = append(written, it)
	}
	errs := make([]error, len(written))
	f.each(len(written), func(i int) { errs[i] = f.assert(ctx, written[i]) })
	for i, err := range errs {
		if err != nil {
			left.add(&left.Pending, written[i].ID, err)
		}
	}
	_ = f.publish(ctx) // as after change
	if left.Err != nil {
		return changed, &seckill.Error{Code: seckill.CodeUnavailable, RetryAfter: seckill.RetryAfterFault, Err: &left}
	}
	return changed, nil
}

func (e *NotAllError) add(to *[]string, id string, err error) {
	if len(*to) == 0 {
		e.Err = errors.Join(e.Err, fmt.Errorf("item %s: %w", id, err))
	}
	*to = append(*to, id)
}

func (f *Flow) each(n int, do func(i int)) {
	if f.Each != nil {
		f.Each(n, do)
		return
	}
	for i := range n {
		do(i)
	}
}

func (f *Flow) change(ctx context.Context, id string, edit func(*seckill.Item) bool) error {
	it, err := f.write(ctx, id, edit)
	if err == nil {
		err = f.assert(ctx, it)
	}
	_ = f.publish(ctx) // buying does not depend on the list; the next run publishes it or reports why it cannot
	return err
}

// write changes an item's row and returns it.
func (f *Flow) write(ctx context.Context, id string, edit func(*seckill.Item) bool) (seckill.Item, error) {
	for range maxTries {
		it, err := f.Items.Get(ctx, id)
		if err != nil {
			return it, err
		}
		if edit(&it) {
			it.Version++
			err := f.Items.Put(ctx, it, nil)
			if errors.Is(err, seckill.ErrStateChanged) {
				continue
			}
			if err != nil {
				return it, err
			}
		}
		return it, nil
	}
	return seckill.Item{}, seckill.ErrStateChanged
}

// assert has the stock take an item's state of the table.
func (f *Flow) assert(ctx context.Context, it seckill.Item) error {
	err := f.Stock.Assert(ctx, it)
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
