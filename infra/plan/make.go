package plan

// Make plans a sale that Validate accepts.
func Make(s Sale) *Plan {
	p := &Plan{Sale: s, Today: Setting{Limits: Today}, Free: simulate(&s, unlimited)}
	p.Today.Limits.Admitting = s.admitting(Today.Rate)
	p.Today.Outcome = simulate(&s, p.Today.Limits)
	p.Planned.Limits = need(&s, &p.Free)
	p.Planned.Outcome = simulate(&s, p.Planned.Limits)
	p.Redis = redis(&s, &p.Planned)
	p.Tables = tables(&s, &p.Planned)
	p.Reads = reads(&s, &p.Planned)
	p.Admission = s.admission(p.Planned.Limits.Rate, p.Planned.Outcome.SoldOut)
	p.Door = p.accesses()
	p.Spans = p.spans()
	p.sized()
	p.quotas()
	p.Bill = bill(p)
	for _, l := range p.Bill {
		p.Total += l.USD
	}
	p.notes()
	return p
}
