// Command refund makes the due refunds each minute, as a Lambda function, and executes the operator's commands about
// money.
package main

import (
	"github.com/your-org/seckill/functions/internal/aws"
	"github.com/your-org/seckill/functions/internal/office"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/app"
)

func main() {
	aws.Run("refund", func(d *aws.Drivers) apigw.Handler {
		flow := app.Refund(d)
		return apigw.ScheduleOr(apigw.Schedule(flow.Sweep), office.Serve(d, operator.NewPaymentHandler(flow)))
	})
}
