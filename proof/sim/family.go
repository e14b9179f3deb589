package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

// spanOf returns the name of a family's quota by an item's span, "" if the limit counts the item alone.
func (w *World) spanOf(item string) string {
	if span := w.item(item).Variant.Span(); span != "" {
		return "family#" + span
	}
	return ""
}

// limitReached returns a check of the answer to a purchase that begins now (I12): of an item whose limit spans,
// limit_reached is true if at some moment until the answer the ledger's units of the family left too few for the
// purchase, or the stock's of the item, which checkedStock has checked.
func (w *World) limitReached(p buy.Purchase) func(error) {
	h, limit := holder{p.User, w.spanOf(p.Item)}, w.item(p.Item).Limit
	most, from, stock := w.truth.held[h], len(w.truth.spanned[h]), w.limited[holder{p.User, p.Item}]
	return func(err error) {
		if h.item == "" || seckill.CodeOf(err) != seckill.CodeLimitReached ||
			w.limited[holder{p.User, p.Item}] > stock {
			return
		}
		for _, n := range w.truth.spanned[h][from:] {
			most = max(most, n)
		}
		if most+p.Count <= limit {
			w.truth.fail("I12 user %s, who held at most %d units of the family, hears that %d more exceed %d",
				p.User, most, p.Count, limit)
		}
	}
}

// limitOf returns the limit of what is held.
func (w *World) limitOf(h holder) int {
	for _, it := range w.allItems() {
		if it.ID == h.item || w.spanOf(it.ID) == h.item {
			return it.Limit
		}
	}
	return 0
}

// checkSpan checks I2 for the quota of a family: it lists each order that holds units of its items, and no other.
func (w *World) checkSpan(h holder) error {
	if !strings.HasPrefix(h.item, "family#") {
		return nil
	}
	var want []string
	for _, id := range w.truth.list {
		if o := w.truth.orders[id]; o.user == h.user && w.spanOf(o.item) == h.item && len(o.units) > 0 {
			want = append(want, id+":"+strconv.Itoa(len(o.units)))
		}
	}
	slices.Sort(want)
	if got := slices.Sorted(slices.Values(w.truth.quotas[h].orders)); !slices.Equal(got, want) {
		return fmt.Errorf("I2 the quota of user %s for %s lists %v, the orders are %v", h.user, h.item, got, want)
	}
	return nil
}
