package operator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/office/auditlog"
	"github.com/your-org/seckill/shared/seckill"
)

var errTrail = errors.New("trail: down")

// trail is an audit log in memory, which can fail from some append on.
type trail struct {
	seckill.AuditLog
	t     *testing.T
	clock *memory.Clock
	left  int // appends until it fails; negative if never
	lost  int // events that say that an end was not recorded
	no    int // events that say that a command was forbidden
}

func newTrail(t *testing.T, clock *memory.Clock) *trail {
	t.Helper()
	return &trail{AuditLog: ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock})), t: t, clock: clock, left: -1}
}

func (l *trail) AppendAudit(ctx context.Context, e seckill.AuditEntry) error {
	if l.left == 0 {
		return errTrail
	}
	l.left--
	return l.AuditLog.AppendAudit(ctx, e)
}

func (l *trail) Count(e seckill.Event, n int) {
	if e == seckill.EventUnrecorded {
		l.lost += n
	}
	if e == seckill.EventForbidden {
		l.no += n
	}
}

func (l *trail) recorder(log *slog.Logger) *Recorder {
	deps := auditlog.Deps{Log: l, Clock: l.clock, IDs: system.NewIDs(nil), Meter: l}
	return &Recorder{Text: log, Log: auditlog.New(deps)}
}

// entries returns the log of one day, in short.
func (l *trail) entries() (out []string) {
	l.t.Helper()
	list, err := l.AuditOn(l.t.Context(), seckill.Day(l.clock.Now()), "", 1000)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, e := range list {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s [%s] %s->%s %q %s", e.Kind, e.Roles, e.Act, e.Subject,
			e.Before, e.After, e.Why, e.Result)))
		if e.Who != officeARN {
			l.t.Errorf("who: %q", e.Who)
		}
	}
	return out
}

func sameLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestWhatTheOfficeRecords: who API Gateway names, the role, what was asked and how it ended, a refusal included.
func TestWhatTheOfficeRecords(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	order := seckill.KeyedOrderID("7", "1001", "k")
	o.post(t, "/operator/finance", `{"operator":{"command":"refund","order":"`+order+`","why":"two <shirts>"}}`)
	o.post(t, "/operator/auditor", `{"operator":{"command":"case","order":"`+order+`"}}`)
	o.post(t, "/operator/viewer", `{"operator":{"command":"health"}}`)
	o.post(t, "/operator/viewer", `{"operator":{"command":"stop","item":"7"}}`)
	o.post(t, "/operator/operator", `{"operator":{"command":"stop","item":"7","why":"not an argument"}}`)
	o.post(t, "/operator/auditor", `{"operator":{"command":"audit","limit":9}}`)
	o.fail = errors.New("no answer")
	o.post(t, "/operator/operator", `{"operator":{"command":"stop","item":"7"}}`)
	sameLines(t, o.trail.entries(),
		`begun finance refund [order=`+order+`] -> "two <shirts>"`,
		`ended finance refund [order=`+order+`] -> "two <shirts>" changed`,
		`whole auditor case [order=`+order+`] -> "" changed`,
		`whole viewer stop [item=7] -> "" role_forbidden`,
		`begun operator stop [item=7] -> ""`,
		`ended operator stop [item=7] -> "" unknown`)
	if strings.Contains(o.log.String(), "shirts") {
		t.Error("a reason is in the function's log")
	}
}

// TestAnOldSignInIsRecorded: what a person must sign in again for is refused before anything happens, and recorded.
func TestAnOldSignInIsRecorded(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(officeNow)
	log := newTrail(t, clock)
	office := &Office{Record: log.recorder(slog.New(slog.DiscardHandler)), Clock: clock}
	status, _ := office.Do(t.Context(), Caller{Who: officeARN, Roles: []seckill.Role{seckill.RoleFinance}, Old: true},
		[]byte(Sample("refund")))
	if status != http.StatusForbidden || log.no != 1 {
		t.Errorf("%d, counted %d times", status, log.no)
	}
	sameLines(t, log.entries(), `whole finance refund [order=`+aOrder+`] -> "a test" sign_in_again`)
}

