package consume

import (
	"context"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// activityFresh is how long an instance remembers the activity of an item. If the item changes activities, orders may
// get the old one for that long.
const activityFresh = 10 * time.Second

// activities remembers the activities of items.
type activities struct {
	mu   sync.Mutex
	seen map[string]activity
}

type activity struct {
	id string
	at time.Time
}

// activity returns the activity that an item is in, "" if it is in none. An activity only groups: if it cannot be read,
// the order is placed all the same, with the one that was known last.
func (f *Flow) activity(ctx context.Context, item string) string {
	a, now := &f.activities, f.Clock.Now()
	a.mu.Lock()
	last, known := a.seen[item]
	a.mu.Unlock()
	if age := now.Sub(last.at); known && age >= 0 && age < activityFresh {
		return last.id
	}
	in, err := f.Grouping.ActivitiesOf(ctx, []string{item})
	if err != nil {
		in = map[string]string{item: last.id} // a table that hangs holds up one order, not each
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seen == nil || len(a.seen) >= seckill.MaxItems {
		a.seen = map[string]activity{}
	}
	a.seen[item] = activity{in[item], now}
	return in[item]
}
