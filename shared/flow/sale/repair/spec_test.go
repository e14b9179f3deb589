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
	faults   map[string][]error // by call, one after another; then nil
	due      []seckill.Reservation
	seen     []seckill.Seen
	copied   []seckill.Block
	calls    []string
	back     seckill.HeldBack
	awaiting int
	depth    seckill.Depth
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

func (s *stock) Install(_ context.Context, _ seckill.Item, _ string, units, users, highWater, back int) error {
	return s.call("install %d %d %d %d", units, users, highWater, back)
}

func (s *stock) Level(context.Context, string) (seckill.Level, error) {
	return seckill.Level{Awaiting: s.awaiting, Back: s.back}, s.call("level")
}

func (s *stock) HoldBack(_ context.Context, _ string, h seckill.HeldBack) (int, error) {
	s.back.Units = min(s.back.Units, h.Units)
	return s.back.Units, s.call("look %d of %s: %d", h.Looks, h.Build, h.Units)
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

func (q queue) Send(_ context.Context, m seckill.Message, wait time.Duration) error {
	if m.Kind == seckill.MessageWake {
		return q.call("send wake %d in %s", m.Look, wait)
	}
	return q.call("send %s", m.Kind)
}

func (q queue) Depth(context.Context) (seckill.Depth, error) { return q.depth, q.call("count") }

// run runs the step once, two minutes after the opening of an item with one bucket, and compares its calls.
func run(t *testing.T, s *stock, l *ledger, calls string, fails bool) {
	t.Helper()
	f := flow(t, s, l)
	if err := f.Run(t.Context()); (err != nil) != fails {
		t.Errorf("run: %v, want an error: %t", err, fails)
	}
	s.made(t, calls)
}

// made compares the calls so far.
func (s *stock) made(t *testing.T, calls string) {
	t.Helper()
	if want := strings.Split(calls, "; "); !slices.Equal(s.calls, want) {
		t.Errorf("calls\n%q, want\n%q", s.calls, want)
	}
}

// flow is the step two minutes after the opening of an item of five units with one bucket, at most two an order.
func flow(t *testing.T, s *stock, l *ledger) *repair.Flow {
	t.Helper()
	items := memory.NewItems()
	it := drivertest.Item("1", opening)
	it.Buckets = 1
	must.OK(t, items.Put(t.Context(), it, nil))
	l.stock = s
	return repair.New(repair.Deps{Stock: s, Ledger: l, Items: items, Orders: queue{stock: s},
		Clock: memory.NewClock(opening.Add(2 * time.Minute)), IDs: system.NewIDs(nil), Meter: memory.Meter(nil)})
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
		{"nothing to do", nil, 0, false, "due; level; compare; assert; compared", false},
		{"messages are due", nil, 2, false, "due; send order; send order; level; compare; assert; compared", false},
		{"the queue does not answer", map[string][]error{"send": {errNone}}, 1, false,
			"due; send order; level; compare; assert; compared", true},
		{"a return", nil, 0, true, "return; delete; due; level; compare; assert; compared", false},
		{"a return that fails", map[string][]error{"return": {errNone}}, 0, true,
			"return; due; level; compare; assert; compared", true},
		{"the stock was lost", map[string][]error{"due": lost}, 0, false,
			"due; build; units 2; gaps 1-4; install 2 2 4 5; send wake 1 in 0s", false},
		{"the stock was lost, another builder is at work",
			map[string][]error{"due": lost, "build": {seckill.ErrBuildBusy}}, 0, false, "due; build", false},
		{"the stock was lost, another builder takes over",
			map[string][]error{"due": lost, "install": {seckill.ErrBuildLost}}, 0, false,
			"due; build; units 2; gaps 1-4; install 2 2 4 5", false},
		{"the stock was lost, and a return waits", map[string][]error{"due": lost, "return": lost}, 0, true,
			"return; due; build; units 2; gaps 1-4; install 2 2 4 5; send wake 1 in 0s; return; delete", false},
		{"the stock does not answer", map[string][]error{"due": {errNone}, "compare": {errNone}}, 0, false,
			"due; level; compare", true},
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

// TestHeldBack is the specification of a look at the queue for an item that was rebuilt.
func TestHeldBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		depth seckill.Depth
		look  int // number of the look that the message asks for
		back  int // units that are held back
		fault string
		calls string

		awaiting int // orders that wait in the stock
	}{
		{"a message that asks for no look", seckill.Depth{}, 0, 5, "", "level", 0},
		{"fewer are queued than orders wait in the stock", seckill.Depth{InFlight: 1, Delayed: 1}, 9, 5, "",
			"level; send wake 0 in 1s; count; look 9 of b: 2; send wake 10 in 2s", 1},
		{"nothing is queued but the message itself", seckill.Depth{InFlight: 1, Delayed: 1}, 1, 0, "",
			"level; send wake 0 in 1s; count; look 1 of b: 0", 0},
		{"two others are queued", seckill.Depth{Visible: 1, InFlight: 2, Delayed: 1}, 1, 5, "",
			"level; send wake 0 in 1s; count; look 1 of b: 4; send wake 2 in 2s", 0},
		{"more are queued than there are units", seckill.Depth{Visible: 900, InFlight: 1, Delayed: 1}, 1, 5, "",
			"level; send wake 0 in 1s; count; look 1 of b: 10; send wake 2 in 2s", 0},
		{"the count is older than the message that was hidden just now", seckill.Depth{InFlight: 1}, 1, 5, "",
			"level; send wake 0 in 1s; count; look 1 of b: 10; send wake 2 in 2s", 0},
		{"the count is older than the message itself", seckill.Depth{Delayed: 1}, 1, 5, "",
			"level; send wake 0 in 1s; count; look 1 of b: 10; send wake 2 in 2s", 0},
		{"a later look waits longer", seckill.Depth{Visible: 9, InFlight: 1, Delayed: 1}, 18, 5, "",
			"level; send wake 0 in 1s; count; look 18 of b: 10; send wake 19 in 16s", 0},
		{"the mark cannot be sent", seckill.Depth{}, 1, 5, "send", "level; send wake 0 in 1s", 0},
		{"the queue does not answer", seckill.Depth{}, 1, 5, "count", "level; send wake 0 in 1s; count", 0},
		{"the stock does not answer", seckill.Depth{InFlight: 1, Delayed: 1}, 1, 5, "look",
			"level; send wake 0 in 1s; count; look 1 of b: 0", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			back := seckill.HeldBack{Units: c.back, Build: "b", Looks: c.look - 1}
			s := &stock{depth: c.depth, awaiting: c.awaiting, back: back}
			if c.fault != "" {
				s.faults = map[string][]error{c.fault: {errNone}}
			}
			err := flow(t, s, &ledger{}).Wake(t.Context(), seckill.Message{Item: "1", Build: "b", Look: c.look})
			if (err != nil) != (c.fault != "") {
				t.Error(err)
			}
			s.made(t, c.calls)
		})
	}
	for _, m := range []seckill.Message{{Item: "1", Build: "b", Look: 3}, {Item: "1", Build: "a", Look: 4}} {
		s := &stock{back: seckill.HeldBack{Units: 5, Build: "b", Looks: 3}}
		if err := flow(t, s, &ledger{}).Wake(t.Context(), m); err != nil {
			t.Error(err)
		}
		s.made(t, "level")
	}
}

// TestLooksAgain: a run asks for the next look.
func TestLooksAgain(t *testing.T) {
	t.Parallel()
	held := seckill.HeldBack{Units: 3, Build: "b", Looks: 7}
	run(t, &stock{back: held}, &ledger{}, "due; level; send wake 8 in 2s; compare; assert; compared", false)
	run(t, &stock{faults: map[string][]error{"level": {errNone}}}, &ledger{},
		"due; level; compare; assert; compared", true)
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
			calls := "due; level; compare; assert; compared"
			if c.correction != "" {
				calls = "due; level; compare; assert; " + c.correction + "; compared"
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
			calls := "due; level; compare; assert; compared"
			if c.calls != "" {
				calls += "; " + c.calls
			}
			run(t, &stock{copied: c.copied}, &ledger{blocks: c.ledger}, calls, false)
		})
	}
}
