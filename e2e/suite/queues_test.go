package suite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/seckill"
)

// drained waits until a queue has only delayed messages.
func (s *stack) drained(t *testing.T, output string) {
	t.Helper()
	eventually(t, "empty queue", func() string {
		if visible, inFlight := s.depth(t, output); visible != "0" || inFlight != "0" {
			return fmt.Sprintf("%s: %s messages wait, %s are in flight", output, visible, inFlight)
		}
		return ""
	})
}

// Of a batch with unreadable messages those are parked, and the others are placed.
func testPoison(t *testing.T, s *stack) {
	report.timed(t, nil)
	const buyers = 4
	sale := s.sell(t, buyers, 1)
	ids := newShoppers(buyers)
	poison, parked := map[string]bool{}, map[string]bool{}
	for _, p := range []string{"no-json-%s", `{"v":99,"kind":"order","order":"%s"}`,
		`{"v":1,"kind":"order","order":"%s"}`, `{"v":1,"kind":"dance","order":"%s"}`} {
		poison[fmt.Sprintf(p, sale.item.ID)] = true
	}

	resume := s.pauseQueue(t, "ConsumeFunction") // so that all are in one batch
	left := buyers
	for p := range poison {
		s.send(t, "OrdersQueueUrl", p)
		left--
		if a, err := sale.shopper(t, ids+int64(left)).buy(t.Context(), 1, "cart"); err != nil || a.Status != 200 {
			t.Fatalf("buy: %v, %v", a, err)
		}
	}
	resume()
	for i := range int64(buyers) {
		sale.shopper(t, ids+i).await(t, seckill.PendingPayment)
	}
	sale.soldOut(t)
	eventually(t, "parked messages", func() string {
		for _, body := range s.parked(t) {
			if !strings.Contains(body, sale.item.ID) {
				continue // from another run
			}
			body = strings.ReplaceAll(body, " ", "") // LocalStack changes the spaces in JSON
			if !poison[body] {
				t.Errorf("parked: %s", body)
			}
			parked[body] = true // perhaps again: a queue may deliver a message twice
		}
		if len(parked) < len(poison) {
			return fmt.Sprintf("of %v only %v are in the dead-letter queue", poison, parked)
		}
		return ""
	})
}
