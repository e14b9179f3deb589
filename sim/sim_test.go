package sim

import (
	"flag"
	"testing"
)

var seedsFlag = flag.Int("seeds", 2000, "how many seeds TestSimulate plays")

func TestSimulate(t *testing.T) {
	bad := map[string]int{}
	steps := 0
	var fired [nFaults]int
	for seed := uint64(1); seed <= uint64(*seedsFlag); seed++ {
		r := Play(seed, Options{}, false)
		steps += r.Steps
		for f, n := range r.Fired {
			fired[f] += n
		}
		if r.Err != nil {
			n := NameOf(r.Err)
			if bad[n]++; bad[n] <= 3 {
				t.Errorf("seed %d: %v", seed, r.Err)
			}
		}
	}
	t.Logf("%d steps, bad %v", steps, bad)
	for f, n := range fired {
		t.Logf("%-16s %d", Faults[f].Name, n)
	}
}
