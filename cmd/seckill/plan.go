package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/infra/plan"
	"github.com/your-org/seckill/infra/stackstate"
)

// planFlags are the flags of `seckill plan`.
type planFlags struct {
	plan.Sale
	at              string
	to              target
	with            map[string]string
	json, overrides bool
}

func planCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "What a sale on AWS needs and costs: requests, quotas, settings, waits, the bill",
		Long: `Calculate what a sale needs: requests per second, quotas to have raised, parameters to deploy
with, how long shoppers wait, and the costs. It works without AWS: it simulates a model of the
crowd, of AWS's documented limits and of this system's measured and estimated times in steps of
10 ms, once with the defaults, and once with the smallest settings under which no shopper waits
longer than --wait. The output lists the assumptions.

--edge plans with the CDN of "make deploy EDGE=true" in front: it answers pages, files, lists,
status and the time; purchases and looks at orders pass it.`,
		Example: `  seckill plan --shoppers 1000000 --units 1000 --at 2026-12-12T10:00:00+08:00 --edge
  seckill plan --shoppers 50000 --units 500 --at 2026-12-12T10:00:00+08:00 --wait 30s --json
  make deploy ENV=prod OVERRIDES="$(seckill plan --shoppers 50000 --units 500 \
    --at 2026-12-12T10:00:00Z --overrides)"                           for the day of the sale
  make deploy ENV=prod OVERRIDES=Size=small                          after it
  make deploy ENV=prod BUSY=true OVERRIDES="$(seckill plan --stack seckill-prod --with BuyRate=500)"`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	p := cmd.Flags()
	p.IntVar(&f.Shoppers, "shoppers", 0, "number of shoppers")
	p.IntVar(&f.Units, "units", 0, "number of units for sale")
	p.StringVar(&f.at, "at", "", "opening of the sale (RFC 3339)")
	p.IntVar(&f.Count, "count", 1, "units per order")
	p.IntVar(&f.Items, "items", plan.DefaultItems, "number of items in the lists")
	p.BoolVar(&f.Edge, "edge", false, "with the CDN of make deploy EDGE=true in front")
	p.StringVar(&f.Checks, "checks", plan.ChecksOff, "the item's checks: off, standard or strict")
	p.BoolVar(&f.Spans, "spans", false, "the item's limit spans a family (limit_spans)")
	p.BoolVar(&f.Webhook, "webhook", false, "with a webhook, which gets each change of an order")
	p.DurationVar(&f.Wait, "wait", plan.DefaultWait,
		"maximum time that a shopper waits for an answer, and an order for its row")
	p.Float64Var(&f.First, "first", plan.DefaultFirst, "share of shoppers who wait for the opening")
	p.DurationVar(&f.Within, "within", plan.DefaultWithin, "time within which these shoppers press the button")
	p.DurationVar(&f.Rest, "rest", plan.DefaultRest, "time within which 95 % of the other shoppers come")
	p.DurationVar(&f.Before, "before", plan.DefaultBefore,
		"time before the opening in which the waiting shoppers open their pages")
	p.Float64Var(&f.Looks, "looks", plan.DefaultLooks, "calls per second of an open page while a sale is near or on")
	p.Lookup("looks").DefValue = fmt.Sprintf("%.2f", plan.DefaultLooks)
	p.DurationVar(&f.Paying, "paying", plan.DefaultPaying, "average time until a buyer pays")
	p.DurationVar(&f.Signin, "signin", 0,
		"time before the opening within which all shoppers sign in; 0: as long as it takes")
	p.BoolVar(&f.json, "json", false, "print the result as JSON")
	p.BoolVar(&f.overrides, "overrides", false,
		"print only the parameters for the day of the sale, for make deploy OVERRIDES=…")
	p.StringVar(&f.to.stack, "stack", "",
		"print the parameters of this deployed stack, with the numbers of --with changed")
	f.to.onAWS(p.StringVar)
	p.StringToStringVar(&f.with, "with", nil, "with --stack: `NUMBERS` to change, such as BuyRate=500,BuyBurst=100")
	return cmd
}

func (f *planFlags) run(cmd *cobra.Command) error {
	if f.to.stack != "" || f.with != nil {
		return f.changed(cmd)
	}
	if f.at == "" {
		return errors.New("--at is missing: give the opening of the sale, such as 2026-12-12T10:00:00+08:00")
	}
	at, err := time.Parse(time.RFC3339, f.at)
	if err != nil {
		return fmt.Errorf("--at %q: want a time with its zone, such as 2026-12-12T10:00:00+08:00", f.at)
	}
	f.At = at
	if f.json && f.overrides {
		return errors.New("--json and --overrides contradict each other: give one of them")
	}
	if err := f.Validate(); err != nil {
		return err
	}
	p := plan.Make(f.Sale)
	switch {
	case f.overrides:
		return say(cmd, "%s", p.Deploy())
	case f.json:
		return writeJSON(cmd.OutOrStdout(), p)
	}
	return p.WriteText(cmd.OutOrStdout())
}

// changed prints the parameters of a stack of which some numbers are changed.
func (f *planFlags) changed(cmd *cobra.Command) error {
	if f.to.stack == "" || f.with == nil {
		return errors.New("want --stack NAME and --with NAME=NUMBER together: numbers of the stack to change")
	}
	s, err := openStack(cmd.Context(), &f.to, waitingOn(cmd.ErrOrStderr()))
	if err != nil {
		return err
	}
	numbers := plan.Numbers(func(name string) string { return stackstate.Parameter(&s.found, name) })
	text, err := plan.Changed(numbers, f.with)
	if err != nil {
		return fmt.Errorf("--with: %w", err)
	}
	return say(cmd, "%s", text)
}
