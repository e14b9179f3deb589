package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/your-org/seckill/shared/seckill"
)

// callTimeout bounds one Publish. Ten events have about 20 kB, far below the limit of a PutEvents call (256 kB).
const callTimeout = 5 * time.Second

// EventBridge is what Bus calls of EventBridge.
type EventBridge interface {
	PutEvents(ctx context.Context, in *eventbridge.PutEventsInput,
		with ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error)
}

// Bus implements seckill.Bus.
type Bus struct {
	client EventBridge
	name   string
	shop   string
}

// NewBus returns a bus of EventBridge. name is its name or ARN; shop is the name by which the events' source is known.
func NewBus(client EventBridge, name, shop string) *Bus { return &Bus{client, name, shop} }

// Publish implements seckill.Bus.
func (b *Bus) Publish(ctx context.Context, events []seckill.OrderEvent) []error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	in := &eventbridge.PutEventsInput{Entries: make([]types.PutEventsRequestEntry, len(events))}
	for i := range events {
		in.Entries[i] = types.PutEventsRequestEntry{EventBusName: &b.name, Source: aws.String(Source),
			DetailType: aws.String(events[i].Kind()), Time: aws.Time(events[i].At),
			Detail: aws.String(string(Encode(b.shop, &events[i])))}
	}
	out, err := b.client.PutEvents(ctx, in)
	if err == nil && len(out.Entries) != len(in.Entries) {
		err = errors.New("the answer lacks entries")
	}
	errs := make([]error, len(events))
	for i := range errs {
		switch {
		case err != nil:
			errs[i] = fmt.Errorf("event bus: %w", err)
		case out.Entries[i].ErrorCode != nil:
			errs[i] = fmt.Errorf("event bus: %s", *out.Entries[i].ErrorCode)
		}
	}
	return errs
}
