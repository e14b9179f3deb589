package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/your-org/seckill/proof/sim"
)

// simFlags are the flags of `seckill sim`.
type simFlags struct {
	seed     uint64
	seeds    int
	minutes  float64
	workers  int
	faults   string
	trace    string
	save     string
	replay   string
	figures  string
	items    int
	shoppers int
	undersell,
	list bool
}

func simCommand() *cobra.Command {
	f := simFlags{}
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Simulate sales with crashes, lost messages, a forgetful Redis and late payments",
		Long: `Simulate sales: the real flows, scripts and state table run on embedded drivers and a
simulated clock. The seed decides everything: the items, what shoppers do, which process makes the
next port call, and what fails. After every step the simulator checks the guarantees of
docs/GUARANTEES.md against the rows that were written. After the faults stop, the system has to come
to rest with every unit sold. The same seed produces the same trace, byte for byte, on any machine;
its hash is printed.

A violation ends the run with exit code 1. The output names the violation and its seed, with the
smallest history that still shows it and its last steps in words. To repeat a seed:
"seckill sim --seed N --seeds 1 --trace FILE".`,
		Example: `  seckill sim                              a thousand seeds
  seckill sim --seeds 100000               some minutes
  seckill sim --minutes 60 --workers 4
  seckill sim --faults flush,crash         only these kinds of faults
  seckill sim --faults=-poison             all but one
  seckill sim --seed 42 --seeds 1 --trace trace.txt`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	p := cmd.Flags()
	p.Uint64Var(&f.seed, "seed", 1, "first seed")
	p.IntVar(&f.seeds, "seeds", 1000, "number of seeds; 0 with --minutes: as many as the time allows")
	p.Float64Var(&f.minutes, "minutes", 0, "run for this many minutes instead")
	p.IntVar(&f.workers, "workers", runtime.NumCPU(), "simulations at the same time; the result does not depend on it")
	p.StringVar(&f.faults, "faults", "all",
		`kinds of faults that may happen, separated by commas; "none"; "-name" excludes one (see --list)`)
	p.StringVar(&f.trace, "trace", "", "file for the trace of the last seed")
	p.StringVar(&f.save, "save", "", "file for the smallest history of a violation")
	p.StringVar(&f.replay, "replay", "", "repeat the history of a file that --save wrote")
	p.StringVar(&f.figures, "figures", "",
		"page to write the counts of a run of the first 100,000 seeds or more into (make figures)")
	p.IntVar(&f.items, "items", 0, "items on sale, 1 or 2; 0: the seed decides")
	p.IntVar(&f.shoppers, "shoppers", 0, "shoppers, up to 1000; 0: the seed decides")
	p.BoolVar(&f.undersell, "undersell", false, "measure for each kind of fault alone how long units are out of sale")
	p.BoolVar(&f.list, "list", false, "list the kinds of faults")
	return cmd
}

// errViolated ends a run that has printed a violation.
var errViolated = errors.New("a guarantee does not hold")

func (f *simFlags) run(ctx context.Context, out, progress io.Writer) error {
	if f.list {
		for _, k := range sim.Faults {
			fmt.Fprintf(out, "%-16s %s\n", k.Name, k.Means)
		}
		return nil
	}
	if f.replay != "" {
		return f.again(out)
	}
	faults, err := sim.ParseFaults(f.faults)
	if err != nil {
		return fmt.Errorf("--faults: %w", err)
	}
	if err := f.check(); err != nil {
		return err
	}
	debug.SetGCPercent(400) // simulations are small and short-lived
	r := sim.Run{First: f.seed, Seeds: f.seeds, Workers: f.workers, Options: sim.Options{Faults: &faults,
		Items: f.items, Shoppers: f.shoppers},
		Until: ctx.Done()}
	if f.minutes > 0 {
		r.Seeds, r.For = 0, time.Duration(f.minutes*float64(time.Minute))
	}
	if f.undersell {
		return f.measure(r, out)
	}
	bar := f.bar(r, progress)
	r.Each = func(s *sim.Summary) { _ = bar.Set(s.Seeds) }
	sum := r.Play()
	_ = bar.Finish()
	sum.Table(out)
	if f.trace != "" {
		last := sim.Play(f.seed+uint64(max(0, sum.Seeds-1)), r.Options, false)
		if err := os.WriteFile(f.trace, last.Trace(), 0o600); err != nil {
			return faultError{fmt.Errorf("--trace: %w", err)}
		}
		fmt.Fprintf(out, "trace of seed %d, %d steps, hash %016x: %s\n", last.Seed, last.Steps, last.Hash, f.trace)
	}
	for _, v := range sum.Violations {
		small := v.Shrink(time.Minute)
		fmt.Fprintln(out)
		small.Report(out, 30)
		if f.save != "" {
			if err := save(f.save, small.History()); err != nil {
				return err
			}
			fmt.Fprintf(out, "saved; to repeat it: "+self+" sim --replay %s\n", f.save)
		}
		fmt.Fprintf(out, "to repeat it: "+self+" sim --seed %d --seeds 1%s\n", v.Seed, f.narrowed())
	}
	if len(sum.Violations) > 0 {
		return faultError{errViolated}
	}
	if silent := sum.Silent(); len(silent) > 0 {
		return faultError{fmt.Errorf("these faults are enabled and never fired: %v", silent)}
	}
	if f.figures != "" && sum.Seeds >= f.seeds {
		if err := sim.WriteBlock(f.figures, "seeds", sum.Figures(time.Now().UTC())); err != nil {
			return faultError{fmt.Errorf("--figures: %w", err)}
		}
	}
	return nil
}

