package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/your-org/seckill/proof/sim/mutants/on"
)

// build builds the player with every mutant in it. It also returns the overlay's path, for go test.
func build(ctx context.Context, s *sources, mutants []Mutant, folder string) (player, list string, err error) {
	files, err := overlay(s, mutants)
	if err != nil {
		return "", "", err
	}
	list, err = writeOverlay(s.root, filepath.Join(folder, "overlay"), files)
	if err != nil {
		return "", "", err
	}
	player = filepath.Join(folder, "play")
	cmd := exec.CommandContext(ctx, "go", "build", "-overlay", list, "-o", player, "./proof/sim/mutants/play")
	cmd.Dir = s.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return player, list, nil
}

// outcome is the result for one mutant.
type outcome struct {
	on.Result
	took time.Duration
	err  error // an error of the player itself
}

// run plays seeds from 1 with a mutant until one reveals it. A seed that also fails without the mutant proves
// nothing: it is reported, and the next one is played.
func run(ctx context.Context, player string, mutant int, seeds uint64, tell func(outcome)) outcome {
	for from := uint64(1); ; {
		o := play(ctx, player, mutant, from, seeds+1-from)
		if o.Seeds += from - 1; o.Seed == 0 || o.err != nil || o.Check == "" {
			return o
		}
		without := play(ctx, player, 0, o.Seed, 1)
		if without.err == nil && without.Check == "" {
			return o
		}
		tell(without)
		if from = o.Seed + 1; from > seeds {
			o.Check, o.Detail = "", ""
			return o
		}
	}
}

// play plays seeds with one mutant, 0 for none, in its own process. A process that dies without a report counts as
// caught; one killed from outside proves nothing.
func play(ctx context.Context, player string, mutant int, from, seeds uint64) outcome {
	cmd := exec.CommandContext(ctx, player, "-from", fmt.Sprint(from), "-seeds", fmt.Sprint(seeds))
	// One thread each: the workers share the machine's processors.
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", on.Env, mutant), "GOMAXPROCS=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var o outcome
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		o.err = ctx.Err()
	case errors.As(err, &exit) && exit.ExitCode() < 0:
		o.err = fmt.Errorf("the player was ended from outside: %w", err)
	case err == nil:
		o.err = json.Unmarshal(stdout.Bytes(), &o.Result)
	default:
		o.Check, o.Detail = "crash", err.Error()+": "+firstLine(stderr.String())
	}
	return o
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// tally counts how mutants ended.
type tally struct {
	caught, survived int
	failed           []string       // why the run as a whole fails
	by               map[string]int // how many each guarantee or test caught first
}

// limits are the largest numbers of seeds that a run plays.
type limits struct{ mutant, unmutated uint64 }

// try plays the unmutated system first, then every mutant, several concurrently, and reports each outcome on w. test
// plays the mutants listed in tested.
func try(ctx context.Context, w io.Writer, player string, test func(*Mutant) outcome, mutants []Mutant, max limits,
	workers int) tally {
	t := tally{by: map[string]int{}}
	if o := play(ctx, player, 0, 1, max.unmutated); o.err != nil || o.Check != "" {
		t.broken(o)
		return t
	}
	fmt.Fprintf(w, "no mutant: no violation in %d seeds\n", max.unmutated)
	var mu sync.Mutex
	var wg sync.WaitGroup
	queue := make(chan Mutant)
	for range workers {
		wg.Go(func() {
			for m := range queue {
				began, o := time.Now(), outcome{}
				if _, ok := tested[m.Name]; ok {
					o = test(&m)
				} else {
					o = run(ctx, player, m.Number, max.mutant, func(o outcome) {
						mu.Lock()
						defer mu.Unlock()
						t.broken(o)
					})
				}
				o.took = time.Since(began)
				mu.Lock()
				t.count(w, &m, o)
				mu.Unlock()
			}
		})
	}
	for _, m := range mutants {
		queue <- m
	}
	close(queue)
	wg.Wait()
	return t
}

// first lists what caught mutants first, and how many.
func (t *tally) first() (out []string) {
	for _, check := range slices.Sorted(maps.Keys(t.by)) {
		out = append(out, fmt.Sprint(check, " ", t.by[check]))
	}
	return out
}

// broken records, once per seed, that the system fails without any mutant.
func (t *tally) broken(o outcome) {
	why := fmt.Sprintf("without a mutant, seed %d breaks %s: %s", o.Seed, o.Check, firstLine(o.Detail))
	if o.err != nil {
		why = fmt.Sprintf("without a mutant: %v", o.err)
	}
	if !slices.Contains(t.failed, why) {
		t.failed = append(t.failed, why)
	}
}

func (t *tally) count(w io.Writer, m *Mutant, o outcome) {
	ending := "SURVIVED"
	switch {
	case o.err != nil:
		ending = "FAILED"
		t.failed = append(t.failed, fmt.Sprintf("%s: %v", m.Name, o.err))
	case o.Check != "":
		ending = o.Check
		t.caught++
		t.by[o.Check]++
	default:
		t.survived++
		t.failed = append(t.failed, fmt.Sprintf("%s survived %d seeds: %s (%s)", m.Name, o.Seeds, m.Breaks, m.File))
	}
	fmt.Fprintf(w, "%3d %-52s %-10s %6d seeds %6.1f s  %s\n", m.Number, m.Name, ending, o.Seeds, o.took.Seconds(),
		m.Breaks)
	if o.Check != "" {
		fmt.Fprintf(w, "%57s%.150s\n", "", strings.ReplaceAll(o.Detail, "\n", "; "))
	}
}
