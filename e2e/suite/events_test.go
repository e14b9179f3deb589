//go:build e2e

package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/your-org/seckill/shared/adapter/cloudevent"
	"github.com/your-org/seckill/shared/adapter/ledger"
	"github.com/your-org/seckill/shared/adapter/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// Shoppers buy, and some cancel, while tell is killed at random moments: each change of each order is on the bus, at
// least once, and none that did not happen. Then an operator has one order told again.
func testEvents(t *testing.T, s *stack) {
	s.needs(t, s.full(), "takes minutes")
	s.needs(t, s.Outputs["EventBus"] != "", "the stack has no event bus")
	s.needs(t, s.Kill != "", "there is no command that kills functions")
	const shoppers = 1000
	kills, all := 0, 0
	report.timed(t, func() string {
		return fmt.Sprintf("%d events of %d shoppers, %d kills", all, shoppers, kills)
	})
	heard := s.listen(t)
	sale := s.sell(t, shoppers, 1)
	over, killed := make(chan struct{}), make(chan error, 1)
	go func() {
		var err error
		for err == nil {
			select {
			case <-over:
				killed <- nil
				return
			case <-time.After(time.Duration(200+rand.IntN(1500)) * time.Millisecond):
				kills++
				err = s.shell(t.Context(), s.Kill, s.Outputs["TellFunction"])
			}
		}
		killed <- err
	}()
	sale.crowd(t, shoppers, func(ctx context.Context, p *shopper) (bool, error) {
		a, err := p.buy(ctx, 1, "cart")
		switch {
		case err != nil:
			return false, err
		case a.Status != 200 && !later(a, true):
			return false, fmt.Errorf("buy: %v", a)
		case a.Status == 200 && p.id%4 == 0: // it may not be placed yet
			c, err := p.Call(ctx, p.token, "POST", "/order/"+a.Text("order_id")+"/cancel", nil)
			return err == nil && c.Status == 200, err
		}
		return a.Status == 200, nil
	}, func() bool { return false })
	eventually(t, "rows of all acknowledged orders", func() string {
		if missing := sale.outcomes(sale.mustRows(t)); len(missing) > 0 {
			return fmt.Sprintf("%d are missing: %s", len(missing), missing[0])
		}
		return ""
	})
	close(over)
	if err := <-killed; err != nil {
		t.Fatal(err)
	}
	eventually(t, "events of every change", func() string {
		missing, extra, n := sale.untold(t, heard)
		if all = n; len(extra) > 0 {
			t.Fatalf("%d events of what did not happen: %s", len(extra), extra[0])
		}
		if len(missing) > 0 {
			return fmt.Sprintf("%d changes are not told: %s", len(missing), missing[0])
		}
		return ""
	})
	tell := func(ctx context.Context, event []byte) ([]byte, error) { return s.invoke(ctx, "TellFunction", event) }
	operators := operator.Client{Who: "end-to-end suite", Call: tell}
	order, _ := sale.mustRows(t)[ledger.TableOrders][0]["id"].(string)
	if told, err := operators.Tell(t.Context(), order); err != nil || told.Changes == 0 {
		t.Errorf("tell again: %+v, %v", told, err)
	}
	if d, err := operators.Delivery(t.Context(), order); err != nil || d.Order != order || d.Address == "" {
		t.Errorf("delivery of %s: %+v, %v", order, d, err)
	}
}

// untold compares the events that were heard with the histories of the sale's orders: ids of changes that are not
// told, ids of events without a change, and the number of events.
func (s *sale) untold(t *testing.T, heard func() map[string]string) (missing, extra []string, n int) {
	t.Helper()
	told := heard()
	for id, kind := range told {
		order, _, err := seckill.ParseEventID(id)
		if err != nil || seckill.OrderTag(order) != seckill.ItemTag(s.item.ID) {
			delete(told, id) // another case's
		} else if kind == "" {
			t.Fatalf("event %s has no kind", id)
		}
	}
	n = len(told)
	for _, row := range s.mustRows(t)[ledger.TableOrders] {
		c, err := ledger.OrderChange(nil, row)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range c.Events() {
			switch kind, ok := told[e.ID()]; {
			case !ok:
				missing = append(missing, e.ID())
			case kind != e.Kind():
				t.Fatalf("event %s is %s, the ledger says %s", e.ID(), kind, e.Kind())
			}
			delete(told, e.ID())
		}
	}
	for id := range told {
		extra = append(extra, id)
	}
	slices.Sort(missing)
	return missing, extra, n
}

// listen sends everything on the stack's bus to a queue, and returns a function that reads it: kinds of events by id,
// of all that came since listen.
func (s *stack) listen(t *testing.T) (heard func() map[string]string) {
	t.Helper()
	ctx, name := background(t), fmt.Sprintf("e2e-events-%d", runID)
	q, err := s.queues.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = s.queues.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: q.QueueUrl}) })
	attrs, err := s.queues.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: q.QueueUrl,
		AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn}})
	if err != nil {
		t.Fatal(err)
	}
	bus := aws.String(s.Outputs["EventBus"])
	if _, err = s.rules.PutRule(ctx, &eventbridge.PutRuleInput{Name: &name, EventBusName: bus,
		EventPattern: aws.String(`{"source":["` + cloudevent.Source + `"]}`)}); err != nil {
		t.Fatal(err)
	}
	if _, err = s.rules.PutTargets(ctx, &eventbridge.PutTargetsInput{Rule: &name, EventBusName: bus,
		Targets: []ebtypes.Target{{Id: &name, Arn: aws.String(attrs.Attributes["QueueArn"])}}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = s.rules.RemoveTargets(ctx, &eventbridge.RemoveTargetsInput{Rule: &name, EventBusName: bus,
			Ids: []string{name}})
		_, _ = s.rules.DeleteRule(ctx, &eventbridge.DeleteRuleInput{Name: &name, EventBusName: bus})
	})
	all := map[string]string{}
	return func() map[string]string {
		for {
			out, err := s.queues.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: q.QueueUrl,
				MaxNumberOfMessages: 10})
			if err != nil {
				t.Fatal(err)
			}
			if len(out.Messages) == 0 {
				break
			}
			for _, m := range out.Messages {
				var e struct{ Detail cloudevent.Event }
				if err := json.Unmarshal([]byte(*m.Body), &e); err != nil || strings.Contains(*m.Body, "address") {
					t.Fatalf("event %s: %v", *m.Body, err)
				}
				all[e.Detail.ID] = e.Detail.Type
				if _, err := s.queues.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: q.QueueUrl,
					ReceiptHandle: m.ReceiptHandle}); err != nil {
					t.Fatal(err)
				}
			}
		}
		return maps.Clone(all)
	}
}
