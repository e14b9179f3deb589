package repair_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/sale/repair"
	"github.com/your-org/seckill/shared/seckill"
)

var (
	opening = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	errNone = errors.New("no answer")
)

// stock is a stock whose calls fail as the table says; calls records what the step did.
type stock struct {
	seckill.Stock
	faults map[string][]error // by call, one after another; then nil
	due    []seckill.Reservation
	seen   []seckill.Seen
	copied []seckill.Block
	calls  []string
}

func (s *stock) call(format string, a ...any) error {
	name := fmt.Sprintf(format, a...)
	s.calls = append(s.calls, name)
	name, _, _ = strings.Cut(name, " ")
	if f := s.faults[name]; len(f) > 0 {
		s.faults[name] = f[1:]
		return f[0]
	}
	return nil
}

func (s *stock) Due(context.Context, time.Time, string, int, time.Duration) ([]seckill.Reservation, error) {
	return s.due, s.call("due")
}

func (s *stock) Return(context.Context, string, string, string, []int) error { return s.call("return") }

func (s *stock) Assert(context.Context, seckill.Item) error { return s.call("assert") }

func (s *stock) BuildStart(context.Context, time.Time, string, string) error { return s.call("build") }

func (s *stock) BuildUnits(_ context.Context, _ time.Time, _, _ string, rows []seckill.UnitRow) (int, error) {
	return len(rows), s.call("units %d", len(rows))
}

func (s *stock) BuildGaps(_ context.Context, _ time.Time, _, _ string, from, to int) error {
	return s.call("gaps %d-%d", from, to)
}

func (s *stock) Install(_ context.Context, _ seckill.Item, _ string, units, users, highWater int) error {
	return s.call("install %d %d %d", units, users, highWater)
}

func (s *stock) DriftBegin(context.Context, string, string) (int64, error) {
	return 1, s.call("compare")
}

func (s *stock) Scan(context.Context, string, int, int) ([]seckill.Seen, error) { return s.seen, nil }

func (s *stock) Users(context.Context, string, uint64) ([]seckill.UserEntries, uint64, error) {
	return nil, 0, nil
}

func (s *stock) DriftEnd(context.Context, string, string, int64) error { return s.call("compared") }

func (s *stock) CopiedBlocks(context.Context, string, uint64) ([]seckill.Block, uint64, error) {
	return s.copied, 0, nil
}

func (s *stock) CopyBlocks(_ context.Context, _ string, now, read time.Time, put, drop []seckill.Block) error {
	if !now.Equal(read) {
		return errors.New("the list's time is missing")
	}
	written := func(blocks []seckill.Block) (out []string) {
		for _, b := range blocks {
			out = append(out, string(b.Subject)+"/"+b.Item)
		}
		return out
	}
	return s.call("copy %s, drop %s", written(put), written(drop))
}

func (s *stock) Correct(_ context.Context, _ string, c seckill.Correction) (bool, error) {
	return true, s.call("correct %d from %q to %q", c.Unit, c.Holder, c.Owner)
}

// ledger has unit rows in one bucket, and perhaps a return row.
type ledger struct {
	seckill.Ledger
	*stock
	rows    []seckill.UnitRow
	returns bool
	blocks  []seckill.Block
}

func (l *ledger) ListBlocks(_ context.Context, shard int, after string, _ int) (p seckill.Page[seckill.Block],
	_ error) {
	if n := len(l.blocks); shard == 3 && n > 0 { // in two pages
		if after == "" {
			return seckill.Page[seckill.Block]{Rows: l.blocks[:n/2], Next: "half"}, nil
		}
		p.Rows = l.blocks[n/2:]
	}
	return p, nil
}

func (l *ledger) Units(context.Context, string, int) ([]seckill.UnitRow, error) { return l.rows, nil }

func (l *ledger) Return(context.Context, string) (seckill.ReturnRow, error) {
	return seckill.ReturnRow{}, seckill.ErrNoReturn
}

func (l *ledger) Returns(_ context.Context, shard int, _ string, _ int) (p seckill.Page[seckill.ReturnRow], _ error) {
	if shard == 0 && l.returns {
		p.Rows = []seckill.ReturnRow{{Order: "o9", Item: "1", User: "9", Units: []int{1}}}
	}
	return p, nil
}

func (l *ledger) DeleteReturn(context.Context, seckill.ReturnRow) error {
	l.returns = false
	return l.call("delete")
}

type queue struct {
	seckill.Queue
	*stock
}

func (q queue) Send(_ context.Context, m seckill.Message, _ time.Duration) error {
	return q.call("send %s", m.Kind)
}

// run runs the step once, two minutes after the opening of an item with one bucket, and compares its calls.
func run(t *testing.T, s *stock, l *ledger, calls string, fails bool) {
	t.Helper()
	items := memory.NewItems()
	it := drivertest.Item("1", opening)
	it.Buckets = 1
	must.OK(t, items.Put(t.Context(), it, nil))
	l.stock = s
	f := repair.New(repair.Deps{Stock: s, Ledger: l, Items: items, Orders: queue{stock: s},
		Clock: memory.NewClock(opening.Add(2 * time.Minute)), IDs: system.NewIDs(nil), Meter: memory.Meter(nil)})
	if err := f.Run(t.Context()); (err != nil) != fails {
		t.Errorf("run: %v, want an error: %t", err, fails)
	}
	if want := strings.Split(calls, "; "); !slices.Equal(s.calls, want) {
		t.Errorf("calls\n%q, want\n%q", s.calls, want)
	}
}

