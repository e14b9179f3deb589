package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/money/reconcile"
	"github.com/your-org/seckill/shared/seckill"
)

// Bill implements seckill.Bills.
func (p *Provider) Bill(_ context.Context, day string) (bill seckill.Bill, err error) {
	for _, l := range p.book {
		if seckill.Day(l.At) == day {
			bill.Lines = append(bill.Lines, l)
		}
	}
	if len(bill.Lines) == 0 {
		return seckill.Bill{}, seckill.ErrNoBill
	}
	return bill, nil
}

// alteredBills are a provider's bills with one line altered, or unreadable if become is nil, and a line of another
// shop in each.
type alteredBills struct {
	*Provider
	line   int
	become func(l seckill.BillLine) []seckill.BillLine
}

// Bill implements seckill.Bills.
func (b alteredBills) Bill(_ context.Context, day string) (seckill.Bill, error) {
	bill, err := seckill.Bill{Others: 1}, error(nil)
	for i, l := range b.book {
		switch {
		case seckill.Day(l.At) != day:
		case i == b.line && b.become == nil:
			err = seckill.UnreadLines{{Line: i + 1, Order: l.Order, Why: "altered"}}
		case i == b.line:
			bill.Lines = append(bill.Lines, b.become(l)...)
		default:
			bill.Lines = append(bill.Lines, l)
		}
	}
	return bill, err
}

// reconciled checks I6 again with the reconcile step: each day's bill agrees with the ledger, to the fen, and an
// altered line is reported, whatever the alteration.
func (w *World) reconciled() error {
	days := map[string]*seckill.Reconciliation{seckill.Day(w.Clock.Now()): {}}
	for _, l := range w.Provider.book {
		d := days[seckill.Day(l.At)]
		if d == nil {
			d = &seckill.Reconciliation{}
			days[seckill.Day(l.At)] = d
		}
		if l.Refund {
			d.Refunds++
			d.Returned += l.Amount
		} else {
			d.Payments++
			d.Captured += l.Amount
		}
	}
	// Reconciliations stored during faults may have differences, but their sums must be the bill's.
	for _, row := range w.Rows.Dump(ledger.TableReconciliations) {
		d := days[text(row, "day")]
		if d == nil {
			d = &seckill.Reconciliation{}
		}
		if number(row, "payments") != int64(d.Payments) || number(row, "captured") != int64(d.Captured) ||
			number(row, "refunds") != int64(d.Refunds) || number(row, "returned") != int64(d.Returned) {
			return fmt.Errorf("I6 a reconciliation %+v is kept, booked %+v", row, d)
		}
	}
	for _, day := range slices.Sorted(maps.Keys(days)) {
		r, err := w.match(w.Provider, day)
		if err != nil {
			return fmt.Errorf("I6 the bill of %s: %w", day, err)
		}
		if d := days[day]; w.unexplained(&r) > 0 || r.Payments != d.Payments || r.Captured != d.Captured ||
			r.Refunds != d.Refunds || r.Returned != d.Returned {
			return fmt.Errorf("I6 the bill of %s differs from the ledger: %+v, booked %+v", day, r, d)
		}
	}
	if len(w.Provider.book) == 0 {
		return nil
	}
	w.Clock.Advance(w.lag + 1) // a bill comes hours later, when the index has caught up
	return w.alterLine(len(w.truth.list) * 7919 % len(w.Provider.book))
}

// unheard reports whether the shop never heard of a trade, because all of its money went back in the console before,
// and its notifications were lost for good.
func (w *World) unheard(order, no string) bool {
	t, ok := w.Provider.trade(order, no)
	return w.gone && ok && w.Provider.passed(order, t) && !slices.ContainsFunc(w.truth.payments[order],
		func(p paymentRow) bool { return p.tradeNo == no })
}

// owesCharged reports whether a trade was charged back when its refund was due already: the provider refuses that, and
// a person keeps the receipt.
func (w *World) owesCharged(order, no string) bool {
	o := w.Provider.orders[order]
	return o != nil && o.charged[no] && slices.ContainsFunc(w.truth.payments[order], func(p paymentRow) bool {
		return p.tradeNo == no && p.state == seckill.RefundDue
	})
}

// unexplained counts the differences that are about other trades.
func (w *World) unexplained(r *seckill.Reconciliation) (n int) {
	for _, d := range r.Differences {
		if !w.unheard(d.Order, d.TradeNo) && !w.owesCharged(d.Order, d.TradeNo) {
			n++
		}
	}
	return n
}

// recordFromBills makes an operator compare the bills, and query the provider about each payment that the ledger
// lacks because its notifications were lost. Comparing once more then finds what went back of them outside the shop.
func (i *Instance) recordFromBills() error {
	return errors.Join(i.compareBills(), i.compareBills())
}

