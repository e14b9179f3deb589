package suite

import (
	"fmt"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// maxHold is the longest hold that a run waits for.
const maxHold = 2 * time.Minute

// An unpaid order expires by its delayed message: the sweep of each minute is disabled.
func testExpiryByMessage(t *testing.T, s *stack) {
	report.timed(t, nil)
	still := s.pauseSchedule(t, "ExpireFunction")
	s.expires(t)
	if !still() {
		t.Error("somebody switched the schedule on meanwhile: this showed nothing of the message")
	}
}

// An order whose message is lost expires by the sweep: no function receives the queue's messages.
func testExpiryBySchedule(t *testing.T, s *stack) {
	report.timed(t, nil)
	s.pauseQueue(t, "ExpireFunction")
	s.expires(t)
	if _, inFlight := s.depth(t, "ClosingsQueueUrl"); inFlight != "0" {
		t.Errorf("%s messages of the closings queue are in flight: this showed nothing of the schedule", inFlight)
	}
}

// expires holds the only unit until an unpaid order gives it back and another shopper buys it and pays.
func (s *stack) expires(t *testing.T) {
	t.Helper()
	hold, err := time.ParseDuration(s.Outputs["Hold"])
	if err != nil {
		t.Fatal(err)
	}
	s.needs(t, hold <= maxHold, "orders are held for "+hold.String())
	sale := s.sell(t, 1, 1)
	ids := newShoppers(2)
	idle, quick := sale.shopper(t, ids), sale.shopper(t, ids+1)
	var order, pay string
	// if its placement is killed, the order is placed a minute later
	s.undisturbed(func() { order, pay = idle.bought(t, 1, "cart") })
	if a, err := quick.buy(t.Context(), 1, "too early"); err != nil || a.Text("code") != "sold_out" {
		t.Errorf("the only unit is held: %v, %v", a, err)
	}
	s.pass(t, hold+seckill.Grace+time.Minute)
	idle.await(t, seckill.Expired)
	var history []string
	for _, h := range idle.order(t, order).JSON["history"].([]any) {
		change := h.(map[string]any)
		history = append(history, fmt.Sprint(change["state"], " ", change["at"]))
	}
	t.Logf("expired: %v", history)
	if a, err := s.Call(t.Context(), "", "GET", "/cashier?"+pay, nil); err != nil || a.Status != 410 {
		t.Errorf("the cashier after the hold: %v, %v", a, err)
	}
	sale.awaitLeft(t, "1")
	quick.paid(t, 1)
	sale.soldOut(t)
	sale.converged(t)
}
