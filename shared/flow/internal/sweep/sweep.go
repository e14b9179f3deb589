// Package sweep visits due rows shard by shard and page by page: expire's orders, refund's payments and repair's
// returns. It rotates the start so that no shard starves, and goes on past rows that it cannot read or finish.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// maxTold is how many of a run's errors are listed; the rest are counted.
const maxTold = 20

// Sweep is what an instance of a step goes through repeatedly. Safe for concurrent use: runs at the same time
// share only where the next one goes on.
type Sweep[T any] struct {
	Meter seckill.Meter // counts what cannot be read
	Most  int           // rows of a shard that a run may get done; 0: all

	mu sync.Mutex
	// where a run that ran out of time stopped in a shard: this instance's next run continues there
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

// Page reads a page of what is due by now in a shard: after is "" or an earlier page's Next.
type Page[T any] func(ctx context.Context, shard int, now time.Time, after string) (seckill.Page[T], error)

// Skipped says that a row was left for another run. It is no failure.
var Skipped = errors.New("sweep: left for another run") //nolint:errname,staticcheck // an answer, as io.EOF

// Run does each for what is due by now, in every shard of seckill.DueShards. Each minute's run, by now, begins with
// another shard: a provider that is slow to answer for a few must not keep a run whose time is up from the rest for
// ever. It goes on after a failure, but not when ctx has ended. At most a page is in memory. each answers Skipped for
// what it leaves to another run. The error tells the first failures and how many there were.
func (s *Sweep[T]) Run(ctx context.Context, now time.Time, page Page[T], each func(context.Context, T) error) error {
	return s.run(ctx, now, page, each, &told{meter: s.Meter})
}

// Again is Run for another pass of the same run: unreadable rows are already counted.
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

// shard goes through one shard; false: the run's time is up.
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
				s.leave(shard, "") // a cursor that cannot be used may not keep the shard from ever being read
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
				s.leave(shard, "") // what is done has left the shard
				return true
			}
		}
		if after = page.Next; after == "" {
			s.leave(shard, "")
			return true
		}
	}
}

// told is what a pass says and counts.
type told struct {
	Errors
	meter seckill.Meter // nil: it counts nothing
}

func (t *told) failed(err error) {
	if t.meter != nil && errors.Is(err, seckill.ErrUnreadable) {
		t.meter.Count(seckill.EventUnreadable, 1)
	}
	t.Add(err)
}

// Errors joins the errors of a run: it has the first 20 and counts the rest.
type Errors struct {
	told []error
	more int
}

// Add adds an error; nil is none.
func (e *Errors) Add(err error) {
	switch {
	case err == nil:
	case len(e.told) < maxTold:
		e.told = append(e.told, err)
	default:
		e.more++
	}
}

// Join returns them as one; nil when there is none.
func (e *Errors) Join() error {
	if e.more > 0 {
		return errors.Join(append(e.told, fmt.Errorf("and %d errors more", e.more))...)
	}
	return errors.Join(e.told...)
}
