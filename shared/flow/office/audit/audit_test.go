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
	"github.com/your-org/seckill/shared/drivertest/must"
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
}

func (l *faulty) AppendAudit(ctx context.Context, e seckill.AuditEntry) error {
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

type ids struct{ n int }

func (i *ids) Token() string { i.n++; return fmt.Sprint("act", i.n) }

// office is a flow over an embedded ledger.
type office struct {
	*testing.T
	*audit.Flow
	clock *memory.Clock
	log   *faulty
	meter memory.Meter
}

func newOffice(t *testing.T) *office {
	t.Parallel()
	o := &office{T: t, clock: memory.NewClock(start), meter: memory.Meter{}}
	o.log = &faulty{AuditLog: ledger.New(memory.NewRows(memory.RowsOptions{Clock: o.clock}))}
	o.Flow = audit.New(audit.Deps{Log: o.log, Clock: o.clock, IDs: &ids{}, Meter: o.meter})
	return o
}

func stop(item string) seckill.AuditEntry {
	return seckill.AuditEntry{Who: "ada", Act: "stop", Subject: "item=" + item, Why: "why", Result: "changed"}
}

// act records an act with both entries.
func (o *office) act(item string) {
	o.Helper()
	id := must.Get(o.Begin(ctx, stop(item)))
	must.OK(o, o.End(ctx, id, stop(item)))
}

// entries reads a day page by page, in short.
func (o *office) entries(day string) (got []string) {
	o.Helper()
	for after := ""; ; {
		list, next, err := o.List(ctx, day, after, 2)
		must.OK(o, err)
		for _, e := range list {
			got = append(got, fmt.Sprint(e.Kind, " ", e.ID, " ", e.Subject, " ", e.Result))
		}
		if after = next; next == "" {
			return got
		}
	}
}

func (o *office) same(got []string, want ...string) {
	o.Helper()
	if !slices.Equal(got, want) {
		o.Errorf("got %q, want %q", got, want)
	}
}

func TestAnActHasTwoEntries(t *testing.T) {
	o := newOffice(t)
	o.act("1")
	must.OK(o, o.Write(ctx, seckill.AuditEntry{Who: "bob", Act: "open", Result: "read"}))
	o.clock.Advance(24 * time.Hour)
	o.act("2")
	o.same(o.entries("2026-11-11"), "begun act1 item=1 ", "ended act1 item=1 changed", "whole act2  read")
	o.same(o.entries(""), "begun act3 item=2 ", "ended act3 item=2 changed")
	for _, bad := range []struct {
		day, after string
		limit      int
	}{{"x", "", 1}, {"", "", 0}, {"", "", seckill.MaxAuditPage + 1},
		{"", strings.Repeat("a", seckill.MaxAuditPlace+1), 1}} {
		if _, _, err := o.List(ctx, bad.day, bad.after, bad.limit); seckill.CodeOf(err) != seckill.CodeInvalid {
			t.Errorf("%+v: got %v", bad, err)
		}
	}
}

// TestKilledBetween: whoever dies after an act, or cannot record its end, leaves an act that is open.
func TestKilledBetween(t *testing.T) {
	o := newOffice(t)
	o.act("1")
	must.Get(o.Begin(ctx, stop("2")))
	id := must.Get(o.Begin(ctx, stop("3")))
	o.log.before = []error{errDown, errDown}
	if err := o.End(ctx, id, stop("3")); seckill.CodeOf(err) != seckill.CodeUnavailable ||
		o.meter[seckill.EventUnrecorded] != 1 {
		t.Errorf("got %v, %v", err, o.meter)
	}
	o.same(o.entries(""), "begun act1 item=1 ", "ended act1 item=1 changed", "begun act2 item=2 ", "begun act3 item=3 ")
}

func TestNoActBeginsUnrecorded(t *testing.T) {
	o := newOffice(t)
	o.log.before = []error{errDown, errDown}
	if _, err := o.Begin(ctx, stop("1")); seckill.CodeOf(err) != seckill.CodeUnavailable {
		t.Errorf("got %v", err)
	}
	o.same(o.entries(""))
}

// TestAppendedOnce: an append whose answer is lost leaves one entry.
func TestAppendedOnce(t *testing.T) {
	o := newOffice(t)
	o.log.after = []error{errDown}
	o.act("1")
	o.same(o.entries(""), "begun act1 item=1 ", "ended act1 item=1 changed")
}

// TestTextsAreCut: a text that is too long, or is not UTF-8, is shortened rather than refused.
func TestTextsAreCut(t *testing.T) {
	o := newOffice(t)
	e := stop("1")
	e.Why, e.Before = strings.Repeat("试", seckill.MaxAuditText), "a\xffb"
	must.OK(o, o.Write(ctx, e))
	list, _, err := o.List(ctx, "", "", 1)
	must.OK(o, err)
	if got := list[0].Why; !strings.HasSuffix(got, "试…") || len(got) > seckill.MaxAuditText ||
		list[0].Before != "a\uFFFDb" {
		t.Errorf("got %q, %q", got, list[0].Before)
	}
}
