package admit

import (
	"context"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Questions are fixed before the first of them is asked, so that a memory of a minute is never wrong for long.
const (
	poolFresh = time.Minute
	maxPools  = 32 // items; a pool has some kilobytes, at most five megabytes
)

// pools remembers the questions of items. It holds no lock during a read.
type pools struct {
	from seckill.Questions
	mu   sync.RWMutex
	of   map[string]pool
}

type pool struct {
	questions []seckill.Question
	read      time.Time
}

// get returns an item's questions. They are shared: callers must not change them.
func (p *pools) get(ctx context.Context, item string, now time.Time) ([]seckill.Question, error) {
	p.mu.RLock()
	known, ok := p.of[item]
	p.mu.RUnlock()
	if age := now.Sub(known.read); ok && age >= 0 && age < poolFresh {
		return known.questions, nil
	}
	questions, err := p.from.Questions(ctx, item)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	if len(p.of) >= maxPools {
		clear(p.of)
	}
	p.of[item] = pool{questions, now}
	p.mu.Unlock()
	return questions, nil
}
