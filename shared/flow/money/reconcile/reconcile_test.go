package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/money/reconcile"
	"github.com/your-org/seckill/shared/seckill"
)

const day = "2026-11-11"

// midnight is when the day begins in UTC+8.
var midnight = time.Date(2026, 11, 10, 16, 0, 0, 0, time.UTC)

var ctx = context.Background()

// bills maps a day to its lines; each bill also counts half as many lines of another shop. A day without an entry has
// no bill.
type bills map[string][]seckill.BillLine

func (b bills) Bill(_ context.Context, day string) (seckill.Bill, error) {
	if lines, ok := b[day]; ok {
		return seckill.Bill{Lines: lines, Others: len(lines) / 2}, nil
	}
	return seckill.Bill{}, fmt.Errorf("asked: %w", seckill.ErrNoBill)
}

// bank is a ledger and the provider's bills of the same money.
type bank struct {
	clock  *memory.Clock
	ledger *ledger.Ledger
	bills  bills
	meter  memory.Meter
	flow   *reconcile.Flow
	n      int
}

func newBank() *bank { return newBankAt(midnight.Add(35 * time.Hour)) } // the next day, 11:00

func newBankAt(now time.Time) *bank {
	w := &bank{clock: memory.NewClock(now), bills: bills{}, meter: memory.Meter{}}
	w.ledger = ledger.New(memory.NewRows(memory.RowsOptions{Clock: w.clock}))
	w.flow = reconcile.New(reconcile.Deps{Ledger: w.ledger, Bills: w.bills, Clock: w.clock, Meter: w.meter})
	return w
}

// book adds a movement to the provider's bills.
func (w *bank) book(l seckill.BillLine) {
	w.bills[seckill.Day(l.At)] = append(w.bills[seckill.Day(l.At)], l)
}

// paid makes an order that is paid at a time; the ledger records it later, by late.
func (w *bank) paid(t must.T, at time.Time, late time.Duration) seckill.Payment {
	w.n++
	o := drivertest.Order("1", "7", at, w.n)
	p := drivertest.Payment(o, fmt.Sprint(1000+w.n))
	p.At = at.Add(late)
	must.OK(t, w.ledger.Place(ctx, o, 1000), w.ledger.RecordPayment(ctx, p, seckill.PendingPayment, seckill.Paid))
	w.book(seckill.BillLine{Order: o.ID, TradeNo: p.TradeNo, Amount: 100, At: at})
	return p
}

// back refunds a payment at a time; the ledger records it later, by late.
func (w *bank) back(t must.T, p seckill.Payment, at time.Time, late time.Duration) {
	o := must.Get(w.ledger.Order(ctx, p.Order))
	must.OK(t, w.ledger.StartRefund(ctx, o, p, false, seckill.Decision{}, at, "c"))
	must.OK(t, w.ledger.Refunded(ctx, p, p.Outside, "", seckill.RefundOwed, seckill.Refunded, at.Add(late), "c"))
	w.book(seckill.BillLine{Refund: true, Order: p.Order, TradeNo: p.TradeNo, RefundID: p.Refund().ID, Amount: 100,
		At: at})
}

// lines replaces each line of a day's bill by what change returns.
func (w *bank) lines(change func(l seckill.BillLine) []seckill.BillLine) {
	var out []seckill.BillLine
	for _, l := range w.bills[day] {
		out = append(out, change(l)...)
	}
	w.bills[day] = out
}

