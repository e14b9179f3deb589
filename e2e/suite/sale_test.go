//go:build e2e

package suite

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/adapter/contracttest"
	"github.com/your-org/seckill/shared/adapter/jwtauth"
	"github.com/your-org/seckill/shared/seckill"
)

// sale is one item on sale in one stack, and what this case has asked for and was told.
type sale struct {
	*stack
	item seckill.Item

	mu    sync.Mutex
	asked map[string]string // order id that a request has to get, by its key: shopper of it
	acked map[string]bool   // order ids that were acknowledged
}

// sell puts an item on sale and waits until it can be bought. When the case ends, its rows are checked.
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

// load imports items and waits until those that belong there are in the stock.
func (s *stack) load(t *testing.T, items ...seckill.Listing) {
	t.Helper()
	if _, err := s.operator.Import(t.Context(), items); err != nil {
		t.Fatalf("import: %v", err)
	}
	// A sale that has begun is opened by repair, which looks whether units are sold already. Otherwise it would be so
	// by the next minute.
	s.minute(t, "RepairFunction")
	// A run of the schedule may be building the same items at this moment: then this one has left them to it. To resume
	// what was not stopped changes nothing, and fails while the stock does not have it.
	for i := range items {
		it := &items[i]
		if !it.Loadable(time.Now()) {
			continue
		}
		eventually(t, "stock that has item "+it.ID, func() string {
			if _, err := s.operator.SetStopped(t.Context(), it.ID, false); err != nil {
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

// buy asks for units, with a key always: so the order's id is known before.
func (p *shopper) buy(ctx context.Context, count int, key string) (contracttest.Answer, error) {
	user := strconv.FormatInt(p.id, 10)
	order := seckill.KeyedOrderID(p.item.ID, user, key)
	p.mu.Lock()
	p.asked[order] = user
	p.mu.Unlock()
	a, err := p.Call(ctx, p.token, "POST", "/seckill/buy", map[string]any{"seckill_id": p.item.ID, "count": count,
		"address": contracttest.Address}, "Idempotency-Key", key)
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

// status asks where the shopper's newest order of the item is.
func (p *shopper) status(ctx context.Context) (contracttest.Answer, error) {
	return p.Call(ctx, p.token, "GET", "/seckill/order/"+p.item.ID, nil)
}

// bought buys, which has to succeed, and waits until it is placed; it gives the order's id and pay string.
func (p *shopper) bought(t *testing.T, count int, key string) (order, pay string) {
	t.Helper()
	eventually(t, "purchase", func() string {
		a, err := p.buy(t.Context(), count, key)
		if err != nil {
			t.Fatal(err)
		}
		if a.Status != 200 && !later(a, false) {
			t.Fatalf("buy: %v", a)
		}
		if a.Status != 200 {
			return a.String()
		}
		return ""
	})
	a := p.await(t, seckill.PendingPayment)
	return a.Text("order_id"), a.Text("alipay_order")
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

// pay does at the cashier what a browser does: it opens it with the pay string and sends the page's form.
func (s *stack) pay(ctx context.Context, payString string) (contracttest.Answer, error) {
	page, err := s.Call(ctx, "", "GET", "/cashier?"+payString, nil)
	if err != nil || page.Status != 200 {
		return page, err
	}
	action, form, err := contracttest.CashierForm(page.Raw)
	if err != nil {
		return page, err
	}
	return s.Call(ctx, "", "POST", "/"+action, form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

// left is how many units the item's page shows.
func (s *sale) left(t *testing.T) string {
	t.Helper()
	a, err := s.Call(t.Context(), "", "GET", "/seckill/detail/"+s.item.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a.Number("stock")
}
