package count_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/office/count"
	"github.com/your-org/seckill/shared/seckill"
)

// lagging returns rows whose lists lag by 10 s, with n orders of item 1 placed just now.
func lagging(t *testing.T, n int) *env {
	t.Helper()
	clock := memory.NewClock(opens)
	e := &env{clock: clock, meter: memory.Meter{},
		rows: &rows{Rows: memory.NewRows(memory.RowsOptions{Clock: clock, IndexLag: 10 * time.Second})}}
	e.flow = count.New(count.Deps{Ledger: ledger.New(e.rows), Clock: clock, Meter: e.meter})
	for i := range n {
		e.place(t, i)
	}
	return e
}

// place places an order of one unit and returns its change.
func (e *env) place(t *testing.T, i int) seckill.OrderChange {
	t.Helper()
	l, now := ledger.New(e.rows.Rows), e.clock.Now()
	o := drivertest.Order("1", fmt.Sprint(i), now, i+1)
	must.OK(t, l.Place(t.Context(), o, 5))
	o = must.Get(l.Order(t.Context(), o.ID))
	return seckill.OrderChange{Order: o}
}

// walk takes steps until one has to wait, or the recount ends.
func (e *env) walk(t *testing.T, cursor string) (step count.Step, orders int) {
	t.Helper()
	for {
		var err error
		if step, err = e.flow.Recount(t.Context(), "1", cursor); err != nil {
			t.Fatal(err)
		}
		if orders += step.Orders; step.Next == "" || step.Wait > 0 {
			return step, orders
		}
		cursor = step.Next
	}
}

// TestRecount loses the counts, recounts from a list that lacks the newest orders, and counts changes meanwhile.
func TestRecount(t *testing.T) {
	t.Parallel()
	const old, young = 400, 3
	e := lagging(t, old)
	e.clock.Advance(time.Minute)
	for i := range young {
		e.place(t, old+i)
	}
	step, orders := e.walk(t, "")
	if orders != old || step.Wait != time.Minute {
		t.Fatalf("first walk: %d orders, then %+v", orders, step)
	}
	c, _ := e.flow.Of(t.Context(), "1")
	if !c.Recounting || c.Total.Placed != old {
		t.Errorf("after the first walk: %+v", c)
	}
	if again, _ := e.walk(t, step.Next); again.Wait != time.Minute {
		t.Errorf("a second walk at once: %+v, want one more after a minute", again)
	}
	e.clock.Advance(30 * time.Second)
	meanwhile := e.place(t, old+young)
	must.Get(e.flow.Changes(t.Context(), []seckill.OrderChange{meanwhile, meanwhile}))
	e.clock.Advance(30 * time.Second)
	if step, orders = e.walk(t, step.Next); orders != old+young+1 || step.Next != "" {
		t.Errorf("second walk: %d orders, then %+v", orders, step)
	}
	c, _ = e.flow.Of(t.Context(), "1")
	if c.Recounting || c.Total.Placed != old+young+1 {
		t.Errorf("counted anew: %+v, want %d placed", c, old+young+1)
	}
	must.Equal(t, c.Total.Placed-c.Total.GivenBack, len(e.rows.Dump(ledger.TableUnits)), c.Total, "unit rows")
}

// TestARecountThatStoodStill: an instance stands still after it has read the clock and before it writes that a recount
// begins. It does not take the list for complete.
func TestARecountThatStoodStill(t *testing.T) {
	t.Parallel()
	e := lagging(t, 0)
	other := count.New(count.Deps{Ledger: ledger.New(e.rows.Rows), Clock: e.clock, Meter: memory.Meter{}})
	must.Get(other.Changes(t.Context(), []seckill.OrderChange{e.place(t, 0)}))
	e.rows.before = func(n int) {
		if n > 1 {
			return
		}
		e.clock.Advance(2 * seckill.RecountWait)
		newest := e.place(t, 1) // counted before the recount begins, and not in the list yet
		must.Get(other.Changes(t.Context(), []seckill.OrderChange{newest}))
	}
	step, _ := e.walk(t, "")
	for step.Next != "" {
		e.clock.Advance(step.Wait)
		step, _ = e.walk(t, step.Next)
	}
	if c, err := e.flow.Of(t.Context(), "1"); err != nil || c.Total.Placed != 2 || c.Recounting {
		t.Errorf("%+v, %v; want 2 placed", c, err)
	}
}

// TestARecountThatAnotherReplaced checks that the walk of one recount does not end the next one.
func TestARecountThatAnotherReplaced(t *testing.T) {
	t.Parallel()
	e := lagging(t, 1)
	e.walk(t, "")
	e.clock.Advance(time.Minute)
	second := fmt.Sprint(e.clock.Now().UnixMilli(), ".") // a walk that may end the recount
	must.Get(e.flow.Recount(t.Context(), "1", ""))
	if last, _ := e.walk(t, second); last.Next == "" {
		t.Error("a walk that began before the recount ends it")
	}
	if c, _ := e.flow.Of(t.Context(), "1"); !c.Recounting {
		t.Errorf("%+v", c)
	}
}

func TestCursors(t *testing.T) {
	t.Parallel()
	e := lagging(t, 0)
	for _, cursor := range []string{"x", "x.", "1"} {
		_, err := e.flow.Recount(t.Context(), "1", cursor)
		if e := new(seckill.Error); !errors.As(err, &e) || e.Code != seckill.CodeInvalid ||
			e.Field != "cursor" {
			t.Errorf("cursor %q: %v", cursor, err)
		}
	}
}