// TestWhatDiffersIsListed checks that no difference is listed if both sides agree, around two midnights, and that
// each change of one side is listed, and nothing else.
func TestWhatDiffersIsListed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newBank()
		within := func(name string, d time.Duration) time.Duration {
			return time.Duration(rapid.IntRange(0, int(d/time.Second)).Draw(t, name)) * time.Second
		}
		for range rapid.IntRange(1, 12).Draw(t, "orders") {
			at := midnight.Add(-time.Hour + within("paid", 26*time.Hour))
			p := w.paid(t, at, within("recorded", time.Hour))
			if rapid.Bool().Draw(t, "refunded") {
				w.back(t, p, p.At.Add(within("returned", time.Hour)), within("recorded", time.Hour))
			}
		}
		want := []seckill.Difference{}
		sum := seckill.Reconciliation{Day: day, At: w.clock.Now()}
		// One line of the bill is changed.
		k := -1
		if n := len(w.bills[day]); n > 0 {
			k = rapid.IntRange(-1, n-1).Draw(t, "odd line")
		}
		kind := rapid.IntRange(0, 3).Draw(t, "odd")
		i := -1
		w.lines(func(l seckill.BillLine) []seckill.BillLine {
			if i++; i != k {
				return []seckill.BillLine{l}
			}
			d := seckill.Difference{Order: l.Order, TradeNo: l.TradeNo, RefundID: l.RefundID, Here: 100,
				There: l.Amount}
			pick := func(payment, refund seckill.DifferenceKind) {
				d.Kind = map[bool]seckill.DifferenceKind{false: payment, true: refund}[l.Refund]
				want = append(want, d)
			}
			own := l.RefundID
			switch kind {
			case 0:
				l.Amount = 40
				d.There = 40
				pick(seckill.PaymentAmount, seckill.RefundAmount)
			case 1:
				d.Here = 0
				pick(seckill.PaymentTwice, seckill.RefundTwice)
				return []seckill.BillLine{l, l}
			case 2:
				l.TradeNo, d.TradeNo, d.Here = "nobody's", "nobody's", 0
				if l.Refund {
					l.RefundID = seckill.RefundID(l.Order, l.TradeNo)
					d.RefundID = l.RefundID
				}
				pick(seckill.PaymentNotHere, seckill.RefundNotHere)
			default:
			}
			if kind < 2 {
				return []seckill.BillLine{l}
			}
			// The ledger's own movement is then on no bill. It is listed on the day on which the ledger recorded it
			// or, if that was shortly before midnight, on the next day.
			was := must.Get(w.ledger.Payments(ctx, l.Order))
			on := was[0].At
			if l.Refund {
				on = was[0].Back
			}
			if d := (seckill.Difference{Kind: seckill.PaymentNotThere, Order: l.Order, TradeNo: was[0].TradeNo,
				RefundID: own, Here: 100}); seckill.Day(on.Add(reconcile.BillCutoff)) == day {
				if l.Refund {
					d.Kind = seckill.RefundNotThere
				}
				want = append(want, d)
			}
			if kind == 2 {
				return []seckill.BillLine{l}
			}
			return nil
		})
		for _, l := range w.bills[day] {
			if l.Refund {
				sum.Refunds++
				sum.Returned += l.Amount
			} else {
				sum.Payments++
				sum.Captured += l.Amount
			}
		}
		sum.Others = len(w.bills[day]) / 2
		got := must.Get(w.flow.Day(ctx, day))
		order := func(a, b seckill.Difference) int {
			return cmpText(a.Order+a.TradeNo+string(a.Kind), b.Order+b.TradeNo+string(b.Kind))
		}
		slices.SortFunc(want, order)
		sum.Count, sum.Differences = len(want), want
		slices.SortFunc(got.Differences, order)
		if diff := cmp.Diff(sum, got); diff != "" {
			t.Fatalf("want (-), got (+):\n%s", diff)
		}
		if n := w.meter[seckill.EventDifferences]; n != len(want) {
			t.Fatalf("%d differences counted, want %d", n, len(want))
		}
	})
}

func cmpText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// kindsOf returns the kinds of a reconciliation's differences, in order.
func kindsOf(r seckill.Reconciliation) (kinds []seckill.DifferenceKind) {
	for _, d := range r.Differences {
		kinds = append(kinds, d.Kind)
	}
	return kinds
}

