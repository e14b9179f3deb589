// Command reconcile compares, each morning, the payment provider's bill of the day before with the ledger, as a
// Lambda function; it also executes the operator's commands about bills.
package main

import (
	"github.com/your-org/seckill/functions/internal/aws"
	"github.com/your-org/seckill/functions/internal/office"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/app"
)

func main() {
	aws.Run("reconcile", func(d *aws.Drivers) apigw.Handler {
		flow := app.Reconcile(d)
		return apigw.ScheduleOr(apigw.Schedule(d.CountDays(flow.Run)),
			office.Serve(d, operator.NewBillHandler(flow)))
	})
}
