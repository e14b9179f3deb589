package audit

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/seckill"
)

// WriteText prints the report.
func (r *Report) WriteText(w io.Writer) error {
	b := &strings.Builder{}
	printf(b, "Item %s, %s, as of %s: read %s in %.1f s\n", r.Item, r.Title,
		seckill.Local(r.At), readings(r.Read), r.Took)
	for _, m := range r.Missing {
		printf(b, "Not read: %s\n", m)
	}
	if j := r.Journal; j != nil {
		printf(b, "Journal: %d lines, %d requests, %d answers\n", j.Lines, j.Requests, j.Answers)
		if j.Fault != "" {
			printf(b, "The journal is not valid: %s\n", j.Fault)
		}
	}
	r.Statement.write(b)
	b.WriteByte('\n')
	count := map[Verdict]int{}
	for i := range r.Results {
		r.Results[i].write(b)
		count[r.Results[i].Verdict]++
	}
	printf(b, "\n%d hold, %d broken, %d unknown%s\n", count[Holds], count[Broken], count[Unknown], r.unchecked())
	_, err := io.WriteString(w, b.String())
	return err
}

// unchecked says of the unknown guarantees that nothing is wrong with them, and what they need.
func (r *Report) unchecked() string {
	journal, rest := 0, 0
	for i := range r.Results {
		switch j := &r.Results[i]; {
		case j.Verdict != Unknown:
		case slices.ContainsFunc(j.Needs, func(s string) bool { return strings.HasPrefix(s, "a journal ") }):
			journal++
		default:
			rest++
		}
	}
	var why []string
	if journal > 0 {
		why = append(why, english.Sprintf("%d need a journal (seckill load --journal)", journal))
	}
	if rest > 0 {
		why = append(why, english.Sprintf("%d need what their lines say", rest))
	}
	if why == nil {
		return ""
	}
	return ", not checked: " + strings.Join(why, ", ")
}

func (s *Statement) write(b *strings.Builder) {
	u := &s.Units
	printf(b, "\nUnits   stock %d = sold %d + with other orders %d + unsold %d", u.Stock, u.Sold, u.Held, u.Unsold)
	if u.Free != nil {
		printf(b, " (returned to sale %d, never issued %d, reserved %d)", *u.Free, *u.NeverIssued, *u.Reserved)
	}
	printf(b, "; returned %d\nOrders ", u.Returned)
	if len(s.Orders) == 0 {
		b.WriteString(" none")
	}
	for _, i := range seckill.States {
		if n := s.Orders[i.State]; n > 0 {
			printf(b, " %s %d ", i.State, n)
		}
	}
	m := &s.Money
	printf(b,
		"\nMoney   captured %s yuan in %d payments = kept %s + due back %s + refunded %s (%d fen = %d + %d + %d)\n",
		m.Captured.Yuan, m.Payments,
		m.Kept.Yuan, m.DueBack.Yuan, m.Refunded.Yuan, m.Captured.Fen, m.Kept.Fen, m.DueBack.Fen, m.Refunded.Fen)
	if p := m.Provider; p != nil {
		verdict := "they balance"
		if !p.Balanced {
			verdict = "they do not balance"
		}
		printf(b, "        by the provider's trades: captured %s yuan, %s left, %s refunded: %s\n",
			p.Captured.Yuan, p.Kept.Yuan, p.Refunded.Yuan, verdict)
	}
}

// remedies are what an operator does about a broken guarantee.
var remedies = map[string]string{
	"I1":  "stop the item (seckill items stop); keep one order of each unit and refund the others (seckill refund)",
	"I2":  "refund the orders above the limit (seckill refund), or restore the quota rows (docs/runbooks/restore.md)",
	"I3":  "stop the item (seckill items stop) and restore the rows (docs/runbooks/restore.md)",
	"I4":  "refund all but one order of the key (seckill refund)",
	"I5":  "find who changed the row by hand, and restore it (docs/runbooks/restore.md)",
	"I6":  "compare with Alipay's bill (seckill reconcile), then refund or record the difference (seckill payments)",
	"I7":  "ship nothing for these payments before Alipay's console confirms them (seckill payments)",
	"I8":  "stop the item (seckill items stop) and restore the rows (docs/runbooks/restore.md)",
	"I9":  "ship nothing for these orders before their users confirm them; else refund them (seckill refund)",
	"I10": "honour these orders or refund them (seckill refund); check the clocks of the machines",
	"A1":  "find who buys without a ticket, and refund those orders (seckill refund)",
	"A4":  "refund the order (seckill refund)",
	"I11": "look for the messages in the dead-letter queue (docs/runbooks/dead-letters.md); tell the users",
	"L1":  "see whether expire runs each minute (docs/runbooks/schedule-silent.md)",
	"L2":  "see whether repair runs each minute (docs/runbooks/schedule-silent.md)",
	"L3":  "see whether repair corrects it within minutes (docs/runbooks/drift.md)",
	"L4":  "audit again in some minutes; then see docs/runbooks/drift.md",
}

func (j *GuaranteeResult) write(b *strings.Builder) {
	printf(b, "%-3s  %-16s  %-7s  ", j.ID, j.Name, j.Verdict)
	words := []string{}
	if j.Verdict == Broken {
		words = append(words, english.Sprintf("%d findings", j.Count))
	}
	if j.Verdict == Unknown {
		words = append(words, "needs "+strings.Join(j.Needs, "; needs "))
	}
	looked := []string{}
	for _, l := range j.Looked {
		looked = append(looked, english.Sprintf("%d %s", l.Count, l.Of))
	}
	if len(looked) > 0 {
		words = append(words, strings.Join(looked, ", "))
	}
	words = append(words, j.Notes...)
	fmt.Fprintln(b, strings.Join(words, "; "))
	if j.Verdict != Broken {
		return
	}
	for _, f := range j.Findings {
		printf(b, "       %s: %s\n", f.Row, f.What)
	}
	if more := j.Count - len(j.Findings); more > 0 {
		printf(b, "       and %d more\n", more)
	}
	printf(b, "       to do: %s\n", remedies[j.ID])
}

// readings lists the rows read of each part.
func readings(read map[string]int) string {
	out := []string{}
	for _, part := range slices.Sorted(maps.Keys(read)) {
		if part == record.PartRedis {
			out = append(out, english.Sprintf("%d entries in Redis", read[part]))
		} else if part != record.PartItems && part != record.PartQueues {
			out = append(out, english.Sprintf("%d %s", read[part], part))
		}
	}
	if len(out) == 0 {
		return "only the item"
	}
	return strings.Join(out, ", ")
}

// english formats numbers with thousands separators.
var english = message.NewPrinter(language.English)

func printf(b *strings.Builder, format string, a ...any) {
	b.WriteString(english.Sprintf(format, a...))
}