// TestRefundsThatTheLedgerDoesNotKnow checks a refund from the provider's console, which has another id, and a refund
// whose answer was lost, which is still due in the ledger.
func TestRefundsThatTheLedgerDoesNotKnow(t *testing.T) {
	t.Parallel()
	w := newBank()
	console, due := w.paid(t, midnight.Add(time.Hour), 0), w.paid(t, midnight.Add(time.Hour), 0)
	w.book(seckill.BillLine{Refund: true, Order: console.Order, TradeNo: console.TradeNo, RefundID: "by hand",
		Amount: 30, At: midnight.Add(2 * time.Hour)})
	o := must.Get(w.ledger.Order(ctx, due.Order))
	must.OK(t, w.ledger.StartRefund(ctx, o, due, true, seckill.Decision{}, midnight.Add(time.Hour), "c"))
	w.book(seckill.BillLine{Refund: true, Order: due.Order, TradeNo: due.TradeNo, RefundID: due.Refund().ID,
		Amount: 100, At: midnight.Add(2 * time.Hour)})
	got := must.Get(w.flow.Day(ctx, day))
	kinds := map[string]seckill.Difference{}
	for _, d := range got.Differences {
		kinds[d.Order] = d
	}
	want := map[string]seckill.Difference{
		console.Order: {Kind: seckill.RefundForeign, Order: console.Order, TradeNo: console.TradeNo,
			RefundID: "by hand", There: 30},
		due.Order: {Kind: seckill.RefundNotHere, Order: due.Order, TradeNo: due.TradeNo, RefundID: due.Refund().ID,
			There: 100},
	}
	if diff := cmp.Diff(want, kinds); diff != "" || got.Count != 2 {
		t.Errorf("%d differences, want (-), got (+):\n%s", got.Count, diff)
	}
}

// TestARefundWithoutAnId checks that a refund without an id, which the provider's console may make, is not taken for
// the payment of its trade: both are listed.
func TestARefundWithoutAnId(t *testing.T) {
	t.Parallel()
	for name, bill := range map[string]struct {
		payment, known bool
		refunds        int
		want           []seckill.DifferenceKind
	}{
		"beside its payment": {true, true, 1, []seckill.DifferenceKind{seckill.RefundForeign}},
		"and its payment is not": {false, true, 1, []seckill.DifferenceKind{seckill.PaymentNotThere,
			seckill.RefundForeign}},
		"in two parts": {true, true, 2, []seckill.DifferenceKind{seckill.RefundForeign, seckill.RefundForeign}},
		"of a payment nobody knew": {true, false, 1, []seckill.DifferenceKind{seckill.PaymentNotHere,
			seckill.RefundForeign}},
	} {
		w := newBank()
		p := w.paid(t, midnight.Add(time.Hour), 0)
		if !bill.payment {
			w.bills[day] = nil
		}
		if !bill.known {
			p = seckill.Payment{Order: seckill.KeyedOrderID("1", "7", "nobody's"), TradeNo: "77"}
			w.book(seckill.BillLine{Order: p.Order, TradeNo: p.TradeNo, Amount: 100, At: midnight.Add(time.Hour)})
		}
		for n := range bill.refunds {
			w.book(seckill.BillLine{Refund: true, Order: p.Order, TradeNo: p.TradeNo, Amount: seckill.Fen(30 - n),
				At: midnight.Add(2 * time.Hour)})
		}
		got := must.Get(w.flow.Day(ctx, day))
		kinds := kindsOf(got)
		if !slices.Equal(kinds, bill.want) {
			t.Errorf("%s: %v, want %v", name, kinds, bill.want)
		}
	}
}

// counted counts how often each day's bill is asked for, and has none of a day that fails.
type counted struct {
	bills
	asked map[string]int
	fails string
}

func (c counted) Bill(ctx context.Context, day string) (seckill.Bill, error) {
	c.asked[day]++
	if day == c.fails {
		return seckill.Bill{}, errors.New("no answer")
	}
	return c.bills.Bill(ctx, day)
}

// TestManyRefundsElsewhere checks that a match asks for each day's bill once for all refunds made outside the shop, and
// that the ledger hears of none while another refund's earlier bills may fail.
func TestManyRefundsElsewhere(t *testing.T) {
	t.Parallel()
	w := newBank()
	var all []seckill.Payment
	for range 3 {
		p := w.paid(t, midnight.AddDate(0, 0, -2), 0)
		w.book(seckill.BillLine{Refund: true, Order: p.Order, TradeNo: p.TradeNo, RefundID: "by hand " + p.TradeNo,
			Amount: 30, At: midnight.Add(time.Hour)})
		all = append(all, p)
	}
	outside := func() (sum seckill.Fen) {
		for _, p := range all {
			sum += must.Get(w.ledger.Payments(ctx, p.Order))[0].Outside
		}
		return sum
	}
	c := counted{w.bills, map[string]int{}, "2026-11-09"}
	flow := reconcile.New(reconcile.Deps{Ledger: w.ledger, Bills: c, Clock: w.clock, Meter: w.meter})
	if _, err := flow.Day(ctx, day); err == nil || outside() != 0 {
		t.Errorf("a bill fails: %v, %d fen are recorded as gone", err, outside())
	}
	c.fails, c.asked = "", map[string]int{}
	flow = reconcile.New(reconcile.Deps{Ledger: w.ledger, Bills: c, Clock: w.clock, Meter: w.meter})
	got := must.Get(flow.Day(ctx, day))
	if got.Count != 3 || outside() != 90 || c.asked["2026-11-09"] != 1 || c.asked["2026-11-10"] != 1 {
		t.Errorf("%+v, %d fen, asked %v; want 3 differences, 90 fen, each day once", got, outside(), c.asked)
	}
}

