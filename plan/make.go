package plan

// Make plans a sale that Validate accepts.
func Make(s Sale) *Plan {
	p := &Plan{Sale: s, Today: Setting{Limits: Today}, Free: simulate(&s, unlimited)}
	p.Today.Outcome = simulate(&s, Today)
	p.Planned.Limits = need(&s, &p.Free)
	p.Planned.Outcome = simulate(&s, p.Planned.Limits)
	p.Redis = redis(&s, &p.Planned)
	p.Tables = tables(&s, &p.Planned)
	p.Reads = reads(&s, &p.Planned)
	p.overrides()
	p.Bill = bill(p)
	for _, l := range p.Bill {
		p.Total += l.USD
	}
	p.notes()
	return p
}
