package sim

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

// SellOut makes new shoppers buy and pay until every unit is sold (L4).
func (w *World) SellOut() error {
	i := w.Start(nil)
	for k, it := range w.allItems() {
		for w.Clock.Now().Before(it.Start.Add(seckill.SkewBound)) {
			w.Clock.Advance(time.Minute)
			_ = i.Schedules()
		}
		if !w.sells(it) {
			continue
		}
		if err := i.operate(it); err != nil {
			return err
		}
		for n := range it.Stock + 2 {
			sold, err := i.sell(it, strconv.Itoa(9000+100*k+n)) // a limit may span the items
			if err != nil {
				return err
			}
			if !sold {
				break
			}
		}
	}
	if err := w.Drain(); err != nil {
		return err
	}
	if n := w.Unsold(); n > 0 {
		return fmt.Errorf("L4 %d units unsold with demand left", n)
	}
	return nil
}

// operate makes an operator stop an item's sale, add a unit and resume the sale: without faults each takes effect at
// once.
func (i *Instance) operate(it *seckill.Item) error {
	w := i.world
	if err := i.StopOf(it.ID, true); err != nil {
		return fmt.Errorf("L3 an operator's stop: %w", err)
	}
	if s, err := w.numbersOf(it.ID); err != nil || s == nil || !s.stopped {
		return fmt.Errorf("L3 the stock of item %s does not obey an operator's stop (%w)", it.ID, err)
	}
	if err := i.Grow(it.ID, it.Stock+1); err != nil {
		return fmt.Errorf("L3 an operator adds a unit: %w", err)
	}
	it.Stock++
	if s, err := w.numbersOf(it.ID); err != nil || s.stock != it.Stock {
		return fmt.Errorf("L3 the stock of item %s has no %d units (%w)", it.ID, it.Stock, err)
	}
	if err := i.StopOf(it.ID, false); err != nil {
		return fmt.Errorf("L3 an operator resumes: %w", err)
	}
	return nil
}

// sell makes a new shopper buy up to the limit, and pay; it returns false if the item is sold out.
func (i *Instance) sell(it *seckill.Item, user string) (bool, error) {
	w := i.world
	w.Clock.Advance(2 * time.Second)
	p, err := i.admitted(buy.Purchase{Item: it.ID, User: user, Count: it.Limit,
		Given: seckill.Given{Address: addresses[0]}, Key: "k"})
	if err != nil {
		return false, fmt.Errorf("L4 a fresh shopper gets no ticket: %w", err)
	}
	id, err := i.PurchaseOf(p)
	if err != nil && seckill.CodeOf(err) == seckill.CodeNotEnough {
		p.Count, p.Key = 1, "k2"
		id, err = i.PurchaseOf(p)
	}
	if err != nil && seckill.CodeOf(err) == seckill.CodeSoldOut {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("L4 a fresh shopper: %w", err)
	}
	if err := i.handleAll(); err != nil {
		return false, err
	}
	return true, i.PayNow(user, id)
}

// sells reports whether an item is on sale long enough to sell its last units now.
func (w *World) sells(it *seckill.Item) bool { return w.Clock.Now().Add(time.Hour).Before(it.End) }

// Unsold counts the free units of items that are still on sale.
func (w *World) Unsold() (n int) {
	for _, it := range w.allItems() {
		for u := 1; u <= it.Stock && w.sells(it); u++ {
			if w.truth.units[unitKey{it.ID, u}] == "" {
				n++
			}
		}
	}
	return n
}

// PayNow opens the cashier for an order and pays.
func (i *Instance) PayNow(user, order string) error {
	v, err := i.Shop.Order(context.Background(), user, order)
	if err != nil {
		return err
	}
	if v.PayString == "" {
		return fmt.Errorf("L4 order %s in %s cannot be paid", order, v.Order.State)
	}
	no, err := i.world.Provider.Open(order)
	if err != nil {
		return err
	}
	return i.world.Provider.Pay(order, no)
}
