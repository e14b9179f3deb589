package sim

import (
	"slices"
	"strings"
	"time"
)

// Explore makes a seed's history while it plays it.
func Explore(seed uint64, honest bool, seen map[string]int) (c Config, acts []Act, steps int, err error) {
	c, r := configOf(seed)
	c.Honest = honest
	e, err := NewExplorer(c)
	if err != nil {
		return c, nil, 0, err
	}
	defer e.close()
	defer func() {
		for k, n := range e.Events {
			seen[string(k)] += n
		}
		for k, n := range e.Reached {
			seen[k] += n
		}
	}()
	total, last, id := 0, -1, 0
	for _, w := range c.Weights {
		total += w
	}
	for range c.Length {
		t := Act{A: r.Uint64()}
		k := r.IntN(total)
		n := 0
		for ; k >= c.Weights[n]; n++ {
			k -= c.Weights[n]
		}
		t.Kind = kinds[n]
		if len(e.processes) >= 7 && slices.Contains([]string{"buy", "consume", "repair", "sweep", "stage", "close"}, t.Kind) || r.IntN(100) < c.Sticky && n < 12 && t.Kind != "tick" {
			t.Kind = "step"
		}
		if t.Kind == "step" || t.Kind == "kill" {
			if len(e.processes) == 0 {
				continue
			}
			t.ID = e.processes[r.IntN(len(e.processes))].id
			if r.IntN(100) < c.Sticky && e.find(last) != nil {
				t.ID = last
			}
			last = t.ID
		} else {
			id++
			t.ID = id
		}
		acts = append(acts, t)
		if err := e.Play(t); err != nil {
			return c, acts, e.Steps, err
		}
	}
	return c, acts, e.Steps, e.End()
}

// Replay plays a history.
func Replay(c Config, acts []Act, log func(string, ...any)) error {
	e, err := NewExplorer(c)
	if err != nil {
		return err
	}
	defer e.close()
	e.Log = log
	for _, t := range acts {
		if err := e.Play(t); err != nil {
			return err
		}
	}
	return e.End()
}

// Kind is the guarantee that an error names.
func Kind(err error) string {
	if err == nil {
		return ""
	}
	for f := range strings.FieldsSeq(err.Error()) {
		for part := range strings.SplitSeq(f, "/") {
			if len(part) >= 2 && strings.ContainsRune("ILH", rune(part[0])) && part[1] >= '0' && part[1] <= '9' {
				return part
			}
		}
	}
	return "?"
}

// Shrink leaves out of a failing history what it does not need to fail in the same way.
func Shrink(c Config, acts []Act, kind string, budget time.Duration) (Config, []Act) {
	end := time.Now().Add(budget)
	fails := func(c Config, acts []Act) bool { return Kind(Replay(c, acts, nil)) == kind }
	for _, simpler := range []func(*Config){
		func(c *Config) { c.Duplicate = 0 }, func(c *Config) { c.Skew = make([]time.Duration, len(c.Skew)) }, func(c *Config) { c.Late = 0 },
		func(c *Config) { c.Unknown = 0 },
	} {
		d := c
		if simpler(&d); fails(d, acts) {
			c = d
		}
	}
	for size := max(1, len(acts)/2); ; {
		changed := false
		for at := 0; at < len(acts) && time.Now().Before(end); {
			less := slices.Delete(slices.Clone(acts), at, min(at+size, len(acts)))
			if fails(c, less) {
				acts, changed = less, true
			} else {
				at += size
			}
		}
		if time.Now().After(end) || size == 1 && !changed {
			return c, acts
		}
		if !changed || size > 1 {
			size = max(1, size/2)
		}
	}
}
