package local_test

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	shoppers = 500
	units    = 100
)

// soldOnce checks that the item's units 1..n each have exactly one row, and that there are no other rows.
func (w *shopTest) soldOnce(item string, n int) {
	w.t.Helper()
	var got, want []int
	for _, u := range localtest.Units(w.System) {
		if u.Item == item {
			got = append(got, u.Number)
		}
	}
	for i := range n {
		want = append(want, i+1)
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("unit rows %v, want 1..%d each once", got, n)
	}
}

func user(i int) string { return strconv.Itoa(100_000 + i) }

// shopUntilSure buys like a determined shopper: it retries after "try later", after "sold out" as long as units are
// unsold, and after an accepted order was rejected. It reports every acknowledged order id.
func (w *shopTest) shopUntilSure(token, item string, over <-chan struct{}, acknowledged func(string)) error {
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for attempt := 1; ; {
		select {
		case <-over:
			return nil
		case <-retry.C:
		}
		a, err := w.try(token, "POST", "/seckill/buy", map[string]any{"seckill_id": item, "count": 1,
			"address": address},
			"Idempotency-Key", fmt.Sprintf("attempt-%d", attempt))
		if err != nil {
			return err
		}
		switch code := a.text("code"); {
		case a.status == 200:
			acknowledged(a.text("order_id"))
		case code == "limit_reached" || code == "sold_out" || code == "not_ready" || code == "unconfirmed":
		default:
			return fmt.Errorf("buy: %v", a)
		}
		s, err := w.try(token, "GET", "/seckill/order/"+item, nil)
		if err != nil {
			return err
		}
		switch s.text("state") {
		case "pending_payment":
			return nil
		case "rejected":
			attempt++
		}
	}
}

func TestStockWipedUnderTheCrowd(t *testing.T) {
	t.Parallel()
	const wipes = 6
	// A hold so long that no order expires while the test moves the clock.
	w := start(t, local.Options{Items: []seckill.Listing{live("7", units, 1)}, Hold: seckill.MaxHold})
	tokens := make([]string, shoppers)
	for i := range tokens {
		tokens[i] = w.token(user(i))
	}
	var mu sync.Mutex
	acked, wiped := map[string]bool{}, 0
	acknowledged := func(id string) {
		mu.Lock()
		defer mu.Unlock()
		acked[id] = true
		if wiped < wipes && len(acked) >= (wiped+1)*units/(wipes+1) { // spread over the sale
			if a, err := w.try("", "POST", "/_local/redis/flush", nil); err != nil || a.status != 200 {
				t.Error(a, err)
			}
			wiped++
		}
	}
	over := make(chan struct{}) // closed when all are sold, or after patience
	var crowd sync.WaitGroup
	home := sync.OnceFunc(func() {
		close(over)
		crowd.Wait()
	})
	defer home()
	for _, token := range tokens {
		crowd.Go(func() {
			if err := w.shopUntilSure(token, "7", over, acknowledged); err != nil {
				t.Error(err)
			}
		})
	}
	sold := 0
	w.within(5*time.Minute, "sale of every unit", func() bool {
		w.Clock.Advance(time.Second) // backoffs and schedules pass quickly
		sold = len(localtest.Units(w.System))
		return sold >= units
	}, func() any { return sold })
	home()
	if wiped != wipes {
		t.Errorf("wiped %d times, want %d", wiped, wipes)
	}
	w.pass(seckill.MaxUnplaced + 2*time.Minute) // then everything that waits is decided
	w.pass(2 * time.Minute)
	w.drained()
	w.soldOnce("7", units)
	for id := range acked {
		if _, found, _ := w.Rows.Get(t.Context(), ledger.Key{Table: ledger.TableOrders, PK: id}); !found {
			t.Errorf("I11 NoFalseAck: order %s was acknowledged and has no row", id)
		}
	}
}