// TestRepair is the specification of a run: what it does about an item on sale, in this order.
func TestRepair(t *testing.T) {
	t.Parallel()
	lost := []error{seckill.ErrNotInstalled}
	for _, c := range []struct {
		name    string
		faults  map[string][]error
		due     int // reservations whose message should be sent again
		returns bool
		calls   string // joined with "; "
		fails   bool
	}{
		{"nothing to do", nil, 0, false, "due; compare; assert; compared", false},
		{"messages are due", nil, 2, false, "due; send order; send order; compare; assert; compared", false},
		{"the queue does not answer", map[string][]error{"send": {errNone}}, 1, false,
			"due; send order; compare; assert; compared", true},
		{"a return", nil, 0, true, "return; delete; due; compare; assert; compared", false},
		{"a return that fails", map[string][]error{"return": {errNone}}, 0, true,
			"return; due; compare; assert; compared", true},
		{"the stock was lost", map[string][]error{"due": lost}, 0, false,
			"due; build; units 2; gaps 1-4; install 2 2 4", false},
		{"the stock was lost, another builder is at work",
			map[string][]error{"due": lost, "build": {seckill.ErrBuildBusy}}, 0, false, "due; build", false},
		{"the stock was lost, another builder takes over",
			map[string][]error{"due": lost, "install": {seckill.ErrBuildLost}}, 0, false,
			"due; build; units 2; gaps 1-4; install 2 2 4", false},
		{"the stock was lost, and a return waits", map[string][]error{"due": lost, "return": lost}, 0, true,
			"return; due; build; units 2; gaps 1-4; install 2 2 4; return; delete", false},
		{"the stock does not answer", map[string][]error{"due": {errNone}, "compare": {errNone}}, 0, false,
			"due; compare", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rows := []seckill.UnitRow{{Unit: 2, Order: "o2"}, {Unit: 4, Order: "o4"}}
			s := &stock{faults: c.faults, due: make([]seckill.Reservation, c.due),
				seen: []seckill.Seen{{Unit: 2, Holder: "o2"}, {Unit: 4, Holder: "o4"}}}
			run(t, s, &ledger{rows: rows, returns: c.returns}, c.calls, c.fails)
		})
	}
}

// TestDrift is the specification of a comparison of stock and ledger: which correction follows from a unit in the
// stock and its row.
func TestDrift(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		seen       []seckill.Seen // unit 1 in the stock; without any, the unit is above high-water
		row        string         // the order in the unit's row; "" if there is none
		correction string
	}{
		{"held by the owner", []seckill.Seen{{Unit: 1, Holder: "a"}}, "a", ""},
		{"held by another order", []seckill.Seen{{Unit: 1, Holder: "b"}}, "a", `correct 1 from "b" to "a"`},
		{"held by another order that waits", []seckill.Seen{{Unit: 1, Holder: "b", Awaiting: true}}, "a", ""},
		{"held without a row", []seckill.Seen{{Unit: 1, Holder: "b"}}, "", `correct 1 from "b" to ""`},
		{"held by an order that waits", []seckill.Seen{{Unit: 1, Holder: "b", Awaiting: true}}, "", ""},
		{"free", []seckill.Seen{{Unit: 1, Free: true}}, "", ""},
		{"free, and sold", []seckill.Seen{{Unit: 1, Free: true}}, "a", `correct 1 from "" to "a"`},
		{"in no list", []seckill.Seen{{Unit: 1}}, "", `correct 1 from "" to ""`},
		{"in no list, and sold", []seckill.Seen{{Unit: 1}}, "a", `correct 1 from "" to "a"`},
		{"unknown, and sold", nil, "a", `correct 1 from "" to "a"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := &ledger{}
			if c.row != "" {
				l.rows = []seckill.UnitRow{{Unit: 1, Order: c.row}}
			}
			calls := "due; compare; assert; compared"
			if c.correction != "" {
				calls = "due; compare; assert; " + c.correction + "; compared"
			}
			run(t, &stock{seen: c.seen}, l, calls, false)
		})
	}
}

// TestCopiesOfBlocks is the specification of the copy of users' blocks beside an item.
func TestCopiesOfBlocks(t *testing.T) {
	t.Parallel()
	now := opening.Add(2 * time.Minute)
	of := func(subject seckill.Subject, item string, until ...time.Time) seckill.Block {
		b := seckill.Block{Subject: subject, Item: item}
		if len(until) > 0 {
			b.Until = until[0]
		}
		return b
	}
	ledgers := []seckill.Block{of("user:1", "1"), of("user:1", seckill.Everywhere), of("user:2", "2"),
		of("user:3", "1", now.Add(time.Hour)), of("user:4", "1", now), of("net:192.0.2.0/24", "1")}
	all := "copy [user:1/1 user:1/* user:3/1], drop []"
	for _, c := range []struct {
		name   string
		copied []seckill.Block
		ledger []seckill.Block
		calls  string
	}{
		{"none", nil, nil, ""},
		{"after a rebuild", nil, ledgers, all},
		{"as it is", []seckill.Block{ledgers[3], ledgers[1], ledgers[0]}, ledgers, ""},
		{"one with another end", []seckill.Block{ledgers[0], ledgers[1], of("user:3", "1")}, ledgers,
			"copy [user:3/1], drop []"},
		{"some that are over or removed", append([]seckill.Block{of("user:5", "1"), ledgers[4]}, ledgers[:4]...),
			ledgers, "copy [], drop [user:5/1 user:4/1 user:2/2]"},
		{"all removed", ledgers[:1], nil, "copy [], drop [user:1/1]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			calls := "due; compare; assert; compared"
			if c.calls != "" {
				calls += "; " + c.calls
			}
			run(t, &stock{copied: c.copied}, &ledger{blocks: c.ledger}, calls, false)
		})
	}
}
