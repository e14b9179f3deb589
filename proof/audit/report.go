package audit

import (
	"maps"
	"slices"
	"time"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

func (s *sale) report(t *journalView, took time.Duration) *Report {
	r := &Report{Item: s.id, Title: s.item.title, At: time.UnixMilli(s.now).UTC(), Took: took.Seconds(), Read: s.read,
		Statement: s.statement(), Results: s.close()}
	for _, part := range slices.Sorted(maps.Keys(s.missing)) {
		r.Missing = append(r.Missing, part+": "+s.missing[part])
	}
	if t != nil {
		r.Journal = &Told{Lines: t.Lines, Requests: t.Requests, Answers: t.Answers, Fault: t.fault}
	}
	return r
}

func (s *sale) statement() Statement {
	out := Statement{Orders: map[seckill.State]int{}}
	u := &out.Units
	u.Stock = s.item.stock
	for _, o := range s.orders {
		out.Orders[o.state]++
		switch {
		case keeps(o.state):
			u.Sold += int(o.rows)
		default:
			u.Held += int(o.rows)
		}
		if o.released != 0 {
			u.Returned += int(o.count)
		}
	}
	u.Unsold = u.Stock - s.read[ledger.TableUnits]
	if len(s.stock.head) > 0 && s.whole[record.PartRedis] {
		free, never, reserved := len(s.stock.free), max(0, u.Stock-s.stock.highWater()), 0
		for _, r := range s.stock.res {
			reserved += r.units
		}
		u.Free, u.NeverIssued, u.Reserved = &free, &never, &reserved
		for id := range s.stock.res {
			if s.byID[id] == nil {
				out.Orders[seckill.Queued]++
			}
		}
	}
	amount := func(fen int64) Amount { return Amount{fen, seckill.Fen(fen).Yuan()} }
	m := &s.money
	out.Money = Money{Captured: amount(m.captured), Kept: amount(m.kept), DueBack: amount(m.back),
		Refunded: amount(m.refunded), Payments: m.count}
	if s.whole[record.PartTrades] && s.whole[ledger.TablePayments] {
		out.Money.Provider = &Provider{amount(m.taken), amount(m.taken - m.givenBack), amount(m.givenBack),
			m.taken == m.captured && m.givenBack == m.refunded}
	}
	return out
}
