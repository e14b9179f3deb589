package suite

import (
	"fmt"
	"testing"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/flow/office/watch"
	"github.com/your-org/seckill/shared/seckill"
)

// A viewer watches a small sale. At rest, the figures are those of stock and orders; each part is read, and each figure
// says how old it is.
func testLive(t *testing.T, s *stack) {
	report.timed(t, nil)
	sale := s.sell(t, 5, 2)
	sale.shopper(t, newShoppers(1)).paid(t, 2)
	sale.shopper(t, newShoppers(1)).bought(t, 1, "cart")
	var seen watch.Seen
	eventually(t, "figures of the sale", func() string {
		var err error
		seen, err = operator.Give[watch.Seen](t.Context(), &s.operator, &operator.ReadLive{Item: sale.item.ID})
		stock, counts := seen.Stock.Value, seen.Counts.Value.Total
		if err != nil || stock.Left != 2 || stock.Held != 3 || stock.Awaiting != 0 ||
			counts != (seckill.Count{Placed: 3, Paid: 2}) {
			return fmt.Sprintf("%+v, %+v, %v", seen.Stock, seen.Counts, err)
		}
		return ""
	})
	for part, failed := range map[string]seckill.Code{"stock": seen.Stock.Failed, "counts": seen.Counts.Failed,
		"queues": seen.Queues.Failed, "money": seen.Money.Failed, "metrics": seen.Metrics.Failed,
		"servers": seen.Servers.Failed, "acts": seen.Acts.Failed} {
		if failed != "" {
			t.Errorf("%s: %s", part, failed)
		}
	}
	if len(seen.Queues.Value) != 2 || seen.Metrics.At.IsZero() || seen.Stock.At.After(seen.Now) {
		t.Errorf("seen %+v", seen)
	}
	sale.converged(t)
}
