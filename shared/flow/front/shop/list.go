package shop

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/flow/internal/itemcache"
	"github.com/your-org/seckill/shared/seckill"
)

// maxAge is the largest age of a list that is shown if no newer one can be read.
const maxAge = time.Minute

// list remembers the published list in an instance. Once a second one request checks for a newer list. Concurrent
// requests use the remembered list and read only if there is none. It is safe for concurrent use and holds no lock
// during a read.
type list struct {
	lists seckill.Lists
	clock seckill.Clock

	mu      sync.Mutex
	known   *known // nil if there is none
	reading bool   // a request is reading
	tried   time.Time
	failed  error // error of the last attempt
}

// known is a list as read. It is shared: callers must not change it.
type known struct {
	version int64
	asOf    time.Time // taken before the read began
	items   []seckill.Item
	byID    map[string]*seckill.Item
	byTag   map[string][]*seckill.Item         // items by the tag in their order ids
	in      map[string]*seckill.ListedActivity // by the item's id
}

func newList(lists seckill.Lists, clock seckill.Clock) *list {
	return &list{lists: lists, clock: clock}
}

// errUnpublished is the answer between a first deployment and the first run of stage.
var errUnpublished = &seckill.Error{Code: seckill.CodeNotReady, RetryAfter: time.Second}

// current returns the list. The time is zero if the list is at most 2 s old; otherwise it is when the list was read.
// It returns CodeNotReady if the step stage has not published a list yet; any other error is a fault.
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
		if now.Sub(old.asOf) < 2*seckill.ItemFresh { // a read takes some time
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
	case err != nil && ctx.Err() == nil: // the read failed, and not because the caller gave up
		now = l.clock.Now() // remembered from the end of the read; otherwise each request in turn would wait as long
		l.tried, l.failed = now, err
	case err != nil:
		return nil, time.Time{}, err
	}
	return l.last(now)
}

// last returns the answer of the last attempt.
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

// activityOf returns the activity of an item as the remembered list has it, nil if it is in none.
func (l *list) activityOf(item string) *seckill.ListedActivity {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.usable(l.clock.Now()); k != nil {
		return k.in[item]
	}
	return nil
}

// usable returns the remembered list, nil if it is too old to be shown.
func (l *list) usable(now time.Time) *known {
	if l.known == nil {
		return nil
	}
	if age := now.Sub(l.known.asOf); age < 0 || age >= maxAge {
		return nil
	}
	return l.known
}

// read returns the newest list, or old's items if there is no newer one. now is the time before the read.
func (l *list) read(ctx context.Context, now time.Time, old *known) (*known, error) {
	version, err := l.lists.ListVersion(ctx)
	if err != nil {
		return nil, err
	}
	// A lagging replica returned an older list: keep what was shown.
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
		byTag: make(map[string][]*seckill.Item, len(read.Items)), in: map[string]*seckill.ListedActivity{}}
	for i := range read.Activities {
		for _, id := range read.Activities[i].Items {
			k.in[id] = &read.Activities[i]
		}
	}
	for i := range k.items {
		it := &k.items[i]
		tag := seckill.ItemTag(it.ID)
		k.byID[it.ID], k.byTag[tag] = it, append(k.byTag[tag], it)
	}
	return k, nil
}
