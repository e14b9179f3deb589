// Command signin exchanges what an issuer of OpenID Connect gave to a shopper for the shop's own token, as a Lambda
// function behind API Gateway.
package main

import (
	"github.com/your-org/seckill/functions/internal/aws"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/app"
)

func main() {
	aws.Run("signin", func(d *aws.Drivers) apigw.Handler {
		auth := d.Tokens()
		face := d.ShopperOptions(httpapi.Options{Sessions: d.Ledger()}, auth)
		return apigw.HTTP(httpapi.NewSignIn(app.SignIn(d), auth, face))
	})
}
