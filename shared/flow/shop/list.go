package shop

import (
	"context"
	"sync"
	"time"

	"seckill/shared/flow/itemcache"
	"seckill/shared/seckill"
)

// maxAge is how old a list may be that is shown because no newer one can be read.
const maxAge = time.Minute

// list is an instance's memory of the published list. It asks once a second, in one request, whether there is a newer one; the others go on with
// the one that is known. Safe for concurrent use.
type list struct {
	lists seckill.Lists
	clock seckill.Clock

	reading sync.Mutex // held by the request that reads
	mu      sync.Mutex
	known   *known // nil: none
	tried   time.Time
	failed  error // the last try's
}

// known is a list as it was read. It is shared, and not to be changed.
type known struct {
	version int64
	asOf    time.Time // before the read began
	items   []seckill.Item
	byID    map[string]*seckill.Item
}

func newList(lists seckill.Lists, clock seckill.Clock) *list {
	return &list{lists: lists, clock: clock}
}

// errUnpublished is heard between a first deployment and the first run of stage.
var errUnpublished = &seckill.Error{Code: seckill.CodeNotReady, RetryAfter: time.Second}

// current gives the list, and as of when when it is not from a moment ago. CodeNotReady: none was published yet; a fault.
func (l *list) current(ctx context.Context) (*known, time.Time, error) {
	now := l.clock.Now()
	if k, asOf, err, ok := l.recall(now); ok {
		return k, asOf, err
	}
	if !l.reading.TryLock() {
		if k := l.usable(now); k != nil {
			if now.Sub(k.asOf) < 2*seckill.ItemFresh { // a read takes its time
				return k, time.Time{}, nil
			}
			return k, k.asOf, nil
		}
		l.reading.Lock() // a first request waits with the one that reads
	}
	defer l.reading.Unlock()
	now = l.clock.Now()
	if k, asOf, err, ok := l.recall(now); ok {
		return k, asOf, err
	}
	k, err := l.read(ctx, now)
	l.mu.Lock()
	l.tried, l.failed = now, err
	if err == nil {
		l.known = k
	}
	l.mu.Unlock()
	k, asOf, err, _ := l.recall(now)
	return k, asOf, err
}

// recall answers without a read, when there was one less than a second ago.
func (l *list) recall(now time.Time) (k *known, asOf time.Time, err error, ok bool) {
	l.mu.Lock()
	tried, failed := l.tried, l.failed
	l.mu.Unlock()
	if tried.IsZero() || !itemcache.Fresh(tried, now) {
		return nil, time.Time{}, nil, false
	}
	k = l.usable(now)
	switch {
	case k == nil:
		return nil, time.Time{}, failed, true
	case failed != nil:
		return k, k.asOf, nil, true
	}
	return k, time.Time{}, nil, true
}

// usable gives what is known, unless it is too old to be shown.
func (l *list) usable(now time.Time) *known {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		return nil
	}
	if age := now.Sub(l.known.asOf); age < 0 || age >= maxAge {
		return nil
	}
	return l.known
}

func (l *list) read(ctx context.Context, now time.Time) (*known, error) {
	version, err := l.lists.ListVersion(ctx)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	old := l.known
	l.mu.Unlock()
	if old != nil && version <= old.version { // an older one comes from a copy that lags: what was shown is not taken back
		return &known{version: old.version, asOf: now, items: old.items, byID: old.byID}, nil
	}
	if version == 0 {
		return nil, errUnpublished
	}
	read, err := l.lists.ReadList(ctx, version)
	if err != nil {
		return nil, err
	}
	k := &known{version: read.Version, asOf: now, items: read.Items, byID: make(map[string]*seckill.Item, len(read.Items))}
	for i := range k.items {
		k.byID[k.items[i].ID] = &k.items[i]
	}
	return k, nil
}
