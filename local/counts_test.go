package local_test

import (
	"testing"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// TestCounts checks an item's counts, of what happened before somebody asked for them and after, and that a run which
// nobody asks counts nothing.
func TestCounts(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("7", 10, 1)}})
	counted := func() int { return w.Meter.Counts()[seckill.EventCounted] }
	w.bought("1001", "7")
	if n := counted(); n != 0 {
		t.Errorf("%d orders were counted for nobody", n)
	}
	counts := func(placed int) {
		t.Helper()
		c, err := gives[operator.Counts](w, &operator.ReadCounts{Item: "7"})
		if want := (seckill.Count{Placed: placed}); err != nil || c.Recounting || c.Total != want ||
			len(c.Minutes) == 0 {
			t.Errorf("%+v, %v, want %+v", c, err, want)
		}
	}
	counts(1)
	w.bought("1002", "7")
	n := counted()
	counts(2)
	if counted() != n {
		t.Error("orders are counted only by the second question")
	}
}
