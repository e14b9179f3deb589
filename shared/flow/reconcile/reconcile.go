// Package reconcile matches the payment provider's bill of a day against the ledger, both ways. In: a schedule (daily),
// or an operator. Out: what came of it, kept in the ledger, and its differences counted. It changes no money and no
// order: what a difference means, a person has to say.
package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

const (
	pageRows = 1000           // payments in one read of the ledger
	billed   = 10 * time.Hour // after a day's end; Alipay makes its bill by 9:00 the next day ("下载对账单")
	maxDays  = 7              // how far back Run looks
	maxBack  = 30             // earlier bills in which what a day's lacks is looked for

	// BillCutoff: what the ledger records this close to a day's end is matched with the next day's bill, because the
	// provider's clock may have been past midnight.
	BillCutoff = 5 * time.Minute

	// MaxKept bounds the reconciliations of a day that Kept returns.
	MaxKept = 10
)

// Ledger is what reconcile calls of the ledger.
type Ledger interface {
	seckill.OrderReader
	seckill.PaymentReader
	seckill.BillRecorder
}

// Deps are the step's dependencies.
type Deps struct {
	Ledger Ledger
	Bills  seckill.Bills
	Clock  seckill.Clock
	Meter  seckill.Meter
}

// Flow is one instance of the step. It remembers nothing.
type Flow struct{ Deps }

// New makes an instance.
func New(d Deps) *Flow { return &Flow{d} }

// Run matches each of the last days that has not been matched against a bill, when that should be there, the newest
// first. It may run as often as one likes: a bill that was late, or could not be read, is there another time. A day
// without a bill is asked about until it is too old, and kept once.
func (f *Flow) Run(ctx context.Context) error {
	var errs []error
	ready := f.Clock.Now().Add(-billed)
	for back := 1; back <= maxDays; back++ {
		day := seckill.Day(ready.AddDate(0, 0, -back))
		done, err := f.Ledger.Reconciliations(ctx, day)
		if err == nil && !slices.ContainsFunc(done, func(r seckill.Reconciliation) bool { return !r.NoBill }) {
			_, err = f.day(ctx, day, len(done) > 0)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("bill of %s: %w", day, err))
		}
	}
	return errors.Join(errs...)
}

// Day matches a seckill.Day, which may have been done before. The error is an *seckill.Error: CodeInvalid for what is
// no day that is over, and when money moved by the ledger and there is no bill yet.
func (f *Flow) Day(ctx context.Context, day string) (seckill.Reconciliation, error) {
	return f.day(ctx, day, false)
}

// day is Day. again: it is kept already that there was no bill.
func (f *Flow) day(ctx context.Context, day string, again bool) (seckill.Reconciliation, error) {
	date, err := time.ParseInLocation(time.DateOnly, day, seckill.Zone)
	if err != nil || day >= seckill.Day(f.Clock.Now()) {
		return seckill.Reconciliation{},
			seckill.Invalid("day", "2006-01-02, over in UTC+8: the bill of a day comes the next morning")
	}
	m := match{Flow: f, date: date, known: map[trade]seckill.Payment{}, unread: map[trade]bool{},
		billed: map[movement]bool{}}
	m.out = seckill.Reconciliation{Day: day, At: f.Clock.Now(), Differences: []seckill.Difference{}}
	if err := m.run(ctx); err != nil {
		return seckill.Reconciliation{}, seckill.AsError(err)
	}
	if again && m.out.NoBill {
		return m.out, nil
	}
	if err := f.Ledger.KeepReconciliation(ctx, m.out); err != nil {
		return seckill.Reconciliation{}, seckill.AsError(err)
	}
	if m.out.Count > 0 {
		f.Meter.Count(seckill.EventDifferences, m.out.Count)
	}
	return m.out, nil
}

// Kept lists what came of a seckill.Day's reconciliations before, the oldest first: the newest MaxKept. Nothing is
// matched. CodeInvalid for what is no day.
func (f *Flow) Kept(ctx context.Context, day string) ([]seckill.Reconciliation, error) {
	if !seckill.ValidDay(day) {
		return nil, seckill.Invalid("day", "2006-01-02")
	}
	all, err := f.Ledger.Reconciliations(ctx, day)
	if err != nil {
		return nil, seckill.AsError(err)
	}
	return all[max(0, len(all)-MaxKept):], nil
}

