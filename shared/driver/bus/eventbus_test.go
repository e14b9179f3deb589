package bus_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/your-org/seckill/shared/driver/bus"
	"github.com/your-org/seckill/shared/seckill"
)

// eventBridge answers with its entries or error.
type eventBridge struct {
	in      *eventbridge.PutEventsInput
	entries []types.PutEventsResultEntry
	err     error
	bounded bool
}

func (c *eventBridge) PutEvents(ctx context.Context, in *eventbridge.PutEventsInput,
	_ ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error) {
	_, c.bounded = ctx.Deadline()
	c.in = in
	return &eventbridge.PutEventsOutput{Entries: c.entries}, c.err
}

func TestPublish(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	events := []seckill.OrderEvent{{Order: "oa", Sequence: 1, State: seckill.PendingPayment, At: at},
		{Order: "oa", Sequence: 2, From: seckill.PendingPayment, State: seckill.Paid, At: at}}
	kept, refused := types.PutEventsResultEntry{EventId: aws.String("1")},
		types.PutEventsResultEntry{ErrorCode: aws.String("ThrottlingException")}
	for _, tt := range []struct {
		what    string
		entries []types.PutEventsResultEntry
		err     error
		failed  [2]bool
	}{
		{"kept", []types.PutEventsResultEntry{kept, kept}, nil, [2]bool{}},
		{"the second refused", []types.PutEventsResultEntry{kept, refused}, nil, [2]bool{false, true}},
		{"no answer", nil, errors.New("away"), [2]bool{true, true}},
		{"a short answer", []types.PutEventsResultEntry{kept}, nil, [2]bool{true, true}},
	} {
		c := &eventBridge{entries: tt.entries, err: tt.err}
		errs := bus.NewBus(c, "bus", "shop").Publish(t.Context(), events)
		for i := range events {
			if (errs[i] != nil) != tt.failed[i] {
				t.Errorf("%s: event %d: %v, want a fault %v", tt.what, i, errs[i], tt.failed[i])
			}
		}
		e := c.in.Entries[1]
		if !c.bounded || *e.EventBusName != "bus" || *e.Source != "seckill" || *e.DetailType != "order.paid" {
			t.Errorf("%s: entry %+v", tt.what, e)
		}
	}
}
