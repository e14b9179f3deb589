package operator

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/flow/office/livescreen"
	"github.com/your-org/seckill/shared/seckill"
)

// liveTime limits each reading of a live row's figures.
const liveTime = 2 * time.Second

// LiveHandler executes the commands about a running sale. It is safe for concurrent use.
type LiveHandler struct {
	flow   *livescreen.Flow
	queues []LiveQueue
}

// NewLiveHandler returns a handler that uses the flow, and moves dead letters back to the queues.
func NewLiveHandler(flow *livescreen.Flow, queues []LiveQueue) *LiveHandler {
	return &LiveHandler{flow, queues}
}

func (h *LiveHandler) run(c Command) func(context.Context) (Done, error) {
	return handler(func(ctx context.Context, c does[*LiveHandler]) (Done, error) { return c.Do(ctx, h) }).run(c)
}

// ReadLive reads what the live screen shows of an item.
type ReadLive struct {
	Given
	Item string `json:"item" is:"item" arg:"ITEM"`
}

func (*ReadLive) Spec() Spec {
	return Spec{Name: cmdLive, Path: "live", Roles: everybody, In: itself, Quiet: true,
		Short: "Watch the sale of an item: stock, orders, requests, queues, refunds"}
}

const cmdLive = "live"

func (c *ReadLive) Do(ctx context.Context, h *LiveHandler) (Done, error) {
	return readDone(h.flow.Of(ctx, c.Item))
}

// Redrive moves the dead letters of a queue back to it.
type Redrive struct {
	Given
	Queue string `json:"queue" is:"queue" arg:"QUEUE"`
}

func (*Redrive) Spec() Spec {
	return Spec{Name: "redrive", Path: "redrive", Roles: operators, In: itself,
		Short: "Move the dead letters of a queue back to it",
		Long: `Move the messages of a queue's dead-letter queue back to the queue, orders or closings, whose function
handles them again. What cannot be handled comes back: find the cause first
(docs/runbooks/dead-letters.md). Handling a message twice is harmless, and an order older than an hour
is rejected. SQS goes on moving after this command; a move that runs already goes on.`}
}

func (c *Redrive) Do(ctx context.Context, h *LiveHandler) (Done, error) {
	at := slices.IndexFunc(h.queues, func(q LiveQueue) bool { return q.Name == c.Queue })
	if at < 0 {
		return Done{}, seckill.Invalid("queue", strings.Join(Queues, ", "))
	}
	n, err := h.queues[at].Redrive(ctx)
	if err != nil {
		return Done{}, seckill.AsError(err)
	}
	return Done{Result: Redriven{c.Queue, n}, Outcome: changedIf(n > 0), More: []slog.Attr{slog.Int("messages", n)}},
		nil
}

// Redriven is the result of moving dead letters back.
type Redriven struct {
	Queue    string `json:"queue"`
	Messages int    `json:"messages"` // about how many
}

// maxLive is the length of the longest body that Watches reads, in bytes.
const maxLive = 1 << 10

// Watches reports whether a request's body is the command that the live screen gives by itself, each second.
func Watches(body []byte) bool {
	if len(body) > maxLive {
		return false
	}
	c, err := commandOf(all, body)
	return err == nil && c.given().Command == cmdLive
}

// LiveSource reads the figures of live rows that are not in the ledger. It implements livescreen.Source.
type LiveSource struct {
	Items   Client      // of the process that has the stock
	Waiting []LiveQueue // the shop's queues
	// Measured reads metrics; nil if there are no metrics.
	Measured func(context.Context) (seckill.LiveMetrics, error)
}

// LiveQueue is a queue with its name.
type LiveQueue struct {
	Name string
	seckill.OperatedQueue
}

var (
	_ livescreen.Source = (*LiveSource)(nil)

	errNoMetrics = &seckill.Error{Code: seckill.CodeUnavailable, Err: errors.New("no metrics")}
)

// LiveStock implements livescreen.Source.
func (s *LiveSource) LiveStock(ctx context.Context, item string) (seckill.LiveStock, error) {
	ctx, cancel := context.WithTimeout(ctx, liveTime)
	defer cancel()
	out, err := Give[seckill.LiveStock](ctx, &s.Items, &ReadLevel{Item: item})
	return out, coded(err)
}

// Servers implements livescreen.Source.
func (s *LiveSource) Servers(ctx context.Context) ([]seckill.LiveServer, error) {
	ctx, cancel := context.WithTimeout(ctx, liveTime)
	defer cancel()
	h, err := Give[Health](ctx, &s.Items, &ReadHealth{})
	out := make([]seckill.LiveServer, len(h.Redis))
	for i := range h.Redis {
		out[i] = seckill.LiveServer{Address: h.Redis[i].Address, Problem: problemOf(&h.Redis[i])}
	}
	return out, coded(err)
}

// problemOf names what is wrong with a server of the stock.
func problemOf(n *seckill.CacheNode) string {
	switch {
	case n.Fault != "":
		return "no_answer"
	case n.Role == "slave":
		return "replica"
	case n.Evicts():
		return "evicts"
	case n.Full():
		return "full"
	}
	return ""
}

// Queues implements livescreen.Source.
func (s *LiveSource) Queues(ctx context.Context) ([]seckill.LiveQueue, error) {
	ctx, cancel := context.WithTimeout(ctx, liveTime)
	defer cancel()
	out := make([]seckill.LiveQueue, len(s.Waiting))
	for i, q := range s.Waiting {
		d, err := q.Depth(ctx)
		if err != nil {
			return nil, err
		}
		out[i] = seckill.LiveQueue{Name: q.Name, Visible: d.Visible, InFlight: d.InFlight, Delayed: d.Delayed,
			Parked: d.Parked}
	}
	return out, nil
}

// Metrics implements livescreen.Source.
func (s *LiveSource) Metrics(ctx context.Context) (seckill.LiveMetrics, error) {
	if s.Measured == nil {
		return seckill.LiveMetrics{}, errNoMetrics
	}
	ctx, cancel := context.WithTimeout(ctx, liveTime)
	defer cancel()
	return s.Measured(ctx)
}

// coded turns a refusal back into the error that it was made from.
func coded(err error) error {
	if refused := (*Refusal)(nil); errors.As(err, &refused) {
		return &seckill.Error{Code: refused.Code, Err: err}
	}
	return err
}
