package operator

import (
	"context"
	"errors"
	"log/slog"

	"github.com/your-org/seckill/shared/flow/front/deliver"
	"github.com/your-org/seckill/shared/seckill"
)

var errNoWebhooks = errors.New("this shop posts no webhooks: a run posts them with --events")

// WebhookHandler executes the command about webhooks. It is safe for concurrent use.
type WebhookHandler struct{ deliver *deliver.Flow }

// NewWebhookHandler returns a handler that uses the flow; nil: the shop has no webhooks.
func NewWebhookHandler(flow *deliver.Flow) *WebhookHandler { return &WebhookHandler{flow} }

// Redelivered is the result of posting again what was given up.
type Redelivered struct {
	Orders int `json:"orders"` // that are due again
}

func (h *WebhookHandler) commands() []command { return webhookCommands }

// do executes the command.
func (h *WebhookHandler) do(ctx context.Context, _ *request) (done, error) {
	if h.deliver == nil {
		return done{}, &seckill.Error{Code: seckill.CodeUnavailable, Err: errNoWebhooks}
	}
	n, err := h.deliver.Resume(ctx)
	if err != nil {
		err = seckill.AsError(err)
	}
	return done{result: Redelivered{n}, outcome: changedIf(n > 0), more: []slog.Attr{slog.Int("orders", n)}}, err
}

// Redeliver makes the orders due again whose events were given up.
func (c *Client) Redeliver(ctx context.Context) (out Redelivered, err error) {
	err = c.give(ctx, &request{Command: cmdRedeliver}, &out)
	return out, err
}
