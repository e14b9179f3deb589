// Command coverage says what of the flows and of the stock's scripts the simulator reaches. It builds itself once more
// so that the flows' statements and the scripts' conditions are counted, has that binary play seeds, and prints for
// each flow the share of statements reached, every block that was not, and every way in which no condition came out. It
// fails under 95 % of the statements, for a condition that never came out one way and is not listed, for a listed one
// that did, and for a violation.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"seckill/sim/branches"
)

// leastPercent of the flows' statements are reached.
const leastPercent = 95

func main() {
	seeds := flag.Uint64("seeds", 20000, "how many seeds are played, from 1")
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
	errs := []error{reportFlows(out, root, blocks, unreachable), reportScripts(out, p.Branches)}
	for _, v := range p.Violations {
		errs = append(errs, errors.New(v))
	}
	return errors.Join(errs...)
}

func reportFlows(out io.Writer, root string, blocks []block, table []exception) error {
	reached, all := map[string]int{}, map[string]int{}
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

func reportScripts(out io.Writer, list []branches.Branch) error {
	counted := int64(0)
	for _, b := range list {
		counted += b.True + b.False
	}
	if counted == 0 {
		return errors.New("no condition was counted: the stock's runner was not handed over")
	}
	exceptions := slices.Concat(branches.Impossible, branches.Unplayed)
	untaken, err := branches.Untaken(list, exceptions)
	fmt.Fprintf(out, "scripts: %d conditions, of %d ways out %d are taken, %d listed as never\n", len(list),
		2*len(list),
		2*len(list)-len(untaken)-len(exceptions), len(exceptions))
	for _, name := range untaken {
		err = errors.Join(err, errors.New(name))
	}
	return err
}
