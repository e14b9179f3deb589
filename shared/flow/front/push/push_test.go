package push_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/front/push"
	"github.com/your-org/seckill/shared/seckill"
)

var start = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

// peers is all that the flow speaks to; it remembers what was done.
type peers struct {
	of       map[string][]string // connections by shopper
	replaced string
	refuses  error // of Open, and of Of
	gone     string
	away     string // a connection to which nothing can be sent
	did      []string
	counted  map[seckill.Event]int
}

func (w *peers) Open(_ context.Context, p seckill.Pass, c seckill.Connection) (string, error) {
	w.did = append(w.did, "open "+p.Nonce+" "+c.ID+" "+c.User+" "+c.Since.Format(time.TimeOnly))
	return w.replaced, w.refuses
}

func (w *peers) Forget(_ context.Context, id string) error {
	w.did = append(w.did, "forget "+id)
	return nil
}

func (w *peers) Of(_ context.Context, user string) ([]string, error) { return w.of[user], w.refuses }

func (w *peers) Send(_ context.Context, id string, e *seckill.OrderEvent) error {
	switch id {
	case w.gone:
		return fmt.Errorf("wire: %w", seckill.ErrConnectionGone)
	case w.away:
		return errors.New("away")
	}
	w.did = append(w.did, fmt.Sprintf("send %s %s %d %s", id, e.Order, e.Sequence, e.State))
	return nil
}

func (w *peers) Close(_ context.Context, id string) error {
	if id == w.away {
		return errors.New("away")
	}
	w.did = append(w.did, "close "+id)
	return nil
}

func (w *peers) Count(e seckill.Event, n int) { w.counted[e] += n }

func flow(w *peers) *push.Flow {
	w.counted = map[seckill.Event]int{}
	return push.New(push.Deps{Connections: w, Wire: w, Clock: memory.NewClock(start), Meter: w,
		Each: system.Several(1)})
}

func (w *peers) check(t *testing.T, name string, did []string, counted map[seckill.Event]int) {
	t.Helper()
	if !slices.Equal(w.did, did) || !maps.Equal(w.counted, counted) {
		t.Errorf("%s:\n got %s, %v\nwant %s, %v", name, strings.Join(w.did, "; "), w.counted, strings.Join(did, "; "),
			counted)
	}
}

func TestConnect(t *testing.T) {
	t.Parallel()
	const open = "open n c3 7 02:00:00"
	opened := map[seckill.Event]int{seckill.EventConnected: 1}
	for name, c := range map[string]struct {
		w       peers
		did     []string
		counted map[seckill.Event]int
		err     error
	}{
		"first":      {peers{}, []string{open}, opened, nil},
		"in a place": {peers{replaced: "c1"}, []string{open, "close c1"}, opened, nil},
		"used pass":  {peers{refuses: seckill.ErrPass}, []string{open}, nil, seckill.ErrPass},
		"the oldest stays": {peers{replaced: "c1", away: "c1"}, []string{open},
			map[seckill.Event]int{seckill.EventConnected: 1, seckill.EventPushFailed: 1}, nil},
		"no table": {peers{refuses: context.Canceled}, []string{open}, nil, context.Canceled},
	} {
		err := flow(&c.w).Connect(t.Context(), seckill.Pass{User: "7", Nonce: "n"}, "c3")
		must.Is(t, c.err, err, name)
		c.w.check(t, name, c.did, c.counted)
	}
}

// memo is a seckill.Recent that forgets nothing.
type memo map[string][]seckill.OrderEvent

func (m memo) Add(e seckill.OrderEvent) { m[e.User] = append(m[e.User], e) }

func (m memo) Of(user string) []seckill.OrderEvent { return m[user] }

// TestOpened: a connection hears what happened to its shopper's orders before it was open.
func TestOpened(t *testing.T) {
	t.Parallel()
	w := peers{of: map[string][]string{"8": {"c1"}}}
	f := flow(&w)
	f.Opened(t.Context(), "7", "c2") // nothing is remembered: that is no error
	f.Recent = memo{}
	_, _ = f.Changes(t.Context(), changes("oa 7 1", "ob 8 1"))
	_, _ = f.Changes(t.Context(), changes("oa 7 2"))
	f.Opened(t.Context(), "7", "c2")
	f.Opened(t.Context(), "9", "c3")
	w.check(t, "opened", []string{"send c1 ob 1 pending_payment", "send c2 oa 2 paid"},
		map[seckill.Event]int{seckill.EventPushed: 2})
}

// changes returns changes that each add the next entry to the history of an order: "oa 7 2" is the second one of order
// oa of shopper 7.
func changes(texts ...string) (out []seckill.OrderChange) {
	states := []seckill.State{seckill.PendingPayment, seckill.Paid}
	for _, text := range texts {
		var id, user string
		var n int
		_, _ = fmt.Sscan(text, &id, &user, &n)
		o := seckill.Order{ID: id, User: user, Item: "1", State: states[n-1]}
		for i := range n {
			o.History = append(o.History, seckill.Change{State: states[i], At: start})
		}
		out = append(out, seckill.OrderChange{Order: o, Before: n - 1})
	}
	return out
}

func TestChanges(t *testing.T) {
	t.Parallel()
	two := map[string][]string{"7": {"c1", "c2"}, "8": {"c3"}}
	for name, c := range map[string]struct {
		w       peers
		changes []seckill.OrderChange
		did     []string
		counted map[seckill.Event]int
	}{
		"both of a shopper's connections": {peers{of: two}, changes("oa 7 1"),
			[]string{"send c1 oa 1 pending_payment", "send c2 oa 1 pending_payment"},
			map[seckill.Event]int{seckill.EventPushed: 2}},
		"the newest of each order": {peers{of: two}, changes("oa 8 1", "ob 8 1", "oa 8 2"),
			[]string{"send c3 oa 2 paid", "send c3 ob 1 pending_payment"},
			map[seckill.Event]int{seckill.EventPushed: 2}},
		"whatever their order": {peers{of: two}, changes("oa 8 2", "oa 8 1"), []string{"send c3 oa 2 paid"},
			map[seckill.Event]int{seckill.EventPushed: 1}},
		"nobody connected": {peers{}, changes("oa 7 1"), nil, nil},
		"one ended, or is not open yet": {peers{of: two, gone: "c1"}, changes("oa 7 1"),
			[]string{"send c2 oa 1 pending_payment"}, map[seckill.Event]int{seckill.EventPushed: 1}},
		"one does not answer": {peers{of: two, away: "c2"}, changes("oa 7 1", "ob 8 1"),
			[]string{"send c1 oa 1 pending_payment", "send c3 ob 1 pending_payment"},
			map[seckill.Event]int{seckill.EventPushed: 2, seckill.EventPushFailed: 1}},
		"no table": {peers{refuses: errors.New("away")}, changes("oa 7 1", "ob 8 1"), nil,
			map[seckill.Event]int{seckill.EventPushFailed: 2}},
		"nothing": {peers{of: two}, nil, nil, nil},
	} {
		done := must.Get(flow(&c.w).Changes(t.Context(), c.changes))
		must.Equal(t, len(c.changes), done, name, "done")
		c.w.check(t, name, c.did, c.counted)
	}
}
