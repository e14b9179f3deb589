// Package reconcile compares the payment provider's bill of a day with the ledger, in both directions. In: a schedule
// (daily), or an operator. Out: the result, stored in the ledger, and its differences, counted. It moves no money, and
// an operator decides what a difference means; but an order whose money went back outside the shop waits from then on.
package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/flow/internal/payment"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	pageRows = 1000 // payments per read of the ledger
	// time after a day's end; Alipay publishes the day's bill by 9:00 the next day ("下载对账单")
	billed  = 10 * time.Hour
	maxDays = 7   // how many days back Run looks
	maxBack = 30  // how many earlier bills are searched for a movement that the day's bill lacks
	maxSum  = 180 // how many earlier bills count for what went back outside the shop

	// BillCutoff: what the ledger records this shortly before a day's end is compared with the next day's bill,
	// because the provider's clock may already be past midnight.
	BillCutoff = 5 * time.Minute

	// MaxKept is the largest number of results per day that Kept returns.
	MaxKept = 10
)

// Ledger is the part of the ledger that the step reconcile calls.
type Ledger interface {
	seckill.OrderReader
	seckill.PaymentReader
	seckill.BillRecorder
	seckill.OutsideRecorder
}

// Deps are the step's dependencies.
type Deps struct {
	Ledger Ledger
	Bills  seckill.Bills
	Clock  seckill.Clock
	Meter  seckill.Meter
}

// Flow is one instance of the step. It has no memory.
type Flow struct{ Deps }

// New returns an instance.
func New(d Deps) *Flow { return &Flow{d} }

// Run compares each of the last maxDays days that has no result yet and whose bill should exist, newest first. It may
// run any number of times: a bill that was late or unreadable is tried again. A day without a bill is tried until it
// is too old; the missing bill is recorded once.
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

// Day compares one seckill.Day, even if it was compared before. The error is an *seckill.Error: CodeInvalid if the
// text is not a day that is over, or if the ledger has movements on that day and the bill does not exist yet.
func (f *Flow) Day(ctx context.Context, day string) (seckill.Reconciliation, error) {
	return f.day(ctx, day, false)
}

// day implements Day; again says that a result without a bill is already stored.
func (f *Flow) day(ctx context.Context, day string, again bool) (seckill.Reconciliation, error) {
	date, err := time.ParseInLocation(time.DateOnly, day, seckill.Zone)
	if err != nil || day >= seckill.Day(f.Clock.Now()) {
		return seckill.Reconciliation{},
			seckill.Invalid("day", "one that is over in UTC+8, as YYYY-MM-DD: its bill comes the next morning")
	}
	m := match{Flow: f, date: date, known: map[trade]seckill.Payment{}, unread: map[trade]bool{},
		billed: map[movement]bool{}, earlier: map[string]past{}}
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

// Kept returns the stored results of a seckill.Day, oldest first, the latest MaxKept of them. It compares nothing.
// It returns CodeInvalid for an invalid day.
func (f *Flow) Kept(ctx context.Context, day string) ([]seckill.Reconciliation, error) {
	if !seckill.ValidDay(day) {
		return nil, seckill.Invalid("day", "YYYY-MM-DD")
	}
	all, err := f.Ledger.Reconciliations(ctx, day)
	if err != nil {
		return nil, seckill.AsError(err)
	}
	return all[max(0, len(all)-MaxKept):], nil
}

// trade is a payment's key; movement is the key of a bill line. A refund made outside the shop may have no id.
type (
	trade    struct{ order, no string }
	movement struct {
		trade
		refund bool
		id     string // the refund's id
	}
)

// key returns the movement that a line describes.
func key(l *seckill.BillLine) movement {
	return movement{trade{l.Order, l.TradeNo}, l.Refund, l.RefundID}
}

// match is the comparison of one day.
type match struct {
	*Flow
	out    seckill.Reconciliation
	bill   seckill.Bill
	date   time.Time
	known  map[trade]seckill.Payment
	unread map[trade]bool
	billed map[movement]bool

	foreign []foreign
	earlier map[string]past // by day, of the bills that were read
	sums    []wentBack      // what this match has found to have gone back outside, in the order in which to record it
}

// wentBack is how much of a trade went back outside the shop, up to a line of the bill.
type wentBack struct {
	trade
	sum seckill.Fen
}

// past is what counts of an earlier bill for what went back outside the shop.
type past struct {
	refunds []seckill.BillLine // made outside the shop
	unread  seckill.UnreadLines
	err     error // the bill was not read
}

// foreign is a line of a refund made outside the shop, by its place on the bill, and the payment as it was read.
type foreign struct {
	at int
	p  seckill.Payment
}

func (m *match) run(ctx context.Context) error {
	bill, none, unread, err := m.billOf(ctx, m.out.Day)
	if err != nil {
		return err
	}
	for _, u := range unread {
		m.out.Differences = append(m.out.Differences, seckill.Difference{Kind: seckill.LineUnreadable, Order: u.Order,
			Line: u.Line, Why: u.Why})
	}
	m.bill, m.out.NoBill = bill, none
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
		if err := m.line(ctx, i); err != nil {
			return err
		}
	}
	if err := m.missing(ctx, paid, back); err != nil {
		return err
	}
	for i := range m.foreign {
		if err := m.outside(ctx, &m.foreign[i]); err != nil {
			return err
		}
	}
	// Last: the ledger changes only when nothing else can fail but to keep the result, in which each change must be.
	outside := payment.Outside{Ledger: m.Ledger, Clock: m.Clock, Meter: m.Meter}
	for _, s := range m.sums {
		if _, err := outside.WentBack(ctx, s.order, s.no, s.sum, "bill of "+m.out.Day); err != nil {
			return err
		}
	}
	slices.SortStableFunc(m.out.Differences, func(a, b seckill.Difference) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.TradeNo, b.TradeNo), cmp.Compare(a.Kind, b.Kind))
	})
	m.out.Count = len(m.out.Differences)
	m.out.Differences = m.out.Differences[:min(m.out.Count, seckill.MaxDifferences)]
	return nil
}

