package sim

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
)

var (
	seedsFlag = flag.Int("seeds", seedsOfTest, "how many seeds TestSimulate plays")
	firstFlag = flag.Uint64("first", 1, "its first seed")
	update    = flag.Bool("update", false, "write testdata/hashes and the generated parts of pages anew")
)

// TestMain lets garbage grow: worlds are made and left by the thousand, and collecting them takes a quarter of the
// time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

// TestSimulate plays seeds; `seckill sim` plays more, and any single one again.
func TestSimulate(t *testing.T) {
	sum := Run{First: *firstFlag, Seeds: *seedsFlag, Workers: runtime.NumCPU(), Most: 3}.Play()
	for _, v := range sum.Violations {
		var b bytes.Buffer
		small := v.Shrink(20 * time.Second)
		small.Report(&b, 30)
		t.Error(b.String())
	}
	if silent := sum.Silent(); len(silent) > 0 {
		t.Errorf("enabled in %d seeds and never fired: %v", sum.Seeds, silent)
	}
	if sum.Unsold > 0 {
		t.Errorf("%d units unsold", sum.Unsold)
	}
	var b bytes.Buffer
	sum.Table(&b)
	t.Log("\n" + b.String())
}

// TestSeedsRepeat checks that the same seed gives the same trace, byte for byte, however many run concurrently.
func TestSeedsRepeat(t *testing.T) {
	const n = 40
	one, many := Run{First: 7, Seeds: n, Workers: 1}.Play(), Run{First: 7, Seeds: n, Workers: 4}.Play()
	if one.Hash != many.Hash || one.Steps != many.Steps || one.Steps == 0 {
		t.Errorf("one worker: %d steps, hash %016x; four: %d, %016x", one.Steps, one.Hash, many.Steps, many.Hash)
	}
	a, b := Play(7, Options{}, false), Play(7, Options{}, false)
	if !bytes.Equal(a.Trace(), b.Trace()) || len(a.Trace()) == 0 {
		t.Error("a seed played twice left two traces")
	}
	again := Replay(a.Plan, a.Acts)
	if !bytes.Equal(a.Trace(), again.Trace()) {
		t.Error("a history that is replayed leaves another trace")
	}
	if other := Play(8, Options{}, false); other.Hash == a.Hash {
		t.Error("two seeds, one hash")
	}
}

// TestKnownHashes replays seeds whose traces were recorded on another machine. A change of the flows, the scripts or
// the simulator changes them, and requires an update of testdata/hashes: go test ./proof/sim -run KnownHashes -update.
func TestKnownHashes(t *testing.T) {
	const file = "testdata/hashes"
	var b bytes.Buffer
	for seed := uint64(1); seed <= 25; seed++ {
		r := Play(seed, Options{}, false)
		if r.Err != nil {
			t.Fatalf("seed %d: %v", seed, r.Err)
		}
		fmt.Fprintf(&b, "seed %d: %d steps, hash %016x\n", seed, r.Steps, r.Hash)
	}
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("the traces are others than those written down:\n%s\nwritten down:\n%s", b.Bytes(), want)
	}
}

// TestViolationIsShrunkAndTold checks that a system in which two orders get one unit is caught by name and reported
// with few steps.
func TestViolationIsShrunkAndTold(t *testing.T) {
	var faults FaultSet
	faults[Restore], faults[Flush] = true, true
	sum := Run{First: 1, Seeds: 500, Options: Options{Faults: &faults, Always: true, Break: dropUnitCondition}}.Play()
	if len(sum.Violations) == 0 {
		t.Fatal("nobody saw it in 500 seeds")
	}
	v := sum.Violations[0]
	small := v.Shrink(20 * time.Second)
	if NameOf(small.Err) != "I1" || len(small.Acts) > len(v.Acts)/2 {
		t.Errorf("%v with %d acts, shrunk to %v with %d", v.Err, len(v.Acts), small.Err, len(small.Acts))
	}
	var b bytes.Buffer
	small.Report(&b, 30)
	for _, want := range []string{"I1 broken by seed", "shopper", "order-1", "sold to order"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
}

func dropUnitCondition(writes []ledger.Write) {
	for i := range writes {
		if writes[i].Table == ledger.TableUnits && writes[i].Op == ledger.OpPut {
			writes[i].If = nil
		}
	}
}

func TestParseFaults(t *testing.T) {
	for list, want := range map[string]int{"": int(nFaults), "all": int(nFaults), "none": 0, "flush, crash": 2,
		"-flush": int(nFaults) - 1, "all,-flush,-crash": int(nFaults) - 2} {
		s, err := ParseFaults(list)
		n := 0
		for _, on := range s {
			if on {
				n++
			}
		}
		if err != nil || n != want {
			t.Errorf("%q: %d kinds, error %v, want %d", list, n, err, want)
		}
	}
	if _, err := ParseFaults("flsh"); err == nil || !strings.Contains(err.Error(), "flush") {
		t.Errorf("flsh: %v, want an error that lists the kinds", err)
	}
}

// TestFaultsAlone checks that if one kind is enabled, it happens and no other does.
func TestFaultsAlone(t *testing.T) {
	for f := range Faults {
		t.Run(Faults[f].Name, func(t *testing.T) {
			t.Parallel()
			var only FaultSet
			only[f] = true
			if Fault(f) == Park { // messages are received too often only if something else goes wrong
				only[Fail] = true
			}
			var fired [nFaults]int
			for seed := uint64(1); seed <= 400 && (seed <= 10 || fired[f] == 0); seed++ {
				r := Play(seed, Options{Faults: &only, Always: true}, false)
				if r.Err != nil {
					t.Errorf("seed %d: %v", seed, r.Err)
				}
				for k, n := range r.Fired {
					fired[k] += n
				}
			}
			for k, n := range fired {
				if (n > 0) != only[k] {
					t.Errorf("%s fired %d times", Faults[k].Name, n)
				}
			}
		})
	}
}

// TestSpans checks that a unit which was given back and is not in the stock yet counts as out of sale until it is.
func TestSpans(t *testing.T) {
	s, err := New(Plan{Items: []ItemPlan{{Stock: 2, Limit: 2}}, Instances: 1, Skew: make([]time.Duration, 1),
		Installed: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Out.On = true
	s.Out.look(s)
	s.Forget()
	s.Out.look(s)
	s.Clock.Advance(7 * time.Second)
	if err := readable(s.Start(nil).Repair.Run(context.Background())); err != nil {
		t.Fatal(err)
	}
	s.Out.look(s)
	if want := []time.Duration{7 * time.Second, 7 * time.Second}; !slices.Equal(s.Out.Spans, want) {
		t.Errorf("out of sale for %v, want %v", s.Out.Spans, want)
	}
}
