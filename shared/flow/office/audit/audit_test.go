package audit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/office/audit"
	"github.com/your-org/seckill/shared/seckill"
)

var (
	ctx     = context.Background()
	start   = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC) // 10:00 in UTC+8
	errDown = errors.New("down")
)

// faulty is a log whose next appends meet faults.
type faulty struct {
	seckill.AuditLog
	before []error // of the next appends: not written
	after  []error // written, but the answer is lost
	first  func()  // called once before an append
}

func (l *faulty) AppendAudit(ctx context.Context, e seckill.AuditEntry) error {
	if do := l.first; do != nil {
		l.first = nil
		do()
	}
	if len(l.before) > 0 {
		err := l.before[0]
		if l.before = l.before[1:]; err != nil {
			return err
		}
	}
	err := l.AuditLog.AppendAudit(ctx, e)
	if err == nil && len(l.after) > 0 {
		err, l.after = l.after[0], l.after[1:]
	}
	return err
}

type counter map[seckill.Event]int

func (c counter) Count(e seckill.Event, n int) { c[e] += n }

type ids struct{ n int }

func (i *ids) Token() string { i.n++; return fmt.Sprint("act", i.n) }

// office is a flow over an embedded ledger.
type office struct {
	*testing.T
	*audit.Flow
	clock *memory.Clock
	rows  *memory.Rows
	log   *faulty
	meter counter
	kept  []seckill.AuditHead
}

func newOffice(t *testing.T) *office {
	t.Parallel()
	o := &office{T: t, clock: memory.NewClock(start), meter: counter{}}
	o.rows = memory.NewRows(memory.RowsOptions{Clock: o.clock})
	o.log = &faulty{AuditLog: ledger.New(o.rows)}
	o.Flow = audit.New(audit.Deps{Log: o.log, Clock: o.clock, IDs: &ids{}, Meter: o.meter,
		Keep: func(_ context.Context, h seckill.AuditHead) { o.kept = append(o.kept, h) }})
	return o
}

