package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/your-org/seckill/proof/sim"
	"github.com/your-org/seckill/proof/sim/branches"
	"github.com/your-org/seckill/proof/sim/branches/tap"
	"github.com/your-org/seckill/shared/driver/redisstock"
)

// played is the built binary's output as JSON.
type played struct {
	Violations []string // one for each violating seed
	Branches   []branches.Branch
}

// play plays seeds on every core and prints the outcomes of the scripts' conditions. The binary itself counts the
// flows' statements.
func play(out io.Writer, seeds uint64) error {
	c, err := branches.New()
	if err != nil {
		return err
	}
	tap.Wrap = func(runner any) any { return c.Wrap(runner.(redisstock.Runner)) }
	var p played
	var next atomic.Uint64
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for seed := next.Add(1); seed <= seeds; seed = next.Add(1) {
				if r := sim.Play(seed, sim.Options{}, false); r.Err != nil {
					mu.Lock()
					p.Violations = append(p.Violations, fmt.Sprintf("seed %d: %v", seed, r.Err))
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	slices.Sort(p.Violations)
	p.Branches = c.Branches()
	return json.NewEncoder(out).Encode(p)
}
