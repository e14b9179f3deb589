package operator_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/office/block"
	"github.com/your-org/seckill/shared/seckill"
)

// TestBlocksThroughClientAndHandler checks what a block is from command to list, and that the audit log has who did
// what to whom, and no reason.
func TestBlocksThroughClientAndHandler(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(now)
	var w shop // provides the audit log
	handle := operator.Serve(telemetry.NewLog(&w.audit, slog.LevelInfo), operator.NewBlockHandler(block.New(block.Deps{
		Ledger: ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock})), Items: memory.NewItems(), Clock: clock})))
	client := operator.Client{Who: "arn:aws:sts::123456789012:assumed-role/Operators/liu", Call: handle}
	audited := func(want string) {
		t.Helper()
		if got := w.audit.String(); !strings.Contains(got, want) || strings.Contains(got, "script") {
			t.Errorf("the audit log, want %s:\n%s", want, got)
		}
		w.audit.Reset()
	}
	until := now.Add(time.Hour)
	put := func(blocks ...operator.Block) (block.Done, error) {
		return operator.Give[block.Done](t.Context(), &client, &operator.PutBlocks{Blocks: blocks})
	}
	done, err := put(operator.Block{Subject: "203.0.113.7", Reason: "a script", Until: until})
	if want := (block.Done{Made: 1}); err != nil || cmp.Diff(want, done) != "" {
		t.Errorf("%+v, %v", done, err)
	}
	audited(`"who":"` + client.Who + `","command":"block","subject":"203.0.113.7","item":"","made":1,"changed":0,` +
		`"result":"changed"`)
	want := operator.BlockPage{Blocks: []operator.Block{{Subject: "203.0.113.7/32", Reason: "a script", Until: until,
		By: "assumed-role/Operators/liu", Made: now}}}
	for _, subject := range []string{"", "203.0.113.7/32"} {
		page, err := operator.Give[operator.BlockPage](t.Context(), &client,
			&operator.ListBlocks{Subject: subject, Limit: 9})
		if diff := cmp.Diff(want, page); err != nil || diff != "" {
			t.Errorf("list %q: %v, want (-), got (+):\n%s", subject, err, diff)
		}
		audited(`"command":"blocks",`)
	}
	done, err = put(operator.Block{Subject: "1001", Item: "8", Reason: "a script"},
		operator.Block{Subject: "1002", Reason: "a script"})
	if diff := cmp.Diff(block.Done{Unknown: []string{"8"}}, done); err != nil || diff != "" {
		t.Errorf("an unknown item: %+v, %v", done, err)
	}
	audited(`"command":"block","blocks":2,"made":0,"changed":0,"result":"unchanged"`)
	for _, want := range []bool{true, false} {
		got, err := operator.Give[bool](t.Context(), &client, &operator.DropBlock{Subject: "203.0.113.7"})
		if err != nil || got != want {
			t.Errorf("unblock: %v, %v", got, err)
		}
		audited(`"command":"unblock","subject":"203.0.113.7","result":"` + map[bool]string{true: "changed",
			false: "unchanged"}[want] + `"`)
	}
}

func TestBlockEventsThatAreRefused(t *testing.T) {
	t.Parallel()
	clock := memory.NewClock(now)
	l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock}))
	var w shop // provides the audit log
	handle := operator.Serve(telemetry.NewLog(&w.audit, slog.LevelInfo), operator.NewBlockHandler(block.New(block.Deps{
		Ledger: l, Items: memory.NewItems(), Clock: clock})))
	for event, field := range map[string]string{
		`"who":"a","command":"block"`:                                                                        "blocks",
		`"who":"a","command":"block","blocks":[{"subject":"1001","reason":""}]`:                              "reason",
		`"who":"a","command":"block","blocks":[{"subject":"１００１","reason":"x"}]`:                             "subject",
		`"who":"a","command":"block","blocks":[{"subject":"203.0.113.0/23","reason":"x"}]`:                   "subject",
		`"who":"a","command":"block","blocks":[{"subject":"1","reason":"x","by":"bob"}]`:                     "by",
		`"who":"a","command":"block","blocks":[{"subject":"1","reason":"x","until":"2020-01-01T00:00:00Z"}]`: "until",
		`"who":"a","command":"block","blocks":[{"subject":"1","reason":"x","for":"1h"}]`:                     "operator",
		`"who":"` + strings.Repeat("a", 101) + `","command":"block","blocks":[{"subject":"1","reason":"x"}]`: "who",
		`"who":"a","command":"unblock"`:                                                                      "subject",
		`"who":"a","command":"unblock","subject":"ann"`:                                                      "subject",
		`"who":"a","command":"unblock","subject":"1","item":"x"`:                                             "item",
		`"who":"a","command":"blocks"`:                                                                       "limit",
		`"who":"a","command":"blocks","limit":1001`:                                                          "limit",
		`"who":"a","command":"blocks","limit":1,"cursor":"x"`:                                                "after",
	} {
		w.event(t, handle, event, field)
	}
	for shard := range seckill.BlockShards {
		if p, err := l.ListBlocks(context.Background(), shard, "", 1); err != nil || len(p.Rows) > 0 {
			t.Errorf("afterwards: %+v, %v", p, err)
		}
	}
}
