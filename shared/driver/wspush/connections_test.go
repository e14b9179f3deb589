package wspush_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/wspush"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

var start = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

func TestStoreConforms(t *testing.T) {
	t.Parallel()
	conforms(t, func(t *testing.T) ledger.Rows {
		return memory.NewRows(memory.RowsOptions{Clock: memory.NewClock(start), Tables: []ledger.Table{wspush.Table}})
	})
}

// shopper opens connections of one shopper.
type shopper struct {
	*wspush.Store
	t     *testing.T
	clock *memory.Clock
	rows  *overtaken
}

// overtaken are rows on which something else happens before the next transaction.
type overtaken struct {
	ledger.Rows
	by func()
}

func (r *overtaken) Transact(ctx context.Context, writes []ledger.Write) error {
	if by := r.by; by != nil {
		r.by = nil
		by()
	}
	return r.Rows.Transact(ctx, writes)
}

func (s shopper) open(nonce, id string) (string, error) {
	now := s.clock.Now()
	return s.Open(s.t.Context(), seckill.Pass{User: "1001", Expires: now.Add(seckill.PassLife), Nonce: nonce},
		seckill.Connection{ID: id, User: "1001", Since: now})
}

// opens opens a connection and checks which one it replaces.
func (s shopper) opens(id, replaces string) {
	s.t.Helper()
	must.Equal(s.t, replaces, must.Get(s.open("pass of "+id, id)), "open", id, "replaced")
}

func (s shopper) has(want ...string) {
	s.t.Helper()
	got, err := s.Of(s.t.Context(), "1001")
	slices.Sort(got)
	if err != nil || !slices.Equal(got, want) {
		s.t.Errorf("connections %q, %v; want %q", got, err, want)
	}
}

func (s shopper) forget(id string) {
	s.t.Helper()
	if err := s.Forget(s.t.Context(), id); err != nil {
		s.t.Errorf("forget %s: %v", id, err)
	}
}

// conforms checks that a store on these rows does what seckill.Connections promises.
func conforms(t *testing.T, rows func(*testing.T) ledger.Rows) {
	for name, play := range map[string]func(shopper){
		"the third replaces the oldest":    third,
		"the end of a connection":          ends,
		"a replaced one ends":              replacedEnds,
		"another page opens meanwhile":     overtakenOpen,
		"replaced while it ends":           overtakenEnd,
		"expired ones are gone":            expired,
		"a pass is good once":              once,
		"a pass is good once in a crowd":   onceInACrowd,
		"several pages open together":      together,
		"what others have is not touched":  others,
		"a row that nobody can understand": unreadable,
	} {
		t.Run(name, func(t *testing.T) {
			r, clock := &overtaken{Rows: rows(t)}, memory.NewClock(start)
			play(shopper{wspush.NewConnections(r, clock), t, clock, r})
		})
	}
}

func third(s shopper) {
	s.has()
	for _, c := range []struct{ id, replaces string }{{"c1", ""}, {"c2", ""}, {"c3", "c1"}, {"c4", "c2"},
		{"c5", "c3"}} {
		s.opens(c.id, c.replaces)
		s.clock.Advance(time.Second)
	}
	s.has("c4", "c5")
}

func ends(s shopper) {
	s.opens("c1", "")
	s.opens("c2", "")
	s.forget("c1")
	s.has("c2")
	s.forget("c1") // told twice
	s.opens("c3", "")
	s.has("c2", "c3")
	s.forget("never opened")
	s.forget("c2")
	s.forget("c3")
	s.has()
}

func replacedEnds(s shopper) {
	for _, c := range []struct{ id, replaces string }{{"c1", ""}, {"c2", ""}, {"c3", "c1"}} {
		s.opens(c.id, c.replaces)
		s.clock.Advance(time.Second)
	}
	s.forget("c1")
	s.has("c2", "c3")
	// The end of a connection is told whose row is still there while its place is not its own any more.
	must.OK(s.t, s.rows.Transact(s.t.Context(), []ledger.Write{{Key: ledger.Key{Table: wspush.TableConnections,
		PK: "connection/c1", SK: "0"}, Op: ledger.OpPut, Row: ledger.Row{"user": "1001"}}}))
	s.forget("c1")
	s.has("c2", "c3")
}

