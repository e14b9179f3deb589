package tell_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/front/tell"
	"github.com/your-org/seckill/shared/seckill"
)

var placed = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

// bus keeps events, except those that it refuses.
type bus struct {
	kept    []string
	refuses string // an event's id
	calls   int
}

func (b *bus) Publish(_ context.Context, events []seckill.OrderEvent) []error {
	b.calls++
	errs := make([]error, len(events))
	for i := range events {
		if events[i].ID() == b.refuses {
			errs[i] = errors.New("throttled")
			continue
		}
		b.kept = append(b.kept, events[i].ID()+" "+events[i].Kind())
	}
	return errs
}

// change is a write that made the order's history as long as states, of which before were there already.
func change(order string, before int, states ...seckill.State) seckill.OrderChange {
	o := seckill.Order{ID: order}
	for i, s := range states {
		o.History = append(o.History, seckill.Change{State: s, At: placed.Add(time.Duration(i) * time.Minute)})
	}
	return seckill.OrderChange{Order: o, Before: before}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	many := make([]seckill.OrderChange, 25)
	for i := range many {
		many[i] = change(fmt.Sprintf("o%02d", i), 0, seckill.PendingPayment)
	}
	for _, tt := range []struct {
		what    string
		changes []seckill.OrderChange
		refuses string
		told    int // changes; all of them without an error
		events  []string
		calls   int
	}{
		{"nothing", nil, "", 0, nil, 0},
		{"placed", []seckill.OrderChange{change("oa", 0, seckill.PendingPayment)}, "", 1,
			[]string{"oa.1 order.placed"}, 1},
		{"rejected", []seckill.OrderChange{change("oa", 0, seckill.Rejected)}, "", 1,
			[]string{"oa.1 order.rejected"}, 1},
		{"only the new entry", []seckill.OrderChange{change("oa", 1, seckill.PendingPayment, seckill.Paid)}, "", 1,
			[]string{"oa.2 order.paid"}, 1},
		{"an erased address", []seckill.OrderChange{change("oa", 2, seckill.PendingPayment, seckill.Paid)}, "", 1,
			nil, 0},
		{"a second payment", []seckill.OrderChange{change("oa", 2, seckill.PendingPayment, seckill.Paid, seckill.Paid)},
			"", 1, []string{"oa.3 order.noted"}, 1},
		{"two entries by one write", []seckill.OrderChange{change("oa", 1, seckill.PendingPayment, seckill.Closing,
			seckill.Expired)}, "", 1, []string{"oa.2 order.closing", "oa.3 order.expired"}, 1},
		{"a fault in the middle", []seckill.OrderChange{change("oa", 0, seckill.PendingPayment),
			change("ob", 0, seckill.PendingPayment, seckill.Paid), change("oc", 0, seckill.PendingPayment)}, "ob.2", 1,
			[]string{"oa.1 order.placed", "ob.1 order.placed", "oc.1 order.placed"}, 1},
		{"a fault in the second batch", many, "o12.1", 12, nil, 2},
		{"three batches", many, "", 25, nil, 3},
	} {
		b, m := &bus{refuses: tt.refuses}, memory.Meter{}
		told, err := tell.New(tell.Deps{Bus: b, Meter: m}).Changes(t.Context(), tt.changes)
		if told != tt.told || (err != nil) != (tt.refuses != "") || b.calls != tt.calls {
			t.Errorf("%s: told %d, %v, in %d calls, want %d in %d", tt.what, told, err, b.calls, tt.told, tt.calls)
		}
		if tt.events != nil && !slices.Equal(b.kept, tt.events) {
			t.Errorf("%s: events %q, want %q", tt.what, b.kept, tt.events)
		}
		if err == nil && m[seckill.EventTold] != len(b.kept) {
			t.Errorf("%s: counted %d as told, want %d", tt.what, m[seckill.EventTold], len(b.kept))
		}
	}
}

// TestAgain tells an order and a day once more, from the ledger.
func TestAgain(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(placed)
	l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock}))
	var ids []string
	for i := range 3 {
		at := placed.Add(time.Duration(i) * 12 * time.Hour) // the third one on the next day of the shop's zone
		o := drivertest.Order("1", "9", at, i+1)
		must.OK(t, l.Place(t.Context(), o, 5))
		ids = append(ids, o.ID)
	}
	p := drivertest.Payment(drivertest.Order("1", "9", placed.Add(30*time.Hour), 1), "t")
	must.OK(t, l.RecordPayment(t.Context(), p, seckill.PendingPayment, seckill.Paid))
	b := &bus{}
	flow := tell.New(tell.Deps{Bus: b, Ledger: l, Meter: memory.Meter{}})
	sorted := func() []string {
		slices.Sort(b.kept)
		kept := b.kept
		b.kept = nil
		return kept
	}
	must.Equal(t, 2, must.Get(flow.Again(t.Context(), ids[0])), "again")
	if got, want := sorted(), []string{ids[0] + ".1 order.placed", ids[0] + ".2 order.paid"}; !slices.Equal(got, want) {
		t.Errorf("again: %q, want %q", got, want)
	}
	unknown := seckill.KeyedOrderID("1", "9", "other")
	must.Is(t, seckill.Refuse(seckill.CodeOrderUnknown), must.Err(flow.Again(t.Context(), unknown)), "unknown order")
	for day, want := range map[string][]string{
		"2026-11-11": {ids[0] + ".1 order.placed", ids[1] + ".1 order.placed"},
		"2026-11-12": {ids[2] + ".1 order.placed", ids[0] + ".2 order.paid"},
		"2026-11-13": nil,
	} {
		slices.Sort(want)
		step, err := flow.Replay(t.Context(), "1", day, "")
		if got := sorted(); err != nil || !slices.Equal(got, want) || step.Orders != 3 || step.Changes != len(want) {
			t.Errorf("replay of %s: %q, %+v, %v, want %q", day, got, step, err, want)
		}
	}
	b.refuses = ids[1] + ".1"
	if _, err := flow.Replay(t.Context(), "1", "2026-11-11", ""); err == nil {
		t.Error("a replay that the bus refused: no error")
	}
	o, err := flow.Delivery(t.Context(), ids[0])
	must.OK(t, err)
	must.Equal(t, drivertest.Order("1", "9", o.Placed, 1).Address, o.Address, "delivery")
}
