// Command expire is the step on the closings queue, and each minute, as a Lambda function: it closes orders that are
// due, and ends orders that were shipped.
package main

import (
	"github.com/your-org/seckill/functions/internal/aws"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/app"
)

func main() {
	aws.Run("expire", func(d *aws.Drivers) apigw.Handler {
		flow := app.Expire(d)
		return apigw.BatchOr(apigw.Batch(flow.Handle, d.Log), apigw.Schedule(flow.Sweep))
	})
}
