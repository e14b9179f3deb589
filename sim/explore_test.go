package sim

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"
)

var (
	exploreN    = flag.Uint64("seeds", 300, "how many seeds TestExplore plays, unless -explore says how long")
	exploreFor  = flag.Duration("explore", 0, "how long TestExplore looks")
	exploreFrom = flag.Uint64("from", 1, "its first seed")
	exploreSeed = flag.Uint64("seed", 0, "the only seed: shrunk, its interleaving printed")
	honest      = flag.Bool("honest", false, "judge \"sold out\", too")
	workers     = flag.Int("workers", 2, "how many explore at once")
)

// TestExplore plays random histories of several processes with faults. A failure names its seed; -seed prints its shrunk history.
func TestExplore(t *testing.T) {
	if *exploreSeed != 0 {
		c, acts, _, err := Explore(*exploreSeed, *honest, map[string]int{})
		if err == nil {
			return
		}
		c, acts = Shrink(c, acts, Kind(err), time.Minute)
		t.Logf("%+v", c)
		err = Replay(c, acts, t.Logf)
		t.Fatalf("seed %d, %d acts: %v", *exploreSeed, len(acts), err)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	end, seed, steps, seeds := time.Now().Add(*exploreFor), *exploreFrom, 0, 0
	found, reached := map[string][]string{}, map[string]int{}
	for range *workers {
		wg.Go(func() {
			seen := map[string]int{}
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				for k, n := range seen {
					reached[k] += n
				}
			}()
			for {
				mu.Lock()
				mine := seed
				seed++
				mu.Unlock()
				if *exploreFor == 0 && mine >= *exploreFrom+*exploreN || *exploreFor > 0 && time.Now().After(end) {
					return
				}
				_, _, n, err := Explore(mine, *honest, seen)
				mu.Lock()
				steps, seeds = steps+n, seeds+1
				if err != nil {
					k := Kind(err)
					found[k] = append(found[k], fmt.Sprintf("seed %d: %v", mine, err))
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("%d seeds, %d steps", seeds, steps)
	for _, k := range slices.Sorted(maps.Keys(reached)) {
		t.Logf("%-28s %d", k, reached[k])
	}
	for k, list := range found {
		t.Errorf("%s: %d, for example", k, len(list))
		for _, s := range list[:min(4, len(list))] {
			t.Error(s)
		}
	}
}
