package suite

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/itemfile"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

// sale is one item on sale in one stack, with the requests and answers of this case.
type sale struct {
	*stack
	item seckill.Item

	mu    sync.Mutex
	asked map[string]string // order id that a request must get, by its key: its shopper
	acked map[string]bool   // order ids that were acknowledged
}

// sell puts an item on sale and waits until it can be bought. When the case ends, its rows are audited.
func (s *stack) sell(t *testing.T, stock, limit int) *sale {
	t.Helper()
	now := time.Now()
	return s.sellItem(t, contracttest.Item(newItemID(), now.Add(-time.Minute), now.Add(6*time.Hour), stock, limit))
}

func (s *stack) sellItem(t *testing.T, it seckill.Listing) *sale {
	t.Helper()
	sale := &sale{stack: s, item: it.Item, asked: map[string]string{}, acked: map[string]bool{}}
	s.load(t, it)
	t.Cleanup(func() { s.sound(t, it.Item, sale.outcomes) })
	return sale
}

// load imports items and waits until the items that belong in the stock are there.
func (s *stack) load(t *testing.T, items ...seckill.Listing) {
	t.Helper()
	if _, err := operator.Give[stage.Imported](t.Context(), &s.operator,
		&operator.Import{Items: itemfile.Format(items)}); err != nil {
		t.Fatalf("import: %v", err)
	}
	// repair opens a sale that has begun, because only it checks whether units are sold already. Run it now instead
	// of waiting for the next minute.
	s.minute(t, "RepairFunction")
	// A run of the schedule may be building the same items now; then this run has skipped them. Resuming an item that
	// is not stopped changes nothing, and fails while the stock does not have it.
	for i := range items {
		it := &items[i]
		if !it.Loadable(time.Now()) {
			continue
		}
		eventually(t, "stock that has item "+it.ID, func() string {
			if _, err := operator.Give[operator.ItemChange](t.Context(), &s.operator,
				&operator.Resume{Item: it.ID}); err != nil {
				return err.Error()
			}
			return ""
		})
	}
}

func token(t *testing.T, s *stack, shopper int64) string {
	t.Helper()
	token, err := jwtauth.Sign(s.secret, strconv.FormatInt(shopper, 10), time.Now().Add(6*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// shopper buys in a sale.
type shopper struct {
	*sale
	id    int64
	token string
}

func (s *sale) shopper(t *testing.T, id int64) *shopper {
	t.Helper()
	return &shopper{s, id, token(t, s.stack, id)}
}

// buy requests units, always with a key, so that the order's id is known in advance.
func (p *shopper) buy(ctx context.Context, count int, key string, headers ...string) (contracttest.Answer, error) {
	user := strconv.FormatInt(p.id, 10)
	order := seckill.KeyedOrderID(p.item.ID, user, key)
	p.mu.Lock()
	p.asked[order] = user
	p.mu.Unlock()
	a, err := p.Call(ctx, p.token, "POST", "/seckill/buy", map[string]any{"seckill_id": p.item.ID, "count": count,
		"address": contracttest.Address}, append(headers, "Idempotency-Key", key)...)
	if err == nil && a.Status == 200 {
		if got := a.Text("order_id"); got != order {
			return a, fmt.Errorf("I4 OneOutcome: request %s of shopper %s is order %s, told %s", key, user, order, got)
		}
		p.mu.Lock()
		p.acked[order] = true
		p.mu.Unlock()
	}
	return a, err
}

// status returns the state of the shopper's newest order of the item.
func (p *shopper) status(ctx context.Context) (contracttest.Answer, error) {
	return p.Call(ctx, p.token, "GET", "/seckill/order/"+p.item.ID, nil)
}

// bought makes a purchase that must succeed and waits for its placement; it returns the order's id and pay string.
func (p *shopper) bought(t *testing.T, count int, key string) (order, pay string) {
	t.Helper()
	p.reserved(t, count, key)
	a := p.await(t, seckill.PendingPayment)
	return a.Text("order_id"), a.Text("alipay_order")
}

// reserved makes a purchase that must succeed.
func (p *shopper) reserved(t *testing.T, count int, key string, headers ...string) (a contracttest.Answer) {
	t.Helper()
	eventually(t, "purchase", func() string {
		var err error
		if a, err = p.buy(t.Context(), count, key, headers...); err != nil || a.Status != 200 && !later(a, false) {
			t.Fatalf("buy: %v, %v", a, err)
		}
		if a.Status != 200 {
			return a.String()
		}
		return ""
	})
	return a
}

// paid buys units and pays for them.
func (p *shopper) paid(t *testing.T, count int) (order, pay string) {
	t.Helper()
	order, pay = p.bought(t, count, "cart")
	if a, err := p.pay(t.Context(), pay); err != nil || a.Status != 200 || !strings.Contains(a.Raw, "支付成功") {
		t.Fatalf("paying: %v, %v", a, err)
	}
	p.await(t, seckill.Paid)
	return order, pay
}

// await waits until the shopper's newest order is in one of the states.
func (p *shopper) await(t *testing.T, states ...seckill.State) (a contracttest.Answer) {
	t.Helper()
	eventually(t, fmt.Sprint(states), func() string {
		var err error
		if a, err = p.status(t.Context()); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(states, seckill.State(a.Text("state"))) {
			return ""
		}
		return a.String()
	})
	return a
}

// order reads one of the shopper's orders.
func (p *shopper) order(t *testing.T, id string) contracttest.Answer {
	t.Helper()
	a, err := p.Call(t.Context(), p.token, "GET", "/order/"+id, nil)
	if err != nil || a.Status != 200 {
		t.Fatalf("order %s: %v, %v", id, a, err)
	}
	return a
}

// pay acts like a browser at the cashier: it opens it with the pay string and submits the page's form.
func (s *stack) pay(ctx context.Context, payString string) (contracttest.Answer, error) {
	return s.payAt(ctx, "/cashier?"+payString)
}

// payAt is pay at a path of the gateway.
func (s *stack) payAt(ctx context.Context, path string) (contracttest.Answer, error) {
	page, err := s.Call(ctx, "", "GET", path, nil)
	if err != nil || page.Status != 200 {
		return page, err
	}
	if strings.Contains(page.Raw, "<title>支付成功") { // paid before: that answer was lost
		return page, nil
	}
	action, form, err := contracttest.CashierForm(page.Raw)
	if err != nil {
		return page, err
	}
	return s.Call(ctx, "", "POST", "/"+action, form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

// awaitLeft waits until the item's page shows so many units.
func (s *sale) awaitLeft(t *testing.T, want string) {
	t.Helper()
	eventually(t, want+" units on sale", func() string {
		if left := s.left(t); left != want {
			return left + " units left"
		}
		return ""
	})
}

// left returns the number of units that the item's page shows.
func (s *sale) left(t *testing.T) string {
	t.Helper()
	a, err := s.Call(t.Context(), "", "GET", "/seckill/detail/"+s.item.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a.Number("stock")
}