// trade is a payment's key; movement is what a bill has a line for. A refund that the shop did not ask for may have no
// id.
type (
	trade    struct{ order, no string }
	movement struct {
		trade
		refund bool
		id     string // of the refund
	}
)

// key says which movement a line is about.
func key(l *seckill.BillLine) movement {
	return movement{trade{l.Order, l.TradeNo}, l.Refund, l.RefundID}
}

// match is one day's.
type match struct {
	*Flow
	out    seckill.Reconciliation
	date   time.Time
	known  map[trade]seckill.Payment
	unread map[trade]bool
	billed map[movement]bool
}

func (m *match) run(ctx context.Context) error {
	bill, none, err := m.bill(ctx, m.out.Day)
	if err != nil {
		return err
	}
	m.out.NoBill = none
	m.out.Others = bill.Others
	paid, err := m.all(ctx, m.Ledger.PaymentsOn, func(p *seckill.Payment) time.Time { return p.At })
	if err != nil {
		return err
	}
	back, err := m.all(ctx, m.Ledger.RefundsOn, func(p *seckill.Payment) time.Time { return p.Back })
	if err != nil {
		return err
	}
	for i := range bill.Lines {
		if err := m.line(ctx, &bill.Lines[i]); err != nil {
			return err
		}
	}
	if err := m.missing(ctx, paid, back); err != nil {
		return err
	}
	slices.SortStableFunc(m.out.Differences, func(a, b seckill.Difference) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.TradeNo, b.TradeNo), cmp.Compare(a.Kind, b.Kind))
	})
	m.out.Count = len(m.out.Differences)
	m.out.Differences = m.out.Differences[:min(m.out.Count, seckill.MaxDifferences)]
	return nil
}

// bill reads a day's bill. none: there is none, as when nothing moved.
func (f *Flow) bill(ctx context.Context, day string) (bill seckill.Bill, none bool, err error) {
	bill, err = f.Bills.Bill(ctx, day)
	if errors.Is(err, seckill.ErrNoBill) {
		return seckill.Bill{}, true, nil
	}
	return bill, false, err
}

// all returns what the ledger recorded (when: at) in the 24 hours that end BillCutoff before the day does. For that it
// reads a listing of the day, and that of the day before, to their ends.
func (m *match) all(ctx context.Context, list func(ctx context.Context, day, after string,
	limit int) (seckill.Page[seckill.Payment], error), at func(p *seckill.Payment) time.Time) (all []seckill.Payment,
	err error) {
	from := m.date.Add(-BillCutoff)
	to := from.AddDate(0, 0, 1)
	for _, day := range []time.Time{from, m.date} {
		for after, more := "", true; more; more = after != "" {
			page, err := list(ctx, day.Format(time.DateOnly), after, pageRows)
			if err != nil {
				return nil, err
			}
			for _, err := range page.Unreadable {
				m.unreadable(err)
			}
			for _, p := range page.Rows {
				m.known[trade{p.Order, p.TradeNo}] = p
				if recorded := at(&p); !recorded.Before(from) && recorded.Before(to) {
					all = append(all, p)
				}
			}
			after = page.Next
		}
	}
	return all, nil
}

// unreadable notes a payment's row that cannot be read, once: it may hide no other.
func (m *match) unreadable(err error) {
	var row *seckill.Unreadable
	if errors.As(err, &row) && !m.unread[trade{row.PK, row.SK}] {
		m.unread[trade{row.PK, row.SK}] = true
		m.Meter.Count(seckill.EventUnreadable, 1)
		m.differ(seckill.RowUnreadable, &seckill.BillLine{Order: row.PK, TradeNo: row.SK}, 0, 0)
	}
}

// differ notes in what a line differs, with the amounts by the ledger and by the bill.
func (m *match) differ(kind seckill.DifferenceKind, l *seckill.BillLine, here, there seckill.Fen) {
	m.out.Differences = append(m.out.Differences, seckill.Difference{Kind: kind, Order: l.Order, TradeNo: l.TradeNo,
		RefundID: l.RefundID, Here: here, There: there})
}

