package sim

import (
	"maps"
	"slices"
	"testing"
)

// TestDoorIsTried checks that histories have what A1 and A4 are about: every way to come in, and to be kept out.
func TestDoorIsTried(t *testing.T) {
	heard := map[string]int{}
	for seed := uint64(1); seed <= 1000; seed++ {
		r := Play(seed, Options{}, false)
		if r.Err != nil {
			t.Fatalf("seed %d: %v", seed, r.Err)
		}
		for what, n := range r.sim.door.heard {
			heard[what] += n
		}
	}
	for _, what := range slices.Sorted(maps.Keys(heard)) {
		t.Logf("%6d %s", heard[what], what)
	}
}
