package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/plan"
)

// planFlags are the flags of `seckill plan`.
type planFlags struct {
	plan.Sale
	at              string
	compare         string
	back            string
	json, overrides bool
}

func planCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "What a sale on AWS needs and costs: requests, quotas, settings, waits, the bill",
		Long: `Say what a sale needs before it is held: requests by second, quotas to have raised,
parameters to deploy with, how long shoppers wait, what it costs. It asks nobody: a model of the
crowd, of AWS's documented limits and of this system's measured and guessed times is played in steps
of 10 ms, once with the defaults and once with the smallest settings under which nobody who gets
past the edge waits longer than --wait. What is assumed is printed with it.

--edge is the share of two kinds of calls that something in front of API Gateway answers for good:
looks at lists, items and the time, by a CDN; purchases, by a waiting page. Nothing in template.yaml
does that, so it is 0 unless you have it.`,
		Example: `  seckill plan --shoppers 1000000 --units 1000 --at 2026-12-12T10:00:00+08:00 --edge 0.8
  seckill plan --shoppers 50000 --units 500 --at 2026-12-12T10:00:00+08:00 --wait 30s --json
  seckill load --json report.json; seckill plan --compare report.json
  make deploy ENV=prod OVERRIDES="$(seckill plan --shoppers 50000 --units 500 --at 2026-12-12T10:00:00Z --overrides)"
  make deploy ENV=prod OVERRIDES="$(seckill plan --overrides-back prod)"     afterwards: as before the sale`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	p := cmd.Flags()
	p.IntVar(&f.Shoppers, "shoppers", 0, "how many come")
	p.IntVar(&f.Units, "units", 0, "how many units are for sale")
	p.StringVar(&f.at, "at", "", "when the sale opens (RFC 3339)")
	p.IntVar(&f.Count, "count", 1, "units of an order")
	p.IntVar(&f.Items, "items", plan.DefaultItems, "how many items the lists have")
	p.Float64Var(&f.Edge, "edge", 0, "share of looks and purchases that something before API Gateway answers, 0 to 1")
	p.DurationVar(&f.Wait, "wait", plan.DefaultWait,
		"the longest that a shopper may wait for an answer, and an order for its row")
	p.Float64Var(&f.First, "first", plan.DefaultFirst, "share of shoppers who wait for the opening")
	p.DurationVar(&f.Within, "within", plan.DefaultWithin, "in which they press the button")
	p.DurationVar(&f.Rest, "rest", plan.DefaultRest, "in which 95 in 100 of the others come")
	p.DurationVar(&f.Before, "before", plan.DefaultBefore, "over which those who wait open their pages")
	p.Float64Var(&f.Looks, "looks", plan.DefaultLooks, "calls per second of an open page")
	p.Lookup("looks").DefValue = fmt.Sprintf("%.2f", plan.DefaultLooks)
	p.DurationVar(&f.Paying, "paying", plan.DefaultPaying, "that a buyer takes to pay, on average")
	p.StringVar(&f.compare, "compare", "",
		"read a report of seckill load --json, and print what is predicted of that crowd on this machine beside what "+
			"it met")
	p.BoolVar(&f.json, "json", false, "print one JSON document")
	p.BoolVar(&f.overrides, "overrides", false, "print only the parameters of the sale's day, for make deploy "+
		"OVERRIDES=…")
	p.StringVar(&f.back, "overrides-back", "",
		"print what takes them back, explicitly, as this environment of samconfig.toml (in this folder) has them")
	return cmd
}

func (f *planFlags) run(cmd *cobra.Command) error {
	if f.compare != "" {
		return f.beside(cmd)
	}
	if cmd.Flags().Changed("overrides-back") {
		return f.backText(cmd)
	}
	if f.at == "" {
		return errors.New("--at is missing: when the sale opens, such as 2026-12-12T10:00:00+08:00")
	}
	at, err := time.Parse(time.RFC3339, f.at)
	if err != nil {
		return fmt.Errorf("--at %q: want a time with its zone, such as 2026-12-12T10:00:00+08:00", f.at)
	}
	f.At = at
	if f.json && f.overrides {
		return errors.New("--json and --overrides: want one of them")
	}
	if err := f.Validate(); err != nil {
		return err
	}
	p := plan.Make(f.Sale)
	switch {
	case f.overrides:
		return say(cmd, "%s", p.DayText())
	case f.json:
		return writeJSON(cmd.OutOrStdout(), p)
	}
	return p.WriteText(cmd.OutOrStdout())
}

// samconfig is what make deploy is told, by environment.
const samconfig = "samconfig.toml"

// backText prints what takes a sale's day back. A parameter that is left out of a deployment keeps its value, so each
// is named.
func (f *planFlags) backText(cmd *cobra.Command) error {
	if cmd.Flags().NFlag() > 1 {
		return errors.New("--overrides-back goes by samconfig.toml alone: want no other flag")
	}
	text, err := os.ReadFile(samconfig)
	if err != nil {
		return fmt.Errorf("--overrides-back: %w", err)
	}
	_, section, ok := strings.Cut(string(text), "\n["+f.back+".deploy.parameters]\n")
	if !ok || f.back == "" {
		return fmt.Errorf("--overrides-back: %s has no environment %q", samconfig, f.back)
	}
	section, _, _ = strings.Cut(section, "\n[")
	given := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\s*"([A-Za-z]+)=([^"]*)"`).FindAllStringSubmatch(section, -1) {
		given[m[1]] = m[2]
	}
	return say(cmd, "%s", plan.BackText(given))
}

// beside compares a prediction with what a crowd met.
func (f *planFlags) beside(cmd *cobra.Command) error {
	if cmd.Flags().NFlag() > 1 {
		return errors.New("--compare takes the crowd from the report: want no other flag")
	}
	file, err := os.Open(f.compare)
	if err != nil {
		return fmt.Errorf("--compare: %w", err)
	}
	defer func() { _ = file.Close() }()
	l, err := plan.ReadLoad(file)
	if err != nil {
		return fmt.Errorf("--compare %s: %w", f.compare, err)
	}
	return l.Compare(cmd.OutOrStdout(), plan.Machine)
}