// TestForbiddenCommandsAreBounded: the audit log has one entry a minute of a person's forbidden command, with how many
// it left out since the one before; every one is counted.
func TestForbiddenCommandsAreBounded(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	try := func(command string, times int) {
		for range times {
			if status, _ := o.post(t, "/operator/viewer", `{"operator":{"command":`+command+`}}`); status !=
				http.StatusForbidden {
				t.Errorf("%s: %d", command, status)
			}
		}
	}
	try(`"stop","item":"7"`, 5)
	try(`"resume","item":"7"`, 1)
	o.clock.Advance(time.Minute)
	try(`"stop","item":"8"`, 2)
	o.clock.Advance(time.Minute)
	try(`"stop","item":"7"`, 1)
	sameLines(t, o.trail.entries(), `whole viewer stop [item=7] -> "" role_forbidden`,
		`whole viewer resume [item=7] -> "" role_forbidden`,
		`whole viewer stop [item=8 left_out=4] -> "" role_forbidden`,
		`whole viewer stop [item=7 left_out=1] -> "" role_forbidden`)
	if o.trail.no != 9 {
		t.Errorf("%d are counted, want 9", o.trail.no)
	}
	const line = `level=WARN msg="a forbidden command is only here" who=` + officeARN +
		` command=stop item=%s roles=viewer result=role_forbidden` + "\n"
	for item, want := range map[string]int{"7": 4, "8": 1} {
		if got := strings.Count(o.log.String(), fmt.Sprintf(line, item)); got != want {
			t.Errorf("item %s has %d lines, want %d:\n%s", item, got, want, &o.log)
		}
	}
}

// TestManyForbiddenCommands: of more persons than a process remembers it forgets who was first, and nobody else.
func TestManyForbiddenCommands(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC))
	rec := newTrail(t, clock).recorder(slog.New(slog.DiscardHandler))
	for i := range maxForbidden + 1 {
		clock.Advance(time.Millisecond)
		if _, ok := rec.due(fmt.Sprint(i)); !ok {
			t.Fatalf("person %d has no entry", i)
		}
	}
	for i := range maxForbidden {
		if _, ok := rec.due(fmt.Sprint(i + 1)); ok {
			t.Fatalf("person %d is forgotten", i+1)
		}
	}
	if _, ok := rec.due("0"); !ok || len(rec.forbidden) != maxForbidden {
		t.Errorf("the first is remembered: %v, of %d", !ok, len(rec.forbidden))
	}
}

// TestNothingHappensUnrecorded: if the first entry cannot be written, nothing is done or shown. If the second cannot,
// the command is done, the audit log shows it as begun, and a log line says so.
func TestNothingHappensUnrecorded(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for _, tt := range []struct {
		role, command string
		left, called  int
		problem       bool
	}{
		{"operator", `"stop","item":"7"`, 0, 0, true},
		{"auditor", `"open"`, 0, 1, true}, // read, and not shown
		{"operator", `"stop","item":"7"`, 1, 1, false},
	} {
		o.called, o.trail.left = nil, tt.left
		status, text := o.post(t, "/operator/"+tt.role, `{"operator":{"command":`+tt.command+`}}`)
		if status != http.StatusOK || strings.Contains(text, `"code":"unavailable"`) != tt.problem ||
			strings.Contains(text, `"result"`) == tt.problem || len(o.called) != tt.called {
			t.Errorf("%s after %d appends: %d %s, called %v", tt.command, tt.left, status, text, o.called)
		}
	}
	sameLines(t, o.trail.entries(), `begun operator stop [item=7] -> ""`)
	if o.trail.lost != 1 || !strings.Contains(o.log.String(),
		"level=ERROR msg=\"an act's end is not in the audit log\"") {
		t.Errorf("%d events, log %s", o.trail.lost, &o.log)
	}
}

// TestBlocksAreRecorded: of one block, whom and why; of many, how many.
func TestBlocksAreRecorded(t *testing.T) {
	t.Parallel()
	one := PutBlocks{Blocks: Blocks{{Subject: "1001", Item: "7", Reason: "resells"}}}
	two := PutBlocks{Blocks: Blocks{{Subject: "1", Reason: "a"}, {Subject: "2", Reason: "b"}}}
	for _, tt := range []struct {
		c            PutBlocks
		subject, why string
	}{{one, "subject=1001 item=7", "resells"}, {two, "blocks=2", ""}} {
		if e := entry(&tt.c, ""); e.Subject != tt.subject || e.Why != tt.why {
			t.Errorf("got %+v, want %s %s", e, tt.subject, tt.why)
		}
	}
}
