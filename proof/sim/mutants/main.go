// Command mutants checks that the simulator would notice errors in the system: it changes flows, scripts and ledger,
// one place at a time, and plays seeds until a guarantee is broken. A mutant that survives reveals a gap in the
// simulated worlds or in the checks.
//
// Mutants are listed in chosen*.go; most were chosen by hand. All are switches in one binary, built from copies of the
// sources with go build -overlay: production code has no hooks for them.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const usage = `mutants sabotages the system in one place at a time and has the simulator find out.

  go run ./proof/sim/mutants [flags]

It prints for each mutant the guarantee that caught it, and after how many seeds; or the test, of those that no seed
shows. It exits 1 when a mutant survives, or when the system without a mutant shows a violation.

`

type options struct {
	only    string
	sample  int
	seed    string
	list    bool
	limits  limits
	workers int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := mutants(ctx, os.Stdout, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func parseFlags(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("mutants", flag.ContinueOnError)
	f.Usage = func() {
		fmt.Fprint(f.Output(), usage)
		f.PrintDefaults()
	}
	f.StringVar(&o.only, "only", "", "`mutants` by number or by part of their names, comma separated")
	f.IntVar(&o.sample, "sample", 0, "play only this many, drawn by -seed; 0 for all")
	f.StringVar(&o.seed, "seed", "", "any `text` that decides what -sample draws, as a commit's hash")
	f.BoolVar(&o.list, "list", false, "only list the mutants")
	f.Uint64Var(&o.limits.mutant, "seeds", 60_000, "play at most this many `seeds` of a mutant")
	f.Uint64Var(&o.limits.unmutated, "unmutated", 200,
		"play this many `seeds` of the system without a mutant")
	f.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "mutants at a time")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 || o.workers < 1 || o.sample < 0 {
		return o, fmt.Errorf("bad arguments %q, see -help", args)
	}
	return o, nil
}

func mutants(ctx context.Context, w io.Writer, args []string) error {
	o, err := parseFlags(args)
	if err != nil {
		return err
	}
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("go list -m: %w", err)
	}
	s := newSources(strings.TrimSpace(string(root)))
	all, err := collect(s)
	if err != nil {
		return err
	}
	picked, err := pick(all, o)
	if err != nil {
		return err
	}
	if o.list {
		for _, m := range picked {
			fmt.Fprintf(w, "%3d %-52s %s: %s\n", m.Number, m.Name, m.File, m.Breaks)
		}
		return nil
	}
	player, list, err := build(ctx, s, all, filepath.Join(s.root, ".tools", "mutants"))
	if err != nil {
		return err
	}
	caughtBy := func(m *Mutant) outcome { return test(ctx, s.root, list, m) }
	t := try(ctx, w, player, caughtBy, picked, o.limits, o.workers)
	fmt.Fprintf(w, "%d mutants: %d caught, %d survived; first by %s\n", len(picked), t.caught, t.survived,
		strings.Join(t.first(), ", "))
	if len(t.failed) > 0 {
		return errors.New(strings.Join(t.failed, "\n  "))
	}
	return nil
}

// collect returns all mutants, numbered.
func collect(s *sources) ([]Mutant, error) {
	all, err := chosenMutants(s)
	return all, errors.Join(err, stale(slow, all), stale(tested, all))
}

// stale returns an error if a list names a mutant that the sources no longer have.
func stale[V any](known map[string]V, all []Mutant) error {
	for name := range known {
		if !slices.ContainsFunc(all, func(m Mutant) bool { return m.Name == name }) {
			return fmt.Errorf("listed mutant %s is stale: there is none of this name", name)
		}
	}
	return nil
}

// pick chooses what to play. A sample has no slow mutants: its purpose is to see mutants caught quickly.
func pick(all []Mutant, o options) ([]Mutant, error) {
	if o.only != "" {
		return only(all, strings.Split(o.only, ","))
	}
	if o.sample == 0 {
		return all, nil
	}
	out := slices.DeleteFunc(slices.Clone(all), func(m Mutant) bool { return slow[m.Name] != "" })
	slices.SortFunc(out, func(a, b Mutant) int { return cmp.Compare(hash(o.seed+"|"+a.Name), hash(o.seed+"|"+b.Name)) })
	return out[:min(o.sample, len(out))], nil
}

// only returns the mutants that the argument selects: by number, or by a part of the name.
func only(all []Mutant, parts []string) ([]Mutant, error) {
	named := map[string]bool{}
	var out []Mutant
	for _, m := range all {
		match := false
		for _, part := range parts {
			n, err := strconv.Atoi(part)
			if err == nil && n == m.Number || err != nil && strings.Contains(m.Name, part) {
				named[part], match = true, true
			}
		}
		if match {
			out = append(out, m)
		}
	}
	for _, part := range parts {
		if !named[part] {
			return nil, fmt.Errorf("no mutant %q", part)
		}
	}
	return out, nil
}

func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	x := h.Sum64() // FNV's high bits hardly depend on the last bytes, so mix them as in SplitMix64
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
