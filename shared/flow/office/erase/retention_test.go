package erase_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/office/erase"
	"github.com/your-org/seckill/shared/seckill"
)

const day = 24 * time.Hour

var (
	opening = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	ctx     = context.Background()
)

// shop is a ledger with items, a retention of 90 days, and counters of calls.
type shop struct {
	*testing.T
	clock  *memory.Clock
	items  *memory.Items
	ledger *faulty
	erased memory.Meter
	flow   *erase.Flow
}

// faulty is a ledger that counts its pages and can fail for one item.
type faulty struct {
	seckill.Ledger
	fails string // the item whose orders cannot be read
	away  error  // of a list of sessions
	pages int
}

func (l *faulty) ListSessions(ctx context.Context, user string, limit int) ([]seckill.Session, error) {
	if l.away != nil {
		return nil, l.away
	}
	return l.Ledger.ListSessions(ctx, user, limit)
}

func (l *faulty) OrdersByItem(ctx context.Context, item, after string, limit int) (seckill.OrderPage, error) {
	if l.pages++; item == l.fails {
		return seckill.OrderPage{}, errors.New("a row of item " + item + " cannot be read")
	}
	return l.Ledger.OrdersByItem(ctx, item, after, limit)
}

func newShop(t *testing.T) *shop {
	clock := memory.NewClock(opening)
	s := &shop{T: t, clock: clock, items: memory.NewItems(), erased: memory.Meter{},
		ledger: &faulty{Ledger: ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock}))}}
	s.start()
	return s
}

// start begins a new instance, without memory.
func (s *shop) start() {
	s.flow = erase.New(erase.Deps{Ledger: s.ledger, Items: s.items, Clock: s.clock, Meter: s.erased, Keep: 90 * day})
}

// item makes an item whose sale ends at the opening plus lasts.
func (s *shop) item(id string, lasts time.Duration) {
	it := drivertest.Item(id, opening)
	it.End = opening.Add(lasts)
	must.OK(s, s.items.Put(ctx, it, nil))
}

// order places an order of the item and moves it to the state.
func (s *shop) order(item string, n int, state seckill.State) string {
	s.Helper()
	o := drivertest.Order(item, fmt.Sprint(n), opening, n)
	o.Network = netip.MustParseAddr("2001:db8::7")
	must.OK(s, drivertest.Place(ctx, s.ledger, o, state))
	return o.ID
}

// has reports whether an order still has its address.
func (s *shop) has(id string) bool {
	s.Helper()
	return must.Get(s.ledger.Order(ctx, id)).Address != ""
}

func (s *shop) marked(item string) bool {
	s.Helper()
	return !must.Get(s.items.Get(ctx, item)).AddressesErased.IsZero()
}

// TestRetention checks that 90 days after the end of a sale the addresses of all orders except open ones are erased,
// and not earlier.
func TestRetention(t *testing.T) {
	for _, c := range []struct {
		state  seckill.State
		age    time.Duration // time since the end of the sale
		erased bool
	}{
		{seckill.Paid, 90*day - time.Second, false},
		{seckill.Paid, 90 * day, true},
		{seckill.RefundOwed, 90 * day, true},
		{seckill.Expired, 90 * day, true},
		{seckill.PendingPayment, 900 * day, false},
		{seckill.Closing, 900 * day, false},
	} {
		t.Run(fmt.Sprint(c.state, " after ", c.age), func(t *testing.T) {
			s := newShop(t)
			s.item("1", time.Hour)
			id := s.order("1", 1, c.state)
			s.clock.Advance(time.Hour + c.age)
			must.OK(s, s.flow.Ended(ctx))
			if got := !s.has(id); got != c.erased || s.marked("1") != c.erased ||
				s.erased[seckill.EventErased] == 1 != c.erased {
				t.Errorf("erased %v, item marked %v, counted %v, want %v", got, s.marked("1"), s.erased, c.erased)
			}
		})
	}
}

// TestNetworkRetention checks that network addresses go 7 days after the end of a sale, of open orders, too, and not
// earlier, that delivery addresses stay, and that no instance reads the item's orders again.
func TestNetworkRetention(t *testing.T) {
	for age, gone := range map[time.Duration]bool{7*day - time.Second: false, 7 * day: true} {
		s := newShop(t)
		s.flow.KeepNetworks = 7 * day
		s.item("1", time.Hour)
		ids := []string{s.order("1", 1, seckill.Paid), s.order("1", 2, seckill.PendingPayment)}
		s.clock.Advance(time.Hour + age)
		must.OK(s, s.flow.Ended(ctx))
		for _, id := range ids {
			o := must.Get(s.ledger.Order(ctx, id))
			if o.Network.IsValid() == gone || !s.has(id) || !o.Erased.IsZero() {
				t.Errorf("after %v: %s has network address %q, address %q, erased %v", age, o.State, o.Network,
					o.Address, o.Erased)
			}
		}
		it := must.Get(s.items.Get(ctx, "1"))
		if it.NetworksErased.IsZero() == gone || s.marked("1") || s.erased[seckill.EventErased] != 0 {
			t.Errorf("after %v: the item is marked %v and %v", age, it.NetworksErased, it.AddressesErased)
		}
		read := s.ledger.pages
		s.start()
		s.flow.KeepNetworks = 7 * day
		if must.OK(s, s.flow.Ended(ctx)); gone && s.ledger.pages != read {
			t.Error("a new instance has read the orders again")
		}
	}
}