// wholeSeeds is the least number of seeds for --figures.
const wholeSeeds = 100_000

// check refuses invalid flags.
func (f *simFlags) check() error {
	switch {
	case f.seeds < 0 || f.minutes < 0 || f.seeds == 0 && f.minutes == 0:
		return errors.New("--seeds: want at least 1, or --minutes")
	case f.workers < 1 || f.workers > 1024:
		return errors.New("--workers: want 1 to 1024")
	case f.items < 0 || f.items > 2:
		return errors.New("--items: want 1 or 2, or 0 (the seed decides)")
	case f.shoppers < 0 || f.shoppers > 1000:
		return errors.New("--shoppers: want 1 to 1000, or 0 (the seed decides)")
	case f.figures != "" && (f.seed != 1 || f.seeds < wholeSeeds || f.minutes > 0 || f.undersell || f.narrowed() != ""):
		return errors.New("--figures: wants seeds 1 to 100000 or more, all faults, and neither --items nor --shoppers")
	}
	return nil
}

func save(file string, h sim.History) error {
	b, err := json.MarshalIndent(h, "", " ")
	if err == nil {
		err = os.WriteFile(file, append(b, '\n'), 0o600)
	}
	if err != nil {
		return faultError{fmt.Errorf("--save: %w", err)}
	}
	return nil
}

// again repeats a file's history.
func (f *simFlags) again(out io.Writer) error {
	var h sim.History
	b, err := os.ReadFile(f.replay)
	if err == nil {
		err = json.Unmarshal(b, &h)
	}
	if err != nil {
		return fmt.Errorf("--replay: %w", err)
	}
	r := sim.Replay(h.Plan, h.Acts)
	if f.trace != "" {
		if err := os.WriteFile(f.trace, r.Trace(), 0o600); err != nil {
			return faultError{fmt.Errorf("--trace: %w", err)}
		}
	}
	if r.Err != nil {
		r.Report(out, 30)
		return faultError{errViolated}
	}
	fmt.Fprintf(out, "%d acts, %d steps, hash %016x: no violation. It used to show: %s\n", len(h.Acts), r.Steps,
		r.Hash, h.Found)
	return nil
}

// narrowed returns the flags that change the meaning of a seed.
func (f *simFlags) narrowed() (s string) {
	if f.faults != "all" {
		s += " --faults=" + f.faults
	}
	if f.items > 0 {
		s += fmt.Sprintf(" --items %d", f.items)
	}
	if f.shoppers > 0 {
		s += fmt.Sprintf(" --shoppers %d", f.shoppers)
	}
	return s
}

func (f *simFlags) bar(r sim.Run, w io.Writer) *progressbar.ProgressBar {
	if waitingOn(w).w == nil {
		return progressbar.DefaultSilent(int64(r.Seeds))
	}
	n := int64(r.Seeds)
	if n == 0 {
		n = -1
	}
	return progressbar.NewOptions64(n, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("seeds"),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionThrottle(200*time.Millisecond),
		progressbar.OptionClearOnFinish())
}

// measure runs the seeds once for each kind of fault, with only that fault enabled, and prints how long units are out
// of sale.
func (f *simFlags) measure(r sim.Run, out io.Writer) error {
	fmt.Fprintf(out, "%-16s %7s %9s %8s %8s %10s %10s %10s\n", "only this fault", "seeds", "fired", "units", "unsold",
		"times out", "median", "p99")
	row := func(name string, faults sim.FaultSet) error {
		r.Options.Faults, r.Options.Always, r.Measure = &faults, true, true
		sum := r.Play()
		if len(sum.Violations) > 0 {
			sum.Violations[0].Report(out, 30)
			return faultError{errViolated}
		}
		fired := 0
		for k, n := range sum.Fired {
			if faults[k] {
				fired += n
			}
		}
		fmt.Fprintf(out, "%-16s %7d %9d %8d %8d %10d %10s %10s\n", name, sum.Seeds, fired, sum.Units, sum.Unsold,
			len(sum.Spans),
			sum.Percentile(0.5).Round(10*time.Millisecond), sum.Percentile(0.99).Round(10*time.Millisecond))
		return nil
	}
	if err := row("none", sim.FaultSet{}); err != nil {
		return err
	}
	for k := range sim.Faults {
		var only sim.FaultSet
		only[k] = true
		if err := row(sim.Faults[k].Name, only); err != nil {
			return err
		}
	}
	return nil
}
