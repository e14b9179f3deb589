package suite

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// Shoppers buy, and some cancel, while tell is killed at random moments: each change of each order is on the bus, at
// least once, and none that did not happen; and each is counted once. Then an operator has one order told again.
// MiniStack ignores which records of a batch failed, and takes the batch for done; a killed tell's comes back whole.
func testEvents(t *testing.T, s *stack) {
	s.needs(t, s.full(), "takes minutes")
	s.needs(t, s.kills(), "there is no command that kills functions")
	const shoppers = 300
	kills, all := 0, 0
	heard, again := s.listen(t)
	report.timed(t, func() string {
		return fmt.Sprintf("%d events of %d shoppers, %d came again, %d kills", all, shoppers, *again, kills)
	})
	sale := s.sell(t, shoppers, 1)
	stop := s.killOften(t, "TellFunction")
	sale.crowd(t, shoppers, func(ctx context.Context, p *shopper) (bool, error) {
		a, err := p.buy(ctx, 1, "cart")
		switch {
		case err != nil:
			return false, err
		case a.Status != 200 && !later(a, true):
			return false, fmt.Errorf("buy: %v", a)
		case a.Status == 200 && p.id%4 == 0: // it may not be placed yet
			c, err := p.Call(ctx, p.token, "POST", "/order/"+a.Text("order_id")+"/cancel", nil)
			return err == nil && c.Status == 200, err
		}
		return a.Status == 200, nil
	}, func() bool { return false })
	sale.placed(t)
	kills = stop()
	eventually(t, "events of every change", func() string {
		missing, extra, n := sale.untold(t, heard)
		if all = n; len(extra) > 0 {
			t.Fatalf("%d events of what did not happen: %s", len(extra), extra[0])
		}
		if len(missing) > 0 {
			return fmt.Sprintf("%d changes are not told: %s", len(missing), missing[0])
		}
		return ""
	})
	eventually(t, "counts of every change", func() string {
		want := sale.moved(t)
		if c, err := operator.Give[operator.Counts](t.Context(), &s.operator,
			&operator.ReadCounts{Item: sale.item.ID}); err != nil || c.Total != want {
			return fmt.Sprintf("%+v, %v, want %+v", c.Total, err, want)
		}
		return ""
	})
	order, _ := sale.mustRows(t)[ledger.TableOrders][0]["id"].(string)
	if told, err := operator.Give[operator.Told](t.Context(), &s.operator, &operator.Tell{Order: order}); err != nil ||
		told.Changes == 0 {
		t.Errorf("tell again: %+v, %v", told, err)
	}
	if _, err := operator.Give[operator.Told](t.Context(), &s.operator,
		&operator.Replay{Item: sale.item.ID, Day: seckill.Day(time.Now())}); err != nil {
		t.Errorf("replay: %v", err)
	}
	if d, err := operator.Give[operator.Delivery](t.Context(), &s.operator,
		&operator.ReadDelivery{Order: order}); err != nil || d.Order != order || d.Address == "" {
		t.Errorf("delivery of %s: %+v, %v", order, d, err)
	}
}

// moved returns what happened to the units of the sale's orders.
func (s *sale) moved(t *testing.T) (n seckill.Count) {
	t.Helper()
	for _, row := range s.mustRows(t)[ledger.TableOrders] {
		c, err := ledger.OrderChange(nil, row)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Order.Moves(0) {
			n = n.Plus(m.Count)
		}
	}
	return n
}

// untold compares the events that were heard with the histories of the sale's orders: ids of changes that are not
// told, ids of events without a change, and the number of events.
func (s *sale) untold(t *testing.T, heard func() map[string]string) (missing, extra []string, n int) {
	t.Helper()
	told := heard()
	for id, kind := range told {
		order, _, err := seckill.ParseEventID(id)
		if err != nil || seckill.OrderTag(order) != seckill.ItemTag(s.item.ID) {
			delete(told, id) // an event of another case
		} else if kind == "" {
			t.Fatalf("event %s has no kind", id)
		}
	}
	n = len(told)
	for _, row := range s.mustRows(t)[ledger.TableOrders] {
		c, err := ledger.OrderChange(nil, row)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range c.Events() {
			switch kind, ok := told[e.ID()]; {
			case !ok:
				missing = append(missing, e.ID())
			case kind != e.Kind():
				t.Fatalf("event %s is %s, the ledger says %s", e.ID(), kind, e.Kind())
			}
			delete(told, e.ID())
		}
	}
	for id := range told {
		extra = append(extra, id)
	}
	slices.Sort(missing)
	return missing, extra, n
}
