package crowd

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// plan returns the gateway's faults for this crowd.
func (o *Options) plan() map[fakegateway.Fault]float64 {
	out := map[fakegateway.Fault]float64{}
	if o.Late > 0 {
		out[fakegateway.PayLate] = 1 // only late payers press after the hold
	}
	if o.LostNotifications > 0 {
		out[fakegateway.NotificationLost] = o.LostNotifications
	}
	if o.Unknown > 0 {
		out[fakegateway.CallUnknown] = o.Unknown
	}
	if o.TwoTrades > 0 {
		out[fakegateway.TwoTrades] = 1 // only these shoppers open the cashier again
	}
	return out
}

// possible returns an error when the sale does not support an option.
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
	case o.Bots == nil && sc.item.Checks != seckill.ChecksOff:
		return UsageError{fmt.Errorf("item %s has %s checks, and this crowd gets no tickets: every purchase would be "+
			"refused; name an item without checks, or send people and scripts who pass checks with --bots",
			sc.item.ID, sc.item.Checks)}
	case len(paying) > 0 && sc.cashier == "":
		return UsageError{fmt.Errorf("%s: %s names no cashier, so no order can be paid", strings.Join(paying, ", "),
			o.base())}
	case o.Late > 0 && sc.state == nil:
		return UsageError{fmt.Errorf("--late: the clock of %s cannot be moved: want a \"seckill run\"",
			o.base())}
	}
	return nil
}

// faults are the faults that a crowd has set at the fake gateway of a `seckill run`.
type faults struct {
	operator *operatorClient
	before   fakegateway.Faults
	landed   map[fakegateway.Fault]int
	taken    map[fakegateway.Fault]int
	over     bool
}

// setFaults adds the options' faults to those that the gateway already has. It returns nil when there are none to add.
func (d *operatorClient) setFaults(ctx context.Context, o *Options) (*faults, error) {
	plan := o.plan()
	if len(plan) == 0 {
		return nil, nil
	}
	var was, is fakegateway.FaultReport
	err := d.call(ctx, http.MethodGet, "/faults", nil, &was)
	if err == nil && was.Landed == nil {
		err = fmt.Errorf("%s/faults does not answer with faults", d.base)
	}
	if err != nil {
		return nil, UsageError{fmt.Errorf(
			"--late, --two-trades, --lost-notifications, --unknown: %s has no test gateway whose faults can be set; "+
				"want a \"seckill run\": %w", d.base, err)}
	}
	all := fakegateway.Faults{Seed: was.Seed, Shares: maps.Clone(was.Shares)}
	if len(all.Shares) == 0 {
		all = fakegateway.Faults{Seed: uint64(o.Seed), Shares: map[fakegateway.Fault]float64{}}
	}
	maps.Copy(all.Shares, plan)
	if err := d.call(ctx, http.MethodPut, "/faults", all, &is); err != nil {
		return nil, fmt.Errorf("cannot set the faults of the test gateway: %w", err)
	}
	return &faults{operator: d, before: was.Faults}, nil
}

// end restores the gateway's faults once. It records how often each fault took effect and how often it fooled the shop.
func (f *faults) end(ctx context.Context) error {
	if f == nil || f.over {
		return nil
	}
	var was, is fakegateway.FaultReport
	if f.operator.call(ctx, http.MethodGet, "/faults", nil, &was) == nil {
		f.landed, f.taken = was.Landed, was.Taken
	}
	if err := f.operator.call(ctx, http.MethodPut, "/faults", f.before, &is); err != nil {
		return err
	}
	f.over = true
	return nil
}
