package crowd

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/adapter/jwtauth"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	watchEvery = 200 * time.Millisecond
	tokenSpare = time.Hour              // how much longer than the crowd its tokens are valid
	breath     = 300 * time.Millisecond // between the preparations and the first shopper
)

// run is a crowd under way.
type run struct {
	opt     *Options
	base    string
	cashier string // "": nobody can pay
	item    item
	client  *client
	tally   *tally
	gun     time.Time     // when the ramp begins, by our clock
	offset  time.Duration // of the server's clock from ours, by the first look
	tokens  []string

	over context.Context // done when nobody is left but those who only look

	mu      sync.Mutex
	watched int // shoppers who are waited for
	last    func()
	open    []left
	late    []opened

	faults *faults // nil: none were set
	money  Money   // as it was at rest

	samples []sample // of a `seckill run`
}

// left is an order that was open when its shopper left.
type left struct {
	shopper int
	order   string
	state   seckill.State // as it was seen last
}

// tokens makes the tokens of n users, as the header wants them, valid by the server's clock for the whole run.
func tokens(ctx context.Context, o *Options, first int64, n int, now time.Time) ([]string, error) {
	out := make([]string, n)
	expires := now.Add(o.For + o.Flood + o.WaitIdle + 2*o.Lead + tokenSpare)
	for i := range out {
		if i%1000 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		token, err := jwtauth.Sign(o.Secret, strconv.FormatInt(first+int64(i), 10), expires)
		if err != nil {
			return nil, err
		}
		out[i] = "Bearer " + token
	}
	return out, nil
}

// opensAt is when the sale opens by a clock of ours that is so much behind the server's.
func (r *run) opensAt(offset time.Duration) time.Time { return r.gun.Add(r.offset - offset) }

// busy counts those who are waited for.
func (r *run) busy(by int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watched += by; r.watched == 0 {
		r.last()
	}
}

// note tells whoever watches.
func (o *Options) note(text string, args ...any) {
	if o.Note != nil {
		o.Note(fmt.Sprintf(text, args...))
	}
}

// sleep waits until a moment; false: everybody was sent home before.
func sleep(ctx context.Context, until time.Time) bool {
	if ctx.Err() != nil {
		return false
	}
	d := time.Until(until)
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// opened is a cashier's page that a shopper has left open, to pay late.
type opened struct {
	shopper int
	order   string
	form    *form
	payBy   time.Time
}

// sample is what a `seckill run` had counted at a moment.
type sample struct {
	at           time.Time
	placed, paid int
}
