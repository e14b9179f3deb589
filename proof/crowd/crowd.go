package crowd

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/your-org/seckill/proof/record"
)

const watchEvery = 200 * time.Millisecond

// Run sends a crowd to a sale and returns the report. When ctx ends it stops early and still reports. An error means
// that no shopper came, or that the journal could not be written; a UsageError means that the options are wrong.
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
	o.Item = scene.item.ID
	r := &run{opt: &o, base: o.base(), cashier: scene.cashier, item: scene.item, offset: scene.offset,
		tally: newTally(), asking: make(chan struct{}, askers)}
	if r.tokens, err = tokens(ctx, &o, o.firstUser(), o.Shoppers, scene.now); err != nil {
		return nil, err
	}
	rep := newReport(&o, &scene)
	var j *record.Writer
	if o.Journal != nil {
		j = record.CreateJournal(o.Journal, o.start())
	}
	hosts := []string{o.URL}
	if r.cashier != "" {
		hosts = append(hosts, r.cashier)
	}
	if r.client, err = newClient(&o, r.tally, j, hosts...); err != nil {
		return nil, err
	}
	defer r.client.close()
	if o.Pages {
		if r.files, err = pageFiles(ctx, r.client, r.base); err != nil {
			return nil, err
		}
		r.tally = newTally()
		r.client.tally = r.tally
	}
	after := context.WithoutCancel(ctx)
	if err := r.prepareAll(ctx, operator, &scene); err != nil {
		return nil, err
	}
	r.shop(ctx, operator, &scene)
	r.client.tally = newTally() // the crowd's figures end here
	rep.Interrupted = ctx.Err() != nil
	usage := operator.process(after)
	rep.used(usage, record.Used())
	if o.Flood > 0 {
		rep.Flood = r.flood(ctx, operator)
	}
	rep.waitIdle(ctx, r, operator)
	if j != nil {
		if err := j.Close(record.End{Interrupted: rep.Interrupted}); err != nil {
			return nil, fmt.Errorf("cannot write the journal: %w", err)
		}
	}
	rep.count(r)
	if o.Bots != nil {
		rep.Fairness = fairness(r, scene.process, usage)
	}
	return rep, nil
}

// shop starts each shopper at its scheduled time and returns when all have left.
func (r *run) shop(ctx context.Context, d *operatorClient, sc *scene) {
	now := time.Now()
	lead := r.opt.Lead
	if r.opt.Bots != nil {
		lead = r.opt.Bots.takes(earlyBy)
	}
	r.gun = now.Add(lead + breath)
	if opening := now.Add(sc.item.Start.Sub(now.Add(r.offset))); opening.After(r.gun) {
		r.gun = opening
	}
	r.tally.opening = r.gun
	ctx, stop := context.WithDeadline(ctx, r.gun.Add(r.opt.For))
	defer stop()
	over, nobody := context.WithCancel(ctx)
	defer nobody()
	r.over, r.last = over, nobody
	r.watched = 1 // this loop
	watching := make(chan struct{})
	var all, watch sync.WaitGroup
	if r.opt.Watch != nil {
		watch.Go(func() { r.watch(watching) })
	}
	for n := 1; n <= r.opt.Shoppers; n++ {
		s, at := r.next(n)
		if s == nil {
			continue
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

// next returns shopper n, nil if it never comes, and when it does.
func (r *run) next(n int) (s *shopper, at time.Duration) {
	switch {
	case r.opt.Bots != nil:
		if s = r.prepared[n-1]; s.absent {
			s = nil
		}
		return s, -r.opt.Bots.takes(earlyBy)
	case r.opt.Lead > 0:
		s = r.shopper(n)
		return s, s.opens
	}
	s = r.shopper(n)
	return s, s.press
}

// watch reports progress until over is closed.
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
