package fakegateway

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"seckill/shared/seckill"
)

// Memory is the Store of one process. When it is full, old closed trades are dropped for new ones.
type Memory struct {
	clock seckill.Clock
	most  int

	mu    sync.Mutex
	byNo  map[string]*Record
	order []*Record // as created
}

// NewMemory makes an empty one that holds at most so many trades.
func NewMemory(clock seckill.Clock, most int) *Memory {
	return &Memory{clock: clock, most: most, byNo: map[string]*Record{}}
}

// Load implements Store.
func (m *Memory) Load(ctx context.Context, outTradeNo string) (Record, bool, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.byNo[outTradeNo]
	if r == nil {
		return Record{}, false, nil
	}
	return *r, true, nil
}

// Save implements Store.
func (m *Memory) Save(ctx context.Context, r Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.byNo[r.OutTradeNo]
	switch {
	case old == nil && r.Version != 0, old != nil && r.Version != old.Version:
		return ErrChanged
	case old != nil:
		r.Version++
		*old = r
		return nil
	}
	if len(m.order) >= m.most {
		m.dropClosed(m.clock.Now())
	}
	if len(m.order) >= m.most {
		return ErrFull
	}
	r.Version++
	m.byNo[r.OutTradeNo] = &r
	m.order = append(m.order, &r)
	return nil
}

// dropClosed forgets the oldest closed trades, a hundredth of the limit at once so that the walk is rarely made. Only those
// past time_expire go: no order string can bring them back.
func (m *Memory) dropClosed(now time.Time) {
	left := m.most/100 + 1
	kept := m.order[:0]
	for _, r := range m.order {
		if left > 0 && r.status(now) == StatusClosed && !now.Before(r.Expires) {
			delete(m.byNo, r.OutTradeNo)
			left--
			continue
		}
		kept = append(kept, r)
	}
	clear(m.order[len(kept):])
	m.order = kept
}

// Due implements Store; it has no limit and does not lag.
func (m *Memory) Due(ctx context.Context, by time.Time) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all := m.records()
	slices.SortStableFunc(all, func(a, b Record) int { return cmp.Or(a.Notify.Next.Compare(b.Notify.Next), a.Paid.Compare(b.Paid)) })
	var out []string
	for _, r := range all {
		if !r.Notify.Next.IsZero() && !r.Notify.Next.After(by) {
			out = append(out, r.OutTradeNo)
		}
	}
	return out, nil
}

// records gives a copy of all, as created.
func (m *Memory) records() []Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]Record, len(m.order))
	for i, r := range m.order {
		out[i] = *r
	}
	return out
}
