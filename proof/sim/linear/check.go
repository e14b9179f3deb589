package linear

import "fmt"

// Check checks a history. The error is a *Contradiction, ErrUndecided, or another error if the history itself is
// malformed.
func Check(history []Op, opt Options) (Report, error) {
	if opt.Steps == 0 {
		opt.Steps = DefaultSteps
	}
	parts, err := split(history)
	if err != nil {
		return Report{}, err
	}
	r := Report{Partitions: len(parts)}
	if c := owners(parts); c != nil {
		return r, c
	}
	for _, p := range parts {
		c := p.facts(&opt)
		if c == nil {
			c = p.refusals(&opt, &r)
		}
		if c != nil {
			return r, c
		}
		r.Operations += p.plan(&opt)
		switch v, shows := decide(p.slots, p.steps, opt.Steps); v {
		case no:
			return r, p.contradiction(shows)
		case undecided:
			r.Undecided++
		}
	}
	if c := unitsOnce(parts); c != nil {
		return r, c
	}
	if r.Undecided > 0 {
		return r, fmt.Errorf("%w for %d of %d shoppers", ErrUndecided, r.Undecided, len(parts))
	}
	return r, nil
}
