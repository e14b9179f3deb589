package drivertest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// LedgerEnv is one set of empty tables.
type LedgerEnv struct {
	Ledger  seckill.Ledger
	Rows    ledger.Rows
	CatchUp func() // returns after the indexes have caught up with every write
}

// buckets is the number of partitions for the units of the suite's orders: few, so that units share one.
const buckets = 4

// epoch is when the suite's orders are created, in whole milliseconds like every time. It is long after today: a real
// table deletes rows that have expired.
var epoch = time.Date(2096, 7, 1, 12, 0, 0, 125e6, time.UTC)

type ledgerCase struct {
	name string
	run  func(s *suite)
}

// suite holds one test's tables, and the users, items and orders that it reads to check that nothing changed.
type suite struct {
	*testing.T
	LedgerEnv
	ctx    context.Context
	made   int
	items  map[string]bool
	users  map[string]bool
	orders []string

	families map[string]bool // over which limits span
}

func newSuite(t *testing.T, env LedgerEnv) *suite {
	return &suite{T: t, LedgerEnv: env, ctx: context.Background(), items: map[string]bool{}, users: map[string]bool{},
		families: map[string]bool{}}
}

// order returns a new order without writing it.
func (s *suite) order(item, user string, units ...int) seckill.Order {
	s.made++
	o := seckill.Order{
		ID:   seckill.KeyedOrderID(item, user, fmt.Sprint(s.made)),
		Item: item, User: user, Count: len(units), Units: units,
		Price: 8_80, Amount: seckill.Fen(8_80 * len(units)), Given: Given(),

		Title:     "茅台 500ml",
		ListPrice: 14_99, Cover: "/covers/茅台.jpg", ItemVersion: 3,
		Options: seckill.Options{{Name: "度数", Value: "53°"}, {Name: "包装", Value: "礼盒"}},
		State:   seckill.PendingPayment, Buckets: buckets, Activity: "12",
		Created: epoch.Add(time.Duration(s.made) * time.Second),
		Placed:  epoch.Add(time.Duration(s.made)*time.Second + 7*time.Millisecond),
	}
	o.PayBy = o.Created.Truncate(time.Second).Add(seckill.DefaultHold)
	o.History = []seckill.Change{{State: seckill.PendingPayment, At: o.Placed, Cause: "placed in time"}}
	s.items[item], s.users[user] = true, true
	s.orders = append(s.orders, o.ID)
	return o
}

// placed creates and places an order.
func (s *suite) placed(item, user string, units ...int) seckill.Order {
	s.Helper()
	o := s.order(item, user, units...)
	s.ok(s.Ledger.Place(s.ctx, o, seckill.MaxLimit))
	return o
}

// rejected creates and rejects an order.
func (s *suite) rejected(item, user string) seckill.Order {
	s.Helper()
	o := s.order(item, user)
	o.Count, o.State, o.Reason, o.PayBy = 2, seckill.Rejected, seckill.CodeSoldOut, time.Time{}
	o.History = []seckill.Change{{State: seckill.Rejected, At: o.Placed, Cause: "no unit left"}}
	s.ok(s.Ledger.Reject(s.ctx, o))
	o.Given = seckill.Given{}
	return o
}

// closing moves a placed order to closing and reads it.
func (s *suite) closing(o seckill.Order, to seckill.State) seckill.Order {
	s.Helper()
	s.ok(s.Ledger.BeginClosing(s.ctx, o, to, o.Due(), "unpaid"))
	return s.read(o.ID)
}

// closed moves a placed order to its final state and reads it.
func (s *suite) closed(o seckill.Order, to seckill.State) seckill.Order {
	s.Helper()
	s.ok(s.Ledger.GiveBack(s.ctx, s.closing(o, to), o.Due(), "trade closed"))
	return s.read(o.ID)
}

func (s *suite) read(id string) seckill.Order {
	s.Helper()
	o, err := s.Ledger.Order(s.ctx, id)
	s.ok(err)
	return o
}

func (s *suite) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("got error %v, want none", err)
	}
}

func (s *suite) same(what string, got, want any) {
	s.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		s.Fatalf("%s: got (+), want (-):\n%s", what, diff)
	}
}

