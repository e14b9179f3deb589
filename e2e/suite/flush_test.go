package suite

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Redis loses everything during a sale: nothing is oversold, and in the end every unit is sold and paid.
func testFlush(t *testing.T, s *stack) {
	s.needs(t, s.Redis != "", "Redis is out of reach")
	s.shown.Lock()
	defer s.shown.Unlock()
	const units, shoppers = 30, 150
	var acked, paid, flushes atomic.Int64
	began := time.Now()
	took := time.Duration(0)
	report.timed(t, func() string {
		return fmt.Sprintf("%d units, %d shoppers: paid in %.1f s", units, shoppers, took.Seconds())
	})
	sale := s.sell(t, units, 1)
	s.advances(t)
	var lost error
	visit := payer(func() {
		if acked.Add(1) >= int64(units/2) && flushes.CompareAndSwap(0, 1) {
			lost = s.flush(t.Context())
			t.Logf("flushed when %d orders were acknowledged and %d paid", acked.Load(), paid.Load())
		}
	}, func() {
		if n := paid.Add(1); n%int64(units/5) == 0 {
			t.Logf("%d of %d units are paid after %.1f s", n, units, time.Since(began).Seconds())
		}
	})
	sale.crowd(t, shoppers, visit, func() bool { return paid.Load() >= int64(units) })
	took = time.Since(began)
	if lost != nil || flushes.Load() != 1 {
		t.Fatalf("flushed %d times, %v", flushes.Load(), lost)
	}
	sale.soldOut(t)
	if states := sale.inState(t); states[seckill.Paid] != units {
		t.Errorf("orders by state: %v, want %d paid", states, units)
	}
	sale.converged(t)
	late := sale.shopper(t, newShoppers(1))
	eventually(t, "sold out", func() string {
		a, err := late.buy(t.Context(), 1, "late")
		if err != nil || a.Status == 200 {
			t.Fatalf("bought a unit that there is not: %v, %v", a, err)
		}
		if a.Text("code") != "sold_out" {
			return a.String()
		}
		return ""
	})
}
