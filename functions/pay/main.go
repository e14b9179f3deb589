// Command pay is the step that gives ways to Alipay's cashier, as a Lambda function behind API Gateway.
package main

import (
	"github.com/your-org/seckill/functions/internal/aws"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/app"
)

func main() {
	aws.Run("pay", func(d *aws.Drivers) apigw.Handler {
		auth := d.Tokens()
		face := d.ShopperOptions(httpapi.Options{Sessions: d.Ledger()}, auth)
		return apigw.HTTP(httpapi.NewPay(app.Pay(d), auth, face))
	})
}
