package crowd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/your-org/seckill/record/journal"
	"github.com/your-org/seckill/shared/adapter/jwtauth"
	"github.com/your-org/seckill/shared/adapter/system"
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

// Run has a crowd shop, and reports. It ends early, with a report, when ctx ends. The error is a UsageError, or what
// stopped it before the first shopper came.
func Run(ctx context.Context, o Options) (*Report, error) {
	if err := o.Validate(); err != nil {
		return nil, UsageError{err}
	}
	operator := newOperatorClient(&o)
	defer operator.close()
	scene, err := operator.look(ctx, &o)
	if err != nil {
		return nil, err
	}
	o.Item = scene.item.id
	r := &run{opt: &o, base: o.base(), cashier: scene.cashier, item: scene.item, offset: scene.offset,
		tally: newTally()}
	if err := r.sign(ctx, scene.now); err != nil {
		return nil, err
	}
	if err := o.possible(&scene); err != nil {
		return nil, err
	}
	rep := newReport(&o, &scene)
	var j *journal.Writer
	if o.Journal != nil {
		j = journal.Create(o.Journal, o.start())
	}
	hosts := []string{o.URL}
	if r.cashier != "" {
		hosts = append(hosts, r.cashier)
	}
	if r.client, err = newClient(&o, r.tally, j, hosts...); err != nil {
		return nil, err
	}
	defer r.client.close()
	after := context.WithoutCancel(ctx)
	if r.faults, err = operator.setFaults(ctx, &o); err != nil {
		return nil, err
	}
	r.shop(ctx, operator, &scene)
	r.client.tally = newTally() // what follows is not the crowd's
	rep.Interrupted = ctx.Err() != nil
	rep.used(operator.process(after), system.Used())
	if o.Flood > 0 {
		rep.Flood = r.flood(ctx, operator)
	}
	rep.waitIdle(ctx, r, operator)
	if err := r.faults.end(after); err != nil {
		o.note("the faults of the test gateway are still set: %v", err)
	}
	if j != nil {
		if err := j.Close(journal.End{Interrupted: rep.Interrupted}); err != nil {
			return nil, fmt.Errorf("the journal could not be written: %w", err)
		}
		rep.Journal = &JournalReport{Last: j.Last()}
	}
	rep.count(r)
	return rep, nil
}

// sign makes the tokens ahead of the ramp.
func (r *run) sign(ctx context.Context, now time.Time) error {
	var err error
	r.tokens, err = tokens(ctx, r.opt, r.opt.firstUser(), r.opt.Shoppers, now)
	return err
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

// errOver is why shoppers are sent home when the time of the crowd is up.
var errOver = errors.New("the time for the crowd is up")

// shop lets the shoppers come, and waits until they have gone.
func (r *run) shop(ctx context.Context, d *operatorClient, sc *scene) {
	now := time.Now()
	r.gun = now.Add(r.opt.Lead + breath)
	if opening := now.Add(sc.item.start.Sub(now.Add(r.offset))); opening.After(r.gun) {
		r.gun = opening
	}
	r.tally.opening = r.gun
	ctx, stop := context.WithDeadlineCause(ctx, r.gun.Add(r.opt.For), errOver)
	defer stop()
	over, nobody := context.WithCancel(ctx)
	defer nobody()
	r.over, r.last = over, nobody
	r.watched = 1 // the gate
	watching := make(chan struct{})
	var all, watch sync.WaitGroup
	if r.opt.Watch != nil {
		watch.Go(func() { r.watch(watching) })
	}
	if sc.process != nil {
		watch.Go(func() { r.sample(context.WithoutCancel(ctx), d, sc.process, watching) })
	}
	for n := 1; n <= r.opt.Shoppers; n++ {
		s := r.shopper(n)
		at := s.press
		if r.opt.Lead > 0 {
			at = s.opens
		}
		if !sleep(ctx, r.gun.Add(at)) {
			break
		}
		r.busy(+1)
		all.Go(func() {
			defer r.busy(-1)
			s.shop(ctx)
		})
	}
	r.busy(-1)
	all.Wait()
	close(watching)
	watch.Wait()
}

// busy counts those who are waited for.
func (r *run) busy(by int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watched += by; r.watched == 0 {
		r.last()
	}
}

// leave remembers an order that is open when its shopper goes.
func (s *shopper) leave(order string, state seckill.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, left{s.n, order, state})
}

func (r *run) shopper(n int) *shopper {
	s := &shopper{visit: visitOf(r.opt, n), run: r, n: n, offset: r.offset, token: r.tokens[n-1]}
	s.user = strconv.FormatInt(r.opt.firstUser()+int64(n-1), 10)
	if s.keyed {
		s.key = keyOf(r.opt, n)
	}
	if s.fate == pays && r.cashier == "" {
		s.fate = looks
	}
	s.body, s.address = purchase(r.opt, n)
	return s
}

// purchase is the body of a shopper's purchase, and the hash of the address in it.
func purchase(o *Options, n int) (body []byte, address string) {
	where := "浙江省杭州市西湖区文三路 " + strconv.Itoa(n) + " 号"
	if o.Journal != nil {
		address = journal.Hash([]byte(where))
	}
	return []byte(`{"seckill_id":"` + o.Item + `","count":` + strconv.Itoa(o.Count) + `,"address":"` + where + `"}`),
		address
}

// watch tells how it goes until it is over.
func (r *run) watch(over <-chan struct{}) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		r.opt.Watch(r.progress())
		select {
		case <-over:
			r.opt.Watch(r.progress())
			return
		case <-tick.C:
		}
	}
}

func (r *run) progress() Progress {
	p := r.tally.progress(r.opt.Shoppers)
	p.Until = r.gun.Add(r.opt.For)
	return p
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
