// Command stage loads items into the stock, as a Lambda function: it runs each minute, and executes the operator's
// commands about items.
package main

import (
	"github.com/your-org/seckill/functions/internal/aws"
	"github.com/your-org/seckill/functions/internal/office"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/app"
)

func main() {
	aws.Run("stage", func(d *aws.Drivers) apigw.Handler {
		flow := app.Stage(d)
		items := operator.NewItemHandler(flow)
		items.Look = d.Redis().Look
		return apigw.ScheduleOr(apigw.Schedule(flow.Run), office.Serve(d, items,
			operator.NewActivityHandler(app.Activity(d, flow), items)))
	})
}
