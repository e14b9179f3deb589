package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/office/count"
	"github.com/your-org/seckill/shared/seckill"
)

// TestCountsOfAStack recounts 200 orders that nobody counted, in steps, and prints them. A minute passes with each
// call, so that the command need not wait for one.
func TestCountsOfAStack(t *testing.T) {
	c, clock, audit := countedStack(t, 200)
	called := c.function
	c.function = func(event []byte) ([]byte, string) {
		defer clock.Advance(time.Minute)
		return called(event)
	}
	const on = " --stack sale --region eu-central-1"
	try(t, step{"counts 7" + on, exitOK, "Nothing of item 7 was counted yet.\n", ""})
	code, stdout, stderr := command(t, words("counts recount 7"+on)...)
	const want = `Item 7, counted since 2026-11-11 10:01:00 UTC+8:
  minute            placed  paid  given back
  2026-11-11 10:00  200     0     0
  total             200     0     0
`
	if code != exitOK || stdout != want {
		t.Errorf("exit %d\n%s%s\nwant\n%s", code, stdout, stderr, want)
	}
	if log := audit.String(); strings.Count(log, `"command":"recount"`) != 3 || strings.Count(log, caller) != 5 {
		t.Errorf("audit log:\n%s", log)
	}
	shows(t, step{"counts 7 --json" + on, exitOK, `"recounting": false`, ""},
		step{"counts 7 --json" + on, exitOK, `"minute": "2026-11-11T02:00:00Z",`, ""})
	refuses(t, exitUsage, "counts *", [][2]string{{"", "ITEM"}, {"x", "ID"}, {"recount", "ITEM"}, {"recount 0", "ID"}})
}

// TestRecountOfFewOrders: the walk after the wait may begin where the one before it did.
func TestRecountOfFewOrders(t *testing.T) {
	c, clock, _ := countedStack(t, 1)
	called := c.function
	c.function = func(event []byte) ([]byte, string) {
		defer clock.Advance(seckill.RecountWait - time.Second)
		return called(event)
	}
	shows(t,
		step{"counts recount 7 --stack sale --region eu-central-1", exitOK, "total             1       0     0", ""})
}

// countedStack is a stack of orders for item 7 that nobody counted.
func countedStack(t *testing.T, orders int) (*cloud, *memory.Clock, *output) {
	t.Helper()
	clock := memory.NewClock(time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC))
	l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock}))
	for n := range orders {
		if err := l.Place(t.Context(), seckill.Order{ID: seckill.KeyedOrderID("7", "1", fmt.Sprint(n)), Item: "7",
			User: fmt.Sprint(n), Count: 1, Units: []int{n + 1}, Price: 1, Amount: 1,
			Given: seckill.Given{Address: "x"}, Title: "t",
			Created: clock.Now(), Placed: clock.Now(), PayBy: clock.Now().Add(time.Hour), Buckets: 1}, 1); err != nil {
			t.Fatal(err)
		}
	}
	c, audit := onStack(t, operator.NewCountHandler(count.New(count.Deps{Ledger: l, Clock: clock,
		Meter: telemetry.NewMeter(&output{}, clock, "x", "tell")})))
	return c, clock, audit
}
