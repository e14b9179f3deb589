// Package sweep visits due rows shard by shard and page by page: expire's orders, refund's payments and repair's
// returns. It rotates the first shard so that none starves, and continues past rows that it cannot read or finish.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// maxTold is how many errors of a run are listed; the rest are only counted.
const maxTold = 20

// Sweep is the sweep state of one instance of a step. It is safe for concurrent use; concurrent runs share only the
// positions at which the next run continues.
type Sweep[T any] struct {
	Meter seckill.Meter // counts rows that cannot be read
	Most  int           // rows that a run may finish per shard; 0 means all

	mu sync.Mutex
	// per shard, where a run stopped when its time was up; this instance's next run continues there
	at [seckill.DueShards]string
}

func (s *Sweep[T]) left(shard int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at[shard]
}

func (s *Sweep[T]) leave(shard int, at string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at[shard] = at
}

// Page reads one page of a shard's rows that are due by now. after is "" or an earlier page's Next.
type Page[T any] func(ctx context.Context, shard int, now time.Time, after string) (seckill.Page[T], error)

// Skipped means that a row was left for another run. It is not a failure.
var Skipped = errors.New("sweep: left for another run") //nolint:errname,staticcheck // a sentinel like io.EOF

// Run calls each for every row that is due by now, in all seckill.DueShards shards. The run of each minute begins
// with another shard: if a slow provider uses up a run's time on a few shards, later runs reach the rest. Run
// continues after failures until ctx ends. It holds at most one page in memory. each returns Skipped to leave a row
// to another run. The error lists the first failures and their number.
func (s *Sweep[T]) Run(ctx context.Context, now time.Time, page Page[T], each func(context.Context, T) error) error {
	return s.run(ctx, now, page, each, &told{meter: s.Meter})
}

// Again is Run for a second pass of the same run: it does not count unreadable rows twice.
func (s *Sweep[T]) Again(ctx context.Context, now time.Time, page Page[T], each func(context.Context, T) error) error {
	return s.run(ctx, now, page, each, &told{})
}

func (s *Sweep[T]) run(ctx context.Context, now time.Time, page Page[T], each func(context.Context, T) error,
	errs *told) error {
	first := int(now.Unix() / 60)
	for i := range seckill.DueShards {
		if !s.shard(ctx, (first+i)%seckill.DueShards, now, page, each, errs) {
			errs.Add(ctx.Err())
			break
		}
	}
	return errs.Join()
}

// shard sweeps one shard. It returns false if the run's time is up.
func (s *Sweep[T]) shard(ctx context.Context, shard int, now time.Time, read Page[T],
	each func(context.Context, T) error, errs *told) bool {
	done := 0
	for after := s.left(shard); ; s.leave(shard, after) {
		if ctx.Err() != nil {
			return false
		}
		page, err := read(ctx, shard, now, after)
		if err != nil {
			errs.Add(err)
			if ctx.Err() == nil {
				s.leave(shard, "") // a cursor that cannot be used must not block the shard forever
			}
			return ctx.Err() == nil
		}
		for _, err := range page.Unreadable {
			errs.failed(err)
		}
		for _, t := range page.Rows {
			if ctx.Err() != nil {
				return false
			}
			if err := each(ctx, t); err == nil {
				done++
			} else if !errors.Is(err, Skipped) {
				errs.failed(err)
			}
			if done == s.Most && done > 0 {
				s.leave(shard, "") // finished rows have left the shard
				return true
			}
		}
		if after = page.Next; after == "" {
			s.leave(shard, "")
			return true
		}
	}
}

// told collects the errors and counts of one pass.
type told struct {
	Errors
	meter seckill.Meter // if nil, nothing is counted
}

func (t *told) failed(err error) {
	if t.meter != nil && errors.Is(err, seckill.ErrUnreadable) {
		t.meter.Count(seckill.EventUnreadable, 1)
	}
	t.Add(err)
}

// Errors joins the errors of a run: it lists the first 20 and counts the rest.
type Errors struct {
	told []error
	more int
}

// Add adds an error; it ignores nil.
func (e *Errors) Add(err error) {
	switch {
	case err == nil:
	case len(e.told) < maxTold:
		e.told = append(e.told, err)
	default:
		e.more++
	}
}

// Join returns all as one error, nil if there are none.
func (e *Errors) Join() error {
	if e.more > 0 {
		return errors.Join(append(e.told, fmt.Errorf("and %d errors more", e.more))...)
	}
	return errors.Join(e.told...)
}
