package local

import (
	"testing"
	"time"
)

// TestPastOrdersLieInTheirSale: also the first of as many as there may be.
func TestPastOrdersLieInTheirSale(t *testing.T) {
	t.Parallel()
	const sale = 24 * time.Hour
	for _, orders := range []int{1, 10_000, 86_401, MaxPast} {
		first, last := beforeEnd(sale, orders, orders), beforeEnd(sale, 1, orders)
		if first >= sale || last <= 0 || last > first {
			t.Errorf("%d orders: from %v to %v before the end of %v", orders, first, last, sale)
		}
	}
}
