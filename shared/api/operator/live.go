package operator

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/flow/office/watch"
	"github.com/your-org/seckill/shared/seckill"
)

// liveTime limits each reading of a live row's figures.
const liveTime = 2 * time.Second

// LiveHandler executes the commands about a running sale. It is safe for concurrent use.
type LiveHandler struct {
	watch  *watch.Flow
	queues []LiveQueue
}

// NewLiveHandler returns a handler that uses the flow, and moves dead letters back to the queues.
func NewLiveHandler(flow *watch.Flow, queues []LiveQueue) *LiveHandler {
	return &LiveHandler{flow, queues}
}

func (h *LiveHandler) commands() []command { return liveCommands }

// do executes a command.
func (h *LiveHandler) do(ctx context.Context, r *request) (done, error) {
	if r.Command == cmdRedrive {
		return h.redrive(ctx, r.Queue)
	}
	seen, err := h.watch.Of(ctx, r.Item)
	return done{result: seen, outcome: read}, err
}

// Redriven is the result of moving dead letters back.
type Redriven struct {
	Queue    string `json:"queue"`
	Messages int    `json:"messages"` // about how many
}

func (h *LiveHandler) redrive(ctx context.Context, queue string) (done, error) {
	at := slices.IndexFunc(h.queues, func(q LiveQueue) bool { return q.Name == queue })
	if at < 0 {
		return done{}, seckill.Invalid("queue", strings.Join(Queues, ", "))
	}
	n, err := h.queues[at].Redrive(ctx)
	if err != nil {
		return done{}, seckill.AsError(err)
	}
	return done{result: Redriven{queue, n}, outcome: changedIf(n > 0), more: []slog.Attr{slog.Int("messages", n)}}, nil
}

// Redrive moves the dead letters of a queue, one of Queues, back to it.
func (c *Client) Redrive(ctx context.Context, queue string) (out Redriven, err error) {
	err = c.give(ctx, &request{Command: cmdRedrive, Queue: queue}, &out)
	return out, err
}

// maxLive is the length of the longest body that Watches reads, in bytes.
const maxLive = 1 << 10

// Watches reports whether a request's body is the command that the live screen gives by itself, each second.
func Watches(body []byte) bool {
	var e envelope
	return len(body) <= maxLive && strict(body, &e) == nil && e.Operator != nil && e.Operator.Command == cmdLive
}

// Live returns what the live screen shows of an item.
func (c *Client) Live(ctx context.Context, item string) (out watch.Seen, err error) {
	err = c.give(ctx, &request{Command: cmdLive, Item: item}, &out)
	return out, err
}

// Level returns an item and its units, as the machine sees them that has the stock.
func (c *Client) Level(ctx context.Context, item string) (out seckill.LiveStock, err error) {
	err = c.give(ctx, &request{Command: cmdLevel, Item: item}, &out)
	return out, err
}

// LiveSource reads the figures of live rows that are not in the ledger. It implements watch.Source.
type LiveSource struct {
	Items   Client      // of whatever has the stock
	Waiting []LiveQueue // the shop's queues
	// Measured reads metrics; nil: there are none.
	Measured func(context.Context) (seckill.LiveMetrics, error)
}

// LiveQueue is a queue with its name.
type LiveQueue struct {
	Name string
	seckill.OperatedQueue
}

var (
	_ watch.Source = (*LiveSource)(nil)

	errNoMetrics = &seckill.Error{Code: seckill.CodeUnavailable, Err: errors.New("no metrics")}
)

// LiveStock implements watch.Source.
func (s *LiveSource) LiveStock(ctx context.Context, item string) (seckill.LiveStock, error) {
	ctx, cancel := context.WithTimeout(ctx, liveTime)
	defer cancel()
	out, err := s.Items.Level(ctx, item)
	return out, coded(err)
}

// Servers implements watch.Source.
func (s *LiveSource) Servers(ctx context.Context) ([]seckill.LiveServer, error) {
	ctx, cancel := context.WithTimeout(ctx, liveTime)
	defer cancel()
	h, err := s.Items.Health(ctx)
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

// Queues implements watch.Source.
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

// Metrics implements watch.Source.
func (s *LiveSource) Metrics(ctx context.Context) (seckill.LiveMetrics, error) {
	if s.Measured == nil {
		return seckill.LiveMetrics{}, errNoMetrics
	}
	ctx, cancel := context.WithTimeout(ctx, liveTime)
	defer cancel()
	return s.Measured(ctx)
}

// coded returns a refusal as the error that it was.
func coded(err error) error {
	if refused := (*Refusal)(nil); errors.As(err, &refused) {
		return &seckill.Error{Code: refused.Code, Err: err}
	}
	return err
}
