package block_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/office/block"
	"github.com/your-org/seckill/shared/seckill"
)

var now = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

// rows fails the transaction with this number, counted from 1.
type rows struct {
	*memory.Rows
	fail, n int
}

func (r *rows) Transact(ctx context.Context, w []ledger.Write) error {
	if r.n++; r.n == r.fail {
		return errors.New("throttled")
	}
	return r.Rows.Transact(ctx, w)
}

type env struct {
	*block.Flow
	rows   *rows
	ledger *ledger.Ledger
	clock  *memory.Clock
}

func newEnv(t *testing.T) *env {
	t.Helper()
	clock := memory.NewClock(now)
	items := memory.NewItems()
	must.OK(t, items.Put(t.Context(), drivertest.Item("7", now), &seckill.Description{}))
	r := &rows{Rows: memory.NewRows(memory.RowsOptions{Clock: clock})}
	l := ledger.New(r)
	return &env{block.New(block.Deps{Ledger: l, Items: items, Clock: clock}), r, l, clock}
}

func users(n int) []seckill.Block {
	out := make([]seckill.Block, n)
	for i := range out {
		out[i] = seckill.Block{Subject: seckill.UserSubject(fmt.Sprint(1000 + i)), Item: "7", Reason: "a script"}
	}
	return out
}

// TestPut checks what is made, changed and left alone, that what is left alone keeps who made it and when, and that a
// repetition after a fault goes on.
func TestPut(t *testing.T) {
	e := newEnv(t)
	many := users(250)
	e.rows.fail = 2
	done, err := e.Put(t.Context(), many, "ada", false)
	if seckill.CodeOf(err) != seckill.CodeUnavailable || done.Made != 100 {
		t.Fatalf("a fault in the second batch: %+v, %v", done, err)
	}
	e.clock.Advance(time.Minute)
	many[0].Reason = "two scripts"
	many[1].Until = now.Add(time.Hour)
	for _, want := range []block.Done{{Made: 150, Changed: 2, Same: 98}, {Same: 250}} {
		n := e.rows.n
		must.Equal(t, want, must.Get(e.Put(t.Context(), many, "bob", false)))
		if want.Made == 0 && e.rows.n != n {
			t.Errorf("a repetition wrote %d times", e.rows.n-n)
		}
	}
	for user, want := range map[string]seckill.Block{
		"1002": {Subject: "user:1002", Item: "7", Reason: "a script", By: "ada", Made: now},
		"1001": {Subject: "user:1001", Item: "7", Reason: "a script", By: "bob", Made: now.Add(time.Minute),
			Until: now.Add(time.Hour)},
	} {
		p, err := e.List(t.Context(), seckill.UserSubject(user), "", 9)
		if diff := cmp.Diff([]seckill.Block{want}, p.Rows); err != nil || diff != "" || p.Next != "" {
			t.Errorf("%s: %v, next %q, want (-), got (+):\n%s", user, err, p.Next, diff)
		}
	}
}

// TestPutRefuses checks that a call with one bad block, or a dry one, writes nothing.
func TestPutRefuses(t *testing.T) {
	e := newEnv(t)
	for name, tt := range map[string]struct {
		change func([]seckill.Block) []seckill.Block
		field  string
	}{
		"none":         {func([]seckill.Block) []seckill.Block { return nil }, "blocks"},
		"too many":     {func([]seckill.Block) []seckill.Block { return users(block.MaxPut + 1) }, "blocks"},
		"twice":        {func(b []seckill.Block) []seckill.Block { return append(b, b[0]) }, "subject"},
		"no reason":    {func(b []seckill.Block) []seckill.Block { b[1].Reason = ""; return b }, "reason"},
		"over already": {func(b []seckill.Block) []seckill.Block { b[1].Until = now; return b }, "until"},
		"nobody":       {func(b []seckill.Block) []seckill.Block { b[1].Subject = "user:x"; return b }, "subject"},
	} {
		_, err := e.Put(t.Context(), tt.change(users(2)), "ada", false)
		var refused *seckill.Error
		if !errors.As(err, &refused) || refused.Code != seckill.CodeInvalid || refused.Field != tt.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	unknown := users(3)
	unknown[1].Item, unknown[2].Item = "8", seckill.Everywhere
	done, err := e.Put(t.Context(), unknown, "ada", false)
	if err != nil || !slices.Equal(done.Unknown, []string{"8"}) {
		t.Errorf("an unknown item: %+v, %v", done, err)
	}
	must.Equal(t, block.Done{}, must.Get(e.Put(t.Context(), users(3), "ada", true)), "dry")
	if e.rows.n != 0 {
		t.Errorf("%d transactions", e.rows.n)
	}
}

// TestListAndDrop checks that pages of any size list every block once, and that a dropped one is gone.
func TestListAndDrop(t *testing.T) {
	e := newEnv(t)
	must.Get(e.Put(t.Context(), users(57), "ada", false))
	for _, want := range []bool{true, false} {
		must.Equal(t, want, must.Get(e.Drop(t.Context(), "user:1005", "7")), "drop")
	}
	for _, limit := range []int{1, 7, 56, 1000} {
		seen, pages := map[seckill.Subject]int{}, 0
		for after := ""; ; pages++ {
			p, err := e.List(t.Context(), "", after, limit)
			if err != nil || len(p.Rows) > limit || pages > 100 {
				t.Fatalf("limit %d, after %q: %d rows, %v", limit, after, len(p.Rows), err)
			}
			for _, b := range p.Rows {
				seen[b.Subject]++
			}
			if after = p.Next; after == "" {
				break
			}
		}
		for u := range 57 {
			s := seckill.UserSubject(fmt.Sprint(1000 + u))
			if want := map[bool]int{true: 0, false: 1}[s == "user:1005"]; seen[s] != want {
				t.Errorf("limit %d: %s is listed %d times, want %d", limit, s, seen[s], want)
			}
		}
	}
	for _, after := range []string{"x", "-1:", "10:"} {
		if _, err := e.List(t.Context(), "", after, 9); seckill.CodeOf(err) != seckill.CodeInvalid {
			t.Errorf("after %q: %v", after, err)
		}
	}
	if _, err := e.Put(t.Context(), []seckill.Block{{Subject: "user:1000", Item: seckill.Everywhere, Reason: "x"}},
		"ada", false); err != nil {
		t.Fatal(err)
	}
	first, err := e.List(t.Context(), "user:1000", "", 1)
	second, err2 := e.List(t.Context(), "user:1000", first.Next, 1)
	if err := errors.Join(err, err2); err != nil || len(first.Rows) != 1 || len(second.Rows) != 1 ||
		first.Rows[0].Item == second.Rows[0].Item {
		t.Errorf("of one: %+v, %+v, %v", first, second, err)
	}
}
