// Package branches counts the outcomes of the conditions in the stock's Lua scripts. In: any runner of scripts. Out:
// a runner with the same answers that counts, and for each condition in each file of package redisstock how often it
// was true and false. It rewrites a script's text before running it; the scripts, package redisstock and Redis stay
// unchanged.
package branches

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/your-org/seckill/shared/driver/redisstock"
)

// Branch is one condition of a script and its counts. Conditions are those of if, while and until, each operand of
// and or or whose truth decides something, and each for: true if its body ran, false if there was nothing to iterate.
// A literal is not a condition.
type Branch struct {
	File  string // of package redisstock: "reserve.lua"; shared code counts once, as "common.lua"
	Line  int    // in that file, from 1
	Text  string // the condition in Lua
	True  int64
	False int64
}

// place identifies a condition across scripts: one in a shared file has the same place in each script.
type place struct {
	file      string
	line, nth int // the nth condition on the line
}

// marked is a script that reports the outcomes of its conditions.
type marked struct {
	script *redisstock.Script
	sites  []*Branch
}

// Counter counts for any number of runners. It is safe for concurrent use.
type Counter struct {
	mu       sync.Mutex
	scripts  map[string]*marked // by SHA of the original script
	branches []*Branch
	places   map[place]*Branch
}

// New returns a counter that knows every condition of every script. It returns an error if this package cannot parse
// a script.
func New() (*Counter, error) {
	c := &Counter{scripts: map[string]*marked{}, places: map[place]*Branch{}}
	plain, err := scripts()
	if err != nil {
		return nil, err
	}
	for _, s := range plain {
		if err := c.know(s); err != nil {
			return nil, fmt.Errorf("script %s: %w", s.Name, err)
		}
	}
	slices.SortStableFunc(c.branches, func(a, b *Branch) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return c, nil
}

func (c *Counter) know(s *redisstock.Script) error {
	text, sites, err := mark(s.Name, s.Source)
	if err != nil {
		return err
	}
	files, err := filesOf(s)
	if err != nil {
		return err
	}
	m := &marked{script: redisstock.NewScript(s.Name, text)}
	seen := map[place]int{}
	for _, spot := range sites {
		p := files.at(spot.line)
		seen[p]++
		p.nth = seen[p]
		b := c.places[p]
		if b == nil {
			b = &Branch{File: p.file, Line: p.line, Text: spot.text}
			c.places[p] = b
			c.branches = append(c.branches, b)
		}
		m.sites = append(m.sites, b)
	}
	c.scripts[s.SHA] = m
	return nil
}

// Wrap returns a runner that runs the stock's scripts on next and counts. Its answers and errors are next's; a script
// that ends in an error is not counted.
func (c *Counter) Wrap(next redisstock.Runner) redisstock.Runner { return runner{c, next} }

type runner struct {
	counter *Counter
	next    redisstock.Runner
}

// Run implements redisstock.Runner.
func (r runner) Run(ctx context.Context, s *redisstock.Script, keys, args []string) (any, error) {
	m := r.counter.scripts[s.SHA]
	if m == nil {
		return nil, fmt.Errorf("script %s: not one of the stock's", s.Name)
	}
	v, err := r.next.Run(ctx, m.script, keys, args)
	if err != nil {
		return nil, err
	}
	return r.counter.take(m, v)
}

// take splits a marked script's reply into its trace, which it counts, and the original script's reply.
func (c *Counter) take(m *marked, v any) (any, error) {
	list, _ := v.([]any)
	if len(list) == 0 {
		return nil, fmt.Errorf("script %s: answered %v, no trace", m.script.Name, v)
	}
	trace, _ := list[0].([]any)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, step := range trace {
		switch n, _ := step.(int64); {
		case n > 0 && int(n) <= len(m.sites):
			m.sites[n-1].True++
		case n < 0 && int(-n) <= len(m.sites):
			m.sites[-n-1].False++
		default:
			return nil, fmt.Errorf("script %s: a trace of %v", m.script.Name, step)
		}
	}
	if len(list) == 1 { // a Lua list ends at the first nil
		return nil, nil
	}
	return list[1], nil
}

// Branches returns all conditions by file and line, with their current counts.
func (c *Counter) Branches() []Branch {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Branch, len(c.branches))
	for i, b := range c.branches {
		out[i] = *b
	}
	return out
}