func (o *office) ok(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

func stop(item string) seckill.AuditEntry {
	return seckill.AuditEntry{Who: "ada", Act: "stop", Subject: "item=" + item, Why: "why", Result: "changed"}
}

// act records an act with both entries.
func (o *office) act(item string) {
	o.Helper()
	id, err := o.Begin(ctx, stop(item))
	o.ok(err)
	o.ok(o.End(ctx, id, stop(item)))
}

// check reads two days and checks them.
func (o *office) check(heads ...seckill.AuditHead) audit.Report {
	o.Helper()
	c := audit.NewCheck(heads)
	for _, day := range []string{"2026-11-11", "2026-11-12"} {
		for after := 0; ; {
			list, next, err := o.List(ctx, day, after, 2)
			o.ok(err)
			for _, e := range list {
				c.Add(e)
			}
			if after = next; next == 0 {
				break
			}
		}
	}
	head, err := o.Head(ctx)
	o.ok(err)
	return c.End(head)
}

func TestAnActHasTwoEntries(t *testing.T) {
	o := newOffice(t)
	o.act("1")
	o.ok(o.Write(ctx, seckill.AuditEntry{Who: "bob", Act: "open", Result: "read"}))
	o.clock.Advance(24 * time.Hour)
	o.act("2")
	list, _, err := o.List(ctx, "", 0, 9)
	o.ok(err)
	if len(list) != 2 || list[0].Kind != seckill.AuditBegun || list[0].Result != "" || list[1].Result != "changed" ||
		list[0].ID != list[1].ID || list[1].Day != "2026-11-12" {
		t.Errorf("got %+v", list)
	}
	r := o.check(o.kept...)
	if len(r.Findings) > 0 || len(r.Open) > 0 || r.Entries != 5 || r.Heads != 5 || r.Since != "" {
		t.Errorf("got %+v", r)
	}
	for _, bad := range []struct {
		day   string
		limit int
	}{{"x", 1}, {"", 0}, {"", seckill.MaxAuditPage + 1}} {
		if _, _, err := o.List(ctx, bad.day, 0, bad.limit); seckill.CodeOf(err) != seckill.CodeInvalid {
			t.Errorf("%+v: got %v", bad, err)
		}
	}
}

// TestKilledBetween: whoever dies after an act, or cannot record its end, leaves an act that is open.
func TestKilledBetween(t *testing.T) {
	o := newOffice(t)
	o.act("1")
	killed, err := o.Begin(ctx, stop("2"))
	o.ok(err)
	id, err := o.Begin(ctx, stop("3"))
	o.ok(err)
	o.log.before = []error{errDown, errDown}
	if err := o.End(ctx, id, stop("3")); seckill.CodeOf(err) != seckill.CodeUnavailable ||
		o.meter[seckill.EventUnrecorded] != 1 {
		t.Errorf("got %v, %v", err, o.meter)
	}
	r := o.check(o.kept...)
	if len(r.Findings) > 0 || len(r.Open) != 2 || r.Open[0].ID != killed || r.Open[1].Subject != "item=3" {
		t.Errorf("got %+v", r)
	}
}

func TestNoActBeginsUnrecorded(t *testing.T) {
	o := newOffice(t)
	o.log.before = []error{errDown, errDown}
	if _, err := o.Begin(ctx, stop("1")); seckill.CodeOf(err) != seckill.CodeUnavailable {
		t.Errorf("got %v", err)
	}
	o.log.before = slices.Repeat([]error{seckill.ErrAuditMoved}, 100)
	if err := o.Write(ctx, stop("1")); seckill.CodeOf(err) != seckill.CodeUnavailable {
		t.Errorf("got %v", err)
	}
	o.log.before = nil
	if r := o.check(); r.Entries != 0 || len(o.kept) != 0 {
		t.Errorf("got %+v, kept %v", r, o.kept)
	}
}

// TestAppendedOnce: a lost answer and somebody who was faster leave one entry each, in one chain.
func TestAppendedOnce(t *testing.T) {
	o := newOffice(t)
	o.log.after = []error{errDown}
	o.act("1")
	o.log.first = func() { o.act("2") }
	o.act("3")
	if r := o.check(o.kept...); len(r.Findings) > 0 || r.Entries != 6 || r.Heads != 6 {
		t.Errorf("got %+v", r)
	}
}

func rowKey(day string, seq int) ledger.Key {
	return ledger.Key{Table: ledger.TableAudit, PK: day, SK: fmt.Sprintf("%07d", seq)}
}

// TestTampered: who changes, drops, inserts or reorders rows behind the ledger's back is found, and the row is named.
func TestTampered(t *testing.T) {
	const day = "2026-11-11"
	set := func(o *office, seq int, attrs ledger.Row) {
		o.ok(o.rows.Transact(ctx, []ledger.Write{{Key: rowKey(day, seq), Op: ledger.OpUpdate, Set: attrs}}))
	}
	drop := func(o *office, seq int) {
		o.ok(o.rows.Transact(ctx, []ledger.Write{{Key: rowKey(day, seq), Op: ledger.OpDelete}}))
	}
	entry := func(o *office, seq int) seckill.AuditEntry {
		list, err := o.log.AuditOn(ctx, day, seq-1, 1)
		o.ok(err)
		return list[0]
	}
	head := func(o *office, seq int) seckill.AuditHead {
		e := entry(o, seq)
		return e.Head()
	}
	put := func(o *office, at int, e seckill.AuditEntry) {
		o.ok(o.rows.Transact(ctx, []ledger.Write{{Key: rowKey(day, at), Op: ledger.OpPut, Row: ledger.Row{
			"v": ledger.Version, "at": e.At.UnixMilli(), "kind": string(e.Kind), "id": e.ID, "who": e.Who,
			"roles": e.Roles, "act": e.Act, "subject": e.Subject, "before": e.Before, "after": e.After, "why": e.Why,
			"result": e.Result, "prev": e.Prev, "hash": e.Hash}}}))
	}
	// forge puts another entry in a row's place, with the right link to the row before and its own right hash.
	forge := func(o *office, seq int) {
		e := entry(o, seq)
		e.Who = "mallory"
		e.Hash = e.Sum()
		put(o, seq, e)
	}
	for _, tt := range []struct {
		name string
		do   func(o *office)
		want []string // findings
	}{
		{"nothing", func(*office) {}, nil},
		{"who", func(o *office) { set(o, 3, ledger.Row{"who": "bob"}) }, []string{"3 changed"}},
		{"result", func(o *office) { set(o, 4, ledger.Row{"result": "unchanged"}) }, []string{"4 changed"}},
		{"time", func(o *office) { set(o, 1, ledger.Row{"at": int64(1)}) }, []string{"1 changed"}},
		{"hash", func(o *office) { set(o, 2, ledger.Row{"hash": "00"}) }, []string{"2 changed", "2 replaced"}},
		{"replaced with its hash", func(o *office) { forge(o, 3) }, []string{"3 replaced", "3 not the"}},
		{"the last one replaced", func(o *office) { forge(o, 6) }, []string{"6 replaced", "6 not the"}},
		{"dropped", func(o *office) { drop(o, 2) }, []string{"2 missing: the", "2 missing: a head"}},
		{"the first dropped", func(o *office) { drop(o, 1) }, []string{"1 missing: the", "1 missing: a head"}},
		{"the day's last dropped", func(o *office) { drop(o, 6) }, []string{"5 not the", "6 missing: a head"}},
		{"reordered", func(o *office) {
			a, b := entry(o, 3), entry(o, 4)
			put(o, 3, b)
			put(o, 4, a)
		}, []string{"3 changed", "3 replaced", "4 changed", "4 replaced"}},
		{"inserted in place of another", func(o *office) {
			e := seckill.AuditEntry{At: start, Kind: seckill.AuditWhole, Who: "mallory"}
			e.Follow(head(o, 1))
			put(o, 2, e)
		}, []string{"2 replaced", "2 not the"}},
		{"appended behind the head", func(o *office) {
			e := seckill.AuditEntry{At: start, Kind: seckill.AuditWhole, Who: "mallory"}
			e.Follow(head(o, 6))
			put(o, 7, e)
		}, []string{"7 not the"}},
		{"the end cut off with the head", func(o *office) {
			h := head(o, 5)
			drop(o, 6)
			o.ok(o.rows.Transact(ctx, []ledger.Write{
				{Key: ledger.Key{Table: ledger.TableAudit, PK: "2026-11-12", SK: "0000001"}, Op: ledger.OpDelete},
				{Key: ledger.Key{Table: ledger.TableAudit, PK: "head", SK: "0000000"}, Op: ledger.OpUpdate,
					Set: ledger.Row{"last_day": h.Day, "last_seq": int64(h.Seq), "hash": h.Hash}}}))
		}, []string{"6 missing: a head", "1 missing: a head"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := newOffice(t)
			for range 3 {
				o.act("1")
			}
			o.clock.Advance(24 * time.Hour)
			o.ok(o.Write(ctx, stop("2")))
			tt.do(o)
			r := o.check(o.kept...)
			ok := len(r.Findings) == len(tt.want)
			for i, f := range r.Findings {
				ok = ok && strings.HasPrefix(fmt.Sprint(f.Seq, " ", f.What), tt.want[i])
			}
			if !ok {
				t.Errorf("got %+v, want %q", r.Findings, tt.want)
			}
		})
	}
}

// TestInsertedAtTheEnd: a row that the head does not know is found without a head that was kept.
func TestInsertedAtTheEnd(t *testing.T) {
	c := audit.NewCheck(nil)
	var head seckill.AuditHead
	for range 3 {
		e := seckill.AuditEntry{At: start}
		e.Follow(head)
		c.Add(e)
		if e.Seq < 3 {
			head = e.Head()
		}
	}
	if r := c.End(head); len(r.Findings) != 1 || r.Findings[0].Seq != 3 {
		t.Errorf("got %+v", r)
	}
}
