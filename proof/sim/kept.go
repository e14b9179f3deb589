package sim

import (
	"fmt"
	"slices"

	"github.com/your-org/seckill/shared/seckill"
)

// acknowledge records that a shopper was told of an order.
func (w *World) acknowledge(id string) {
	w.acked[id] = true
	if began, ok := w.promises.began[id]; ok && w.promises.jumps && w.Clock.Now().Sub(began) > seckill.AckWithin {
		w.promises.excused[id] = true
	}
	if o := w.truth.orders[id]; o != nil {
		if err := w.checkKept(o); err != nil {
			w.truth.fail("%v", err)
		}
	}
}

// checkKept checks I18.
func (w *World) checkKept(o *orderRow) error {
	if o.reason != seckill.CodeSoldOut || !w.acked[o.id] || w.promises.wentBack || w.promises.misled {
		return nil
	}
	w.promises.park(w.Orders)
	if w.promises.excused[o.id] {
		return nil
	}
	return fmt.Errorf("I18 order %s was acknowledged, and is rejected because no unit is left", o.id)
}

// holdsBack reports whether the stock holds back units of an item.
func (w *World) holdsBack() bool {
	ids := []string{importedItem}
	for _, it := range w.allItems() {
		ids = append(ids, it.ID)
	}
	return slices.ContainsFunc(ids, func(id string) bool {
		n, err := w.numbersOf(id)
		return err == nil && n != nil && n.holdsBack
	})
}