// TestNetworksGoWithAddresses checks that an address takes the network address with it, whatever its own retention.
func TestNetworksGoWithAddresses(t *testing.T) {
	s := newShop(t)
	s.flow.KeepNetworks = 900 * day
	s.item("1", time.Hour)
	id := s.order("1", 1, seckill.Paid)
	s.clock.Advance(time.Hour + 90*day)
	must.OK(s, s.flow.Ended(ctx))
	if o, err := s.ledger.Order(ctx, id); err != nil || o.Network.IsValid() || s.has(id) {
		t.Errorf("network address %q, address %q, %v, want none", o.Network, o.Address, err)
	}
}

// TestAddressesStayWithoutRetention checks that without a retention no address is erased.
func TestAddressesStayWithoutRetention(t *testing.T) {
	s := newShop(t)
	s.flow.Keep = 0
	s.item("1", time.Hour)
	id := s.order("1", 1, seckill.Paid)
	s.clock.Advance(9000 * day)
	must.OK(s, s.flow.Ended(ctx))
	if !s.has(id) || s.ledger.pages != 0 {
		t.Errorf("address there %v, %d pages read, want it there and none read", s.has(id), s.ledger.pages)
	}
}

// TestItemIsReadOnce checks that no instance reads the orders of an item without addresses again, and that an item
// with an open order is read again an hour later.
func TestItemIsReadOnce(t *testing.T) {
	s := newShop(t)
	s.item("1", time.Hour)
	s.item("2", 2*time.Hour)
	s.order("1", 1, seckill.Paid)
	s.order("2", 1, seckill.PendingPayment)
	s.clock.Advance(100 * day)
	for _, c := range []struct {
		wait  time.Duration
		pages int
	}{{0, 2}, {time.Hour - time.Second, 2}, {time.Second, 3}} {
		s.clock.Advance(c.wait)
		if must.OK(s, s.flow.Ended(ctx)); s.ledger.pages != c.pages {
			t.Fatalf("%d pages read, want %d", s.ledger.pages, c.pages)
		}
	}
	s.start()
	if must.OK(s, s.flow.Ended(ctx)); s.ledger.pages != 4 {
		t.Errorf("a new instance has read %d pages, want only the one of item 2", s.ledger.pages-3)
	}
}

// TestLongItem checks that a run erases at most about a thousand addresses, that the next run continues, and that a
// new instance starts over and also finishes.
func TestLongItem(t *testing.T) {
	s := newShop(t)
	s.item("1", time.Hour)
	s.item("2", 2*time.Hour)
	const orders = 2500
	for n := range orders {
		s.order("1", 1+n, seckill.Paid)
	}
	last := s.order("2", 1, seckill.Paid)
	s.clock.Advance(100 * day)
	for run, want := range []int{1000, 2000, orders + 1} {
		if run == 1 {
			s.start()
		}
		if must.OK(s, s.flow.Ended(ctx)); s.erased[seckill.EventErased] != want {
			t.Errorf("after run %d: %d erased, want %d", run+1, s.erased[seckill.EventErased], want)
		}
	}
	if s.has(last) || !s.marked("1") || !s.marked("2") {
		t.Error("the items are not done")
	}
}

// TestOneItemsTrouble checks that the error names an item whose orders cannot be read, that the other items are still
// handled, and that the item is tried again an hour later.
func TestOneItemsTrouble(t *testing.T) {
	s := newShop(t)
	s.item("1", time.Hour)
	s.item("2", 2*time.Hour)
	first, second := s.order("1", 1, seckill.Paid), s.order("2", 1, seckill.Paid)
	s.ledger.fails = "1"
	s.clock.Advance(100 * day)
	if err := s.flow.Ended(ctx); err == nil || !strings.Contains(err.Error(), "addresses of item 1") {
		t.Errorf("error %v, want one that names item 1", err)
	}
	if !s.has(first) || s.marked("1") || s.has(second) || !s.marked("2") {
		t.Error("want item 2 done and item 1 as it was")
	}
	s.ledger.fails = ""
	s.clock.Advance(time.Hour)
	if must.OK(s, s.flow.Ended(ctx)); s.has(first) || !s.marked("1") {
		t.Error("item 1 is not done an hour later")
	}
}
