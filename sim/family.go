package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

// Families of a plan's two items.
const (
	familyApart = "apart" // variants, each with its own limit
	familySpans = "spans" // the limit spans both
)

// families draws, for a world of two items, whether they are variants: mostly of a limit that spans both.
func (p *Plan) families() {
	if len(p.Items) < 2 {
		return
	}
	r := seeded(p.Seed, 47)
	p.Family = []string{"", familyApart, familySpans, familySpans, familySpans}[r.IntN(5)]
	if p.Family == familySpans {
		p.Items[1].Limit = p.Items[0].Limit
	}
}

// variantOf makes item i a variant.
func variantOf(item *seckill.Item, i int, spans bool) {
	item.Variant = seckill.Variant{Family: "7", LimitSpans: spans,
		Options: seckill.Options{{Name: "颜色", Value: []string{"黑", "白"}[i]}}}
}

// spanOf returns the name of a family's quota by an item's span, "" if the limit counts the item alone.
func (w *World) spanOf(item string) string {
	if span := w.item(item).Variant.Span(); span != "" {
		return "family#" + span
	}
	return ""
}

// counts adds an order's units to what its user holds, of the item and over the span of its limit.
func (t *truth) counts(o *orderRow, by int) {
	for _, item := range []string{o.item, t.span(o.item)} {
		if item == "" {
			continue
		}
		h := holder{o.user, item}
		t.held[h] += by * len(o.units)
		t.holders[h] = true
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
