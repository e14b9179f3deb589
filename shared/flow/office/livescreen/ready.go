package livescreen

import (
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Check is one line of what has to be right before a sale starts. Detail is a number or a name, or "" if the line needs
// no detail. A line whose figures were never read is unknown and not OK.
type Check struct {
	Check   string `json:"check"`
	OK      bool   `json:"ok"`
	Unknown bool   `json:"unknown,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

// ready checks what the doctor checks, as far as the row knows it.
func ready(l *seckill.Live) []Check {
	var out []Check
	check := func(name string, known, ok bool, detail string) {
		out = append(out, Check{name, known && ok, !known, detail})
	}
	s, read := l.Stock.Value, l.Stock.Failed == "" && !l.Stock.At.IsZero()
	check("installed", read, s.Installed, "")
	check("not_stopped", read, s.State != seckill.ItemStopped, "")
	check("units", read && s.Installed, s.Left+s.Held == s.Stock, "")
	skew := s.Clock.Sub(l.Stock.At)
	check("clock", read, skew.Abs() <= 2*seckill.SkewBound, skew.Round(time.Millisecond).String())
	for _, server := range l.Servers.Value {
		check("server", l.Servers.Failed == "", server.Problem == "", server.Address+" "+server.Problem)
	}
	if l.Servers.At.IsZero() {
		check("server", false, false, "")
	}
	for _, q := range l.Queues.Value {
		known := l.Queues.Failed == ""
		check("queue", known, q.Visible == 0, q.Name)
		check("dead_letters", known, q.Parked == 0, q.Name)
	}
	money := l.Money.Failed == "" && !l.Money.At.IsZero()
	check("refunds_refused", money, l.Money.Value.Refused == 0, "")
	check("counting", l.Counts.Failed == "" && !l.Counts.At.IsZero(), !l.Counts.Value.Recounting, "")
	return out
}
