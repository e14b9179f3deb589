package sim

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// checkedStock is the stock with checks of some answers at the moment they are given.
type checkedStock struct {
	seckill.Stock
	w *World
}

// Reserve records a new reservation.
func (j checkedStock) Reserve(ctx context.Context, now time.Time, r seckill.Request, keyed bool,
	resend time.Duration) (seckill.ReserveResult, error) {
	w := j.w
	entries, _ := w.Redis.Do("HGET", stockKey(r.Item, "users"), r.User)
	list, _ := entries.(string)
	known := strings.Contains(list, r.Order)
	res, err := j.Stock.Reserve(ctx, now, r, keyed, resend)
	switch {
	case err != nil:
	case res.Code == seckill.Reserved && known:
		w.truth.fail("I4 order %s, of which the stock knows, is reserved again", r.Order)
	case res.Code == seckill.Reserved:
		w.reserved = r.Item
		if it := w.item(r.Item); now.Before(it.Start) || !now.Before(it.End) {
			w.truth.fail("I10 order %s is reserved at %s by its instance's own clock, on sale from %s to %s", res.Order,
				now, it.Start, it.End)
		}
		w.checkAdmitted(ctx, r)
		delete(w.confirmed, res.Order) // lost, and reserved again
		if w.stopHolds(r.Item) {
			w.truth.fail("I10 order %s is reserved after an acknowledged stop, by a stock that forgot nothing since",
				res.Order)
		}
	case !keyed && (res.Code == seckill.ReservedAgain || res.Code == seckill.ReservedBefore) &&
		w.confirmed[res.Order] == w.losses:
		w.truth.fail("I4 a new purchase without a key is answered with order %s, which was confirmed before", res.Order)
	}
	return res, err
}

// Confirm records that the stock got the ledger's decision.
func (j checkedStock) Confirm(ctx context.Context, item, order, user string, units []int) error {
	err := j.Stock.Confirm(ctx, item, order, user, units)
	record, _ := j.w.Redis.Do("HGET", stockKey(item, "res"), order)
	switch {
	case err != nil:
	case record == nil: // the stock ignores an order that it does not know, and drops one that holds nothing
		delete(j.w.confirmed, order)
	default:
		j.w.confirmed[order] = j.w.losses
	}
	return err
}

// Redraw checks "no unit left" (L4).
func (j checkedStock) Redraw(ctx context.Context, now time.Time, r seckill.Reservation, c seckill.Collision,
	resend time.Duration) (seckill.RedrawCode, seckill.Reservation, error) {
	w := j.w
	record, _ := w.Redis.Do("HGET", stockKey(r.Item, "res"), r.Order)
	if record == nil || w.drawing[r.Order] == 0 {
		w.drawing[r.Order] = w.losses
	}
	if record == nil { // correcting drift also drops the record of an order that holds nothing
		delete(w.confirmed, r.Order)
	}
	code, out, err := j.Stock.Redraw(ctx, now, r, c, resend)
	switch {
	case err != nil:
	case code == seckill.RedrawNone:
		w.none[r.Order] = true
		if w.drawing[r.Order] == w.losses {
			w.checkSoldOut(r)
		}
	case code == seckill.RedrawUnits && len(slices.Compact(slices.Sorted(slices.Values(out.Units)))) != len(out.Units):
		w.truth.fail("L5 order %s draws %v, a number twice: its message cannot be placed", r.Order, out.Units)
	case code == seckill.RedrawUnits && w.confirmed[r.Order] == w.losses:
		w.truth.fail("I8 order %s, of which the stock was told what the ledger decided, draws again", r.Order)
	}
	return code, out, err
}

// Return records that the stock has dropped an order, as it should.
func (j checkedStock) Return(ctx context.Context, item, order, user string, units []int) error {
	err := j.Stock.Return(ctx, item, order, user, units)
	if record, _ := j.w.Redis.Do("HGET", stockKey(item, "res"), order); record == nil {
		delete(j.w.confirmed, order)
	}
	return err
}

// checkSoldOut checks the answer "no unit left" for which an order is rejected. Fewer units than the order wants must
// be free: neither sold, nor reserved, nor on their way back. It is called only if the stock has lost nothing since the
// order began to ask for other units.
func (w *World) checkSoldOut(r seckill.Reservation) {
	s, err := w.numbersOf(r.Item)
	if err != nil || s == nil || w.truth.orders[r.Order] != nil {
		return
	}
	left := 0
	for n := 1; n <= w.grown[r.Item]; n++ {
		if w.truth.units[unitKey{r.Item, n}] != "" {
			continue
		}
		holder := s.held[n]
		score, _ := w.Redis.Do("ZSCORE", stockKey(r.Item, "awaiting"), holder)
		if holder == "" || holder == r.Order || w.truth.orders[holder] != nil && score == nil {
			left++
		}
	}
	for _, row := range w.truth.returns {
		if row.item == r.Item {
			left -= len(row.units)
		}
	}
	if left >= r.Count {
		w.truth.fail("L4 order %s hears that no unit is left, %d are nobody's", r.Order, left)
	}
}
