// Command buy is the purchase step as a Lambda function behind API Gateway: it reserves units and enqueues the
// reservation.
package main

import (
	"github.com/your-org/seckill/functions/internal/aws"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/app"
)

func main() {
	aws.Run("buy", func(d *aws.Drivers) apigw.Handler {
		auth := d.Tokens()
		return apigw.HTTP(httpapi.NewBuy(app.Buy(d), auth, d.ShopperOptions(httpapi.Options{Push: d.Push()}, auth)))
	})
}