func (i *Instance) compareBills() error {
	w := i.world
	w.Clock.Advance(w.lag + 1)
	days := map[string]bool{}
	for _, l := range w.Provider.book {
		days[seckill.Day(l.At)] = true
	}
	for _, day := range slices.Sorted(maps.Keys(days)) {
		r, err := w.matchInto(recorded{w.ledger, w.Clock}, w.Provider, day)
		if err != nil {
			return fmt.Errorf("I6 the bill of %s: %w", day, err)
		}
		for _, d := range r.Differences {
			if d.Kind == seckill.RefundForeign || w.unheard(d.Order, d.TradeNo) {
				continue
			}
			if d.Kind != seckill.PaymentNotHere {
				return fmt.Errorf("I6 notifications were lost, and the bill of %s has %+v", day, d)
			}
			if _, err := i.Refund.RecordTrade(context.Background(), d.Order, d.TradeNo, "ann",
				"it is on the bill"); err != nil {
				return fmt.Errorf("I6 the payment %+v cannot be recorded: %w", d, err)
			}
		}
	}
	return nil
}

// match runs the reconcile step for a day that is over, as a check: it records nothing.
func (w *World) match(bills seckill.Bills, day string) (seckill.Reconciliation, error) {
	return w.matchInto(unkept{w.ledger}, bills, day)
}

func (w *World) matchInto(l seckill.Ledger, bills seckill.Bills, day string) (seckill.Reconciliation, error) {
	later := memory.NewClock(w.Clock.Now().Add(24 * time.Hour))
	flow := reconcile.New(reconcile.Deps{Ledger: l, Bills: bills, Clock: later, Meter: Events{}})
	return flow.Day(context.Background(), day)
}

// unkept is a ledger that drops the check's own reconciliations, because a day may continue after them.
type unkept struct{ seckill.Ledger }

// KeepReconciliation implements seckill.Ledger.
func (unkept) KeepReconciliation(context.Context, seckill.Reconciliation) error { return nil }

// WentBack implements seckill.Ledger.
func (unkept) WentBack(context.Context, seckill.Order, seckill.Payment, seckill.Fen, time.Time, string) error {
	return nil
}

// recorded is a ledger that drops reconciliations, too, and records today what a later bill says.
type recorded struct {
	seckill.Ledger
	today seckill.Clock
}

// KeepReconciliation implements seckill.Ledger.
func (recorded) KeepReconciliation(context.Context, seckill.Reconciliation) error { return nil }

// WentBack implements seckill.Ledger.
func (r recorded) WentBack(ctx context.Context, o seckill.Order, p seckill.Payment, was seckill.Fen, _ time.Time,
	cause string) error {
	return r.Ledger.WentBack(ctx, o, p, was, r.today.Now(), cause)
}

// alterLine alters a line of the provider's bill in every way, one at a time, and checks that each is reported, on
// the bill's day or on the day when the ledger recorded it.
func (w *World) alterLine(line int) error {
	l := w.Provider.book[line]
	if strings.HasPrefix(l.RefundID, "console") || l.Refund && l.RefundID == "" || w.unheard(l.Order, l.TradeNo) {
		return nil
	}
	all, err := w.ledger.Payments(context.Background(), l.Order)
	i := slices.IndexFunc(all, func(p seckill.Payment) bool { return p.TradeNo == l.TradeNo })
	if err != nil || i < 0 {
		return fmt.Errorf("I6 the payment of %+v: %w", l, err)
	}
	recorded := all[i].At
	if l.Refund {
		recorded = all[i].Back
	}
	of := func(payment, refund seckill.DifferenceKind) seckill.DifferenceKind {
		return map[bool]seckill.DifferenceKind{false: payment, true: refund}[l.Refund]
	}
	for _, odd := range []struct {
		day    time.Time
		kind   seckill.DifferenceKind
		become func(l seckill.BillLine) []seckill.BillLine
	}{
		{recorded.Add(reconcile.BillCutoff), of(seckill.PaymentNotThere, seckill.RefundNotThere),
			func(seckill.BillLine) []seckill.BillLine {
				return nil
			}},
		{l.At, of(seckill.PaymentTwice, seckill.RefundTwice), func(l seckill.BillLine) []seckill.BillLine {
			return []seckill.BillLine{l, l}
		}},
		{l.At, of(seckill.PaymentAmount, seckill.RefundAmount), func(l seckill.BillLine) []seckill.BillLine {
			l.Amount++
			return []seckill.BillLine{l}
		}},
		{l.At, of(seckill.PaymentNotHere, seckill.RefundNotHere), func(l seckill.BillLine) []seckill.BillLine {
			l.TradeNo = "nobody's"
			if l.Refund {
				l.RefundID = seckill.RefundID(l.Order, l.TradeNo)
			}
			return []seckill.BillLine{l}
		}},
		{l.At, seckill.LineUnreadable, nil},
		{l.At, of("", seckill.RefundForeign), func(l seckill.BillLine) []seckill.BillLine {
			l.RefundID = "by hand"
			return []seckill.BillLine{l}
		}},
	} {
		if odd.kind == "" {
			continue
		}
		day := seckill.Day(odd.day)
		r, err := w.match(alteredBills{w.Provider, line, odd.become}, day)
		if found := slices.ContainsFunc(r.Differences, func(d seckill.Difference) bool {
			return d.Kind == odd.kind && d.Order == l.Order
		}); err != nil || !found || r.Others != 1 {
			return fmt.Errorf("I6 the bill of %s with a line that is %s: found %+v (%w)", day, odd.kind, r, err)
		}
	}
	return nil
}
