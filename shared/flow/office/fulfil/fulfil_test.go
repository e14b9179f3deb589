package fulfil_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	pages "github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/flow/money/refund"
	"github.com/your-org/seckill/shared/flow/office/fulfil"
	"github.com/your-org/seckill/shared/flow/sale/expire"
	"github.com/your-org/seckill/shared/seckill"
)

// shop is a ledger with the flow on it.
type shop struct {
	*testing.T
	*fulfil.Flow
	expire *expire.Flow
	shop   *pages.Flow
	ledger *ledger.Ledger
	clock  *memory.Clock
	made   int
}

func newShop(t *testing.T) *shop {
	clock := memory.NewClock(time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC))
	l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock}))
	return &shop{t, fulfil.New(fulfil.Deps{Ledger: l, Clock: clock}),
		expire.New(expire.Deps{Ledger: l, Clock: clock, Meter: memory.Meter(nil)}),
		pages.New(pages.Deps{Ledger: l, Clock: clock}), l, clock, 0}
}

// order places an order of user 7, and pays it if paid.
func (s *shop) order(paid bool) string {
	s.Helper()
	s.made++
	o, state := drivertest.Order("1", "7", s.clock.Now(), s.made), seckill.PendingPayment
	o.PayBy = o.Placed.Add(100 * 24 * time.Hour)
	if paid {
		state = seckill.Paid
	}
	must.OK(s, drivertest.Place(s.Context(), s.ledger, o, state))
	return o.ID
}

// is checks an order's state and the last entry of its history.
func (s *shop) is(id string, state seckill.State, cause string) seckill.Order {
	s.Helper()
	o, err := s.Order(s.Context(), id)
	if last := o.History[len(o.History)-1]; err != nil || o.State != state || last.State != state ||
		last.Cause != cause {
		s.Errorf("%s by %q, %v; want %s by %q", o.State, last.Cause, err, state, cause)
	}
	return o
}

func (s *shop) want(what string, got bool, err error, want bool) {
	s.Helper()
	if err != nil || got != want {
		s.Errorf("%s: %t, %v; want %t", what, got, err, want)
	}
}

func (s *shop) refused(what string, err error, want seckill.Code) {
	s.Helper()
	if seckill.CodeOf(err) != want {
		s.Errorf("%s: %v, want %s", what, err, want)
	}
}

// ship ships one order.
func (s *shop) ship(id, number string) fulfil.Shipped {
	s.Helper()
	done, err := s.Ship(s.Context(), "ann", []fulfil.Parcel{{Order: id, Carrier: "SF", Number: number}}, false, false)
	must.OK(s, err)
	return done
}

// TestLifeAfterPaid is the specification: each change once, by whom, and when the schedule makes it.
func TestLifeAfterPaid(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	id, ctx := s.order(true), t.Context()
	is, err := s.Confirm(ctx, id, "ann")
	s.want("confirmed", is, err, true)
	is, err = s.Confirm(ctx, id, "bob")
	s.want("confirmed again", is, err, false)
	s.is(id, seckill.Confirmed, "confirmed by ann")
	if done := s.ship(id, "1"); done.Shipped != 1 || done.Same != 0 || done.Faults != nil {
		t.Errorf("shipped: %+v", done)
	}
	if done := s.ship(id, "1"); done.Shipped != 0 || done.Same != 1 || done.Faults != nil {
		t.Errorf("shipped again: %+v", done)
	}
	if done := s.ship(id, "2"); len(done.Faults) != 1 || !strings.Contains(done.Faults[0].What, "SF, 1") {
		t.Errorf("shipped with another number: %+v", done)
	}
	o := s.is(id, seckill.Shipped, "shipped by ann")
	if o.Carrier != "SF" || o.Number != "1" {
		t.Errorf("%s, %s", o.Carrier, o.Number)
	}
	s.clock.Advance(15*24*time.Hour - time.Millisecond)
	s.sweep()
	s.is(id, seckill.Shipped, "shipped by ann")
	s.clock.Advance(time.Millisecond)
	s.sweep()
	s.is(id, seckill.Received, "15 days after shipping")
	s.clock.Advance(7*24*time.Hour - time.Millisecond)
	s.sweep()
	s.is(id, seckill.Received, "15 days after shipping")
	s.clock.Advance(time.Millisecond)
	s.sweep()
	o = s.is(id, seckill.Completed, "7 days after receipt")
	if len(o.History) != 6 || len(o.Units) != 1 {
		t.Errorf("%+v", o)
	}
}

