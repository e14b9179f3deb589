package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/your-org/seckill/shared/seckill"
)

// ListVersion returns the version of the latest published list. Only a cancelled context is an error.
func (t *Items) ListVersion(ctx context.Context) (int64, error) {
	l, err := t.Published(ctx)
	return l.Version, err
}

// ReadList returns the latest published list. ErrUnreadable: it is older than asked for; a cancelled context.
func (t *Items) ReadList(ctx context.Context, version int64) (seckill.List, error) {
	l, err := t.Published(ctx)
	if err == nil && l.Version < version {
		return seckill.List{}, &seckill.Unreadable{Table: "catalog", PK: "list",
			Why: fmt.Sprintf(" is of version %d, want %d", l.Version, version)}
	}
	return l, err
}

// Published returns the latest published list. Only a cancelled context is an error.
func (t *Items) Published(ctx context.Context) (seckill.List, error) {
	if err := ctx.Err(); err != nil {
		return seckill.List{}, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return cloneList(t.list), nil
}

// Publish replaces the list of the previous version. CodeInvalid above MaxItems; ErrStateChanged; a cancelled
// context.
func (t *Items) Publish(ctx context.Context, l seckill.List) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(l.Items) > seckill.MaxItems {
		return seckill.Invalid("list", fmt.Sprintf("at most %d items", seckill.MaxItems))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.Version != t.list.Version+1 {
		return seckill.ErrStateChanged
	}
	t.list = cloneList(l)
	for i := range t.list.Items {
		t.list.Items[i].Cover = ""
	}
	return nil
}

func cloneList(l seckill.List) seckill.List {
	out := seckill.List{Version: l.Version}
	for _, it := range l.Items {
		out.Items = append(out.Items, cloneItem(it))
	}
	for _, a := range l.Activities {
		a.Items = slices.Clone(a.Items)
		out.Activities = append(out.Activities, a)
	}
	return out
}
