package suite

import (
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
	"github.com/your-org/seckill/shared/seckill"
)

// Two stacks sell items with the same ids to the same shoppers with the same keys, and are independent.
func testStacks(t *testing.T, a *stack) {
	b := a.second(t)
	a.needs(t, b != nil, "there is one stack only")
	report.timed(t, nil)
	now := time.Now()
	here := contracttest.Item(newItemID(), now.Add(-time.Minute), now.Add(6*time.Hour), 2, 1)
	there := here
	there.Stock, there.Limit, there.Buckets = 5, 3, seckill.BucketsFor(5)
	mine, theirs := a.sellItem(t, here), b.sellItem(t, there)
	id := newShoppers(2)

	p, q := mine.shopper(t, id), theirs.shopper(t, id)
	order, pay := p.bought(t, 1, "cart")
	if got, _ := q.bought(t, 3, "cart"); got != order {
		t.Errorf("the same request is order %s and %s", order, got)
	}
	if left := mine.left(t); left != "1" {
		t.Errorf("%s units left in the one, want 1", left)
	}
	if left := theirs.left(t); left != "2" {
		t.Errorf("%s units left in the other, want 2", left)
	}
	mine.shopper(t, id+1).bought(t, 1, "cart")
	mine.soldOut(t)
	theirs.shopper(t, id+1).bought(t, 1, "cart")

	if got, err := b.Call(t.Context(), p.token, "GET", "/order/"+order, nil); err != nil ||
		got.Text("code") != "invalid_token" {
		t.Errorf("the token of another stack: %v, %v", got, err)
	}
	if got, err := b.pay(t.Context(), pay); err != nil || got.Status != 400 {
		t.Errorf("the pay string of another stack: %v, %v", got, err)
	}
	if got, err := a.pay(t.Context(), pay); err != nil || got.Status != 200 {
		t.Fatalf("paying: %v, %v", got, err)
	}
	p.await(t, seckill.Paid)
	if got := b.notify(t, a.notification(t, p.order(t, order))); got.Text("code") != "notify_forged" {
		t.Errorf("the notification of another stack: %v", got)
	}
	if n := len(theirs.mustRows(t)[ledger.TablePayments]); n != 0 {
		t.Errorf("%d payments in the other stack", n)
	}
	mine.converged(t)
	theirs.converged(t)
}
