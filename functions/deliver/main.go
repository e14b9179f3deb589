// Command deliver posts the changes of orders to the shop's endpoint, as a Lambda function on the stream of the orders
// table; each minute it posts again what was not acknowledged. It also executes the operator's command about webhooks.
package main

import (
	"context"

	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/functions/internal/office"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/driver/stream"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/flow/front/deliver"
)

// posts is how many orders are posted at the same time: as many may be slow before they delay others.
const posts = 16

func main() {
	boot.Run("deliver", func(s config.Deliver, b *boot.Boot) apigw.Handler {
		flow := deliver.New(deliver.Deps{Ledger: b.LedgerOnly(), Endpoint: b.Endpoint(s.Webhook), Clock: b.Clock,
			Meter: b.Meter, Each: system.Several(posts),
			GivenUp: func(ctx context.Context, order string, err error) {
				b.Log.ErrorContext(ctx, "events given up", "order", order, "err", err)
			}})
		return apigw.BatchOr(stream.Handle(flow, b.Log), apigw.ScheduleOr(apigw.Schedule(flow.Sweep),
			office.Serve(b, s.Commands, operator.NewWebhookHandler(flow))))
	})
}
