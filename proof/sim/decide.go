package sim

import (
	"context"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// staffOf returns one of the people who refund; two of the names belong to one person.
func staffOf(t Act) string {
	return []string{"ann", "bob", "assumed-role/Finance/Ann"}[pick(t.A, 56, 3)]
}

// giveBack makes staff refund an order, or withdraw a refund that waits, and checks what they hear.
func (s *Sim) giveBack(i *Instance, t Act, id string, restock bool) {
	ctx, who := context.Background(), staffOf(t)
	if pick(t.A, 58, 8) == 0 {
		_, _ = i.Refund.Withdraw(ctx, id, who, "not broken")
		return
	}
	d, err := i.Refund.Order(ctx, id, who, "broken", restock)
	if err != nil {
		return
	}
	if o := s.truth.orders[id]; d.Started && o.state != seckill.RefundOwed && o.state != seckill.Refunded {
		s.truth.fail("I17 staff hear that the money of order %s goes back, its row is %s", id, o.state)
	}
}

// wroteRefund checks I17 when staff refund a paid order: above the limits two people must want the refund. It reads
// who they are from the order's history alone.
func (t *truth) wroteRefund(old, o *orderRow) {
	if old == nil || !paidFor(old.state) {
		return
	}
	entry := strings.SplitN(o.history[len(o.history)-1], " ", 3)
	sum := o.amount - old.outside
	switch {
	case o.state == seckill.RefundOwed:
	case o.state == seckill.Refunded && strings.HasPrefix(entry[len(entry)-1], "refund by "):
		// they say that all went back
		sum = o.amount
	default:
		return
	}
	names, _, said := strings.Cut(strings.TrimPrefix(entry[len(entry)-1], "refund by "), ": ")
	first, second, two := strings.Cut(names, " and ")
	at, err := time.Parse(time.RFC3339, entry[0])
	if err != nil || !said {
		t.fail("I17 nobody knows who refunded order %s: %q", o.id, entry)
		return
	}
	if two {
		if seckill.Person(first) == seckill.Person(second) {
			t.fail("I17 order %s was refunded by %s and %s, who are one person", o.id, first, second)
		}
		return
	}
	day := seckill.Day(at) + " " + strings.ToLower(first[strings.LastIndex(first, "/")+1:])
	t.alone[day]++
	switch {
	case t.limit.Amount > 0 && sum > int64(t.limit.Amount):
		t.fail("I17 %s refunded %d fen of order %s alone", first, o.amount, o.id)
	case t.limit.PerDay > 0 && t.alone[day] > t.limit.PerDay:
		t.fail("I17 %s refunded %d orders alone in a day", first, t.alone[day])
	}
}
