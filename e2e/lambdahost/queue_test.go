//go:build linux

package lambdahost_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"go.yaml.in/yaml/v3"

	"github.com/your-org/seckill/e2e/lambdahost"
	"github.com/your-org/seckill/shared/drivertest/must"
)

// queue keeps messages; received ones become visible again after a moment, unless deleted.
type queue struct {
	mu       sync.Mutex
	messages []types.Message
	hidden   map[string]time.Time
	deleted  []string
}

const visible = 200 * time.Millisecond

func newQueue(bodies ...string) *queue {
	q := &queue{hidden: map[string]time.Time{}}
	for i, body := range bodies {
		id := strconv.Itoa(i)
		q.messages = append(q.messages, types.Message{MessageId: &id, ReceiptHandle: &id, Body: &body,
			Attributes: map[string]string{"SentTimestamp": strconv.Itoa(1000 + i)}})
	}
	return q
}

func (q *queue) ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput,
	_ ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := &sqs.ReceiveMessageOutput{}
	for i := range q.messages {
		m := &q.messages[i]
		// three: so that there are several batches
		if len(out.Messages) == 3 || len(out.Messages) == int(in.MaxNumberOfMessages) {
			break
		}
		if time.Since(q.hidden[*m.MessageId]) > visible {
			q.hidden[*m.MessageId] = time.Now()
			out.Messages = append(out.Messages, *m)
		}
	}
	if len(out.Messages) == 0 {
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond): // instead of a long poll
		}
	}
	return out, ctx.Err()
}

func (q *queue) DeleteMessageBatch(_ context.Context, in *sqs.DeleteMessageBatchInput,
	_ ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range in.Entries {
		q.deleted = append(q.deleted, *e.ReceiptHandle)
		q.messages = slices.DeleteFunc(q.messages, func(m types.Message) bool {
			return aws.ToString(m.ReceiptHandle) == *e.ReceiptHandle
		})
	}
	return &sqs.DeleteMessageBatchOutput{}, nil
}

func (q *queue) left() (out []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.messages {
		out = append(out, *q.messages[i].Body)
	}
	return out
}

func TestPollerDeletesWhatIsDone(t *testing.T) {
	t.Parallel()
	h := start(t, lambdahost.Options{Instances: map[string]int{"consume": 2}})
	q := newQueue("a", "fail", "b", "c", "fail", "d", "e")
	p := h.Poll(q, "q", "consume")
	eventually(t, "only what fails is left", func() bool { return fmt.Sprint(q.left()) == "[fail fail]" })
	invoked := h.Stats("consume").Invoked
	eventually(t, "what failed comes back", func() bool { return h.Stats("consume").Invoked > invoked+1 })
	if s := p.Stats(); s != (lambdahost.QueueStats{}) {
		t.Errorf("%+v, though nothing was to be broken", s)
	}
}

func TestABatchWhoseProcessDiesComesBack(t *testing.T) {
	t.Parallel()
	h := start(t, lambdahost.Options{Instances: map[string]int{"consume": 1}})
	q := newQueue("a", "die", "b", "c")
	h.Poll(q, "q", "consume")
	eventually(t, "the process died twice", func() bool {
		return h.Stats("consume").Lost >= 2 && h.Stats("consume").Died >= 2
	})
	eventually(t, "the other batch is done", func() bool { return slices.Equal(q.left(), []string{"a", "die", "b"}) })
}

// TestAsTheTemplateSays compares timeouts and routes with the templates.
func TestAsTheTemplateSays(t *testing.T) {
	t.Parallel()
	routes, timeouts := map[string]string{}, map[string]time.Duration{}
	for _, name := range []string{"sale", "money", "office", "shopper", "api"} {
		b, err := os.ReadFile("../../infra/" + name + ".yaml")
		must.OK(t, err)
		var doc struct {
			Resources map[string]struct {
				Type       string    `yaml:"Type"`
				Properties yaml.Node `yaml:"Properties"`
			} `yaml:"Resources"`
		}
		must.OK(t, yaml.Unmarshal(b, &doc))
		for _, r := range doc.Resources {
			var p struct {
				CodeURI string `yaml:"CodeUri"`
				Timeout int    `yaml:"Timeout"`
				Body    struct {
					Paths map[string]yaml.Node `yaml:"paths"`
				} `yaml:"DefinitionBody"`
			}
			if r.Type != "AWS::Serverless::Function" && r.Type != "AWS::Serverless::Api" {
				continue
			}
			must.OK(t, r.Properties.Decode(&p))
			if p.CodeURI != "" {
				timeouts[strings.Trim(strings.TrimPrefix(p.CodeURI, "../functions"), "/")] =
					time.Duration(p.Timeout) * time.Second
			}
			for path, node := range p.Body.Paths {
				routes[path] = leadsTo(t, &node)
			}
		}
	}
	if fmt.Sprint(timeouts) != fmt.Sprint(lambdahost.Timeouts) {
		t.Errorf("timeouts: the template has %v, not %v", timeouts, lambdahost.Timeouts)
	}
	if fmt.Sprint(routes) != fmt.Sprint(lambdahost.Routes) {
		t.Errorf("routes: the template has %v, not %v", routes, lambdahost.Routes)
	}
}

// leadsTo returns the function behind a path, for any method, or POST alone; of a sandbox's path if only a sandbox has
// it.
func leadsTo(t *testing.T, path *yaml.Node) string {
	t.Helper()
	if path.Kind == yaml.AliasNode {
		path = path.Alias
	}
	if path.Kind == yaml.SequenceNode { // !If
		path = path.Content[1]
	}
	type method struct {
		Integration struct {
			URI string `yaml:"uri"`
		} `yaml:"x-amazon-apigateway-integration"`
	}
	var of struct {
		Any  method `yaml:"x-amazon-apigateway-any-method"`
		Post method `yaml:"post"`
	}
	must.OK(t, path.Decode(&of))
	step, _ := strings.CutSuffix(strings.TrimPrefix(cmp.Or(of.Any, of.Post).Integration.URI, "${FunctionsUri}-"),
		":live/invocations")
	return step
}
