package crowd

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	tokenSpare = time.Hour              // validity of tokens beyond the longest possible run
	breath     = 300 * time.Millisecond // between the preparations and the first shopper
)

// run is the state of a crowd. The mutex guards watched and open.
type run struct {
	opt     *Options
	base    string
	cashier string // "" if the sale names no cashier
	item    item
	client  *client
	tally   *tally
	gun     time.Time     // start of the ramp, local clock
	offset  time.Duration // of the server's clock from the local clock, measured before the ramp
	tokens  []string
	files   []string // of the page; nil without Options.Pages

	over context.Context // done when only shoppers remain who look at an unpaid order

	mu      sync.Mutex
	watched int    // shoppers who keep the crowd running
	last    func() // called when watched reaches 0
	open    int    // orders that were open when their shoppers left

	money Money // read when no order was open

	// of a crowd with scripts
	prepared []*shopper    // by number
	asking   chan struct{} // one element per request about checks
}

// tokens returns Authorization headers for n users, valid for the whole run by the server's clock.
func tokens(ctx context.Context, o *Options, first int64, n int, now time.Time) ([]string, error) {
	out := make([]string, n)
	expires := now.Add(o.For + o.Flood + 2*o.Lead + tokenSpare)
	for i := range out {
		if i%1000 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var token string
		var err error
		if o.Bots != nil {
			v := visitOf(o, i+1)
			token, err = o.Bots.sign(o.Secret, &v, first+int64(i), now, expires)
		} else {
			token, err = jwtauth.Sign(o.Secret, strconv.FormatInt(first+int64(i), 10), expires)
		}
		if err != nil {
			return nil, err
		}
		out[i] = "Bearer " + token
	}
	return out, nil
}

// opensAt returns the opening by the local clock, for a shopper who measured the given offset to the server's clock.
func (r *run) opensAt(offset time.Duration) time.Time { return r.gun.Add(r.offset - offset) }

// busy adjusts the number of shoppers who keep the crowd running.
func (r *run) busy(by int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watched += by; r.watched == 0 {
		r.last()
	}
}

// note calls o.Note with a formatted line.
func (o *Options) note(text string, args ...any) {
	if o.Note != nil {
		o.Note(fmt.Sprintf(text, args...))
	}
}

// sleep waits until a moment. It reports false when ctx ends first.
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

// sign makes a shopper's token. Tokens of a crowd with scripts say when the account was made.
func (b *Bots) sign(secret string, v *visit, user int64, now, expires time.Time) (string, error) {
	s, err := jwtauth.NewSigner(jwtauth.Keys{Current: secret})
	if err != nil {
		return "", err
	}
	age := accountAge
	if v.kind == few {
		age = youngAge
	}
	return s.SignToken(seckill.Claims{User: strconv.FormatInt(user, 10), Created: now.Add(-age), Expires: expires})
}
