package admit

import (
	"sync"
	"time"
)

// memory remembers answers about some names for a time. It is safe for concurrent use, and holds no lock while
// somebody reads.
type memory[V any] struct {
	fresh time.Duration // how long an answer may be used
	most  int           // names; beyond them it forgets all

	mu sync.RWMutex
	of map[string]remembered[V]
}

type remembered[V any] struct {
	answer V
	read   time.Time
}

// get returns what is remembered of a name. It is shared: callers must not change it.
func (m *memory[V]) get(name string, now time.Time) (answer V, known bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	r, ok := m.of[name]
	if age := now.Sub(r.read); !ok || age < 0 || age >= m.fresh {
		return answer, false
	}
	return r.answer, true
}

// put remembers what a read said about a name that began at a time.
func (m *memory[V]) put(name string, answer V, read time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil || len(m.of) >= m.most {
		m.of = map[string]remembered[V]{}
	}
	m.of[name] = remembered[V]{answer, read}
}
