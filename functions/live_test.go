package functions_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/flow/office/livescreen"
	"github.com/your-org/seckill/shared/seckill"
)

// TestLiveScreen checks that admin assembles an item's figures from the stage function, the ledger, the queues and
// CloudWatch, records and logs no viewer, and that a function that fails makes one part old, and the others not.
func TestLiveScreen(t *testing.T) {
	w := newDeployment(t)
	w.loaded(t, live("2002", 10))
	stage, admin := w.start(t, "stage", "LOG_LEVEL", "error"), w.start(t, "admin", "LOG_LEVEL", "warn")
	w.aws.SetFunction("seckill-stage", func(event []byte) ([]byte, string, error) {
		answer, err := stage.Invoke(event)
		return answer, "", err
	})
	viewers := client(func(_ context.Context, event []byte) ([]byte, error) { return admin.Invoke(event) })
	seen := must.Get(operator.Give[livescreen.Seen](t.Context(), &viewers, &operator.ReadLive{Item: "2002"}))
	if s := seen.Stock; s.Failed != "" || s.Value.Left != 10 || s.Value.Stock != 10 || !s.Value.Installed {
		t.Errorf("stock %+v", s)
	}
	for part, failed := range map[string]seckill.Code{"queues": seen.Queues.Failed, "servers": seen.Servers.Failed,
		"counts": seen.Counts.Failed, "money": seen.Money.Failed, "metrics": seen.Metrics.Failed} {
		must.Equal(t, "", failed, part)
	}
	if said := admin.End(); strings.Contains(said, `"command":"live"`) {
		t.Errorf("a viewer leaves a trace: %s", said)
	}
	admin = w.start(t, "admin", "LOG_LEVEL", "warn")
	var refused *operator.Refusal
	if _, err := operator.Give[livescreen.Seen](t.Context(), &viewers,
		&operator.ReadLive{Item: "2003"}); !errors.As(err, &refused) ||
		refused.Code != seckill.CodeItemUnknown {
		t.Errorf("an unknown item: %v", err)
	}
	w.aws.SetFunction("seckill-stage", func([]byte) ([]byte, string, error) {
		return nil, "", errors.New("out of memory")
	})
	seen, err := operator.Give[livescreen.Seen](t.Context(), &viewers, &operator.ReadLive{Item: "2002"})
	if err != nil || seen.Stock.Failed != seckill.CodeUnavailable || seen.Queues.Failed != "" {
		t.Errorf("without the stage function: %+v, %v", seen, err)
	}
	if !admin.Says(`"msg":"figures are old","part":"stock"`) {
		t.Errorf("admin does not say why: %s", admin.Output())
	}
}
