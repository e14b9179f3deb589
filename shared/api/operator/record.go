package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/flow/office/auditlog"
	"github.com/your-org/seckill/shared/seckill"
)

// Recorder records commands in the audit log. It is safe for concurrent use.
type Recorder struct {
	Log  *auditlog.Flow
	Text *slog.Logger // for what the audit log itself cannot be told

	mu        sync.Mutex
	forbidden map[string]forbiddenCommand // by person and command
}

// forbiddenCommand is a command that a person may not give.
type forbiddenCommand struct {
	at      time.Time // of its last entry
	leftOut int       // attempts since then
}

const (
	forbiddenEvery = time.Minute // between two entries of one person's forbidden command
	maxForbidden   = 1024        // that a process remembers
)

// unknown is the result of a command whose executor did not answer: it may have been executed.
const unknown = "unknown"

// Serve is Serve with each command recorded; an invalid one is refused, and not recorded.
func (rec *Recorder) Serve(text *slog.Logger, handlers ...Handler) func(ctx context.Context,
	event []byte) ([]byte, error) {
	s := newServer(text, handlers)
	return func(ctx context.Context, event []byte) ([]byte, error) {
		c, err := decode(s.commands, event)
		answer := func() ([]byte, error) { return s.answer(ctx, seckill.RoleEditor, c, err) }
		if err != nil {
			return answer()
		}
		return rec.record(ctx, c, "", answer)
	}
}

// record executes a command with do, which returns an answer, and records it. What an auditor may do changes nothing;
// what a viewer may do shows nothing of shoppers either, and is not recorded. Nor are pages of the log: each would
// lengthen it. A command that cannot be recorded is refused, and nothing is done or shown.
func (rec *Recorder) record(ctx context.Context, c Command, roles string,
	do func() ([]byte, error)) ([]byte, error) {
	if _, log := c.(*ListAudit); rec == nil || log || slices.Contains(c.Spec().Roles, seckill.RoleViewer) {
		return do()
	}
	e := entry(c, roles)
	if ReadsOnly(c) {
		answer, err := do()
		ended(&e, answer, err)
		if failed := rec.Log.Write(ctx, e); failed != nil {
			return marshal(answerOf(failed))
		}
		return answer, err
	}
	id, err := rec.Log.Begin(ctx, e)
	if err != nil {
		return marshal(answerOf(err))
	}
	answer, err := do()
	ended(&e, answer, err)
	if failed := rec.Log.End(context.WithoutCancel(ctx), id, e); failed != nil {
		rec.Text.ErrorContext(ctx, "an act's end is not in the audit log", "id", id, "who", short(e.Who), "command",
			short(e.Act), "result", e.Result, "err", failed)
	}
	return answer, err
}

// refused counts a command that nobody executes, and records it, once a minute for each person and command; of the
// others there is a line in the function's log. It is refused whether or not that can be recorded.
func (rec *Recorder) refused(ctx context.Context, c Command, roles, result string) {
	if rec == nil {
		return
	}
	rec.Log.Meter.Count(seckill.EventForbidden, 1)
	leftOut, ok := rec.due(c.given().Who + "\n" + c.given().Command)
	if !ok {
		rec.Text.LogAttrs(ctx, slog.LevelWarn, "a forbidden command is only here", append(attrs(c),
			slog.String("roles", roles), slog.String("result", result))...)
		return
	}
	e := entry(c, roles)
	if e.Result = result; leftOut > 0 {
		e.Subject = strings.TrimSpace(fmt.Sprintf("%s left_out=%d", e.Subject, leftOut))
	}
	if err := rec.Log.Write(ctx, e); err != nil {
		rec.Text.ErrorContext(ctx, "a refused act is not in the audit log", "who", short(e.Who), "command",
			short(e.Act), "err", err)
	}
}

// due reports whether a person's forbidden command, which the key names, gets an entry now, and how many got none since
// the last.
func (rec *Recorder) due(key string) (leftOut int, ok bool) {
	now := rec.Log.Clock.Now()
	rec.mu.Lock()
	defer rec.mu.Unlock()
	last, known := rec.forbidden[key]
	if known && now.Sub(last.at) < forbiddenEvery {
		last.leftOut++
		rec.forbidden[key] = last
		return 0, false
	}
	if rec.forbidden == nil {
		rec.forbidden = map[string]forbiddenCommand{}
	}
	if rec.forbidden[key] = (forbiddenCommand{at: now}); len(rec.forbidden) > maxForbidden {
		delete(rec.forbidden, rec.oldest())
	}
	return last.leftOut, true
}

// oldest returns the key whose last entry is the oldest.
func (rec *Recorder) oldest() (key string) {
	for k, command := range rec.forbidden {
		if key == "" || command.at.Before(rec.forbidden[key].at) {
			key = k
		}
	}
	return key
}

func answerOf(err error) answer { return answer{Problem: document(err)} }

// entry returns what a command says about itself. It has ids and numbers, and the operator's reason.
func entry(c Command, roles string) seckill.AuditEntry {
	return seckill.AuditEntry{Who: c.given().Who, Roles: roles, Act: c.Spec().Name, Subject: inLine(arguments(c)),
		Why: reason(c)}
}

// ended adds what an answer says.
func ended(e *seckill.AuditEntry, b []byte, err error) {
	var a answer
	var p Refusal
	switch {
	case err != nil || json.Unmarshal(b, &a) != nil:
		e.Result = unknown
		return
	case a.Problem != nil && json.Unmarshal(a.Problem, &p) == nil:
		e.Result = string(p.Code)
	}
	if a.Did != nil {
		e.Before, e.After = a.Did.Before, a.Did.After
		if e.Result == "" {
			e.Result = a.Did.Outcome
		}
	}
}
