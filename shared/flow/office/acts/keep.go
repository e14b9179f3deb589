package acts

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// MaxPage is the largest number of acts of a list.
const MaxPage = 1000

// Ledger is the part of the ledger that the step calls.
type Ledger interface {
	seckill.ActKeeper
	seckill.ActHandler
}

// Deps are the step's dependencies.
type Deps struct {
	Ledger Ledger
	Clock  seckill.Clock
	Meter  seckill.Meter
	// Each calls do for 0 to n-1, some at a time, and returns once all have returned.
	Each func(n int, do func(i int))
}

// Flow keeps suspicious acts, and has them handled. It is safe for concurrent use.
type Flow struct{ Deps }

// New returns an instance.
func New(d Deps) *Flow { return &Flow{Deps: d} }

// Keep keeps the suspicious acts among these. It leaves out acts that are normal or too old. After an error some acts
// may not be kept; the call can be repeated.
func (f *Flow) Keep(ctx context.Context, list []seckill.Act) error {
	now := f.Clock.Now()
	list = slices.DeleteFunc(slices.Clone(list), func(a seckill.Act) bool {
		return a.Rules == 0 || !now.Before(a.At.Add(seckill.ActLife))
	})
	errs := make([]error, len(list))
	f.Each(len(errs), func(i int) { errs[i] = f.Ledger.KeepAct(ctx, list[i]) })
	f.Meter.Count(seckill.EventSuspicious, len(list))
	return errors.Join(errs...)
}

// Filter says which acts a list has.
type Filter struct {
	Day   string // of UTC+8; "" means today
	Item  string // "" means every item's acts
	All   bool   // also those that are handled
	After string // only acts after this id
	Limit int    // 1 to MaxPage
}

// List lists a day's acts by time. next is "" after the last act, else the After of the next page.
func (f *Flow) List(ctx context.Context, want Filter) (list []seckill.Act, next string, err error) {
	if want.Limit < 1 || want.Limit > MaxPage {
		return nil, "", seckill.Invalid("limit", "")
	}
	day := cmp.Or(want.Day, seckill.Day(f.Clock.Now()))
	for shard := range seckill.ActShards {
		of, err := f.ofShard(ctx, day, shard, want)
		if err != nil {
			return nil, "", seckill.AsError(err)
		}
		list = append(list, of...)
	}
	slices.SortFunc(list, func(a, b seckill.Act) int { return cmp.Compare(a.ID, b.ID) })
	if len(list) > want.Limit {
		list = list[:want.Limit]
		next = list[want.Limit-1].ID
	}
	return list, next, nil
}

// ofShard returns the first acts of a shard that the list may need: one more than a page.
func (f *Flow) ofShard(ctx context.Context, day string, shard int, want Filter) (list []seckill.Act, err error) {
	const page = 100
	for after := want.After; len(list) <= want.Limit; {
		acts, err := f.Ledger.ActsOn(ctx, day, shard, after, page)
		if err != nil {
			return nil, err
		}
		for _, a := range acts {
			if (want.Item == "" || a.Item == want.Item) && (want.All || a.Handled.IsZero()) {
				list = append(list, a)
			}
		}
		if len(acts) < page {
			break
		}
		after = acts[page-1].ID
	}
	return list, nil
}

// Act returns an act. CodeActUnknown.
func (f *Flow) Act(ctx context.Context, id string) (seckill.Act, error) {
	a, err := f.Ledger.Act(ctx, id)
	return a, unknown(err)
}

// Handle records that an operator handled an act. CodeActUnknown, CodeInvalid.
func (f *Flow) Handle(ctx context.Context, id, by, note string) error {
	if err := seckill.CheckLine("why", note, seckill.MaxActNote); err != nil {
		return err
	}
	return unknown(f.Ledger.HandleAct(ctx, id, by, note, f.Clock.Now().Truncate(time.Millisecond)))
}

func unknown(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, seckill.ErrNoAct):
		return seckill.Invalid("act", "")
	}
	return seckill.AsError(err)
}