// refused checks that do returns an error that satisfies is, and that no readable data change.
func (s *suite) refused(what string, is func(error) bool, do func() error) {
	s.Helper()
	before := s.sale()
	if err := do(); !is(err) {
		s.Fatalf("%s: got error %v, want another", what, err)
	}
	s.same("world after "+what+" was refused", s.sale(), before)
}

func isError(want error) func(error) bool {
	return func(err error) bool { return errors.Is(err, want) }
}

// isPlain reports whether err is not one of the port's named errors, so that a caller treats it as a fault.
func isPlain(err error) bool {
	var collision *seckill.Collision
	for _, named := range []error{seckill.ErrOrderExists, seckill.ErrQuota, seckill.ErrBlocked, seckill.ErrNoSession,
		seckill.ErrStateChanged, seckill.ErrNoOrder, seckill.ErrPaymentExists, seckill.ErrNoReturn,
		seckill.ErrNoUser, seckill.ErrUserTaken} {
		if errors.Is(err, named) {
			return false
		}
	}
	return err != nil && !errors.As(err, &collision)
}

func isCollision(want seckill.Collision) func(error) bool {
	return func(err error) bool {
		var c *seckill.Collision
		return errors.As(err, &c) && *c == want
	}
}

// sale holds all that consistent reads return for the suite's items, users and orders.
type sale struct {
	Orders   map[string]seckill.Order
	Units    map[string][]seckill.UnitRow
	Quotas   map[string]seckill.Quota
	Payments map[string][]seckill.Payment
	Returns  map[string]seckill.ReturnRow
	Spans    map[string]ledger.Row // quotas of families
}

func (s *suite) sale() sale {
	s.Helper()
	w := sale{map[string]seckill.Order{}, map[string][]seckill.UnitRow{}, map[string]seckill.Quota{},
		map[string][]seckill.Payment{}, map[string]seckill.ReturnRow{}, map[string]ledger.Row{}}
	for _, id := range s.orders {
		o, err := s.Ledger.Order(s.ctx, id)
		if !errors.Is(err, seckill.ErrNoOrder) {
			s.ok(err)
			w.Orders[id] = o
		}
		p, err := s.Ledger.Payments(s.ctx, id)
		s.ok(err)
		w.Payments[id] = p
		r, err := s.Ledger.Return(s.ctx, id)
		if !errors.Is(err, seckill.ErrNoReturn) {
			s.ok(err)
			w.Returns[id] = r
		}
	}
	for family := range s.families {
		for user := range s.users {
			row, _, err := s.Rows.Get(s.ctx, spanRow(user, family))
			s.ok(err)
			w.Spans[user+"/"+family] = row
		}
	}
	for item := range s.items {
		w.Units[item] = s.units(item)
		for user := range s.users {
			q, err := s.Ledger.Quota(s.ctx, user, item)
			s.ok(err)
			w.Quotas[user+"/"+item] = q
		}
	}
	return w
}

// units reads all unit rows of an item.
func (s *suite) units(item string) []seckill.UnitRow {
	s.Helper()
	var all []seckill.UnitRow
	for b := range buckets {
		rows, err := s.Ledger.Units(s.ctx, item, b)
		s.ok(err)
		for _, r := range rows {
			if r.Unit%buckets != b {
				s.Fatalf("bucket %d of %d has unit %d", b, buckets, r.Unit)
			}
		}
		all = append(all, rows...)
	}
	return all
}

// allTogether calls do concurrently n times and returns the errors.
func allTogether(n int, do func(i int) error) []error {
	errs := make(chan error)
	for i := range n {
		go func() { errs <- do(i) }()
	}
	all := make([]error, n)
	for i := range all {
		all[i] = <-errs
	}
	return all
}

// count returns how many errors satisfy each test, and fails if an error satisfies no test.
func (s *suite) count(errs []error, tests ...func(error) bool) []int {
	s.Helper()
	counts := make([]int, len(tests))
next:
	for _, err := range errs {
		for i, is := range tests {
			if is(err) {
				counts[i]++
				continue next
			}
		}
		s.Fatalf("got error %v, want another", err)
	}
	return counts
}
