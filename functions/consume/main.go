// Command consume is the step on the orders queue as a Lambda function: it places orders and takes returned units back
// into the stock.
package main

import (
	"github.com/your-org/seckill/functions/internal/aws"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/app"
)

func main() {
	aws.Run("consume", func(d *aws.Drivers) apigw.Handler { return apigw.Batch(app.Consume(d).Handle, d.Log) })
}
