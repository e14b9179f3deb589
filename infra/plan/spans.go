package plan

import "slices"

// spans returns what purchases read from the table of quotas, nil unless the limit spans a family.
func (p *Plan) spans() *Access {
	if !p.Sale.Spans {
		return nil
	}
	quotas := p.Tables[slices.IndexFunc(p.Tables, func(t Table) bool { return t.Name == "quotas" })]
	a := &Access{Name: quotas.Name, Reads: spanReads * p.Planned.Outcome.PeakScripts, Writes: quotas.PeakPlace,
		WarmWrites: quotas.Warm}
	a.WarmReads = toWarm(a.Reads, tableReads)
	return a
}

// spanText prints what purchases of an item whose limit spans need.
func (p *Plan) spanText(line func(string, ...any)) {
	a := p.Spans
	if a == nil {
		return
	}
	line("  have    table %-13s %5.0f read units per second of purchases, for the limit that spans; it serves %d at "+
		"once.", a.Name, a.Reads, tableReads)
	line("          Purchases of other variants add theirs. One whose read fails or takes over 0.2 s goes on, and is")
	line("          rejected later if it is too much")
	if a.WarmReads > tableReads {
		a.warmText(line)
	}
}
