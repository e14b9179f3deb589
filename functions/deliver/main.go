// Command deliver posts the changes of orders to the shop's endpoint, as a Lambda function on the stream of the orders
// table; each minute it posts again what was not acknowledged. It also executes the operator's command about webhooks.
package main

import (
	"github.com/your-org/seckill/functions/internal/aws"
	"github.com/your-org/seckill/functions/internal/office"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/app"
	"github.com/your-org/seckill/shared/driver/stream"
)

func main() {
	aws.Run("deliver", func(d *aws.Drivers) apigw.Handler {
		flow := app.Deliver(d)
		return apigw.BatchOr(stream.Handle(flow, d.Log), apigw.ScheduleOr(apigw.Schedule(flow.Sweep),
			office.Serve(d, operator.NewWebhookHandler(flow))))
	})
}
