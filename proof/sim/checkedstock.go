package sim

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/flow/sale/consume"
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
	blocked := w.copiedBlock(r)
	res, err := j.Stock.Reserve(ctx, now, r, keyed, resend)
	if err == nil && (res.Code == seckill.Reserved || res.Code == seckill.ReservedAgain) {
		w.promises.begin(res.Order, w.Clock.Now())
	}
	switch {
	case err != nil:
	case res.Code == seckill.Reserved && known:
		w.truth.fail("I4 order %s, of which the stock knows, is reserved again", r.Order)
	case res.Code == seckill.Reserved:
		w.reserved = r.Item
		w.mayReserve(r, now)
		if it := w.item(r.Item); now.Before(it.Start) || !now.Before(it.End) {
			w.truth.fail("I10 order %s is reserved at %s by its instance's own clock, on sale from %s to %s", res.Order,
				now, it.Start, it.End)
		}
		w.checkAdmitted(ctx, r)
		if blocked {
			w.truth.fail("A4 order %s is reserved for user %s, whose block the stock was told and has not lost",
				res.Order, r.User)
		}
		delete(w.confirmed, res.Order) // lost, and reserved again
		if w.stopHolds(r.Item) {
			w.truth.fail("I10 order %s is reserved after an acknowledged stop, by a stock that forgot nothing since",
				res.Order)
		}
	case res.Code == seckill.ReserveLimit:
		w.limited[holder{r.User, r.Item}]++
		n, limit := unitsIn(list), w.item(r.Item).Limit
		if n+r.Count <= limit && w.refusedUsers[holder{r.User, r.Item}].ever < seckill.MaxRefusals {
			w.truth.fail("I12 the stock counts %d units of item %s for user %s, and %d more reach the limit of %d", n,
				r.Item, r.User, r.Count, limit)
		}
	case res.Code == seckill.ReserveBlocked &&
		!w.everBlocked([]seckill.Subject{seckill.UserSubject(r.User)}, r.Item, time.Time{}):
		w.truth.fail("A4 user %s hears of a block for item %s, and never had one", r.User, r.Item)
	case !keyed && (res.Code == seckill.ReservedAgain || res.Code == seckill.ReservedBefore) &&
		w.confirmed[res.Order] == w.losses:
		w.truth.fail("I4 a new purchase without a key is answered with order %s, which was confirmed before", res.Order)
	}
	return res, err
}

// unitsIn adds up the units of a user's entries.
func unitsIn(entries string) (sum int) {
	for e := range strings.SplitSeq(entries, ",") {
		_, units, _ := strings.Cut(e, ":")
		n, _ := strconv.Atoi(units) // of "", if there are none
		sum += n
	}
	return sum
}

// Confirm records that the stock got the ledger's decision.
func (j checkedStock) Confirm(ctx context.Context, v seckill.Verdict) error {
	before, _ := j.w.Redis.Do("HGET", stockKey(v.Item, "res"), v.Order)
	err := j.Stock.Confirm(ctx, v)
	if was, _ := before.(string); err == nil && strings.HasPrefix(was, "q|") {
		j.w.toldStock(v.Order)
	}
	record, _ := j.w.Redis.Do("HGET", stockKey(v.Item, "res"), v.Order)
	switch {
	case err != nil:
	case record == nil: // the stock ignores an order that it does not know, and drops one that holds nothing
		delete(j.w.confirmed, v.Order)
	default:
		j.w.confirmed[v.Order] = j.w.losses
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

// mayReserve checks A5 for a new reservation: the stock refuses whom the ledger refused.
func (w *World) mayReserve(r seckill.Request, now time.Time) {
	for _, item := range []string{r.Item, seckill.Everywhere} {
		if s := w.door.blocks[blockKey{seckill.UserSubject(r.User), item}]; s != nil && s.drops > 0 {
			return // the block may have been removed
		}
	}
	switch k := w.refusedUsers[holder{r.User, r.Item}]; {
	case k.losses != w.losses:
	case k.orders >= seckill.MaxRefusals && now.Before(k.last.Add(seckill.RefusalsKept)):
		w.truth.fail("A5 order %s is reserved for user %s, %d of whose orders of item %s were rejected because of who "+
			"that is", r.Order, r.User, k.orders, r.Item)
	case !k.blocked.IsZero() && now.Before(k.blocked.Add(consume.RefusedFor)):
		w.truth.fail("A5 order %s is reserved for user %s, whose block for item %s the stock learned of at %s", r.Order,
			r.User, r.Item, k.blocked)
	}
}

// toldStock records that the stock got the ledger's decision about an order that waited for it.
func (w *World) toldStock(order string) {
	o := w.truth.orders[order]
	if o == nil || o.reason != seckill.CodeBlocked &&
		o.reason != seckill.CodeLimitReached && o.reason != seckill.CodeToken {
		return
	}
	k := holder{o.user, o.item}
	was := w.refusedUsers[k]
	if was.losses != w.losses {
		was = refusedUser{losses: w.losses, ever: was.ever}
	}
	if !o.placed.Before(was.last.Add(seckill.RefusalsKept)) {
		was.orders = 0
	}
	was.orders++
	was.ever++
	if was.last.Before(o.placed) {
		was.last = o.placed
	}
	if o.reason == seckill.CodeBlocked && was.blocked.Before(o.placed) {
		was.blocked = o.placed
	}
	w.refusedUsers[k] = was
}
