package operator_test

import (
	"encoding/json"
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
		Rules: "fast", User: "1001", UserHash: "u", NetworkHash: "n", Agent: "curl/8", Referrer: "r", TookMs: 1000}
	got, err := operator.Give[operator.Act](t.Context(), &client, &operator.ReadAct{Act: a.ID})
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	handled := &operator.HandleAct{Act: a.ID, Why: "a secret thought"}
	if _, err := operator.Give[bool](t.Context(), &client, handled); err != nil {
		t.Fatal(err)
	}
	if log := w.audit.String(); !strings.Contains(log, `"command":"handle","act":"`+a.ID+`","result":"changed"`) ||
		strings.Contains(log, "thought") {
		t.Errorf("the audit log: %s", log)
	}
	want.Status, want.Handled, want.By, want.Note = "handled", now, "assumed-role/Operators/liu", "a secret thought"
	for all, list := range map[bool][]operator.Act{true: {want}, false: {}} {
		page, err := operator.Give[operator.ActPage](t.Context(), &client, &operator.ListActs{All: all, Limit: 10})
		if diff := cmp.Diff(operator.ActPage{Acts: list}, page); err != nil || diff != "" {
			t.Errorf("all %v: %v, %s", all, err, diff)
		}
	}
	for what, c := range map[string]operator.Command{
		"no limit":  &operator.ListActs{},
		"a bad day": &operator.ListActs{Day: "yesterday", Limit: 1},
		"a bad id":  &operator.ReadAct{Act: "x"},
		"no act":    &operator.ReadAct{Act: seckill.ActID(now, "cd")},
		"no reason": &operator.HandleAct{Act: a.ID},
	} {
		_, err := operator.Give[json.RawMessage](t.Context(), &client, c)
		var r *operator.Refusal
		if operator.CodeOf(err) != seckill.CodeInvalid && (!errors.As(err, &r) || r.Code != seckill.CodeInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
