package suite

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
	"github.com/your-org/seckill/shared/flow/office/block"
	"github.com/your-org/seckill/shared/seckill"
)

// testHoarders has accounts that may not buy press all the time: blocked ones, and ones that hold the limit of a family
// by another variant. As many shoppers as there are units press beside them, and each must get one.
func testHoarders(t *testing.T, s *stack) {
	report.timed(t, nil)
	const blocked, spanning, honest = 60, 12, 20
	now := time.Now()
	listing := func(stock int, value string) seckill.Listing {
		it := contracttest.Item(newItemID(), now.Add(-time.Minute), now.Add(6*time.Hour), stock, 1)
		if value != "" {
			it.Variant = seckill.Variant{Family: it.ID, LimitSpans: true,
				Options: seckill.Options{{Name: "颜色", Value: value}}}
		}
		return it
	}
	first, second := listing(spanning, "黑"), listing(honest+spanning, "白")
	second.Variant.Family = first.Variant.Family
	held, other := s.sellItem(t, first), s.sellItem(t, second)
	alone := s.sellItem(t, listing(honest, ""))

	var hoarders []*shopper
	for id := newShoppers(spanning); len(hoarders) < spanning; id++ {
		held.shopper(t, id).reserved(t, 1, "first")
		hoarders = append(hoarders, other.shopper(t, id))
	}
	for _, p := range hoarders {
		held.shopper(t, p.id).await(t, seckill.PendingPayment)
	}
	var blocks []operator.Block
	for id := newShoppers(blocked); len(blocks) < blocked; id++ {
		hoarders = append(hoarders, alone.shopper(t, id))
		blocks = append(blocks, operator.Block{Subject: strconv.FormatInt(id, 10), Item: seckill.Everywhere,
			Reason: "hoards"})
	}
	done, err := operator.Give[block.Done](t.Context(), &s.operator, &operator.PutBlocks{Blocks: blocks})
	if err != nil || done.Made != blocked {
		t.Fatalf("block: %+v, %v", done, err)
	}

	var pressing sync.WaitGroup
	over := make(chan struct{})
	for n := range 4 {
		pressing.Go(func() {
			for i := n; ; i = (i + 4) % len(hoarders) {
				select {
				case <-over:
					return
				default:
				}
				// The ledger may be silent for the moment that a purchase waits for its family's quota.
				if a, err := hoarders[i].buy(t.Context(), 1, "hoards"); err == nil && a.Status == 200 && i >= spanning {
					t.Errorf("shopper %d, who may not buy, hears %v", hoarders[i].id, a)
				}
			}
		})
	}
	id := newShoppers(2 * honest)
	for n := range int64(honest) {
		alone.shopper(t, id+2*n).reserved(t, 1, "honest")
		other.shopper(t, id+2*n+1).reserved(t, 1, "honest")
	}
	close(over)
	pressing.Wait()
	other.converged(t)
	alone.converged(t)
}
