// Command repair keeps stock and ledger consistent, as a Lambda function that runs each minute. Because it is the
// only function without crowds that reaches both stock and ledger, it also executes the operator's commands about a
// user, about blocks and about orders after they are paid, and erases expired addresses.
package main

import (
	"github.com/your-org/seckill/functions/internal/aws"
	"github.com/your-org/seckill/functions/internal/office"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/app"
)

func main() {
	aws.Run("repair", func(d *aws.Drivers) apigw.Handler {
		erase := app.Erase(d)
		// Its role reads orders by item and by user, and changes them, for erasures: orders need no more.
		return apigw.ScheduleOr(apigw.Schedule(app.EachMinute(app.Repair(d), erase)), office.Serve(d,
			operator.NewUserHandler(erase),
			operator.NewBlockHandler(app.Block(d)),
			operator.NewOrderHandler(app.Fulfil(d))))
	})
}