// TestWhatWasRecordedDaysLater checks that a late record is found on the bill of the day on which it was booked, but
// not before its order and not beyond maxBack bills.
func TestWhatWasRecordedDaysLater(t *testing.T) {
	t.Parallel()
	for days, want := range map[int][]seckill.DifferenceKind{0: nil, 5: nil, 30: nil, 31: {seckill.PaymentNotThere,
		seckill.RefundNotThere}} {
		w := newBank()
		late := time.Duration(days) * 24 * time.Hour
		at := midnight.Add(time.Hour - late)
		w.paid(t, midnight.Add(time.Hour), 0)
		w.paid(t, at, late)
		w.back(t, w.paid(t, at, 0), at, late)
		got := must.Get(w.flow.Day(ctx, day))
		kinds := kindsOf(got)
		slices.Sort(kinds)
		if !slices.Equal(kinds, want) {
			t.Errorf("%d days: %v, want %v", days, kinds, want)
		}
	}
}

// TestWhatIsRecordedBeforeMidnightAndBookedAfter checks that a movement which a fast provider's clock books on the
// next day is found on the next day's bill. If no bill has it, it is listed on that day. A day without movements
// needs no bill.
func TestWhatIsRecordedBeforeMidnightAndBookedAfter(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		recorded time.Duration // time from booking to recording
		lost     bool
		want     [2][]seckill.DifferenceKind // differences on the day and on the next
	}{
		"a minute": {-time.Minute, false, [2][]seckill.DifferenceKind{}},
		"and booked never": {-time.Minute, true,
			[2][]seckill.DifferenceKind{1: {seckill.PaymentNotThere, seckill.RefundNotThere}}},
		"longer than seems": {-2 * reconcile.BillCutoff, false,
			[2][]seckill.DifferenceKind{0: {seckill.PaymentNotThere, seckill.RefundNotThere}}},
	} {
		booked := midnight.Add(24*time.Hour + time.Second)
		w := newBankAt(booked.Add(35 * time.Hour))
		w.paid(t, midnight.Add(time.Hour), 0)
		p := w.paid(t, booked, tc.recorded)
		w.back(t, p, booked, tc.recorded)
		next := seckill.Day(booked)
		if tc.lost {
			delete(w.bills, next)
		}
		for i, d := range []string{day, next} {
			got := must.Get(w.flow.Day(ctx, d))
			kinds := kindsOf(got)
			slices.Sort(kinds)
			if !slices.Equal(kinds, tc.want[i]) || got.NoBill != (tc.lost && i == 1) {
				t.Errorf("%s: %s has %v (no bill %t), want %v", name, d, kinds, got.NoBill, tc.want[i])
			}
		}
	}
}

// TestADayIsMatchedOnce checks that the schedule compares a day once, when its bill exists; an operator may repeat
// it, and each result is kept.
func TestADayIsMatchedOnce(t *testing.T) {
	t.Parallel()
	w := newBank()
	w.paid(t, midnight.Add(time.Hour), 0)
	whole := w.bills[day]
	delete(w.bills, day)
	if err := w.flow.Run(ctx); seckill.CodeOf(err) != seckill.CodeInvalid {
		t.Errorf("without a bill: %v", err)
	}
	done := func() int {
		return len(must.Get(w.ledger.Reconciliations(ctx, day)))
	}
	must.Equal(t, 0, done(), "reconciliations kept without a bill")
	w.bills[day] = whole
	for range 3 {
		w.clock.Advance(time.Hour)
		must.OK(t, w.flow.Run(ctx))
	}
	must.Equal(t, 0, len(must.Get(w.ledger.Reconciliations(ctx, "2026-11-12"))), "the day under way")
	must.Equal(t, 1, done(), "reconciliations by schedule")
	w.clock.Advance(time.Hour)
	if _, err := w.flow.Day(ctx, day); err != nil || done() != 2 {
		t.Errorf("by an operator: %v, %d kept", err, done())
	}
	quiet := newBankAt(midnight.Add(34*time.Hour - time.Minute))
	for _, want := range []int{0, 1} { // nothing before 10:00
		if err := quiet.flow.Run(ctx); err != nil {
			t.Errorf("a day on which nothing moved has no bill: %v", err)
		}
		for _, d := range []string{day, "2026-11-05"} {
			all := must.Get(quiet.ledger.Reconciliations(ctx, d))
			if d == day && len(all) != want || d != day && len(all) != 1 {
				t.Errorf("%s matched %d times at %s", d, len(all), quiet.clock.Now())
			}
		}
		quiet.clock.Advance(time.Minute)
	}
}

// TestABillThatComesLate checks that a missing bill is recorded once, however often it is asked for, and that the day
// is compared once the bill exists.
func TestABillThatComesLate(t *testing.T) {
	t.Parallel()
	w := newBank()
	p := w.paid(t, midnight.Add(-time.Hour), 0) // on the day before
	late := []seckill.BillLine{{Order: seckill.KeyedOrderID("1", "7", "lost"), TradeNo: "9", Amount: 100,
		At: midnight.Add(time.Hour)},
		{Refund: true, Order: p.Order, TradeNo: p.TradeNo, RefundID: "by hand", Amount: 100,
			At: midnight.Add(time.Hour)}}
	kept := func() (all []seckill.Reconciliation) {
		all = must.Get(w.ledger.Reconciliations(ctx, day))
		return all
	}
	if r, err := w.flow.Day(ctx, day); err != nil || !r.NoBill || r.Count != 0 {
		t.Errorf("an operator, too early: %+v, %v", r, err)
	}
	for range 3 {
		w.clock.Advance(time.Hour)
		must.OK(t, w.flow.Run(ctx))
	}
	if all := kept(); len(all) != 1 || !all[0].NoBill || w.meter[seckill.EventDifferences] != 0 {
		t.Errorf("without a bill: %+v kept, want one", all)
	}
	w.bills[day] = late
	for range 3 {
		w.clock.Advance(time.Hour)
		must.OK(t, w.flow.Run(ctx))
	}
	if all := kept(); len(all) != 2 || all[1].NoBill || all[1].Count != 2 || w.meter[seckill.EventDifferences] != 2 {
		t.Errorf("with its bill: %+v kept, %v counted", all, w.meter)
	}
	w.clock.Advance(8 * 24 * time.Hour)
	delete(w.bills, day)
	must.OK(t, w.flow.Run(ctx))
	must.Equal(t, 2, len(kept()), "kept of a day that is long over")
}

// TestDaysThatCannotBeMatched checks that invalid days are refused, and that a fault of the bill stores no result.
func TestDaysThatCannotBeMatched(t *testing.T) {
	t.Parallel()
	w := newBank()
	for _, d := range []string{"", "2026-11-12", "2026-11-13", "2027-01-01", "11.11.2026", "2026-02-30", "2026-1-1",
		"20261111"} {
		if _, err := w.flow.Day(ctx, d); seckill.CodeOf(err) != seckill.CodeInvalid {
			t.Errorf("%q: %v, want it refused", d, err)
		}
	}
	broken := reconcile.New(reconcile.Deps{Ledger: w.ledger, Bills: fails{}, Clock: w.clock, Meter: w.meter})
	if _, err := broken.Day(ctx, day); seckill.CodeOf(err) != seckill.CodeUnavailable {
		t.Errorf("a bill that cannot be read: %v", err)
	}
	must.Equal(t, 0, len(must.Get(w.ledger.Reconciliations(ctx, day))), "kept")
}

type fails struct{}

func (fails) Bill(context.Context, string) (seckill.Bill, error) {
	return seckill.Bill{}, errors.New("no answer")
}

