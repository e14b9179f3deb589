package drivertest

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/your-org/seckill/shared/seckill"
)

// The random histories use few ids, so that everything collides with everything.
const (
	modelUnits = 6
	modelLimit = 3
	modelUsers = 3
)

var historyCases = []ledgerCase{
	{"random histories keep I1, I2, I3 and I8", func(s *suite) {
		sale := 0
		rapid.Check(s.T, func(t *rapid.T) {
			sale++
			m := &model{s: s, item: fmt.Sprint(sale), units: map[int]string{}, orders: map[string]seckill.Order{},
				returned: map[string][]int{}, trades: map[string]bool{}, cancels: map[string]int{}}
			m.reject(t) // so that every step has an order to act on
			t.Repeat(map[string]func(*rapid.T){
				"place": m.place, "reject": m.reject, "begin closing": m.beginClosing, "give back": m.giveBack,
				"record payment": m.recordPayment, "reschedule": m.reschedule, "": m.check,
			})
		})
	}},
}

// model is the expected content of the ledger: the rules of docs/DATA.md on maps.
type model struct {
	s        *suite
	item     string
	units    map[int]string // unit → order
	orders   map[string]seckill.Order
	ids      []string
	returned map[string][]int // order → units that it gave back
	trades   map[string]bool  // order/trade
	cancels  map[string]int   // by user/item
}

func (m *model) user(t *rapid.T) string {
	return fmt.Sprint(rapid.IntRange(1, modelUsers).Draw(t, "user"))
}

// some draws an order; two times in three it is in the state that the step needs, if any order is.
func (m *model) some(t *rapid.T, state seckill.State) seckill.Order {
	ids := slices.DeleteFunc(slices.Clone(m.ids), func(id string) bool { return m.orders[id].State != state })
	if len(ids) == 0 || rapid.IntRange(0, 2).Draw(t, "any order") == 0 {
		ids = m.ids
	}
	return m.orders[rapid.SampledFrom(ids).Draw(t, "order")]
}

func (m *model) held(user string) (units int) {
	for _, order := range m.units {
		if m.orders[order].User == user {
			units++
		}
	}
	return units
}

// expect compares a step's outcome; done reports whether the model must apply the step.
func expect(t *rapid.T, got, want error) (done bool) {
	var g, w *seckill.Collision
	if errors.As(want, &w) {
		if !errors.As(got, &g) || *g != *w {
			t.Fatalf("got error %v, want %v", got, want)
		}
		return false
	}
	if !errors.Is(got, want) {
		t.Fatalf("got error %v, want %v", got, want)
	}
	return want == nil
}

func (m *model) place(t *rapid.T) {
	units := rapid.SliceOfNDistinct(rapid.IntRange(1, modelUnits), 1, modelLimit+1, rapid.ID[int]).Draw(t, "units")
	o := m.s.order(m.item, m.user(t), units...)
	if rapid.IntRange(0, 4).Draw(t, "old id") == 0 {
		old := m.some(t, seckill.PendingPayment)
		o.ID, o.User = old.ID, old.User
	}
	var want error
	if _, exists := m.orders[o.ID]; exists {
		want = seckill.ErrOrderExists
	} else if m.held(o.User)+o.Count > modelLimit {
		want = seckill.ErrQuota
	} else if i := slices.IndexFunc(units, func(n int) bool { return m.units[n] != "" }); i >= 0 {
		owner := m.units[units[i]]
		want = &seckill.Collision{Unit: units[i], Owner: owner, User: m.orders[owner].User}
	}
	if expect(t, m.s.Ledger.Place(m.s.ctx, o, modelLimit), want) {
		m.write(o)
		for _, n := range units {
			m.units[n] = o.ID
		}
	}
}

func (m *model) write(o seckill.Order) {
	if _, old := m.orders[o.ID]; !old {
		m.ids = append(m.ids, o.ID)
	}
	m.orders[o.ID] = o
}

// change applies a state change to the model.
func (m *model) change(o seckill.Order, to seckill.State, cause string) {
	o.History = append(slices.Clone(o.History), seckill.Change{State: to, At: o.Due(), Cause: cause})
	o.State, o.CloseTo = to, ""
	m.write(o)
}

func (m *model) reject(t *rapid.T) {
	o := m.s.order(m.item, m.user(t))
	o.State, o.Reason, o.PayBy = seckill.Rejected, seckill.CodeSoldOut, time.Time{}
	if expect(t, m.s.Ledger.Reject(m.s.ctx, o), nil) {
		o.Given = seckill.Given{}
		m.write(o)
	}
}

