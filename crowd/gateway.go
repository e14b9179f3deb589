package crowd

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/your-org/seckill/shared/adapter/alipay/fakegateway"
)

// plan is what goes wrong with payments for this crowd.
func (o *Options) plan() map[fakegateway.Fault]float64 {
	out := map[fakegateway.Fault]float64{}
	if o.Late > 0 {
		out[fakegateway.PayLate] = 1 // nobody pays late but those who mean to
	}
	if o.LostNotifications > 0 {
		out[fakegateway.NotificationLost] = o.LostNotifications
	}
	if o.Unknown > 0 {
		out[fakegateway.CallUnknown] = o.Unknown
	}
	if o.TwoTrades > 0 {
		out[fakegateway.TwoTrades] = 1 // who opens the cashier again wants a second trade
	}
	return out
}

// possible says what of the options the sale cannot do.
func (o *Options) possible(sc *scene) error {
	var paying []string
	for _, s := range []struct {
		flag  string
		share float64
	}{{"--late", o.Late}, {"--twice", o.Twice}, {"--two-trades", o.TwoTrades}} {
		if s.share > 0 {
			paying = append(paying, s.flag)
		}
	}
	switch {
	case len(paying) > 0 && sc.cashier == "":
		return UsageError{fmt.Errorf("%s: %s names no cashier where anybody could pay", strings.Join(paying, ", "),
			o.base())}
	case o.Late > 0 && sc.state == nil:
		return UsageError{fmt.Errorf("--late: the clock of %s cannot be moved: only that of a \"seckill run\" can",
			o.base())}
	}
	return nil
}

// faults are those of the fake gateway of a `seckill run` while a crowd is there.
type faults struct {
	operator *operatorClient
	before   fakegateway.Faults
	landed   map[string]int
	taken    map[string]int
	over     bool
}

// setFaults has payments go wrong as the options say, besides what goes wrong already.
func (d *operatorClient) setFaults(ctx context.Context, o *Options) (*faults, error) {
	plan := o.plan()
	if len(plan) == 0 {
		return nil, nil
	}
	var was, is fakegateway.FaultReport
	err := d.call(ctx, http.MethodGet, "/faults", nil, &was)
	if err == nil && was.Landed == nil {
		err = fmt.Errorf("%s/faults answers something else", d.base)
	}
	if err != nil {
		return nil, UsageError{fmt.Errorf(
			"--late, --two-trades, --lost-notifications, --unknown: %s has no test gateway whose faults can be set, "+
				"as a \"seckill run\" has: %w", d.base, err)}
	}
	all := fakegateway.Faults{Seed: was.Seed, Shares: maps.Clone(was.Shares)}
	if len(all.Shares) == 0 {
		all = fakegateway.Faults{Seed: uint64(o.Seed), Shares: map[fakegateway.Fault]float64{}}
	}
	maps.Copy(all.Shares, plan)
	if err := d.call(ctx, http.MethodPut, "/faults", all, &is); err != nil {
		return nil, fmt.Errorf("the faults of the test gateway cannot be set: %w", err)
	}
	return &faults{operator: d, before: was.Faults}, nil
}

// named are counts by the names of faults.
func named(counts map[fakegateway.Fault]int) map[string]int {
	out := map[string]int{}
	for fault, n := range counts {
		out[string(fault)] = n
	}
	return out
}

// end takes away what was set, once, and notes how often it landed, and how often the shop was taken in by it.
func (f *faults) end(ctx context.Context) error {
	if f == nil || f.over {
		return nil
	}
	var was, is fakegateway.FaultReport
	if f.operator.call(ctx, http.MethodGet, "/faults", nil, &was) == nil {
		f.landed, f.taken = named(was.Landed), named(was.Taken)
	}
	if err := f.operator.call(ctx, http.MethodPut, "/faults", f.before, &is); err != nil {
		return err
	}
	f.over = true
	return nil
}