// TestWhatWasKeptIsListed checks that Kept returns the newest results, oldest first.
func TestWhatWasKeptIsListed(t *testing.T) {
	t.Parallel()
	w := newBank()
	must.Equal(t, 0, len(must.Get(w.flow.Kept(ctx, day))), "before any")
	var want []seckill.Reconciliation
	for range reconcile.MaxKept + 2 {
		w.clock.Advance(time.Minute)
		r := must.Get(w.flow.Day(ctx, day))
		want = append(want, r)
	}
	got := must.Get(w.flow.Kept(ctx, day))
	must.Equal(t, want[2:], got)
	for _, d := range []string{"", "2026-02-30", "today"} {
		if _, err := w.flow.Kept(ctx, d); seckill.CodeOf(err) != seckill.CodeInvalid {
			t.Errorf("%q: %v, want it refused", d, err)
		}
	}
}

// unread are bills of which the lines of one order cannot be read.
type unread struct {
	bills
	order string
}

func (u unread) Bill(ctx context.Context, day string) (seckill.Bill, error) {
	bill, err := u.bills.Bill(ctx, day)
	var odd seckill.UnreadLines
	bill.Lines = slices.DeleteFunc(slices.Clone(bill.Lines), func(l seckill.BillLine) bool {
		if l.Order == u.order {
			odd = append(odd, seckill.UnreadLine{Line: 6, Order: l.Order, Why: "3 fields"})
		}
		return l.Order == u.order
	})
	if err == nil && odd != nil {
		err = fmt.Errorf("asked: %w", odd)
	}
	return bill, err
}

// TestALineThatCannotBeRead checks that an unreadable line of the bill is listed as a difference and the rest of the
// day is compared and kept; and that one on an earlier bill does not keep the day from being compared.
func TestALineThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newBank()
	noon := midnight.Add(12 * time.Hour)
	before, bad, amount, good := w.paid(t, noon.Add(-24*time.Hour), 24*time.Hour), w.paid(t, noon, time.Minute),
		w.paid(t, noon, time.Minute), w.paid(t, noon, time.Minute)
	w.lines(func(l seckill.BillLine) []seckill.BillLine {
		if l.Order == amount.Order {
			l.Amount++
		}
		return []seckill.BillLine{l}
	})
	w.flow.Bills = unread{w.bills, bad.Order}
	r := must.Get(w.flow.Day(ctx, day))
	want := []seckill.Difference{
		{Kind: seckill.LineUnreadable, Order: bad.Order, Line: 6, Why: "3 fields"},
		{Kind: seckill.PaymentNotThere, Order: bad.Order, TradeNo: bad.TradeNo, Here: 100},
		{Kind: seckill.PaymentAmount, Order: amount.Order, TradeNo: amount.TradeNo, Here: 100, There: 101},
	}
	slices.SortStableFunc(want, func(a, b seckill.Difference) int { return strings.Compare(a.Order, b.Order) })
	if diff := cmp.Diff(want, r.Differences); diff != "" || r.Payments != 2 || w.meter[seckill.EventDifferences] != 3 {
		t.Errorf("%+v; %v counted; got (+), want (-):\n%s", r, w.meter, diff)
	}
	must.Equal(t, []seckill.Reconciliation{r}, must.Get(w.ledger.Reconciliations(ctx, day)), "kept")
	w.flow.Bills = unread{w.bills, before.Order}
	for _, d := range must.Get(w.flow.Day(ctx, day)).Differences {
		if d.Order != amount.Order && (d.Order != before.Order || d.Kind != seckill.PaymentNotThere) ||
			d.Order == good.Order {
			t.Errorf("an unreadable line on the bill before: %+v", d)
		}
	}
}