// billOf reads a day's bill. It returns none if the provider has no bill, which also happens when no money moved.
func (f *Flow) billOf(ctx context.Context, day string) (bill seckill.Bill, none bool, unread seckill.UnreadLines,
	err error) {
	bill, err = f.Bills.Bill(ctx, day)
	if errors.Is(err, seckill.ErrNoBill) {
		return seckill.Bill{}, true, nil, nil
	}
	if errors.As(err, &unread) {
		err = nil
	}
	return bill, false, unread, err
}

// all returns what the ledger recorded in the 24 hours that end BillCutoff before the day does; at returns the time
// of a payment. It reads the listings of the day and of the day before to their ends.
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

// unreadable lists a payment row that cannot be read, once.
func (m *match) unreadable(err error) {
	var row *seckill.Unreadable
	if errors.As(err, &row) && !m.unread[trade{row.PK, row.SK}] {
		m.unread[trade{row.PK, row.SK}] = true
		m.Meter.Count(seckill.EventUnreadable, 1)
		m.differ(seckill.RowUnreadable, &seckill.BillLine{Order: row.PK, TradeNo: row.SK}, 0, 0)
	}
}

// differ adds a difference about a line, with the ledger's amount and the bill's amount.
func (m *match) differ(kind seckill.DifferenceKind, l *seckill.BillLine, here, there seckill.Fen) {
	m.out.Differences = append(m.out.Differences, seckill.Difference{Kind: kind, Order: l.Order, TradeNo: l.TradeNo,
		RefundID: l.RefundID, Here: here, There: there})
}

// line compares the line at i of the bill.
func (m *match) line(ctx context.Context, i int) error {
	l := &m.bill.Lines[i]
	moved, twice := key(l), seckill.PaymentTwice
	if l.Refund {
		twice = seckill.RefundTwice
		m.out.Refunds++
		m.out.Returned += l.Amount
	} else {
		m.out.Payments++
		m.out.Captured += l.Amount
	}
	if m.billed[moved] && (!l.Refund || l.RefundID != "") { // lines without an id may repeat
		m.differ(twice, l, 0, l.Amount)
		return nil
	}
	m.billed[moved] = true
	p, found := m.known[moved.trade]
	if kind, _ := compare(l, p, found); kind == "" {
		return nil
	}
	// The index may lag; the table does not.
	all, err := m.Ledger.Payments(ctx, l.Order)
	if errors.Is(err, seckill.ErrUnreadable) {
		m.unreadable(err)
		return nil
	}
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(p seckill.Payment) bool { return p.TradeNo == l.TradeNo })
	if found = at >= 0; found {
		p = all[at]
	}
	kind, here := compare(l, p, found)
	switch {
	case kind == seckill.RefundForeign && found:
		m.foreign = append(m.foreign, foreign{i, p})
	case kind != "":
		m.differ(kind, l, here, l.Amount)
	}
	return nil
}

// own reports whether a line is a refund that the shop made: whole, or of a rest.
func own(l *seckill.BillLine) bool {
	id := seckill.RefundID(l.Order, l.TradeNo)
	return l.RefundID == id || strings.HasPrefix(l.RefundID, id+"_")
}

