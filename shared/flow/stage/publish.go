package stage

import (
	"context"
	"errors"
	"slices"

	"github.com/your-org/seckill/shared/seckill"
)

// publish has pages list the items as they are now. Two that publish at once do not undo each other: each reads which
// list is there before it reads the items, and whose list was replaced meanwhile reads them again. Errors: of List and
// Lists; an item that cannot be read is left out.
func (f *Flow) publish(ctx context.Context) error {
	for range maxTries {
		l, err := f.Items.Published(ctx)
		lost := errors.Is(err, seckill.ErrUnreadable) // a new one mends it
		if err != nil && !lost {
			return err
		}
		items, bad := f.Items.List(ctx, f.Clock.Now().Add(-seckill.MaxUnplaced))
		if bad != nil && !errors.Is(bad, seckill.ErrUnreadable) {
			return bad
		}
		if l.Version > 0 && !lost && slices.EqualFunc(l.Items, items, sameVersion) {
			return bad
		}
		err = f.Items.Publish(ctx, seckill.List{Version: l.Version + 1, Items: items})
		if !errors.Is(err, seckill.ErrStateChanged) {
			return errors.Join(err, bad)
		}
	}
	return seckill.ErrStateChanged
}

func sameVersion(a, b seckill.Item) bool { return a.ID == b.ID && a.Version == b.Version }
