package fakegateway

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Memory is the Store of a single process. When it is full, it drops old closed trades.
type Memory struct {
	clock seckill.Clock
	most  int

	mu      sync.Mutex
	byKey   map[Key]*Record
	byNo    map[string]Key
	pending map[Key]bool // trades that have a due or later attempt
	order   []*Record    // in order of creation
}

// NewMemory returns an empty store for at most most trades.
func NewMemory(clock seckill.Clock, most int) *Memory {
	return &Memory{clock: clock, most: most, byKey: map[Key]*Record{}, byNo: map[string]Key{}, pending: map[Key]bool{}}
}

// clone returns a deep copy.
func (r *Record) clone() Record {
	c := *r
	c.Refunds, c.Notifications = slices.Clone(r.Refunds), slices.Clone(r.Notifications)
	return c
}

// Load implements Store.
func (m *Memory) Load(ctx context.Context, k Key) (Record, bool, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.byKey[k]
	if r == nil {
		return Record{}, false, nil
	}
	return r.clone(), true, nil
}

// Find implements Store.
func (m *Memory) Find(ctx context.Context, tradeNo string) (Key, bool, error) {
	if err := ctx.Err(); err != nil {
		return Key{}, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k, found := m.byNo[tradeNo]
	return k, found, nil
}

// Save implements Store.
func (m *Memory) Save(ctx context.Context, r Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k, old := r.Key(), m.byKey[r.Key()]
	if old == nil && r.Version != 0 || old != nil && r.Version != old.Version {
		return ErrChanged
	}
	if old == nil {
		if len(m.order) >= m.most {
			m.dropClosed(m.clock.Now())
		}
		if len(m.order) >= m.most {
			return ErrFull
		}
		old = &Record{}
		m.byKey[k], m.byNo[r.TradeNo] = old, k
		m.order = append(m.order, old)
	}
	*old = r.clone()
	old.Version++
	if old.Next().IsZero() {
		delete(m.pending, k)
	} else {
		m.pending[k] = true
	}
	return nil
}

// dropClosed removes the oldest closed trades that were never paid: a hundredth of the limit at once, so that the
// scan is rare. It only removes trades past time_expire, which no order string can open again, and never the first of
// an order's two trades, because trades of an order are numbered without gaps.
func (m *Memory) dropClosed(now time.Time) {
	left := m.most/100 + 1
	kept := m.order[:0]
	for _, r := range m.order {
		closed := r.Status == StatusClosed || r.Status == StatusWait && !now.Before(r.Lapses)
		if left > 0 && closed && r.Paid.IsZero() && !now.Before(r.Expires) &&
			m.byKey[Key{r.OutTradeNo, r.N + 1}] == nil {
			delete(m.byKey, r.Key())
			delete(m.byNo, r.TradeNo)
			left--
			continue
		}
		kept = append(kept, r)
	}
	clear(m.order[len(kept):])
	m.order = kept
}

// Due implements Store; it has no limit and does not lag.
func (m *Memory) Due(ctx context.Context, by time.Time) ([]Key, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	type item struct {
		Key
		next, paid time.Time
	}
	var due []item
	m.mu.Lock()
	for k := range m.pending {
		if r := m.byKey[k]; !r.Next().After(by) {
			due = append(due, item{k, r.Next(), r.Paid})
		}
	}
	m.mu.Unlock()
	slices.SortFunc(due, func(a, b item) int {
		return cmp.Or(a.next.Compare(b.next), a.paid.Compare(b.paid), cmp.Compare(a.OutTradeNo, b.OutTradeNo), a.N-b.N)
	})
	var out []Key
	for _, d := range due {
		out = append(out, d.Key)
	}
	return out, nil
}

// next returns when the next attempt is due, or false if no attempt is due.
func (m *Memory) next() (next time.Time, found bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k := range m.pending {
		if at := m.byKey[k].Next(); !found || at.Before(next) {
			next, found = at, true
		}
	}
	return next, found
}

// waiting returns copies of the trades with an attempt to make, in any order.
func (m *Memory) waiting() []Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]Record, 0, len(m.pending))
	for k := range m.pending {
		out = append(out, m.byKey[k].clone())
	}
	return out
}

// Moved implements Store; it does not lag.
func (m *Memory) Moved(ctx context.Context, on string) ([]Key, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var out []Key
	for _, r := range m.records() {
		if movedOn(&r, on) {
			out = append(out, r.Key())
		}
	}
	return out, nil
}

func movedOn(r *Record, on string) bool {
	return !r.Paid.IsZero() && seckill.Day(r.Paid) == on || slices.ContainsFunc(r.Refunds, func(back Refund) bool {
		return seckill.Day(back.At) == on
	})
}

// All implements Lister; it does not lag.
func (m *Memory) All(ctx context.Context) ([]Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return m.records(), nil
}

// records returns copies of all trades, in order of creation.
func (m *Memory) records() []Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]Record, len(m.order))
	for i, r := range m.order {
		out[i] = r.clone()
	}
	return out
}
