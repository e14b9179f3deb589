// Package branches counts how the conditions of the stock's Lua scripts come out. In: any runner of scripts. Out: a
// runner that answers the same and counts, and for each condition of each file of package redisstock how often it was
// true and false. Nothing of the scripts, of package redisstock or of a Redis changes for it: the text of a script is
// rewritten before it is run.
package branches

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/your-org/seckill/shared/adapter/redisstock"
)

// Branch is one condition of a script, with how often it came out which way. Conditions are what if, while and until
// ask, each operand of an and or an or whose truth decides, and each for: true when it ran at all, false when there was
// nothing to run over. What is the same in every run, as a literal, is no condition.
type Branch struct {
	File  string // of package redisstock: "reserve.lua"; what scripts share counts once, as "common.lua"
	Line  int    // in that file, from 1
	Text  string // the condition in Lua
	True  int64
	False int64
}

// place names a condition among all scripts: the same one of a shared file has the same place in each.
type place struct {
	file      string
	line, nth int // the nth condition of the line
}

// marked is a script that tells which way its conditions went.
type marked struct {
	script *redisstock.Script
	sites  []*Branch
}

// Counter counts for any number of runners. Safe for concurrent use.
type Counter struct {
	mu       sync.Mutex
	scripts  map[string]*marked // by SHA of the plain script
	branches []*Branch
	places   map[place]*Branch
}

// New makes a counter that knows every condition of every script. An error means that this package does not understand
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

// Wrap returns a runner that runs the stock's scripts on next and counts. It answers as next does, errors included; a
// script that ends in an error is not counted.
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

// take splits a marked script's reply into its trace, which is counted, and the plain script's reply.
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
	if len(list) == 1 { // a nil ends a Lua list
		return nil, nil
	}
	return list[1], nil
}

// Branches returns all conditions by file and line, with what was counted until now.
func (c *Counter) Branches() []Branch {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Branch, len(c.branches))
	for i, b := range c.branches {
		out[i] = *b
	}
	return out
}
