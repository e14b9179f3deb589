package crowd

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Text writes the report for a terminal.
func (r *Report) Text(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	p := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	o := &r.Options
	p("%d shoppers in %s at %s: item %s %s, %d units, %s yuan, %d a shopper", o.Shoppers, o.Ramp, o.URL, o.Item,
		r.Title, r.Stock, r.Price.Yuan(), r.Limit)
	if r.Interrupted {
		p("BROKEN OFF: figures are of the shoppers who had come by then")
	}
	p("")
	p("shoppers\t\tp50 ms\tp99 ms\tp99.9 ms\tmax ms\t")
	for i := range r.Outcomes {
		x := &r.Outcomes[i]
		p("  %s\t%d\t%s", x.Words(), x.Count, x.row())
	}
	if r.Count(string(failed)) == 0 {
		p("  failed\t0\t\t\t\t\t")
	}
	p("  of these unavailable, then answered\t%d\t%s", r.Bothered.Count, r.Bothered.row())
	p("requests")
	for _, a := range r.Requests.Acts {
		p("  %s\t%d\t%s%s", a.Name, a.Sent, a.Latency.row(), a.troubles())
	}
	if g := r.Requests.Pages; g != nil && g.Shoppers > 0 {
		each := func(n int) float64 { return float64(n) / float64(g.Shoppers) }
		p("  calls per shopper until the answer\t%.2f\tpast the CDN %.2f, without files %.2f", each(g.Calls),
			each(g.Past), each(g.Past-g.PastFiles))
	}
	if g := &r.Push; g.Followed > 0 {
		p("  polls per accepted shopper until the outcome\t%.2f\t", float64(g.Polls)/float64(g.Followed))
	}
	if g := &r.Push; g.Connected+g.Refused > 0 {
		p("  outcomes heard, after the purchase's answer\t%d\t%s%d connected, %d refused", g.Outcomes, g.After.row(),
			g.Connected, g.Refused)
	}
	p("  buy: sold out, asked after the sell-out\t%d\t%s", r.Refused.Count, r.Refused.row())
	if err := w.Flush(); err != nil {
		return err
	}
	p("")
	r.rates(p)
	p("")
	r.things(p)
	p("")
	r.machines(p)
	return w.Flush()
}

// Words returns the outcome and its cause for people.
func (o Outcome) Words() string {
	words := strings.ReplaceAll(o.Name, "_", " ")
	if o.Cause != "" {
		words += ": " + o.Cause
	}
	return words
}

