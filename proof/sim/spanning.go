package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

// checkSpanning checks once everything is quiet that who has bought up a limit that spans the family is refused another
// variant at once (I2).
func (w *World) checkSpanning() error {
	all := w.allItems()
	if len(all) < 2 || all[0].Variant.Span() == "" {
		return nil
	}
	for _, it := range all {
		if w.Clock.Now().Before(it.Start.Add(seckill.SkewBound)) || !w.sells(it) || it.Stopped {
			return nil
		}
	}
	w.Clock.Advance(2 * time.Second)
	i, user := w.Start(nil), "8100"
	press := func(it *seckill.Item, count int) (string, error) {
		p, err := i.admitted(buy.Purchase{Item: it.ID, User: user, Count: count,
			Given: seckill.Given{Address: addresses[0]}, Key: "spans " + it.ID})
		if err != nil {
			return "", fmt.Errorf("A1 a fresh shopper gets no ticket: %w", err)
		}
		return i.PurchaseOf(p)
	}
	id, err := press(all[0], all[0].Limit)
	if code := seckill.CodeOf(err); code == seckill.CodeSoldOut || code == seckill.CodeNotEnough {
		return nil
	}
	if err != nil {
		return err
	}
	if err := i.handleAll(); err != nil {
		return err
	}
	second, err := press(all[1], 1)
	if code := seckill.CodeOf(err); code != seckill.CodeLimitReached && code != seckill.CodeSoldOut {
		return fmt.Errorf("I2 user %s holds %d units of the family, the limit, and buys more: order %q, %q", user,
			all[0].Limit, second, code)
	}
	return errors.Join(i.PayNow(user, id), w.Check())
}
