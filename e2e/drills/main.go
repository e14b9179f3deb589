//go:build linux

// Command drills injects faults while a crowd buys, and audits each sale afterwards (`make drills`): real Redis
// servers, a real database that survives a kill, a real queue API, and the functions as they are deployed, several
// processes each, behind e2e/lambdahost. Each drill has its own servers, tables, queues and functions. Its faults are
// triggered by the number of sold units and are counted: one without effect fails its drill. A crowd's unpaid orders
// expire while the next drills' crowds buy.
//
// Drills with an account (limits.go) run behind e2e/account, which enforces an AWS account's limits at a hundredth.
//
// The crowd is `seckill load` and the check `seckill audit`: both run as processes of the operators' own tool.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/your-org/seckill/shared/fake/fakegateway"
)

// A crowd counts as calm, and the next one starts, once its faults have happened and buy answers little: the rest
// waits for orders.
const (
	waitLook = 2 * time.Second
	waitBuys = 50 // answers in that time
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	failed, err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "drills:", err)
	}
	if failed || err != nil {
		os.Exit(1)
	}
}

func run(ctx context.Context) (failed bool, err error) {
	s := &shared{}
	flag.StringVar(&s.root, "root", ".", "the checkout")
	flag.StringVar(&s.bin, "bin", "", "the folder of the functions' binaries")
	flag.StringVar(&s.dir, "dir", "", "an empty folder for everything that is written")
	flag.IntVar(&s.shoppers, "shoppers", 10_000, "shoppers of each drill")
	flag.IntVar(&s.stock, "stock", 1000, "units of each drill's item")
	flag.DurationVar(&s.ramp, "ramp", 15*time.Second, "in which they come")
	flag.Int64Var(&s.seed, "seed", 1, "of the crowds: what each shopper does, and when")
	only := flag.String("only", "", "drills, separated by commas, instead of all: "+strings.Join(names(), ", "))
	flag.Parse()
	chosen, err := choose(*only)
	if err != nil || flag.NArg() > 0 {
		flag.Usage()
		return true, err
	}
	if s.dir, err = filepath.Abs(s.dir); err != nil {
		return true, err
	}
	if err := s.open(ctx, slices.ContainsFunc(chosen, func(d drill) bool { return d.proxied })); err != nil {
		return true, err
	}
	defer s.close()
	results := s.play(ctx, chosen)
	table(os.Stdout, results)
	for _, r := range results {
		failed = failed || len(r.problems) > 0
	}
	return failed, context.Cause(ctx)
}

func names() (out []string) {
	for _, d := range slices.Concat(limitedDrills, drills) {
		out = append(out, d.name)
	}
	return out
}

func choose(only string) ([]drill, error) {
	all := slices.Concat(limitedDrills, drills)
	if only == "" {
		return all, nil
	}
	var out []drill
	for _, name := range strings.Split(only, ",") {
		at := slices.Index(names(), name)
		if at < 0 {
			return nil, fmt.Errorf("there is no drill %q", name)
		}
		out = append(out, all[at])
	}
	return out, nil
}

// open starts what all drills share.
func (s *shared) open(ctx context.Context, proxied bool) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*startLimit)
	defer cancel()
	for _, pair := range []*fakegateway.KeyPair{&s.shop, &s.gateway} {
		if *pair, err = fakegateway.GenerateKeys(); err != nil {
			return err
		}
	}
	s.ministack = &server{script: "ministack", dir: filepath.Join(s.dir, "ministack")}
	if err := s.ministack.start(ctx, s.root); err != nil {
		return err
	}
	if proxied {
		if s.proxies, err = startProxies(ctx, s.root, s.dir); err != nil {
			s.close()
		}
	}
	return err
}

func (s *shared) close() {
	s.ministack.stop()
	if s.proxies != nil {
		s.proxies.stop()
	}
}

// play runs one crowd after another; each sale is audited once it is at rest.
func (s *shared) play(ctx context.Context, chosen []drill) []*result {
	var results []*result
	var later sync.WaitGroup
	// If more sales than processors run at a time, they starve each other, and a crowd ends before its faults happen.
	room := make(chan struct{}, runtime.NumCPU())
	for i := range chosen {
		d := &chosen[i]
		room <- struct{}{}
		r := &result{name: d.name, began: time.Now()}
		results = append(results, r)
		w, err := newRig(ctx, s, d)
		if err != nil {
			<-room
			r.fail(err)
			continue
		}
		gone := make(chan struct{})
		later.Go(func() {
			defer func() { w.close(); <-room }()
			s.crowd(ctx, d, w, r)
			close(gone)
			if w.account != nil {
				r.landed = join(r.landed, w.refusals())
			}
			say("%-14s crowd: %s; %s", d.name, r.outcome(), r.landed)
			r.fail(w.rest(ctx))
			s.audit(ctx, w, r)
			r.took = time.Since(r.began)
			say("%-14s audit: %s", d.name, r.verdict())
		})
		if d.account != nil {
			later.Wait() // this drill checks times, so nothing else may run
		} else {
			w.waitQuiet(gone)
		}
	}
	later.Wait()
	return results
}

// waitQuiet waits until a crowd is calm or gone.
func (w *rig) waitQuiet(gone <-chan struct{}) {
	for buys, struck := int64(0), false; ; {
		select {
		case <-gone:
			return
		case <-time.After(waitLook):
		}
		now := w.accepted.Load() + w.refused.Load() + w.unavailable.Load()
		if struck && now > 0 && now-buys < waitBuys {
			return
		}
		buys, struck = now, w.struck.Load()
	}
}

// crowd runs the shoppers and the faults until the last shopper has left.
func (s *shared) crowd(ctx context.Context, d *drill, w *rig, r *result) {
	buying, over := context.WithCancel(ctx)
	defer over()
	done := make(chan struct{})
	go func() {
		defer close(done)
		landed, err := d.strike(buying, w)
		w.struck.Store(true)
		r.landed = landed
		if err != nil {
			r.fail(fmt.Errorf("a fault did not land: %w", err))
		}
	}()
	err := s.load(ctx, d, w, r)
	r.crowdTook = time.Since(w.created)
	over()
	<-done
	r.fail(err)
	if n := r.load.how("rejected"); d.kept && n > 0 {
		r.fail(fmt.Errorf("%d orders were acknowledged and then rejected", n))
	}
	if d.account != nil && d.account.check != nil {
		r.fail(d.account.check(w))
	}
}

var talk sync.Mutex

func say(format string, v ...any) {
	talk.Lock()
	defer talk.Unlock()
	fmt.Printf(time.Now().Format("15:04:05 ")+format+"\n", v...)
}
