package crowd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/your-org/seckill/record/journal"
	"github.com/your-org/seckill/record/process"
	"github.com/your-org/seckill/shared/adapter/system"
	"github.com/your-org/seckill/shared/seckill"
)

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

// sample asks a `seckill run` for its own counts until it is over: what shoppers see lags by as long as they wait
// before they ask.
func (r *run) sample(ctx context.Context, d *operatorClient, before *process.Usage, over <-chan struct{}) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		if p := d.process(ctx); p != nil {
			since := func(e seckill.Event) int { return p.Events[e] - before.Events[e] }
			r.samples = append(r.samples, sample{time.Now(), since(seckill.EventPlaced), since(seckill.EventPaid)})
		}
		select {
		case <-over:
			return
		case <-tick.C:
		}
	}
}

const sampleEvery = 100 * time.Millisecond
