// Package upkeep has what several steps of a sale do to the stock: consume and repair give back the units of a return
// row, repair and stage copy users' blocks.
package upkeep

import (
	"context"
	"errors"
	"fmt"

	"github.com/your-org/seckill/shared/seckill"
)

// Deps are the dependencies of GiveBack.
type Deps struct {
	Stock  seckill.ReservationKeeper
	Ledger seckill.ReturnKeeper
	Items  seckill.Items
	Clock  seckill.Clock
	Meter  seckill.Meter
}

// GiveBack returns an order's units to the stock and then deletes the return row. It keeps the return row while the
// item is not installed: a rebuild may have read the unit rows before they were deleted. A repeated call changes
// nothing.
func GiveBack(ctx context.Context, d Deps, r seckill.ReturnRow) error {
	err := d.Stock.Return(ctx, r.Item, r.Order, r.User, r.Units)
	if errors.Is(err, seckill.ErrNotInstalled) {
		it, ierr := d.Items.Get(ctx, r.Item)
		if ierr != nil {
			return ierr
		}
		if !it.Retired(d.Clock.Now()) {
			return fmt.Errorf("return of %s: %w", r.Order, err)
		}
	} else if err != nil {
		return err
	}
	d.Meter.Count(seckill.EventReturned, len(r.Units))
	return d.Ledger.DeleteReturn(ctx, r)
}