func overtakenOpen(s shopper) {
	s.rows.by = func() { s.opens("c2", "") }
	s.opens("c1", "")
	s.has("c1", "c2")
}

func overtakenEnd(s shopper) {
	s.opens("c1", "")
	s.clock.Advance(time.Second)
	s.opens("c2", "")
	s.rows.by = func() { s.opens("c3", "c1") }
	s.forget("c1")
	s.has("c2", "c3")
}

func expired(s shopper) {
	s.opens("c1", "")
	s.clock.Advance(seckill.ConnectionLife)
	s.opens("c2", "")
	s.has("c1", "c2")
	s.clock.Advance(time.Hour)
	s.has("c2")
	s.opens("c3", "") // takes the place of c1, which nobody needs to be told
	s.opens("c4", "c2")
	s.has("c3", "c4")
}

func once(s shopper) {
	if _, err := s.open("n", "c1"); err != nil {
		s.t.Fatal(err)
	}
	s.clock.Advance(seckill.PassLife) // the pass has expired by this clock, but perhaps not by another clock
	must.Is(s.t, seckill.ErrPass, must.Err(s.open("n", "c2")), "used pass")
	s.has("c1")
}

// crowd opens connections at the same time and returns those that opened, and which others refused with another error
// than a used pass.
func crowd(s shopper, n int, nonce func(int) string) (opened []string, faults []error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			id := fmt.Sprintf("c%02d", i)
			_, err := s.open(nonce(i), id)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				opened = append(opened, id)
			case !errors.Is(err, seckill.ErrPass):
				faults = append(faults, err)
			}
		})
	}
	all.Wait()
	return opened, faults
}

// onceInACrowd allows that a call fails because others hold the rows; its page gets another pass.
func onceInACrowd(s shopper) {
	opened, faults := crowd(s, 20, func(int) string { return "n" })
	if len(opened) != 1 {
		s.t.Fatalf("%d connections opened with one pass, want 1; faults %v", len(opened), faults)
	}
	s.has(opened...)
}

func together(s shopper) {
	opened, _ := crowd(s, 20, func(i int) string { return fmt.Sprint("n", i) })
	got, err := s.Of(s.t.Context(), "1001")
	if err != nil || len(opened) < seckill.MaxConnections || len(got) != seckill.MaxConnections {
		s.t.Fatalf("%d opened, of which %q stay, %v; want %d", len(opened), got, err, seckill.MaxConnections)
	}
	for _, id := range opened {
		s.forget(id)
	}
	s.has()
}

func others(s shopper) {
	s.opens("c1", "")
	s.opens("c2", "")
	now := s.clock.Now()
	if replaced, err := s.Open(s.t.Context(), seckill.Pass{User: "1002", Expires: now.Add(time.Minute), Nonce: "m"},
		seckill.Connection{ID: "c3", User: "1002", Since: now}); err != nil || replaced != "" {
		s.t.Errorf("another shopper replaces %q, %v", replaced, err)
	}
	s.forget("c3")
	s.has("c1", "c2")
}

func unreadable(s shopper) {
	must.OK(s.t, s.rows.Transact(s.t.Context(), []ledger.Write{{Key: ledger.Key{Table: wspush.TableConnections,
		PK: "user/1001", SK: "1"}, Op: ledger.OpPut, Row: ledger.Row{"connection": int64(1)}}}))
	if ids, err := s.Of(s.t.Context(), "1001"); err == nil {
		s.t.Errorf("connections %q, want an error", ids)
	}
	if _, err := s.open("n", "c1"); err == nil || errors.Is(err, seckill.ErrPass) {
		s.t.Errorf("open: %v, want an error", err)
	}
}