// outside finds whether the ledger has a refund that somebody made outside the shop. The ledger has the sum of such
// refunds, so the earlier ones count, on earlier bills, too.
func (m *match) outside(ctx context.Context, f *foreign) error {
	l := &m.bill.Lines[f.at]
	o, err := m.Ledger.Order(ctx, l.Order)
	if err != nil {
		return err
	}
	lines := returned(m.bill.Lines[:f.at+1])
	why, day := "", m.date
	for back := 0; ; back++ {
		day = day.AddDate(0, 0, -1)
		if day.Format(time.DateOnly) < seckill.Day(o.Placed) {
			break
		}
		if back == maxSum || back >= maxBack && m.late(ctx) {
			why = "not read: bills to " + day.Format(time.DateOnly)
			break
		}
		bill, err := m.past(ctx, day.Format(time.DateOnly))
		if err != nil && (back < maxBack || ctx.Err() != nil) {
			return err
		}
		if err != nil { // the difference says so, and whoever matches the day again reads it
			why = "not read: bill " + day.Format(time.DateOnly)
		}
		lines = append(lines, bill.refunds...)
		for _, u := range bill.unread {
			if u.Order == l.Order {
				why = fmt.Sprintf("not read: bill %s, line %d", day.Format(time.DateOnly), u.Line)
			}
		}
	}
	sum, seen := seckill.Fen(0), map[string]bool{}
	for k := range lines {
		b := &lines[k]
		if b.Order != l.Order || b.TradeNo != l.TradeNo || seen[b.RefundID] {
			continue
		}
		sum += b.Amount
		seen[b.RefundID] = b.RefundID != "" // lines without an id may repeat
	}
	known := f.p.Outside
	for _, s := range m.sums { // by earlier lines of this bill
		if s.trade == key(l).trade {
			known = max(known, s.sum)
		}
	}
	if sum > known || why != "" { // the sum may lack something
		m.differ(seckill.RefundForeign, l, known, sum)
		m.out.Differences[len(m.out.Differences)-1].Why = why
	}
	if sum <= known {
		return nil
	}
	m.sums = append(m.sums, wentBack{key(l).trade, sum})
	return nil
}

// late reports whether a minute or less is left: a day's result counts more than bills of long ago.
func (m *match) late(ctx context.Context) bool {
	end, ends := ctx.Deadline()
	return ends && end.Sub(m.Clock.Now()) <= time.Minute
}

// past returns what counts of an earlier day's bill, which it reads once.
func (m *match) past(ctx context.Context, day string) (past, error) {
	if bill, read := m.earlier[day]; read {
		return bill, bill.err
	}
	_, err := m.read(ctx, day)
	return m.earlier[day], err
}

// read reads an earlier day's bill, and keeps what past returns of it.
func (m *match) read(ctx context.Context, day string) (seckill.Bill, error) {
	bill, _, unread, err := m.billOf(ctx, day)
	if err != nil {
		err = fmt.Errorf("bill of %s: %w", day, err)
	}
	m.earlier[day] = past{returned(bill.Lines), unread, err}
	return bill, err
}

// returned returns the lines of refunds made outside the shop.
func returned(lines []seckill.BillLine) (out []seckill.BillLine) {
	for i := range lines {
		if l := &lines[i]; l.Refund && !own(l) {
			out = append(out, *l)
		}
	}
	return out
}

// compare returns how a line differs from the ledger's payment, and the ledger's amount; kind "" means no difference.
func compare(l *seckill.BillLine, p seckill.Payment, found bool) (kind seckill.DifferenceKind, here seckill.Fen) {
	switch {
	case l.Refund && !own(l):
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
	case l.Amount != p.Rest():
		return seckill.RefundAmount, p.Rest()
	}
	return "", 0
}

// absence is a movement that the ledger has (At: when it recorded it), in the form of a bill line, and that no bill
// read so far contains.
type absence struct {
	seckill.BillLine
	since string // the first Day on which the provider can have booked it
}

// missing finds what the ledger recorded and no bill contains. The provider may have booked it on an earlier day,
// before midnight or during an outage of ours, so missing also searches earlier bills if needed.
func (m *match) missing(ctx context.Context, paid, back []seckill.Payment) error {
	absent := map[movement]absence{}
	for _, p := range paid {
		l := seckill.BillLine{Order: p.Order, TradeNo: p.TradeNo, Amount: p.Amount, At: p.At}
		if m.billed[key(&l)] {
			continue
		}
		o, err := m.Ledger.Order(ctx, p.Order)
		if errors.Is(err, seckill.ErrUnreadable) {
			o.Placed, err = m.date.AddDate(0, 0, -maxBack), nil // unknown, so search every day that may be searched
		}
		if err != nil {
			return err
		}
		absent[key(&l)] = absence{l, seckill.Day(o.Placed)}
	}
	for _, p := range back {
		l := seckill.BillLine{Refund: true, Order: p.Order, TradeNo: p.TradeNo, RefundID: p.Refund().ID,
			Amount: p.Rest(), At: p.Back}
		if p.Rest() > 0 && !m.billed[key(&l)] {
			absent[key(&l)] = absence{l, seckill.Day(p.At)}
		}
	}
	for back := 1; back <= maxBack; back++ {
		day := m.date.AddDate(0, 0, -back).Format(time.DateOnly)
		if !slices.ContainsFunc(slices.Collect(maps.Values(absent)), func(a absence) bool { return a.since <= day }) {
			break
		}
		bill, err := m.read(ctx, day)
		if err != nil {
			return err
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