func (m *model) beginClosing(t *rapid.T) {
	o := m.some(t, seckill.PendingPayment)
	to := rapid.SampledFrom([]seckill.State{seckill.Expired, seckill.Cancelled}).Draw(t, "to")
	var want error
	who := o.User + "/" + o.Item
	switch {
	case o.State != seckill.PendingPayment:
		want = seckill.ErrStateChanged
	case to == seckill.Cancelled && m.cancels[who] == seckill.MaxCancels:
		want = seckill.ErrCancels
	}
	if expect(t, m.s.Ledger.BeginClosing(m.s.ctx, o, to, o.Due(), "closing"), want) {
		if to == seckill.Cancelled {
			m.cancels[who]++
		}
		m.change(o, seckill.Closing, "closing")
		o = m.orders[o.ID]
		o.CloseTo = to
		m.write(o)
	}
}

func (m *model) giveBack(t *rapid.T) {
	o := m.some(t, seckill.Closing)
	given := o
	if given.CloseTo == "" {
		given.CloseTo = seckill.Expired
	}
	if len(given.Units) == 0 {
		given.Units = []int{rapid.IntRange(1, modelUnits).Draw(t, "unit of no order")}
	}
	var want error
	if o.State != seckill.Closing {
		want = seckill.ErrStateChanged
	}
	if expect(t, m.s.Ledger.GiveBack(m.s.ctx, given, o.Due(), "given back"), want) {
		m.returned[o.ID] = o.Units
		for _, n := range o.Units {
			delete(m.units, n)
		}
		units := o.Units
		o.Units = nil
		m.change(o, given.CloseTo, "given back")
		if len(units) == 0 {
			t.Fatalf("order %s gave back nothing", o.ID)
		}
	}
}

func (m *model) recordPayment(t *rapid.T) {
	o := m.some(t, seckill.Expired)
	from := o.State
	if rapid.IntRange(0, 3).Draw(t, "another from") == 0 {
		from = rapid.SampledFrom(seckill.States).Draw(t, "from").State
	}
	to, money := from.OnMoney()
	p := seckill.Payment{Order: o.ID, TradeNo: rapid.SampledFrom([]string{"t1", "t2"}).Draw(t, "trade"),
		Amount: o.Amount, State: money, At: o.Due(), Cause: "money"}
	var want error
	if m.trades[p.Order+"/"+p.TradeNo] {
		want = seckill.ErrPaymentExists
	} else if from != o.State {
		want = seckill.ErrStateChanged
	}
	if expect(t, m.s.Ledger.RecordPayment(m.s.ctx, p, from, to), want) {
		m.trades[p.Order+"/"+p.TradeNo] = true
		cause := p.Cause
		if to == from {
			cause = p.Amount.Yuan() + " yuan by trade " + p.TradeNo + ": " + cause
		}
		m.change(o, to, cause)
	}
}

func (m *model) reschedule(t *rapid.T) {
	o := m.some(t, seckill.Closing)
	var want error
	if o.State != seckill.Closing {
		want = seckill.ErrStateChanged
	}
	expect(t, m.s.Ledger.Reschedule(m.s.ctx, o.ID, o.Due()), want)
}

// check reads everything and compares it with the model, and checks the invariants.
func (m *model) check(t *rapid.T) {
	rows := map[int]string{}
	for _, r := range m.s.units(m.item) {
		if r.User != m.orders[r.Order].User {
			t.Fatalf("unit %d names user %s, its order %s is of %s", r.Unit, r.User, r.Order, m.orders[r.Order].User)
		}
		rows[r.Unit] = r.Order
	}
	same(t, "I1: unit rows", rows, m.units)
	listed := map[int]string{}
	for _, id := range m.ids {
		o := m.s.read(id)
		same(t, "order "+id, o, m.orders[id])
		for _, n := range o.Units {
			listed[n] = id
		}
		if !o.State.MayHold(len(o.Units), o.Count) {
			t.Fatalf("I3: order %s in %s lists units %v of %d", id, o.State, o.Units, o.Count)
		}
		r, err := m.s.Ledger.Return(m.s.ctx, id)
		if units, gave := m.returned[id]; gave {
			same(t, "I8: return row of "+id, r, seckill.ReturnRow{Order: id, Item: m.item, User: o.User, Units: units})
		} else if !errors.Is(err, seckill.ErrNoReturn) {
			t.Fatalf("I8: got return row %+v, error %v of %s, which gave nothing back", r, err, id)
		}
	}
	same(t, "I3: units that orders list", listed, rows)
	for u := range modelUsers {
		user := fmt.Sprint(u + 1)
		q, err := m.s.Ledger.Quota(m.s.ctx, user, m.item)
		if err != nil {
			t.Fatalf("quota: %v", err)
		}
		if q.Units > modelLimit || q.Units != m.held(user) {
			t.Fatalf("I2: user %s has quota %+v, limit %d, unit rows %v", user, q, modelLimit, rows)
		}
		want := map[string]int{}
		for _, order := range slices.Collect(maps.Values(rows)) {
			if m.orders[order].User == user {
				want[order]++
			}
		}
		if q.Orders == nil {
			q.Orders = map[string]int{}
		}
		same(t, "quota entries of user "+user, q.Orders, want)
	}
}

func same(t *rapid.T, what string, got, want any) {
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Fatalf("%s: got (+), want (-):\n%s", what, diff)
	}
}
