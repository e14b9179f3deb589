package main

import (
	"github.com/your-org/seckill/proof/report"
)

// checked prints the result of a check.
func (p *page) checked(c *report.Checked) {
	for _, f := range c.Findings {
		p.line("%s", printable(f.String()))
	}
	p.more(c.Count - len(c.Findings))
	switch {
	case !c.OK():
		p.line("NOT as it was signed.")
	case c.Known:
		p.line("As it was signed by %s: %s, %s.", printable(c.Verifier), counted(c.Orders, "order", "orders"),
			counted(int(c.Lines), "line", "lines"))
	default:
		p.line("Undamaged: %s, %s. It says that %s signed it; --key with the shop's verifier shows whether that is so.",
			counted(c.Orders, "order", "orders"), counted(int(c.Lines), "line", "lines"), printable(c.Verifier))
	}
	for i := range c.Items {
		if it := &c.Items[i]; !it.Final {
			p.line("Item %s was read before its sale's end: not final.", printable(it.Item.Item))
		}
	}
	p.line("Root %s", c.Root)
}

// report prints a report for people.
func (p *page) report(c *report.Checked) {
	for i := range c.Items {
		for _, t := range c.Items[i].Tables() {
			p.line("%s", printable(t.Title))
			for _, row := range t.Rows {
				p.row(row...)
			}
			p.line("")
		}
	}
	p.checked(c)
}