// line matches a line of the bill.
func (m *match) line(ctx context.Context, l *seckill.BillLine) error {
	moved, twice := key(l), seckill.PaymentTwice
	if l.Refund {
		twice = seckill.RefundTwice
		m.out.Refunds++
		m.out.Returned += l.Amount
	} else {
		m.out.Payments++
		m.out.Captured += l.Amount
	}
	if m.billed[moved] && (!l.Refund || l.RefundID != "") { // without an id there may be several
		m.differ(twice, l, 0, l.Amount)
		return nil
	}
	m.billed[moved] = true
	p, found := m.known[moved.trade]
	if kind, _ := compare(l, p, found); kind == "" {
		return nil
	}
	// What the index does not have, or not yet, the table may.
	all, err := m.Ledger.Payments(ctx, l.Order)
	if errors.Is(err, seckill.ErrUnreadable) {
		m.unreadable(err)
		return nil
	}
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(p seckill.Payment) bool { return p.TradeNo == l.TradeNo })
	if found = i >= 0; found {
		p = all[i]
	}
	if kind, here := compare(l, p, found); kind != "" {
		m.differ(kind, l, here, l.Amount)
	}
	return nil
}

// compare says in what a line differs from the ledger's payment, and what that has: "" when in nothing.
func compare(l *seckill.BillLine, p seckill.Payment, found bool) (kind seckill.DifferenceKind, here seckill.Fen) {
	switch {
	case l.Refund && l.RefundID != seckill.RefundID(l.Order, l.TradeNo):
		return seckill.RefundForeign, 0
	case !found && l.Refund:
		return seckill.RefundNotHere, 0
	case !found:
		return seckill.PaymentNotHere, 0
	case !l.Refund && l.Amount != p.Amount:
		return seckill.PaymentAmount, p.Amount
	case !l.Refund:
		return "", 0
	case p.State != seckill.RefundDone:
		return seckill.RefundNotHere, 0
	case l.Amount != p.Amount:
		return seckill.RefundAmount, p.Amount
	}
	return "", 0
}

// absence is a movement that the ledger knows (At: when it recorded it), as its line should be, and no bill so far.
type absence struct {
	seckill.BillLine
	since string // the first Day on which it can have been booked
}

// missing finds what the ledger recorded (all) and no bill has. It may have been booked on an earlier day, before
// midnight, or before a time in which nothing ran: so those bills are looked at, too, if there is need.
func (m *match) missing(ctx context.Context, paid, back []seckill.Payment) error {
	absent := map[movement]absence{}
	for _, p := range paid {
		l := seckill.BillLine{Order: p.Order, TradeNo: p.TradeNo, Amount: p.Amount, At: p.At}
		if m.billed[key(&l)] {
			continue
		}
		o, err := m.Ledger.Order(ctx, p.Order)
		if errors.Is(err, seckill.ErrUnreadable) {
			o.Placed, err = m.date.AddDate(0, 0, -maxBack), nil // it may have been paid on any of the days
		}
		if err != nil {
			return err
		}
		absent[key(&l)] = absence{l, seckill.Day(o.Placed)}
	}
	for _, p := range back {
		l := seckill.BillLine{Refund: true, Order: p.Order, TradeNo: p.TradeNo, RefundID: p.Refund().ID,
			Amount: p.Amount, At: p.Back}
		if !m.billed[key(&l)] {
			absent[key(&l)] = absence{l, seckill.Day(p.At)}
		}
	}
	for back := 1; back <= maxBack; back++ {
		day := m.date.AddDate(0, 0, -back).Format(time.DateOnly)
		if !slices.ContainsFunc(slices.Collect(maps.Values(absent)), func(a absence) bool { return a.since <= day }) {
			break
		}
		bill, _, err := m.bill(ctx, day)
		if err != nil {
			return fmt.Errorf("bill of %s: %w", day, err)
		}
		for i := range bill.Lines {
			delete(absent, key(&bill.Lines[i]))
		}
	}
	for _, a := range absent {
		if m.out.NoBill && !a.At.Before(m.date) {
			return seckill.Invalid("day",
				"a day that has a bill: the ledger has money of it, and the provider no bill yet")
		}
		kind := seckill.PaymentNotThere
		if a.Refund {
			kind = seckill.RefundNotThere
		}
		m.differ(kind, &a.BillLine, a.Amount, 0)
	}
	return nil
}