// TestWhatWentBackLongAgo checks that the sum of what went back outside the shop has the bills since the order was
// placed, up to a bound, and that a match says which of them it could not read.
func TestWhatWentBackLongAgo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		days   int // since the order was placed and a part went back
		unread bool
		fails  bool // a bill between cannot be read
		there  seckill.Fen
		why    string
	}{
		"two months":             {60, false, false, 30, ""},
		"a bill with a bad line": {60, true, false, 20, "not read: bill 2026-09-12, line 6"},
		"a bill that fails":      {60, false, true, 30, "not read: bill 2026-10-01"},
		"a year":                 {365, false, false, 20, "not read: bills to 2026-05-14"},
	} {
		w := newBank()
		long := midnight.AddDate(0, 0, -c.days).Add(time.Hour)
		p := w.paid(t, long, time.Minute)
		for at, id := range map[time.Time]string{long.Add(time.Hour): "h1", midnight.Add(time.Hour): "h2"} {
			if id == "h2" || !c.unread {
				w.book(seckill.BillLine{Refund: true, Order: p.Order, TradeNo: p.TradeNo, RefundID: id,
					Amount: seckill.Fen(10 * (1 + len(id[1:])*int(id[1]-'1'))), At: at})
			}
		}
		if c.unread {
			w.book(seckill.BillLine{Order: p.Order, TradeNo: "9", At: long})
			w.flow.Bills = unread{w.bills, p.Order}
			w.flow.Bills = only{w.flow.Bills, w.bills, seckill.Day(long)}
		}
		if c.fails {
			w.flow.Bills = counted{w.bills, map[string]int{}, "2026-10-01"}
		}
		r := must.Get(w.flow.Day(ctx, day))
		must.Equal(t, []seckill.Difference{{Kind: seckill.RefundForeign, Order: p.Order, TradeNo: p.TradeNo,
			RefundID: "h2", There: c.there, Why: c.why}}, r.Differences, name)
		must.Equal(t, c.there, must.Get(w.ledger.Order(ctx, p.Order)).Outside, name)
	}
}

// only has bills of a day that another has not.
type only struct {
	of, others seckill.Bills
	day        string
}

func (o only) Bill(ctx context.Context, day string) (seckill.Bill, error) {
	if day == o.day {
		return o.of.Bill(ctx, day)
	}
	return o.others.Bill(ctx, day)
}

// TestARowThatCannotBeRead checks that an unreadable row is listed as a difference and the rest of the day is
// compared, whichever side names the row first.
func TestARowThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newBank()
	rows := memory.NewRows(memory.RowsOptions{Clock: w.clock})
	w.ledger = ledger.New(rows)
	w.flow.Ledger = w.ledger
	noon := midnight.Add(12 * time.Hour)
	bad, refunded, orderless := w.paid(t, noon, time.Minute), w.paid(t, noon, time.Minute), w.paid(t, noon, time.Minute)
	w.back(t, refunded, noon.Add(time.Hour), time.Minute)
	foreign := w.paid(t, noon, time.Minute)
	w.lines(func(l seckill.BillLine) []seckill.BillLine {
		if l.Order == foreign.Order {
			l.Amount++
		}
		if l.Order == orderless.Order {
			return nil
		}
		return []seckill.BillLine{l}
	})
	later := ledger.Row{"v": ledger.SpanVersion + 1}
	for _, k := range []ledger.Key{{Table: ledger.TablePayments, PK: bad.Order, SK: bad.TradeNo},
		{Table: ledger.TablePayments, PK: refunded.Order, SK: refunded.TradeNo},
		{Table: ledger.TableOrders, PK: orderless.Order}} {
		must.OK(t, rows.Transact(ctx, []ledger.Write{{Key: k, Op: ledger.OpUpdate, Set: later}}))
	}
	r := must.Get(w.flow.Day(ctx, day))
	want := []seckill.Difference{
		{Kind: seckill.RowUnreadable, Order: bad.Order, TradeNo: bad.TradeNo},
		{Kind: seckill.RowUnreadable, Order: refunded.Order, TradeNo: refunded.TradeNo},
		{Kind: seckill.PaymentAmount, Order: foreign.Order, TradeNo: foreign.TradeNo, Here: 100, There: 101},
		{Kind: seckill.PaymentNotThere, Order: orderless.Order, TradeNo: orderless.TradeNo, Here: 100},
	}
	slices.SortFunc(want, func(a, b seckill.Difference) int { return strings.Compare(a.Order, b.Order) })
	if diff := cmp.Diff(want, r.Differences); diff != "" || w.meter[seckill.EventUnreadable] != 2 {
		t.Errorf("%d counted; got (+), want (-):\n%s", w.meter[seckill.EventUnreadable], diff)
	}
}
