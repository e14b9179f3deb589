// Command admit gives tickets to shoppers who pass an item's checks, as a Lambda function behind API Gateway.
package main

import (
	"github.com/your-org/seckill/functions/internal/aws"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/captcha"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/app"
)

func main() {
	aws.Run("admit", func(d *aws.Drivers) apigw.Handler {
		auth := d.Tokens()
		return apigw.HTTP(httpapi.NewAdmit(app.Admit(d, captcha.Painter{}), auth,
			d.ShopperOptions(httpapi.Options{Contact: d.Contact(), Sessions: d.Ledger()}, auth)))
	})
}
