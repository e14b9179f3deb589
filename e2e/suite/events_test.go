//go:build e2e

package suite

import (
	"context"
	"encoding/json"
	"errors"
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

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/bus"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// Shoppers buy, and some cancel, while tell is killed at random moments: each change of each order is on the bus, at
// least once, and none that did not happen; and each is counted once. Then an operator has one order told again.
// MiniStack ignores which records of a batch failed, and takes the batch for done; a killed tell's comes back whole.
func testEvents(t *testing.T, s *stack) {
	s.needs(t, s.full(), "takes minutes")
	s.needs(t, s.Kill != "", "there is no command that kills functions")
	const shoppers = 300
	kills, all := 0, 0
	heard, again := s.listen(t)
	report.timed(t, func() string {
		return fmt.Sprintf("%d events of %d shoppers, %d came again, %d kills", all, shoppers, *again, kills)
	})
	sale := s.sell(t, shoppers, 1)
	stop := s.killOften(t, "TellFunction")
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
	kills = stop()
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
	eventually(t, "counts of every change", func() string {
		want := sale.moved(t)
		if c, err := operator.Give[operator.Counts](t.Context(), &s.operator,
			&operator.ReadCounts{Item: sale.item.ID}); err != nil || c.Total != want {
			return fmt.Sprintf("%+v, %v, want %+v", c.Total, err, want)
		}
		return ""
	})
	order, _ := sale.mustRows(t)[ledger.TableOrders][0]["id"].(string)
	if told, err := operator.Give[operator.Told](t.Context(), &s.operator,
		&operator.Tell{Order: order}); err != nil || told.Changes == 0 {
		t.Errorf("tell again: %+v, %v", told, err)
	}
	if d, err := operator.Give[operator.Delivery](t.Context(), &s.operator,
		&operator.ReadDelivery{Order: order}); err != nil || d.Order != order || d.Address == "" {
		t.Errorf("delivery of %s: %+v, %v", order, d, err)
	}
}

// moved returns what happened to the units of the sale's orders.
func (s *sale) moved(t *testing.T) (n seckill.Count) {
	t.Helper()
	for _, row := range s.mustRows(t)[ledger.TableOrders] {
		c, err := ledger.OrderChange(nil, row)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Order.Moves(0) {
			n = n.Plus(m.Count)
		}
	}
	return n
}

// killOften kills a function at random moments until stop, which returns how often.
func (s *stack) killOften(t *testing.T, output string) (stop func() (kills int)) {
	over, kills, failed := make(chan struct{}), 0, make(chan error, 1)
	go func() {
		for {
			select {
			case <-over:
				failed <- nil
				return
			case <-t.Context().Done():
				return
			case <-time.After(time.Duration(200+rand.IntN(1500)) * time.Millisecond):
			}
			kills++
			if err := s.killAtWork(output); err != nil {
				failed <- err
				return
			}
		}
	}()
	return func() int {
		t.Helper()
		close(over)
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
		return kills
	}
}

// killAtWork kills a function. It first freezes it for a moment, so that most kills meet it with a batch.
func (s *stack) killAtWork(output string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	frozen := s.shell(ctx, s.Kill, s.Outputs[output], "freeze")
	time.Sleep(rand.N(500 * time.Millisecond))
	return errors.Join(frozen, s.shell(ctx, s.Kill, s.Outputs[output],
		fmt.Sprintf("%.3f", rand.Float64()*longestLife.Seconds())))
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
// of all that came since listen; and how many came again.
func (s *stack) listen(t *testing.T) (heard func() map[string]string, again *int) {
	t.Helper()
	ctx, name := background(t), "e2e-events-"+newItemID() // two cases may listen
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
	on := aws.String(s.Outputs["EventBus"])
	if _, err = s.rules.PutRule(ctx, &eventbridge.PutRuleInput{Name: &name, EventBusName: on,
		EventPattern: aws.String(`{"source":["` + bus.Source + `"]}`)}); err != nil {
		t.Fatal(err)
	}
	if _, err = s.rules.PutTargets(ctx, &eventbridge.PutTargetsInput{Rule: &name, EventBusName: on,
		Targets: []ebtypes.Target{{Id: &name, Arn: aws.String(attrs.Attributes["QueueArn"])}}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = s.rules.RemoveTargets(ctx, &eventbridge.RemoveTargetsInput{Rule: &name, EventBusName: on,
			Ids: []string{name}})
		_, _ = s.rules.DeleteRule(ctx, &eventbridge.DeleteRuleInput{Name: &name, EventBusName: on})
	})
	all, again := map[string]string{}, new(int)
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
				var e struct{ Detail bus.Event }
				if err := json.Unmarshal([]byte(*m.Body), &e); err != nil || strings.Contains(*m.Body, "address") {
					t.Fatalf("event %s: %v", *m.Body, err)
				}
				if all[e.Detail.ID] != "" {
					*again++
				}
				all[e.Detail.ID] = e.Detail.Type
				if _, err := s.queues.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: q.QueueUrl,
					ReceiptHandle: m.ReceiptHandle}); err != nil {
					t.Fatal(err)
				}
			}
		}
		return maps.Clone(all)
	}, again
}
