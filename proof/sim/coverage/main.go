// Command coverage measures how much of the flows and of the stock's scripts the simulator reaches. It builds itself
// again so that the flows' statements and the scripts' conditions are counted, plays seeds with that binary, and
// prints each flow's share of reached statements, every unreached block and every missing outcome of a condition. It
// fails below 95 % of the statements, for a missing outcome that is not listed, for a listed one that occurred, and
// for a violation. A successful run of 20,000 seeds or more writes its figures to docs/GUARANTEES.md.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/your-org/seckill/proof/sim"
	"github.com/your-org/seckill/proof/sim/branches"
)

// leastPercent is the share of the flows' statements that must be reached.
const leastPercent = 95

// wholeSeeds is the smallest number of seeds after which a run updates docs/GUARANTEES.md.
const wholeSeeds = 20_000

func main() {
	seeds := flag.Uint64("seeds", wholeSeeds, "how many seeds are played, from 1")
	player := flag.Bool("play", false, "play them here, and print JSON: what the built binary is called with")
	flag.Parse()
	run := report
	if *player {
		run = play
	}
	if err := run(os.Stdout, *seeds); err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
}

func report(out io.Writer, seeds uint64) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	p, profile, err := build(root, seeds)
	if err != nil {
		return err
	}
	blocks, err := parseProfile(profile)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d seeds\n", seeds)
	var f figures
	errs := []error{reportFlows(out, root, blocks, unreachable, &f), reportScripts(out, p.Branches, &f)}
	for _, v := range p.Violations {
		errs = append(errs, errors.New(v))
	}
	if err := errors.Join(errs...); err != nil || seeds < wholeSeeds {
		return err
	}
	return sim.WriteBlock(filepath.Join(root, sim.GuaranteesPage), "coverage", f.text(seeds, time.Now().UTC()))
}

// figures are the figures of a run in docs/GUARANTEES.md.
type figures struct{ reached, statements, taken, ways, listed int }

func (f *figures) text(seeds uint64, day time.Time) string {
	return fmt.Sprintf("Coverage, run of %s: %s seeds reach %s of %s statements of the flows (%.1f %%) and take %d "+
		"of %d ways\nout of the scripts' conditions; the other %d are listed, each with the reason. "+
		"The statements are without those that\nno world plays, which proof/sim/coverage/except.go names.\n",
		day.Format(time.DateOnly), sim.Thousands(seeds), sim.Thousands(f.reached), sim.Thousands(f.statements),
		percent(f.reached, f.statements), f.taken, f.ways, f.listed)
}

func reportFlows(out io.Writer, root string, blocks []block, table []exception, f *figures) error {
	reached, all := map[string]int{}, map[string]int{}
	blocks, err := counted(root, blocks)
	if err != nil {
		return err
	}
	for _, b := range blocks {
		for _, name := range []string{b.flow(), "all flows"} {
			all[name] += b.statements
			if b.times > 0 {
				reached[name] += b.statements
			}
		}
	}
	for _, name := range sortedKeys(all) {
		fmt.Fprintf(out, "%-24s %4d of %4d statements  %5.1f %%\n", name, reached[name], all[name],
			percent(reached[name], all[name]))
	}
	f.reached, f.statements = reached["all flows"], all["all flows"]
	rest, err := unreached(root, blocks, table)
	for _, r := range rest {
		fmt.Fprintln(out, "not reached:", r)
	}
	if got := percent(reached["all flows"], all["all flows"]); got < leastPercent {
		err = errors.Join(err, fmt.Errorf("%.1f %% of the flows' statements are reached: want %d %%", got,
			leastPercent))
	}
	return err
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(of) }

func reportScripts(out io.Writer, list []branches.Branch, f *figures) error {
	counted := int64(0)
	for _, b := range list {
		counted += b.True + b.False
	}
	if counted == 0 {
		return errors.New("no condition was counted: the stock's runner was not handed over")
	}
	exceptions := slices.Concat(branches.Impossible, branches.Unplayed)
	untaken, err := branches.Untaken(list, exceptions)
	f.ways, f.listed = 2*len(list), len(exceptions)
	f.taken = f.ways - f.listed - len(untaken)
	fmt.Fprintf(out, "scripts: %d conditions, of %d ways out %d are taken, %d listed as never\n", len(list), f.ways,
		f.taken, f.listed)
	for _, name := range untaken {
		err = errors.Join(err, errors.New(name))
	}
	return err
}
