package memory

import (
	"maps"
	"slices"
	"sort"
)

// redisChunk is the largest number of members in one run of a sorted set: small enough to shift cheaply, large enough
// that a million members make few runs.
const redisChunk = 512

// redisZSet is a sorted set: members by score, equal scores by the members' bytes. A nil one reads as empty.
//
// The members are in ascending runs of at most redisChunk, none empty. Removing from the front and appending at the
// end touch one run; anything else is a binary search and a shift within one run.
type redisZSet struct {
	scores map[string]float64
	runs   [][]redisScored
}

type redisScored struct {
	score  float64
	member string
}

func (a redisScored) less(b redisScored) bool {
	return a.score < b.score || a.score == b.score && a.member < b.member
}

func newRedisZSet() *redisZSet { return &redisZSet{scores: map[string]float64{}} }

func (z *redisZSet) len() int {
	if z == nil {
		return 0
	}
	return len(z.scores)
}

func (z *redisZSet) score(member string) (float64, bool) {
	if z == nil {
		return 0, false
	}
	s, ok := z.scores[member]
	return s, ok
}

// add inserts a member with a score, or moves an existing one, and reports whether it is new.
func (z *redisZSet) add(member string, score float64) bool {
	old, exists := z.scores[member]
	if exists {
		if old == score {
			return false
		}
		z.cut(redisScored{old, member})
	}
	z.scores[member] = score
	z.insert(redisScored{score, member})
	return !exists
}

// remove removes a member and reports whether it existed.
func (z *redisZSet) remove(member string) bool {
	score, ok := z.scores[member]
	if !ok {
		return false
	}
	delete(z.scores, member)
	z.cut(redisScored{score, member})
	return true
}

// popMin removes and returns the lowest member; the set must not be empty.
func (z *redisZSet) popMin() redisScored {
	e := z.runs[0][0]
	delete(z.scores, e.member)
	z.drop(0, 0)
	return e
}

// find returns the position of the first member for which before is false: its run and its index there; the run after
// the last one if before is true for all. before must be monotonic in the set's order.
func (z *redisZSet) find(before func(redisScored) bool) (run, i int) {
	run = sort.Search(len(z.runs), func(r int) bool { return !before(z.runs[r][len(z.runs[r])-1]) })
	if run == len(z.runs) {
		return run, 0
	}
	return run, sort.Search(len(z.runs[run]), func(i int) bool { return !before(z.runs[run][i]) })
}

func (z *redisZSet) insert(e redisScored) {
	run, i := z.find(func(x redisScored) bool { return x.less(e) })
	if run == len(z.runs) { // the new highest member
		if run == 0 || len(z.runs[run-1]) == redisChunk {
			z.runs = append(z.runs, []redisScored{e})
		} else {
			z.runs[run-1] = append(z.runs[run-1], e)
		}
		return
	}
	if len(z.runs[run]) == redisChunk {
		const half = redisChunk / 2
		z.runs = slices.Insert(z.runs, run+1, slices.Clone(z.runs[run][half:]))
		clear(z.runs[run][half:])
		z.runs[run] = z.runs[run][:half]
		if i > half {
			run, i = run+1, i-half
		}
	}
	z.runs[run] = slices.Insert(z.runs[run], i, e)
}

func (z *redisZSet) cut(e redisScored) {
	run, i := z.find(func(x redisScored) bool { return x.less(e) })
	z.drop(run, i)
}

func (z *redisZSet) drop(run, i int) {
	switch {
	case len(z.runs[run]) == 1:
		z.runs = slices.Delete(z.runs, run, run+1)
	case i == 0:
		z.runs[run][0] = redisScored{} // free the member
		z.runs[run] = z.runs[run][1:]
	default:
		z.runs[run] = slices.Delete(z.runs[run], i, i+1)
	}
}

// each visits the members in order, until visit returns false.
func (z *redisZSet) each(visit func(redisScored) bool) {
	if z == nil {
		return
	}
	for _, run := range z.runs {
		for _, e := range run {
			if !visit(e) {
				return
			}
		}
	}
}

func (z *redisZSet) clone() *redisZSet {
	c := &redisZSet{scores: maps.Clone(z.scores), runs: make([][]redisScored, len(z.runs))}
	for i := range z.runs {
		c.runs[i] = slices.Clone(z.runs[i])
	}
	return c
}
