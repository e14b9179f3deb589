package report

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Table is a part of a report for people. The first cell of a row names it.
type Table struct {
	Title string
	Rows  [][]string
}

// Tables returns what a report says about an item, for people. Cells may hold foreign text.
func (s *ItemState) Tables() []Table {
	list := []Table{s.offer(), s.orders(), s.units(), s.money(), s.waits(),
		long("Unpaid, until given back", s.Sums.Holding), long("Paid, until shipped", s.Sums.Shipping)}
	if s.Refused != nil { // a damaged report may have no refusals
		list = append(list, s.refused())
	}
	return append(list, s.guarantees(), s.minutes())
}

func (s *ItemState) refused() Table {
	r := s.Refused
	t := Table{Title: "Refused requests, of the whole shop"}
	switch r.Source {
	case RefusedUnknown:
		t.Rows = [][]string{{"not known", "nobody counted them"}}
		return t
	case RefusedMetrics:
		t.Rows = [][]string{{"source", "metrics of buy and admit: at least"}}
	case RefusedRun:
		t.Rows = [][]string{{"source", "the run itself: all of its routes"}}
	default:
		t.Rows = [][]string{{"source", string(r.Source)}}
	}
	t.Rows = append(t.Rows, []string{"from", when(r.From)}, []string{"until", when(r.Until)})
	for _, reason := range slices.SortedFunc(maps.Keys(r.Requests), func(a, b seckill.Reason) int {
		return cmp.Or(cmp.Compare(r.Requests[b], r.Requests[a]), cmp.Compare(a, b))
	}) {
		t.Rows = append(t.Rows, []string{string(reason), strconv.Itoa(r.Requests[reason])})
	}
	return t
}

func when(t time.Time) string { return t.In(seckill.Zone).Format("2006-01-02 15:04:05") }

func yuan(fen int64) string { return seckill.Fen(fen).Yuan() }

func (s *ItemState) offer() Table {
	it := &s.Item
	rows := [][]string{{"title", it.Title}, {"price", yuan(it.Price) + " yuan"}, {"from", when(it.Start)},
		{"until", when(it.End)}, {"units", strconv.Itoa(it.Stock)}, {"at most for a user", strconv.Itoa(it.Limit)},
		{"read", when(it.Read)}}
	if !s.Final {
		rows = append(rows, []string{"not final", "this was read before the sale's end"})
	}
	if it.Unreadable > 0 {
		rows = append(rows, []string{"not in this report", strconv.Itoa(it.Unreadable) + " unreadable rows"})
	}
	return Table{"Item " + it.Item, rows}
}

func (s *ItemState) orders() Table {
	rows := [][]string{{"state", "ever", "in the end"}}
	for _, i := range seckill.States {
		if ever, now := s.Sums.Ever[i.State], s.Sums.Orders[i.State]; ever+now > 0 {
			rows = append(rows, []string{string(i.State), strconv.Itoa(ever), strconv.Itoa(now)})
		}
	}
	for _, reason := range slices.SortedFunc(maps.Keys(s.Sums.Rejected), cmp.Compare) {
		rows = append(rows, []string{"rejected: " + string(reason), strconv.Itoa(s.Sums.Rejected[reason]), ""})
	}
	return Table{"Orders", rows}
}

func (s *ItemState) units() Table {
	u := &s.Sums.Units
	return Table{"Units", [][]string{{"placed", strconv.Itoa(u.Placed)}, {"given back", strconv.Itoa(u.GivenBack)},
		{"sold in the end", strconv.Itoa(u.Sold)}, {"with other orders", strconv.Itoa(u.Held)},
		{"neither", strconv.Itoa(u.Never)}}}
}

func (s *ItemState) money() Table {
	m := &s.Sums.Money
	rows := [][]string{{"captured", yuan(m.Captured) + " yuan", some(m.Payments, "payment", "payments")},
		{"kept", yuan(m.Kept) + " yuan", ""}, {"refunded", yuan(m.Refunded) + " yuan", ""},
		{"due back", yuan(m.Due) + " yuan", ""}}
	if p := s.Provider; p != nil {
		balanced := "the same as here"
		if !p.Balanced {
			balanced = "NOT the same as here"
		}
		rows = append(rows, []string{"provider: captured", yuan(p.Captured) + " yuan", balanced},
			[]string{"provider: refunded", yuan(p.Refunded) + " yuan", ""})
	}
	return Table{"Money", append(rows, []string{"fees", "not known", "they stand in the provider's bill"})}
}

func (s *ItemState) waits() Table {
	rows := [][]string{{"no longer than", "until placed", "until paid"}}
	for i, w := range s.Sums.Placing {
		bound := "longer"
		if w.Seconds > 0 {
			bound = strconv.Itoa(w.Seconds) + " s"
		}
		rows = append(rows, []string{bound, strconv.Itoa(w.Orders), strconv.Itoa(s.Sums.Paying[i].Orders)})
	}
	return Table{"Waits, in orders", rows}
}

func long(title string, list []Wait) Table {
	t := Table{title, [][]string{{"no longer than", "orders"}}}
	for _, w := range list {
		bound := "longer"
		if w.Seconds > 0 {
			bound = plain(time.Duration(w.Seconds) * time.Second)
		}
		t.Rows = append(t.Rows, []string{bound, strconv.Itoa(w.Orders)})
	}
	return t
}

// plain writes whole minutes, hours or days.
func plain(d time.Duration) string {
	switch day := 24 * time.Hour; {
	case d >= day:
		return strconv.Itoa(int(d/day)) + " d"
	case d >= time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + " h"
	default:
		return strconv.Itoa(int(d/time.Minute)) + " min"
	}
}

func (s *ItemState) guarantees() Table {
	t := Table{Title: "Audit"}
	for i := range s.Guarantees {
		g := &s.Guarantees[i]
		why := ""
		switch {
		case g.Broken > 0:
			why = some(g.Broken, "finding", "findings") + ": `seckill audit` has them"
		case g.Needs > 0:
			why = some(g.Needs, "piece of evidence is", "pieces of evidence are") + " missing"
		}
		t.Rows = append(t.Rows, []string{g.ID + " " + g.Name, string(g.Verdict), why})
	}
	return t
}

// some counts in words: "1 payment", "2 payments".
func some(n int, one, more string) string {
	if n == 1 {
		more = one
	}
	return strconv.Itoa(n) + " " + more
}

func (s *ItemState) minutes() Table {
	t := Table{"Units by minute (UTC+8)", [][]string{{"minute", "placed", "paid", "given back"}}}
	for _, m := range s.Minutes {
		t.Rows = append(t.Rows, []string{m.Minute.In(seckill.Zone).Format("2006-01-02 15:04"),
			strconv.Itoa(m.Placed), strconv.Itoa(m.Paid), strconv.Itoa(m.GivenBack)})
	}
	return t
}