// TestCorrectParcel: a wrong parcel of an order that has left is corrected a few times, and its history has both.
func TestCorrectParcel(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	id, ctx := s.order(true), t.Context()
	correct := func(number, why string) (bool, error) {
		return s.Correct(ctx, "bob", fulfil.Parcel{Order: id, Carrier: "ZTO", Number: number}, why)
	}
	_, err := correct("2", "x")
	s.refused("a parcel that nobody sent", err, seckill.CodeInvalid)
	_, err = s.Confirm(ctx, id, "ann")
	must.OK(t, err)
	s.ship(id, "1")
	for what, bad := range map[string][2]string{"a damaged number": {"7.5E+13", "x"}, "no reason": {"2", " "},
		"a reason of two lines": {"2", "a\nb"}, "no number": {"", "x"}} {
		_, err = correct(bad[0], bad[1])
		s.refused(what, err, seckill.CodeInvalid)
	}
	is, err := correct("2", "a typo")
	s.want("corrected", is, err, true)
	is, err = correct("2", "a typo")
	s.want("corrected so already", is, err, false)
	o := s.is(id, seckill.Shipped, "parcel corrected by bob: from SF 1 to ZTO 2: a typo")
	if o.Carrier != "ZTO" || o.Number != "2" {
		t.Errorf("%+v", o)
	}
	change := seckill.OrderChange{Order: o, Before: len(o.History) - 1}
	page := string(must.Get(os.ReadFile("../../../../docs/EVENTS.md")))
	if e := change.Events(); len(e) != 1 || e[0].Kind() != seckill.EventNoted ||
		!strings.Contains(strings.ReplaceAll(page, "\n", " "), "`cause` begins with `parcel corrected by`") {
		t.Errorf("events %+v, want what docs/EVENTS.md says of a corrected parcel", e)
	}
	s.clock.Advance(seckill.ReceivedAfter)
	s.sweep()
	for i := range fulfil.MaxCorrections - 1 {
		is, err = correct(strconv.Itoa(3+i), "again")
		s.want("corrected after the receipt", is, err, true)
	}
	_, err = correct("99", "again")
	s.refused("too many corrections", err, seckill.CodeInvalid)
	if o, _ = s.Order(ctx, id); o.State != seckill.Received || o.Number == "99" {
		t.Errorf("%+v", o)
	}
}

func (s *shop) sweep() {
	s.Helper()
	must.OK(s, s.expire.Sweep(s.Context()))
}

// TestShopper is what a shopper may say about their own order.
func TestShopper(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	id, open, ctx := s.order(true), s.order(false), t.Context()
	_, err := s.shop.Received(ctx, "7", id)
	s.refused("received, and paid only", err, seckill.CodeWrongState)
	_, err = s.shop.AskRefund(ctx, "7", open, "x")
	s.refused("a refund of what is not paid", err, seckill.CodeWrongState)
	_, err = s.shop.AskRefund(ctx, "8", id, "x")
	s.refused("a refund of another's", err, seckill.CodeOrderUnknown)
	for _, why := range []string{"", " ", "two\nlines", strings.Repeat("x", 501), "\xff"} {
		_, err = s.shop.AskRefund(ctx, "7", id, why)
		s.refused("for a reason that is none", err, seckill.CodeInvalid)
	}
	for _, why := range []string{strings.Repeat("小", 500), "another"} { // the first stays
		must.Equal(t, seckill.Paid, must.Get(s.shop.AskRefund(ctx, "7", id, why)).State)
	}
	if o := s.is(id, seckill.Paid, "the shopper asks for a refund"); len([]rune(o.RefundWhy)) != 500 ||
		len(o.History) != 3 {
		t.Errorf("%+v", o)
	}
	must.Get(s.Confirm(ctx, id, "ann"))
	s.ship(id, "1")
	_, err = s.shop.Received(ctx, "8", id)
	s.refused("another's is received", err, seckill.CodeOrderUnknown)
	for range 2 {
		must.Equal(t, seckill.Received, must.Get(s.shop.Received(ctx, "7", id)).State)
	}
	s.is(id, seckill.Received, "received by the shopper")
	s.clock.Advance(7 * 24 * time.Hour)
	s.sweep()
	s.is(id, seckill.Completed, "7 days after receipt")
	must.Equal(t, seckill.Completed, must.Get(s.shop.Received(ctx, "7", id)).State)
	_, err = s.shop.Received(ctx, "7", "nonsense")
	s.refused("what is not an order", err, seckill.CodeOrderUnknown)
}

