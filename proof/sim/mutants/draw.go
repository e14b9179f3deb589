package main

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strings"
)

// Fixed, so that the same sources yield the same drawn mutants everywhere.
const (
	drawSeed  = 1
	drawCount = 30
)

// unjudged lists files and functions of the flows that no guarantee covers: what a list or a page shows, how a file
// of items is read, what is known of a queued order during a rebuild, the operator's view of open money and questions
// that come too early; activities, staff's sessions and the live screen; which days are compared and may be, and what
// happens with an unreadable bill (simulated worlds rarely last two days); a clock that is set back, which one seed in
// tens of thousands shows (TestRegressions has it). Other tests cover these.
var unjudged = []string{"shop/shop.go:", "shop/describe.go:", "stage/import.go:", "shop/order.go:Orders:",
	"shop/order.go:mayHaveQueued:", "staff/staff.go:Check", "refund/operator.go:Open:",
	"refund/operator.go:cut:", "refund/operator.go:closingSince:", "refund/operator.go:Case:",
	"refund/operator.go:Ask:", "reconcile/reconcile.go:Run:", "reconcile/reconcile.go:Day:",
	"reconcile/reconcile.go:day:", "reconcile/reconcile.go:Kept:", "itemcache/itemcache.go:now:",
	"activity/", "session/", "livescreen/", "stage/publish.go:titles:"}

// candidates lists every mutant that the operators can make of flows and scripts.
func candidates(s *sources) ([]Mutant, error) {
	var out []Mutant
	for pattern, operators := range map[string]func(string, []byte) ([]Mutant, error){
		"shared/flow/*/*/*.go":           goMutants,
		"shared/driver/redisstock/*.lua": luaMutants,
	} {
		files, err := filepath.Glob(filepath.Join(s.root, pattern))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			file, err := filepath.Rel(s.root, f)
			if err != nil {
				return nil, err
			}
			file = filepath.ToSlash(file)
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			src, err := s.read(file)
			if err != nil {
				return nil, err
			}
			list, err := operators(file, src)
			if err != nil {
				return nil, err
			}
			out = append(out, slices.DeleteFunc(list, func(m Mutant) bool {
				return slices.ContainsFunc(unjudged, func(start string) bool {
					return strings.HasPrefix(m.Name, start)
				})
			})...)
		}
	}
	return out, nil
}

// drawn chooses count mutants that compile and are not known to be equivalent, and also returns the equivalent ones
// that the draw met. A mutant's position depends only on its name and the seed, so that changes elsewhere in the
// sources affect few of them.
func drawn(all []Mutant, seed uint64, count int, known map[string]string, compiles func(*Mutant) bool) ([]Mutant,
	error) {
	all = slices.Clone(all)
	turn := map[string]uint64{}
	for i := range all {
		turn[all[i].Name] = hash(fmt.Sprint(seed, "|", all[i].Name))
	}
	slices.SortFunc(all, func(a, b Mutant) int {
		return cmp.Or(cmp.Compare(turn[a.Name], turn[b.Name]), cmp.Compare(a.Name, b.Name))
	})
	var out []Mutant
	for _, m := range all {
		if count == 0 {
			return out, nil
		}
		if !compiles(&m) {
			continue
		}
		if m.Equivalent = known[m.Name]; m.Equivalent == "" {
			count--
		}
		out = append(out, m)
	}
	return nil, fmt.Errorf("the sources have too few mutants: %d more are wanted", count)
}

func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	x := h.Sum64() // FNV's high bits hardly depend on the last bytes, so mix them as in SplitMix64
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
