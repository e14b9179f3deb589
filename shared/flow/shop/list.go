package shop

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/flow/internal/itemcache"
	"github.com/your-org/seckill/shared/seckill"
)

// maxAge is how old a list may be that is shown because no newer one can be read.
const maxAge = time.Minute

// list is an instance's memory of the published list. Once a second one request asks whether there is a newer list.
// Requests beside it use the list in memory, and read for themselves only when there is none. Safe for concurrent use;
// no lock is held during a read.
type list struct {
	lists seckill.Lists
	clock seckill.Clock

	mu      sync.Mutex
	known   *known // nil: none
	reading bool   // a request is reading
	tried   time.Time
	failed  error // the last try's
}

// known is a list as it was read. It is shared, and not to be changed.
type known struct {
	version int64
	asOf    time.Time // before the read began
	items   []seckill.Item
	byID    map[string]*seckill.Item
	byTag   map[string][]*seckill.Item // by what an order id says of its item
}

func newList(lists seckill.Lists, clock seckill.Clock) *list {
	return &list{lists: lists, clock: clock}
}

// errUnpublished is the answer between a first deployment and the first run of stage.
var errUnpublished = &seckill.Error{Code: seckill.CodeNotReady, RetryAfter: time.Second}

// current returns the list. The time is zero when the list is fresh, at most 2 s old; else it says when the list was
// read. CodeNotReady: stage has published none yet; a fault.
func (l *list) current(ctx context.Context) (*known, time.Time, error) {
	now := l.clock.Now()
	l.mu.Lock()
	old := l.usable(now)
	switch {
	case !l.tried.IsZero() && itemcache.Fresh(l.tried, now):
		defer l.mu.Unlock()
		return l.last(now)
	case l.reading && old != nil:
		defer l.mu.Unlock()
		if now.Sub(old.asOf) < 2*seckill.ItemFresh { // a read takes its time
			return old, time.Time{}, nil
		}
		return old, old.asOf, nil
	}
	l.reading = true
	latest := l.known
	l.mu.Unlock()

	k, err := l.read(ctx, now, latest)

	l.mu.Lock()
	defer l.mu.Unlock()
	l.reading = false
	switch {
	case err == nil && (l.known == nil || k.version >= l.known.version):
		l.known, l.tried, l.failed = k, now, nil
	case err != nil && ctx.Err() == nil: // it is not the caller who gave up
		now = l.clock.Now() // remembered from its end, or each request in turn would wait as long
		l.tried, l.failed = now, err
	case err != nil:
		return nil, time.Time{}, err
	}
	return l.last(now)
}

// last answers by the last try.
func (l *list) last(now time.Time) (*known, time.Time, error) {
	k := l.usable(now)
	switch {
	case k == nil:
		return nil, time.Time{}, cmp.Or[error](l.failed, errUnpublished)
	case l.failed == nil:
		return k, time.Time{}, nil
	default:
		return k, k.asOf, nil
	}
}

// usable returns what is known, unless it is too old to be shown.
func (l *list) usable(now time.Time) *known {
	if l.known == nil {
		return nil
	}
	if age := now.Sub(l.known.asOf); age < 0 || age >= maxAge {
		return nil
	}
	return l.known
}

// read returns the newest list, old's items if there is none newer. now is before it.
func (l *list) read(ctx context.Context, now time.Time, old *known) (*known, error) {
	version, err := l.lists.ListVersion(ctx)
	if err != nil {
		return nil, err
	}
	// an older one comes from a copy that lags: what was shown is not taken back
	if old != nil && version <= old.version {
		k := *old
		k.asOf = now
		return &k, nil
	}
	if version == 0 {
		return nil, errUnpublished
	}
	read, err := l.lists.ReadList(ctx, version)
	if err != nil {
		return nil, err
	}
	k := &known{version: read.Version, asOf: now, items: read.Items, byID: make(map[string]*seckill.Item,
		len(read.Items)),
		byTag: make(map[string][]*seckill.Item, len(read.Items))}
	for i := range k.items {
		it := &k.items[i]
		tag := seckill.ItemTag(it.ID)
		k.byID[it.ID], k.byTag[tag] = it, append(k.byTag[tag], it)
	}
	return k, nil
}