// TestStaff is what staff may say about an order, and what not.
func TestStaff(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	id, open, ctx := s.order(true), s.order(false), t.Context()
	_, err := s.Confirm(ctx, open, "ann")
	s.refused("confirmed, not paid", err, seckill.CodeInvalid)
	_, err = s.Confirm(ctx, id, "")
	s.refused("confirmed by nobody", err, seckill.CodeInvalid)
	_, err = s.Confirm(ctx, seckill.KeyedOrderID("1", "7", "none"), "ann")
	s.refused("none confirmed", err, seckill.CodeOrderUnknown)
	is, err := s.Note(ctx, id, "ann", "a gift")
	s.want("noted", is, err, true)
	is, err = s.Note(ctx, id, "ann", "a gift")
	s.want("noted again", is, err, false)
	s.is(id, seckill.Paid, "note by ann: a gift")
	_, err = s.Note(ctx, id, "ann", "two\nlines")
	s.refused("a note of two lines", err, seckill.CodeInvalid)
	_, err = s.Hide(ctx, id, "ann", "test", true)
	s.refused("hidden, and not shipped", err, seckill.CodeInvalid)
	refunds := refund.New(refund.Deps{Ledger: s.ledger, Clock: s.clock, Meter: memory.Meter(nil)})
	_, err = refunds.Order(ctx, id, "ann", "x", false)
	must.OK(t, err)
	if done := s.ship(id, "1"); len(done.Faults) != 1 ||
		done.Faults[0].What != "order: want confirmed; it is refund_due" {
		t.Errorf("shipped, and refunded: %+v", done)
	}
	p := seckill.Payment{Order: id, TradeNo: "t"}
	must.OK(t, s.ledger.Refunded(ctx, p, p.Outside, "", seckill.RefundOwed, seckill.Refunded, s.clock.Now(), "back"))
	for _, hidden := range []bool{true, false} {
		is, err = s.Hide(ctx, id, "ann", "test", hidden)
		s.want("hidden", is, err, true)
		is, err = s.Hide(ctx, id, "ann", "test", hidden)
		s.want("hidden again", is, err, false)
		if o, _ := s.Order(ctx, id); o.Hidden != hidden {
			t.Errorf("hidden %t, want %t", o.Hidden, hidden)
		}
	}
	for i := 7; i < fulfil.MaxEntries; i++ {
		if _, err := s.Note(ctx, id, "ann", strings.Repeat("x", i)); err != nil {
			t.Fatal(i, err)
		}
	}
	_, err = s.Note(ctx, id, "ann", "one more")
	s.refused("one note too many", err, seckill.CodeInvalid)
}

