//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/your-org/seckill/e2e/account"
)

// Throttles of the stage, one bucket per method (ADR 28). Their sum stays below the account's 10,000 a second and
// 5,000 at once, and the number of buys that start at once below Lambda's 1,000 (plan.Limits.Fits).
var (
	// The template's own, except three whose hundredth is 1 or 2: ThrottleBurst=100 would refuse a shopper's second
	// request, and NotifyBurst and NotifyRate two notifications that coincide. At 1:100 payments are bunched: 14 in
	// the busiest second of 170.
	asDeployed = throttled(1000, 200, 300, 218, 500, 500)
	// For a crowd that pays and looks at its orders meanwhile. Below ThrottleBurst=200 a hundredth is 1: the crowd's
	// tool, which looks right after the drill has looked, would hear 429.
	planned = throttled(1000, 200, 400, 200, 1000, 860)
)

func throttled(buy, buyBurst, others, othersBurst, notify, notifyBurst float64) map[string]account.Throttle {
	return map[string]account.Throttle{
		ofBuy: {Rate: buy, Burst: buyBurst}, ofOthers: {Rate: others, Burst: othersBurst},
		ofPoll: {Rate: others, Burst: othersBurst}, ofNotify: {Rate: notify, Burst: notifyBurst},
		ofSignin: {Rate: signinRate, Burst: signinRate},
	}
}

// everybodyPays makes a crowd whose orders are all paid.
const everybodyPays = "--pay 1 --cancel 0 --abandon 0"

// limitedDrills are the drills in an account that enforces its limits. Each runs alone on the machine.
var limitedDrills = []drill{
	{name: "opening", faults: []fault{coldOpening}, account: &limited{stock: 100, check: openingHolds,
		crowd:      "--ramp 10s --lead 5s --for 60s " + everybodyPays,
		deployment: deployment{limits: raised(3200, 4000), throttles: asDeployed, consume: 200}}},
	{name: "slow-redis", faults: []fault{slowRedis}, account: &limited{stock: 600,
		crowd:      "--shoppers 1500 --ramp 100s --for 240s",
		deployment: deployment{limits: raised(6900, 40_000), throttles: planned, consume: 200}}},
	{name: "pay-day", faults: []fault{payDay}, account: &limited{stock: 300, check: allNotified,
		crowd:      "--ramp 30s --for 90s --think 4s " + everybodyPays,
		deployment: deployment{limits: raised(4900, 40_000), throttles: planned, consume: 200}}},
	{name: "flood", faults: []fault{flood}, account: &limited{stock: 100, more: []string{"pay", "signin"},
		prepare:    issuer,
		crowd:      "--shoppers 40 --ramp 30s --for 60s " + everybodyPays,
		deployment: deployment{limits: raised(3200, 4000), throttles: asDeployed, consume: 200}}},
}

// coldOpening ends the instances that the load tool's first look has started, just before the first shopper.
func coldOpening(ctx context.Context, w *rig) (string, error) {
	select {
	case <-w.sums.looked:
	case <-ctx.Done():
		return "", errors.New("the crowd's tool did not see the item")
	}
	ended := w.coolDown("buy", "shop", "consume", "notify")
	before := w.starts()
	<-ctx.Done()
	return fmt.Sprintf("%d instances ended before the first shopper, %d started cold after", ended,
		w.starts()-before), nil
}

func (w *rig) starts() (n int64) {
	for _, function := range cold {
		n += w.host.Stats(function).Started
	}
	return n
}

// openingHolds checks that no init failed and that not_ready was the only 5xx for shoppers.
func openingHolds(w *rig) error {
	var errs []error
	if n := w.initErrors() - w.initsBefore; n > 0 {
		errs = append(errs, fmt.Errorf("%d inits died", n))
	}
	if said := w.sums.faults5xx(); said != "" {
		errs = append(errs, fmt.Errorf("answers 5xx: %s", said))
	}
	if w.accepted.Load() == 0 {
		errs = append(errs, errors.New("nobody could buy"))
	}
	return errors.Join(errs...)
}

