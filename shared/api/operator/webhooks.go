package operator

import (
	"context"
	"errors"
	"log/slog"

	"github.com/your-org/seckill/shared/flow/front/deliver"
	"github.com/your-org/seckill/shared/seckill"
)

var errNoWebhooks = errors.New("this shop posts no webhooks: a run posts them with --events")

// NewWebhookHandler returns a handler of the command about webhooks. It uses the flow, which is nil if the shop has no
// webhooks.
func NewWebhookHandler(flow *deliver.Flow) Handler {
	return handler(func(ctx context.Context, c does[*deliver.Flow]) (Done, error) { return c.Do(ctx, flow) })
}

// Redelivered is the result of posting again what was given up.
type Redelivered struct {
	Orders int `json:"orders"` // that are due again
}

// Redeliver makes the orders due again whose events were given up.
type Redeliver struct{ Given }

func (*Redeliver) Spec() Spec {
	return Spec{Name: "redeliver", Path: "events redeliver", Roles: operators, In: "deliver",
		Short: "Post webhooks again that were given up",
		Long: `Post the events of orders again that the endpoint did not acknowledge for a day, and that were
given up. They are posted within a minute, and again for a day.`}
}

func (*Redeliver) Do(ctx context.Context, flow *deliver.Flow) (Done, error) {
	if flow == nil {
		return Done{}, &seckill.Error{Code: seckill.CodeUnavailable, Err: errNoWebhooks}
	}
	n, err := flow.Resume(ctx)
	if err != nil {
		err = seckill.AsError(err)
	}
	return Done{Result: Redelivered{n}, Outcome: changedIf(n > 0), More: []slog.Attr{slog.Int("orders", n)}}, err
}