// TestParcelsAreCheckedFirst: one parcel that is wrong keeps all from being written, and is named.
func TestParcelsAreCheckedFirst(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	paid, open := s.order(true), s.order(false)
	parcel := func(id string) fulfil.Parcel { return fulfil.Parcel{Order: id, Carrier: "SF", Number: "1"} }
	bad := []fulfil.Parcel{parcel(paid), parcel(open), {Order: "x", Carrier: "SF", Number: "1"},
		{Order: paid, Carrier: "SF", Number: strings.Repeat("1", 65)}, {Order: paid, Number: "1"}, parcel(paid),
		parcel(seckill.KeyedOrderID("1", "7", "none"))}
	done, err := s.Ship(ctx, "ann", bad, true, false)
	var at []int
	for _, f := range done.Faults {
		at = append(at, f.At)
	}
	if err != nil || !slices.Equal(at, []int{1, 2, 3, 4, 5, 6}) || done.Shipped != 0 {
		t.Errorf("%+v, %v", done, err)
	}
	s.is(paid, seckill.Paid, "notify")
	if done, err = s.Ship(ctx, "ann", bad[:1], true, true); err != nil || done.Faults != nil || done.Shipped != 0 {
		t.Errorf("dry: %+v, %v", done, err)
	}
	s.is(paid, seckill.Paid, "notify")
	if done, err = s.Ship(ctx, "ann", bad[:1], true, false); err != nil || done.Shipped != 1 {
		t.Errorf("%+v, %v", done, err)
	}
	if done, err = s.Ship(ctx, "ann", bad[:1], true, true); err != nil || done.Same != 1 || done.Shipped != 0 {
		t.Errorf("dry, of what is shipped: %+v, %v", done, err)
	}
	if o := s.is(paid, seckill.Shipped, "shipped by ann"); o.History[2].Cause != "confirmed by ann" {
		t.Errorf("%+v", o.History)
	}
	for _, n := range []int{0, fulfil.MaxParcels + 1} {
		_, err = s.Ship(ctx, "ann", make([]fulfil.Parcel, n), false, false)
		s.refused("too few or too many", err, seckill.CodeInvalid)
	}
}

// TestList: a list has the matching orders, newest first, in pages.
func TestList(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	begun := s.clock.Now()
	var all []string
	for i := range 20 {
		all = append(all, s.order(i%2 == 0))
		s.clock.Advance(time.Minute)
	}
	must.Get(s.shop.AskRefund(ctx, "7", all[4], "x"))
	list := func(q fulfil.Query, limit int) (ids []string) {
		for after := ""; ; {
			p, err := s.List(ctx, q, after, limit)
			if err != nil || len(p.Orders) > limit {
				t.Fatal(len(p.Orders), err)
			}
			for _, o := range p.Orders {
				ids = append(ids, o.ID)
			}
			if after = p.Next; after == "" {
				return ids
			}
		}
	}
	slices.Reverse(all)
	for _, limit := range []int{1, 3, 20, 500} {
		if got := list(fulfil.Query{Item: "1"}, limit); !slices.Equal(got, all) {
			t.Errorf("by item, in pages of %d: %v", limit, got)
		}
		if got := list(fulfil.Query{}, limit); !slices.Equal(got, all) {
			t.Errorf("of everything, in pages of %d: %v", limit, got)
		}
		must.Equal(t, 10, len(list(fulfil.Query{State: seckill.Paid}, limit)), "all that are paid")
		must.Equal(t, 20, len(list(fulfil.Query{Item: "1", User: "7"}, limit)), "of both")
		must.Equal(t, 0, len(list(fulfil.Query{Item: "2", User: "7"}, limit)), "of another item")
		must.Equal(t, 0, len(list(fulfil.Query{Activity: "9"}, limit)), "of no activity")
		if got := list(fulfil.Query{User: "7"}, limit); !slices.Equal(got, all) {
			t.Errorf("by user, in pages of %d: %v", limit, got)
		}
		must.Equal(t, 10, len(list(fulfil.Query{User: "7", State: seckill.Paid}, limit)), "paid")
		must.Equal(t, 1, len(list(fulfil.Query{Item: "1", Asked: true}, limit)), "asked")
		if got := list(fulfil.Query{Item: "1", From: begun.Add(time.Minute), To: begun.Add(3 * time.Minute)},
			limit); len(got) != 2 {
			t.Errorf("by time: %v", got)
		}
	}
	_, err := s.List(ctx, fulfil.Query{Item: "1", State: "lost"}, "", 10)
	s.refused("no state", err, seckill.CodeInvalid)
	_, err = s.List(ctx, fulfil.Query{Item: "1"}, "", 501)
	s.refused("too many", err, seckill.CodeInvalid)
	_, err = s.List(ctx, fulfil.Query{}, "?", 10)
	s.refused("no cursor", err, seckill.CodeInvalid)
}

