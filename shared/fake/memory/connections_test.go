package memory

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// TestConnections plays pages of a shopper that come and go; after each step these are connected.
func TestConnections(t *testing.T) {
	t.Parallel()
	clock := NewClock(time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC))
	c := NewConnections(clock)
	open := func(nonce, id, user string) (string, error) {
		now := clock.Now()
		return c.Open(t.Context(), seckill.Pass{User: user, Expires: now.Add(seckill.PassLife), Nonce: nonce},
			seckill.Connection{ID: id, User: user, Since: now})
	}
	for _, s := range []struct {
		open, forget, nonce, replaces string
		err                           error
		connected                     []string
	}{
		{open: "c1", nonce: "a", connected: []string{"c1"}},
		{open: "c2", nonce: "a", err: seckill.ErrPass, connected: []string{"c1"}},
		{open: "c2", nonce: "b", connected: []string{"c1", "c2"}},
		{open: "c3", nonce: "c", replaces: "c1", connected: []string{"c2", "c3"}},
		{forget: "c1", connected: []string{"c2", "c3"}}, // its end is told after it was replaced
		{forget: "c2", connected: []string{"c3"}},
		{forget: "never opened", connected: []string{"c3"}},
		{open: "c4", nonce: "d", connected: []string{"c3", "c4"}},
		{forget: "c3", connected: []string{"c4"}},
		{forget: "c4"},
	} {
		if s.forget != "" {
			if err := c.Forget(t.Context(), s.forget); err != nil {
				t.Fatal(err)
			}
		} else if replaced, err := open(s.nonce, s.open, "1001"); !errors.Is(err, s.err) || replaced != s.replaces {
			t.Errorf("%+v: replaced %q, %v", s, replaced, err)
		}
		if got, err := c.Of(t.Context(), "1001"); err != nil || !slices.Equal(got, s.connected) {
			t.Errorf("%+v: connected %q, %v", s, got, err)
		}
	}
	if len(c.of)+len(c.users) != 0 {
		t.Errorf("%v and %v are remembered of nobody", c.of, c.users)
	}
	clock.Advance(3 * seckill.PassLife)
	if _, err := open("e", "c5", "1002"); err != nil || len(c.used) != 1 {
		t.Errorf("%d passes are remembered, %v; want the one that is not over", len(c.used), err)
	}
}

// TestAPassIsGoodOnceInACrowd: of pages that come together with one pass, one connects.
func TestAPassIsGoodOnceInACrowd(t *testing.T) {
	t.Parallel()
	c := NewConnections(NewRealClock())
	var opened atomic.Int64
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			_, err := c.Open(t.Context(), seckill.Pass{User: "1", Expires: time.Now().Add(time.Minute), Nonce: "n"},
				seckill.Connection{ID: fmt.Sprint(i), User: "1"})
			if err == nil {
				opened.Add(1)
			} else if !errors.Is(err, seckill.ErrPass) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if ids, err := c.Of(t.Context(), "1"); opened.Load() != 1 || len(ids) != 1 || err != nil {
		t.Errorf("%d opened, %q connected, %v", opened.Load(), ids, err)
	}
}
