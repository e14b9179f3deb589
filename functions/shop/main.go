// Command shop serves the pages, lists, details, orders, cancels, receipts and connect passes, as a Lambda function
// behind API Gateway.
package main

import (
	"github.com/your-org/seckill/functions/internal/aws"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/app"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/web"
)

func main() {
	aws.Run("shop", func(d *aws.Drivers) apigw.Handler {
		auth := d.Tokens()
		face := d.ShopperOptions(httpapi.Options{
			CashierURL: aws.Part[config.Alipay](d).CashierURL,
			Contact:    d.Contact(),
			Salts:      d.Salts(),
			Push:       d.Push(),
			Sessions:   d.Ledger(),
		}, auth)
		flow := app.Shop(d)
		pages := web.Handler(httpapi.NewShop(flow, auth, face),
			web.Options{Push: aws.Part[config.Push](d).URL, Items: flow, URL: aws.Part[config.Site](d).URL,
				Contact: d.Contact(), Hold: d.Hold()})
		if store := d.Pictures(); store != nil {
			pages = httpapi.ServePictures(store, pages)
		}
		return apigw.HTTP(pages)
	})
}
