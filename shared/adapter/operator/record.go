package operator

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/your-org/seckill/shared/flow/audit"
	"github.com/your-org/seckill/shared/seckill"
)

// Recorder records commands in the audit log. It is safe for concurrent use.
type Recorder struct {
	Log  *audit.Flow
	Text *slog.Logger // for what the audit log itself cannot be told
}

// unknown is the result of a command whose executor did not answer: it may have been executed.
const unknown = "unknown"

// Serve is Serve with each command recorded; an invalid one is refused, and not recorded.
func (rec *Recorder) Serve(text *slog.Logger, handlers ...Handler) func(ctx context.Context,
	event []byte) ([]byte, error) {
	serve := Serve(text, handlers...)
	return func(ctx context.Context, event []byte) ([]byte, error) {
		r, err := decode(allCommands(), event)
		if err != nil {
			return serve(ctx, event)
		}
		return rec.record(ctx, r, "", func() ([]byte, error) { return serve(ctx, event) })
	}
}

// record executes a command with do, which returns an answer, and records it. What an auditor may do changes nothing;
// what a viewer may do shows nothing of shoppers either, and is not recorded. Nor are pages of the log: each would
// lengthen it. A command that cannot be recorded is refused, and nothing is done or shown.
func (rec *Recorder) record(ctx context.Context, r *request, roles string,
	do func() ([]byte, error)) ([]byte, error) {
	if rec == nil || seckill.RoleViewer.May(r.Command) || r.Command == cmdAudit || r.Command == cmdAuditHead {
		return do()
	}
	e := r.entry(roles)
	if readsOnly(r.Command) {
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

// readsOnly reports whether a command changes nothing.
func readsOnly(command string) bool {
	return seckill.RoleViewer.May(command) || seckill.RoleAuditor.May(command)
}

// refused records a command that nobody executes. It is refused whether or not that can be recorded.
func (rec *Recorder) refused(ctx context.Context, r *request, roles, result string) {
	if rec == nil {
		return
	}
	e := r.entry(roles)
	e.Result = result
	if err := rec.Log.Write(ctx, e); err != nil {
		rec.Text.ErrorContext(ctx, "a refused act is not in the audit log", "who", short(e.Who), "command",
			short(e.Act), "err", err)
	}
}

func answerOf(err error) answer { return answer{Problem: document(err)} }

// entry returns what a command says about itself. It has ids and numbers, and the operator's reason.
func (r *request) entry(roles string) seckill.AuditEntry {
	why := r.Why
	if len(r.Blocks) == 1 {
		why = r.Blocks[0].Reason
	}
	const named = 2 // who and command come first
	return seckill.AuditEntry{Who: r.Who, Roles: roles, Act: r.Command, Subject: inLine(r.attrs()[named:]), Why: why}
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

// KeepHeads returns what keeps the audit log's heads apart: a line for each.
func KeepHeads(text *slog.Logger) func(context.Context, seckill.AuditHead) {
	return func(ctx context.Context, h seckill.AuditHead) {
		text.InfoContext(ctx, "audit head", "day", h.Day, "seq", h.Seq, "hash", h.Hash)
	}
}
