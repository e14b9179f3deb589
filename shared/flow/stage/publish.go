package stage

import (
	"context"
	"errors"
	"slices"

	"github.com/your-org/seckill/shared/seckill"
)

// publish writes the list that pages show from the current items. Two concurrent calls do not undo each other: each
// reads the published list's version before it reads the items, and reads the items again if the list was replaced
// meanwhile. It returns the errors of List and Lists; an item that cannot be read is left out.
func (f *Flow) publish(ctx context.Context) error {
	for range maxTries {
		l, err := f.Items.Published(ctx)
		lost := errors.Is(err, seckill.ErrUnreadable) // the new list replaces it
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
