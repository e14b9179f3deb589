package operator_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/office/acts"
	"github.com/your-org/seckill/shared/seckill"
)

// TestActsThroughClientAndHandler: what is kept of an act reaches the operator; handling it is recorded, and logged
// without the note.
func TestActsThroughClientAndHandler(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(now)
	var w shop // provides the audit log
	l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock}))
	client := operator.Client{Who: "arn:aws:sts::123456789012:assumed-role/Operators/liu", Call: operator.Serve(
		telemetry.NewLog(&w.audit, slog.LevelInfo), operator.NewActHandler(acts.New(acts.Deps{Ledger: l,
			Clock: clock})))}
	a := seckill.Act{ID: seckill.ActID(now, "ab"), At: now, Item: "1", Action: seckill.ActTicket,
		Result: seckill.ActDone,
		Rules:  seckill.RuleFast, User: "1001", UserKey: "u", Network: "n", Agent: "curl/8", Referrer: "r",
		Took: time.Second}
	if err := l.KeepAct(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	want := operator.Act{ID: a.ID, At: now, Item: "1", Action: "ticket", Result: "ok", Status: "suspicious",
		Rules: "fast",
		User:  "1001", UserHash: "u", NetworkHash: "n", Agent: "curl/8", Referrer: "r", TookMs: 1000}
	got, err := client.Act(t.Context(), a.ID)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	if err := client.HandleAct(t.Context(), a.ID, "a secret thought"); err != nil {
		t.Fatal(err)
	}
	if log := w.audit.String(); !strings.Contains(log, `"command":"handle","act":"`+a.ID+`","result":"changed"`) ||
		strings.Contains(log, "thought") {
		t.Errorf("the audit log: %s", log)
	}
	want.Status, want.Handled, want.By, want.Note = "handled", now, "assumed-role/Operators/liu", "a secret thought"
	for all, list := range map[bool][]operator.Act{true: {want}, false: {}} {
		page, err := client.Acts(t.Context(), operator.ActsWanted{All: all, Limit: 10})
		if diff := cmp.Diff(operator.ActPage{Acts: list}, page); err != nil || diff != "" {
			t.Errorf("all %v: %v, %s", all, err, diff)
		}
	}
	for what, err := range map[string]error{
		"no limit":  second(client.Acts(t.Context(), operator.ActsWanted{})),
		"a bad day": second(client.Acts(t.Context(), operator.ActsWanted{Day: "yesterday", Limit: 1})),
		"a bad id":  second(client.Act(t.Context(), "x")),
		"no act":    second(client.Act(t.Context(), seckill.ActID(now, "cd"))),
		"no reason": client.HandleAct(t.Context(), a.ID, ""),
	} {
		if operator.CodeOf(err) != seckill.CodeInvalid {
			var r *operator.Refusal
			if !errors.As(err, &r) || r.Code != seckill.CodeInvalid {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }
