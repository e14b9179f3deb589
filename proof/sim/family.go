package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// spanOf returns the name of a family's quota by an item's span, "" if the limit counts the item alone.
func (w *World) spanOf(item string) string {
	if span := w.item(item).Variant.Span(); span != "" {
		return "family#" + span
	}
	return ""
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