func (l *Latency) row() string {
	if l.Count == 0 {
		return "\t\t\t\t"
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t", ms(l.P50), ms(l.P99), ms(l.P999), ms(l.Max))
}

func ms(v float64) string {
	if v < 10 {
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func (a *Act) troubles() string {
	if a.Later+a.Lost == 0 {
		return ""
	}
	return fmt.Sprintf("%d unavailable, %d without an answer", a.Later, a.Lost)
}

func (r *Report) rates(p func(string, ...any)) {
	t := &r.Rates
	orUnknown := func(v float64, format string) string {
		if v == 0 {
			return "-"
		}
		return fmt.Sprintf(format, v)
	}
	p("placed orders per second\t%s\tover the first %d, as their shoppers saw them; the last after %s s",
		orUnknown(t.Placed, "%.0f"), t.FirstOrders, orUnknown(t.LastFirstPlaced, "%.2f"))
	p("accepted purchases per second\t%s\tover the first answers with status 200, up to the stock",
		orUnknown(t.Accepted, "%.0f"))
	p("paid orders per second\t%s\tfrom the first to the last that their shoppers saw paid, %d in all",
		orUnknown(t.Paid, "%.0f"),
		r.Orders.Paid)
	p("time to sell out\t%s\tfrom the opening to the first sold_out answer", orUnknown(t.SellOutSeconds, "%.2f s"))
	p(
		"requests answered per second\t%s\trefusals included, so not throughput; the last first press was answered "+
			"after %s s",
		orUnknown(t.Answered, "%.0f"), orUnknown(t.LastAnswerSecond, "%.2f"))
	p("  after the sell-out\t%s\t", orUnknown(t.AnsweredAfter, "%.0f"))
	if f := r.Flood; f != nil && f.NotRun != "" {
		p("flood\tnone\t%s", f.NotRun)
	} else if f != nil {
		p("flood: answered per second\t%.0f\tclosed loop of %d clients for %.1f s: %s", f.PerSecond, f.Clients,
			f.Seconds, counts(f.Answers))
		p("\t\tp50 %s ms, p99 %s ms; a crowd that does not wait for answers has others", ms(f.Latency.P50),
			ms(f.Latency.P99))
	}
}

// counts lists a map's entries, largest count first.
func counts[K ~string](m map[K]int) string {
	var parts []string
	for _, k := range slices.SortedFunc(maps.Keys(m), func(a, b K) int { return m[b] - m[a] }) {
		parts = append(parts, fmt.Sprintf("%d %s", m[k], k))
	}
	return strings.Join(parts, ", ")
}

// things prints orders, units and money.
func (r *Report) things(p func(string, ...any)) {
	o := &r.Orders
	p(
		"orders\t%d placed: %d paid, %d cancelled, %d abandoned, %d left "+
			"unpaid, %d too late to pay, %d whose payment failed, %d whose cancellation failed, %d whose shopper was "+
			"sent home",
		o.Placed, o.Paid, o.Cancelled, o.Abandoned, o.Looked, o.TooLate, o.Unpaid, o.Uncancelled,
		o.SentHome)
	if len(r.Requests.Repeats) > 0 {
		p("second presses\t%s", counts(r.Requests.Repeats))
	}
	if r.Pay == "" {
		p("\tthe sale names no cashier, so no order could be paid")
	}
	if u := &r.Units; u.Known {
		p("units\t%d: %d sold, %d held by open orders, %d free; %d were returned by closed orders", u.Stock, u.Sold,
			u.Held,
			u.Free, u.BackOnSale)
	} else {
		p("units\tunknown: only a \"seckill run\" reports them")
	}
	if m := &r.Money; m.Known {
		p("money\t%s yuan captured: %s kept, %s due back, %s refunded (by the ledger's rows, for the whole run)",
			m.Captured.Yuan(), m.Kept.Yuan(), m.DueBack.Yuan(), m.Refunded.Yuan())
		p("\t%s yuan captured: %s left, %s refunded (by the gateway's trades): %s", m.Gateway.Captured.Yuan(),
			m.Gateway.Left.Yuan(), m.Gateway.Refunded.Yuan(), m.Verdict())
	} else {
		p("money\tunknown: only a \"seckill run\" reports it")
	}
	s := &r.Idle
	switch {
	case !s.Known:
		p("open orders\tunknown")
	case s.AdvancedSeconds > 0:
		p("open orders\t%d, and %d refunds due, after the run's clock was moved by %v", s.Open, s.RefundsDue,
			time.Duration(s.AdvancedSeconds)*time.Second)
	case !r.Server.Known:
		p("open orders\t%d when their shoppers left", s.Open)
	default:
		p("open orders\t%d", s.Open)
	}
}

// Verdict reports whether ledger and gateway agree.
func (m *Money) Verdict() string {
	switch {
	case m.Balanced:
		return "they balance to the fen"
	case m.Differ == 1:
		return "they do NOT balance: 1 trade differs"
	}
	return fmt.Sprintf("they do NOT balance: %d trades differ", m.Differ)
}

func (r *Report) machines(p func(string, ...any)) {
	m := &r.Machine
	p("machine\t%d cores, %s, %s memory, %s; load %s before, %s after", m.Cores, m.Processor, m.Memory, m.System,
		m.LoadBefore, m.LoadAfter)
	if s := &r.Server; s.Known {
		p("run\t%.2f s processor time, %s resident, %s at most, %d goroutines; version %s, %s", s.CPUSeconds,
			mib(s.RSS), mib(s.PeakRSS), s.Goroutines, s.Version, s.Go)
	} else {
		p("server\tversion %s; processor time and memory unknown: only a \"seckill run\" reports them", s.Version)
	}
	p("this tool\t%.2f s processor time, %s at most; version %s, %s; %d connections, seed %d", r.Client.CPUSeconds,
		mib(r.Client.PeakRSS), r.Options.Version, m.Go, r.Options.Connections, r.Options.Seed)
}

func mib(b int64) string { return fmt.Sprintf("%.0f MiB", float64(b)/(1<<20)) }
