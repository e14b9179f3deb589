package count

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// pageOrders is how many orders one step of a recount reads.
const pageOrders = 2 * seckill.MaxCounted

// beginTime is how long the write that begins a recount may take.
const beginTime = 10 * time.Second

// Step is the result of one step of a recount.
type Step struct {
	Orders int           // orders read
	Next   string        // for the next step; "" after the last
	Wait   time.Duration // before the next step
}

// Of returns an item's counts. The error is an *seckill.Error.
func (f *Flow) Of(ctx context.Context, item string) (seckill.Counts, error) {
	c, err := f.Ledger.Counts(ctx, item)
	if err != nil {
		return seckill.Counts{}, seckill.AsError(err)
	}
	return c, nil
}

// Recount counts an item anew from the ledger, one page of orders per call, while changes go on. cursor is "" to
// begin, which empties the counts, or an earlier step's Next.
//
// It reads all orders twice: at once, and RecountWait later those that the list lacked the first time. Changes from
// the stream are counted meanwhile, in the new count. The error is an *seckill.Error.
func (f *Flow) Recount(ctx context.Context, item, cursor string) (Step, error) {
	step, err := f.recount(ctx, item, cursor)
	if err != nil {
		return Step{}, seckill.AsError(err)
	}
	return step, nil
}

func (f *Flow) recount(ctx context.Context, item, cursor string) (Step, error) {
	if cursor == "" {
		if err := f.begin(ctx, item); err != nil {
			return Step{}, err
		}
		return Step{Next: walk{}.cursor()}, nil
	}
	w, err := parseWalk(cursor)
	if err != nil {
		return Step{}, &seckill.Error{Code: seckill.CodeInvalid, Field: "cursor", Err: err}
	}
	if w.began.IsZero() {
		w.began = f.Clock.Now()
	}
	page, err := f.Ledger.OrdersByItem(ctx, item, w.after, pageOrders)
	if err != nil {
		return Step{}, err
	}
	changes := make([]seckill.OrderChange, len(page.Orders))
	for i := range page.Orders {
		changes[i].Order = page.Orders[i]
	}
	for _, g := range groupsOf(changes) {
		if err := f.count(ctx, g.orders); err != nil {
			return Step{}, err
		}
	}
	step := Step{Orders: len(page.Orders)}
	if w.after = page.Next; w.after != "" {
		step.Next = w.cursor()
		return step, nil
	}
	return f.end(ctx, item, w, step)
}

// begin replaces the counts by an empty count. The wait for the list of orders is measured from its time, so an
// instance that stood still before the write begins once more.
func (f *Flow) begin(ctx context.Context, item string) error {
	for range tries {
		c, err := f.Ledger.Counts(ctx, item)
		if err != nil {
			return err
		}
		at := f.Clock.Now()
		if err := f.Ledger.BeginRecount(ctx, c, at); err != nil {
			return err
		}
		if f.Clock.Now().Sub(at) < beginTime {
			return nil
		}
	}
	return fmt.Errorf("count: the recount of item %s took %d times too long to begin", item, tries)
}

// end ends the recount if the walk through the orders began late enough to have met all of them; otherwise another
// walk follows.
func (f *Flow) end(ctx context.Context, item string, w walk, step Step) (Step, error) {
	c, err := f.Ledger.Counts(ctx, item)
	if err != nil || !c.Recounting {
		return step, err
	}
	late := c.Since.Add(seckill.RecountWait)
	if w.began.Before(late) {
		step.Next, step.Wait = walk{}.cursor(), max(0, late.Sub(f.Clock.Now()))
		return step, nil
	}
	return step, f.Ledger.EndRecount(ctx, c)
}

// walk is a walk through all orders of an item.
type walk struct {
	began time.Time // if zero, it begins with the next step
	after string    // the next page
}

func (w walk) cursor() string {
	if w.began.IsZero() {
		return "." + w.after
	}
	return strconv.FormatInt(w.began.UnixMilli(), 10) + "." + w.after
}

func parseWalk(cursor string) (w walk, err error) {
	began, after, found := strings.Cut(cursor, ".")
	if !found {
		return w, fmt.Errorf("%.80q has no dot", cursor)
	}
	w.after = after
	if began == "" {
		return w, nil
	}
	ms, err := strconv.ParseInt(began, 10, 64)
	w.began = time.UnixMilli(ms)
	return w, err
}
