package sim

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// Run configures a run of many seeds.
type Run struct {
	First   uint64        // the first seed
	Seeds   int           // number of seeds; if 0, seeds are played until For has passed
	For     time.Duration // if 0, it takes as long as Seeds take
	Workers int           // goroutines, each with its own world; at least 1
	Options Options
	Measure bool            // measure units out of sale
	Each    func(*Summary)  // called after each seed, never concurrently; may be nil
	Most    int             // violations after which to stop; 0 means 1
	Until   <-chan struct{} // ends the run early; may be nil
}

// Summary is the result of a run.
type Summary struct {
	Seeds         int
	Steps, Calls  int // port calls with faults, and without
	Fired         [nFaults]int
	Enabled       [nFaults]int // seeds that enabled a kind
	Units, Unsold int
	// answers to shoppers that were checked; shoppers whose answers took too long to check
	Checked, Undecided int
	Spans              []time.Duration // times that a unit was out of sale
	Violations         []Result        // lowest seeds first
	Elapsed            time.Duration
	Hash               uint64 // of all seeds' hashes, independent of their order
}

// Play plays the seeds.
func (r Run) Play() *Summary {
	var mu sync.Mutex
	var wg sync.WaitGroup
	sum, next, start := &Summary{}, r.First, time.Now()
	for range max(1, r.Workers) {
		wg.Go(func() {
			for {
				select {
				case <-r.Until:
					return
				default:
				}
				mu.Lock()
				seed := next
				over := r.Seeds > 0 && seed >= r.First+uint64(r.Seeds) || r.For > 0 && time.Since(start) >= r.For ||
					len(sum.Violations) >= max(1, r.Most)
				next++
				mu.Unlock()
				if over {
					return
				}
				res := Play(seed, r.Options, r.Measure)
				mu.Lock()
				sum.add(&res)
				sum.Elapsed = time.Since(start)
				if r.Each != nil {
					r.Each(sum)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.SortFunc(sum.Violations, func(a, b Result) int { return int(a.Seed) - int(b.Seed) })
	return sum
}

func (s *Summary) add(r *Result) {
	s.Seeds++
	s.Steps += r.Steps
	s.Calls += r.Calls
	s.Units += r.Units
	s.Unsold += r.Unsold
	s.Checked += r.Checked
	s.Undecided += r.Undecided
	s.Spans = append(s.Spans, r.Spans...)
	s.Hash += r.Hash * (2*r.Seed + 1)
	for f := range r.Fired {
		s.Fired[f] += r.Fired[f]
		if r.Plan.Faults[f] {
			s.Enabled[f]++
		}
	}
	if r.Err != nil {
		s.Violations = append(s.Violations, *r)
	}
}

// enough seeds for every enabled kind of fault to happen.
const enough = 500

// Silent returns the enabled kinds of faults that never happened, for a run of at least 500 seeds.
func (s *Summary) Silent() []string {
	var out []string
	for f := range s.Fired {
		if s.Seeds >= enough && s.Enabled[f] > 0 && s.Fired[f] == 0 {
			out = append(out, Fault(f).String())
		}
	}
	return out
}

// Table prints how often faults and acts were played.
func (s *Summary) Table(w io.Writer) {
	fmt.Fprintf(w, "%-16s %9s %9s  %s\n", "fault", "seeds", "fired", "what it is")
	for f, k := range Faults {
		fmt.Fprintf(w, "%-16s %9d %9d  %s\n", k.Name, s.Enabled[f], s.Fired[f], k.Means)
	}
	fmt.Fprintf(w, "\nseeds %d, steps %d and %d when faults had stopped, %.0f seeds/s, hash %016x\n", s.Seeds, s.Steps,
		s.Calls, float64(s.Seeds)/s.Elapsed.Seconds(), s.Hash)
	fmt.Fprintf(w, "answers to shoppers judged %d; shoppers whose answers could not be judged %d\n", s.Checked,
		s.Undecided)
	fmt.Fprintf(w, "undersell: %d of %d units unsold with demand left; violations: %d\n", s.Unsold, s.Units,
		len(s.Violations))
}

// Percentile returns a percentile of the times that units were out of sale, in simulated time, or 0 if there are none.
func (s *Summary) Percentile(p float64) time.Duration {
	if len(s.Spans) == 0 {
		return 0
	}
	slices.Sort(s.Spans)
	return s.Spans[min(len(s.Spans)-1, int(p*float64(len(s.Spans))))]
}

// Report prints a violation so that a newcomer can follow it: its name, its seed, the smallest plan and history that
// still show it, and the last steps.
func (r *Result) Report(w io.Writer, lines int) {
	fmt.Fprintf(w, "%s broken by seed %d: %v\n", NameOf(r.Err), r.Seed, r.Err)
	faults := r.Plan.Faults.String()
	if faults == "" {
		faults = "none"
	}
	fmt.Fprintf(w, "smallest world found: %d shoppers, items %s, faults: %s; %d acts, %d steps\n", r.Plan.Shoppers,
		items(r.Plan.Items), faults, len(r.Acts), r.Steps)
	last := r.Last(lines)
	fmt.Fprintf(w, "its last %d steps (seconds since the sale began, process, call, outcome):\n  %s\n", len(last),
		strings.Join(last, "\n  "))
}

func items(list []ItemPlan) string {
	var out []string
	for _, it := range list {
		out = append(out, fmt.Sprintf("%d units, at most %d each", it.Stock, it.Limit))
	}
	return strings.Join(out, "; ")
}