// many is a ledger with as many orders as a page asks for, one a second.
type many struct {
	*ledger.Ledger
	now  time.Time
	read int
}

func (m *many) NewestOrders(_ context.Context, q seckill.NewestOrders) (seckill.Page[seckill.Order], error) {
	var page seckill.Page[seckill.Order]
	for range q.Limit {
		m.read++
		o := seckill.Order{ID: seckill.KeyedOrderID("1", "7", strconv.Itoa(m.read)), Item: "1", State: seckill.Expired,
			Created: m.now.Add(-time.Duration(m.read) * time.Second)}
		page.Rows, page.Next = append(page.Rows, o), o.Position()
	}
	return page, nil
}

// TestListLooksAtSoManyOrders: a page of which nothing is shown ends after a bounded number of orders, says how far it
// looked, and where the next one goes on.
func TestListLooksAtSoManyOrders(t *testing.T) {
	s := newShop(t)
	m := &many{Ledger: s.ledger, now: s.clock.Now()}
	f := fulfil.New(fulfil.Deps{Clock: s.clock, Ledger: m})
	got := must.Get(f.List(t.Context(), fulfil.Query{State: seckill.Paid}, "", 50))
	last := m.now.Add(-1000 * time.Second)
	if m.read != 1000 || got.Looked != 1000 || len(got.Orders) != 0 || !got.Back.Equal(last) ||
		!strings.HasPrefix(got.Next, fmt.Sprintf("%015d#", last.UnixMilli())) {
		t.Errorf("read %d, %+v", m.read, got)
	}
	got = must.Get(f.List(t.Context(), fulfil.Query{State: seckill.Expired}, got.Next, 50))
	if m.read != 1250 || got.Looked != 50 || got.Next != got.Orders[49].Position() {
		t.Errorf("read %d, %+v", m.read, got)
	}
	got = must.Get(f.List(t.Context(), fulfil.Query{From: m.now.Add(-1255 * time.Second)}, "", 50))
	if got.Next != "" || len(got.Orders) != 5 {
		t.Errorf("from a time: %+v", got)
	}
}

// refunding is a ledger on which somebody else refunds an order just before it is changed.
type refunding struct {
	*ledger.Ledger
	refund func(o seckill.Order)
}

func (r refunding) Fulfil(ctx context.Context, o seckill.Order, to seckill.State, next, at time.Time,
	cause string) error {
	r.refund(o)
	return r.Ledger.Fulfil(ctx, o, to, next, at, cause)
}

// TestARefundThatIsFaster: the order is refunded, not shipped, and the parcel is a fault.
func TestARefundThatIsFaster(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	id := s.order(true)
	f := fulfil.New(fulfil.Deps{Clock: s.clock, Ledger: refunding{s.ledger, func(o seckill.Order) {
		p := seckill.Payment{Order: o.ID, TradeNo: "t"}
		by := seckill.Decision{}
		if err := s.ledger.StartRefund(t.Context(), o, p, true, by, s.clock.Now(), "back"); err != nil &&
			!errors.Is(err, seckill.ErrStateChanged) {
			t.Error(err)
		}
	}}})
	done, err := f.Ship(t.Context(), "ann", []fulfil.Parcel{{Order: id, Carrier: "SF", Number: "1"}}, true, false)
	if err != nil || len(done.Faults) != 1 || done.Shipped != 0 {
		t.Errorf("%+v, %v", done, err)
	}
	if o := s.is(id, seckill.RefundOwed, "back"); len(o.Units) != 0 || o.Carrier != "" {
		t.Errorf("%+v", o)
	}
}
