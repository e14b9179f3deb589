// Command shop serves the pages, lists, details, orders, cancels, receipts and connect passes, as a Lambda function
// behind API Gateway.
package main

import (
	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/gallery"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/web"
)

func main() {
	boot.Run("shop", func(s config.Shop, b *boot.Boot) apigw.Handler {
		ledger, items := b.Ledger()
		flow := shop.New(shop.Deps{
			Stock: b.Stock(s.Redis), Ledger: ledger, Items: items,
			Closings: b.Queue(s.Closings.URL, ""),
			Payments: b.Signer(s.Alipay),
			Clock:    b.Clock, Meter: b.Meter,
		})
		auth := b.Tokens(s.Tokens)
		face := b.Options(httpapi.Options{CashierURL: s.Alipay.CashierURL, CORSOrigin: s.CORS.Origin,
			Contact: s.Contact, Salts: b.Salts(s.Salts),
			Push: b.Push(s.Push, s.Tokens)}, auth)
		pages := web.Handler(httpapi.NewShop(flow, auth, face), web.Options{Push: s.Push.URL})
		if s.Pictures.Bucket != "" {
			pages = gallery.Serve(b.Pictures(s.Pictures), pages)
		}
		return apigw.HTTP(pages)
	})
}