// slowRedis makes Redis take 200 ms per call for a minute, and then 2 s, while an operator stops the sale. Like an
// operator it continues after a failure, and reports all of them.
func slowRedis(ctx context.Context, w *rig) (string, error) {
	if err := w.sold(ctx, 0.02); err != nil {
		return "", err
	}
	ctx = context.WithoutCancel(ctx) // the operator stays when the crowd leaves
	var did, wrong []string
	told := func(said string, err error) {
		if err != nil {
			wrong = append(wrong, err.Error())
		} else if said != "" {
			did = append(did, said)
		}
	}
	began := time.Now()
	w.cache.Slow(200 * time.Millisecond)
	pause(ctx, 15*time.Second)
	for w.coolDown("stage") > 0 { // its schedule may have started one meanwhile
		pause(ctx, look)
	}
	cold := w.host.Stats("stage").Started
	told(w.acknowledged(ctx, "cold stop at 200 ms", "stop", item))
	if w.host.Stats("stage").Started == cold {
		told("", errors.New("the cold stop started no instance"))
	}
	told("", w.again(ctx, "resume", item))
	pause(ctx, 10*time.Second)
	told(w.acknowledged(ctx, "warm stop at 200 ms", "stop", item))
	told("", w.again(ctx, "resume", item))
	pause(ctx, time.Until(began.Add(time.Minute)))

	w.cache.Slow(2 * time.Second)
	pause(ctx, slowed)
	slow := time.Now()
	pause(ctx, 10*time.Second)
	told(w.allUnavailable(slow))
	took, said, err := w.operate(ctx, "stop", item)
	said = fmt.Sprintf("stop at 2 s, after %.1f s: %q", took.Seconds(), said)
	if err == nil || !strings.Contains(said, "Redis is pending") {
		err = fmt.Errorf("%s, which does not say that Redis is pending", said)
	} else {
		err = nil
	}
	told(said, err)
	told(w.acknowledged(ctx, "stop --hard at 2 s", "stop", "--hard", "--yes"))
	pause(ctx, slowed) // answers from before may still arrive
	shut := time.Now()
	pause(ctx, 3*time.Second)
	if n := len(w.sums.boughtSince(shut)); n > 0 {
		told("", fmt.Errorf("after stop --hard %d purchases still got through", n))
	}
	w.cache.Slow(0)
	pause(ctx, time.Second)
	told(w.acknowledged(ctx, "stop with Redis well again", "stop", item))
	told(w.acknowledged(ctx, "resume --hard", "resume", "--hard"))
	if len(wrong) > 0 {
		return strings.Join(did, "; "), errors.New(strings.Join(wrong, "; "))
	}
	return strings.Join(did, "; "), nil
}

// allUnavailable reports whether all purchases since then got 503 with Retry-After within buyLimit from a function
// that could not reach Redis. A gateway that found no instance answers 503, too, which proves nothing about the
// function.
func (w *rig) allUnavailable(since time.Time) (string, error) {
	good, slowest, bad := 0, time.Duration(0), map[string]int{}
	for _, a := range w.sums.boughtSince(since) {
		slowest = max(slowest, a.Took)
		switch {
		case a.Gateway:
			bad[fmt.Sprintf("%d by the gateway", a.Status)]++
		case a.Status != http.StatusServiceUnavailable || !a.Retry:
			bad[fmt.Sprintf("%d %s, Retry-After %v", a.Status, a.Code, a.Retry)]++
		case a.Took > buyLimit:
			bad[fmt.Sprintf("later than %v", buyLimit)]++
		default:
			good++
		}
	}
	said := fmt.Sprintf("at 2 s %d purchases heard 503 with Retry-After, the slowest after %.1f s", good,
		slowest.Seconds())
	if good == 0 || len(bad) > 0 {
		return "", fmt.Errorf("%s, others %v", said, bad)
	}
	return said, nil
}

// payDay does nothing: the crowd itself is the load.
func payDay(ctx context.Context, w *rig) (string, error) {
	<-ctx.Done()
	w.sums.mu.Lock()
	defer w.sums.mu.Unlock()
	slowest := time.Duration(0)
	for i := range w.sums.notified {
		slowest = max(slowest, w.sums.notified[i].Took)
	}
	return fmt.Sprintf("%d notifications, the slowest answered after %.2f s", len(w.sums.notified),
		slowest.Seconds()), nil
}

// fewest is the least number of notifications for the drill to be meaningful.
const fewest = 50

// allNotified checks that each notification was answered 200 in time.
func allNotified(w *rig) error {
	w.sums.mu.Lock()
	defer w.sums.mu.Unlock()
	bad := map[string]int{}
	for _, a := range w.sums.notified {
		switch {
		case a.Status != http.StatusOK && a.Gateway:
			bad[fmt.Sprintf("%d by the gateway", a.Status)]++
		case a.Status != http.StatusOK:
			bad[fmt.Sprintf("%d", a.Status)]++
		case a.Took > toldLimit:
			bad[fmt.Sprintf("later than %v", toldLimit)]++
		}
	}
	if len(bad) > 0 || len(w.sums.notified) < fewest {
		return fmt.Errorf("of %d notifications (%d at the least) these were not answered: %v", len(w.sums.notified),
			fewest, bad)
	}
	return nil
}
