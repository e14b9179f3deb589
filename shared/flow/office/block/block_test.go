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
	stock  *copies
}

// copies is a stock that keeps blocks beside items.
type copies struct {
	seckill.Stock
	of  map[string]map[string]time.Time // by item, by subject and item of the block
	err error
}

func (c *copies) CopyBlocks(_ context.Context, item string, _, read time.Time, put, drop []seckill.Block) error {
	if c.err != nil || !read.IsZero() {
		return c.err
	}
	if c.of[item] == nil {
		return seckill.ErrNotInstalled
	}
	for _, b := range put {
		c.of[item][string(b.Subject)+"/"+b.Item] = b.Until
	}
	for _, b := range drop {
		delete(c.of[item], string(b.Subject)+"/"+b.Item)
	}
	return nil
}

// unscanned are items of which nobody may read the whole table.
type unscanned struct {
	*memory.Items
	t *testing.T
}

func (u unscanned) List(context.Context, time.Time) ([]seckill.Item, error) {
	u.t.Error("a command about blocks reads the whole table of items")
	return nil, nil
}

// list puts an item into the table and the published list.
func (e *env) list(t *testing.T, it seckill.Item) {
	t.Helper()
	must.OK(t, e.Items.Put(t.Context(), it, &seckill.Description{}))
	l := must.Get(e.Items.Published(t.Context()))
	must.OK(t, e.Items.Publish(t.Context(), seckill.List{Version: l.Version + 1, Items: append(l.Items, it)}))
}

func newEnv(t *testing.T) *env {
	t.Helper()
	clock := memory.NewClock(now)
	items := unscanned{memory.NewItems(), t}
	r := &rows{Rows: memory.NewRows(memory.RowsOptions{Clock: clock})}
	l := ledger.New(r)
	stock := &copies{of: map[string]map[string]time.Time{"7": {}}}
	e := &env{block.New(block.Deps{Ledger: l, Stock: stock, Items: items, Clock: clock}), r, l, clock, stock}
	e.list(t, drivertest.Item("7", now))
	return e
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

// TestStockHearsOfBlocks: an acknowledged block of a user is beside every item of the stock for which it holds, and an
// acknowledged removal is, too. Without an answer of the stock nothing is acknowledged, and a repetition goes on.
func TestStockHearsOfBlocks(t *testing.T) {
	e := newEnv(t)
	// 9 is not loaded yet, the sale of 6 is over, and 8 is loaded, and the stock has lost it
	for id, from := range map[string]time.Duration{"6": -3 * time.Hour, "8": 0, "9": time.Hour} {
		it := drivertest.Item(id, now.Add(from))
		it.End = it.Start.Add(2 * time.Hour)
		e.list(t, it)
	}
	end := now.Add(time.Hour)
	e.stock.of["6"], e.stock.of["9"] = map[string]time.Time{}, map[string]time.Time{}
	here := seckill.Block{Subject: "user:1", Item: "7", Reason: "r", Until: end}
	everywhere := seckill.Block{Subject: "user:2", Item: seckill.Everywhere, Reason: "r"}
	others := []seckill.Block{{Subject: "user:1", Item: "8", Reason: "r"}, {Subject: "user:1", Item: "9", Reason: "r"},
		{Subject: "user:1", Item: "6", Reason: "r"},
		{Subject: "net:192.0.2.0/24", Item: "7", Reason: "r"}}
	all := append([]seckill.Block{here, everywhere}, others...)
	has := func(when string, want map[string]time.Time) {
		t.Helper()
		if diff := cmp.Diff(map[string]map[string]time.Time{"6": {}, "7": want, "9": {}}, e.stock.of); diff != "" {
			t.Errorf("%s: want (-), got (+):\n%s", when, diff)
		}
	}
	e.stock.err = errors.New("no answer")
	if _, err := e.Put(t.Context(), all, "ada", false); seckill.CodeOf(err) != seckill.CodeUnavailable {
		t.Errorf("without the stock: %v", err)
	}
	e.stock.err = nil
	must.Equal(t, block.Done{Same: 6}, must.Get(e.Put(t.Context(), all, "ada", false)), "again")
	has("blocked", map[string]time.Time{"user:1/7": end, "user:2/*": {}})
	e.stock.err = errors.New("no answer")
	if _, err := e.Drop(t.Context(), "user:2", seckill.Everywhere); seckill.CodeOf(err) != seckill.CodeUnavailable {
		t.Errorf("unblocked without the stock: %v", err)
	}
	e.stock.err = nil
	must.Equal(t, false, must.Get(e.Drop(t.Context(), "user:2", seckill.Everywhere)), "again")
	has("unblocked", map[string]time.Time{"user:1/7": end})
}
