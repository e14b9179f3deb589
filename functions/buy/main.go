// Command buy is the purchase step as a Lambda function behind API Gateway: it reserves units and enqueues the
// reservation.
package main

import (
	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/flow/sale/buy"
)

func main() {
	boot.Run("buy", func(s config.Buy, b *boot.Boot) apigw.Handler {
		flow := buy.New(buy.Deps{
			Stock:  b.Stock(s.Redis),
			Orders: b.Queue(s.Orders.URL, ""),
			Items:  b.Items(),
			Clock:  b.Clock, IDs: b.IDs, Meter: b.Meter,
			Tickets: b.TicketChecker(s.Ticket), KeepNetworks: s.Networks.Keep() > 0,
		})
		auth := b.Tokens(s.Tokens)
		face := b.Options(httpapi.Options{CORSOrigin: s.CORS.Origin, Push: b.Push(s.Push, s.Tokens)}, auth)
		return apigw.HTTP(httpapi.NewBuy(flow, auth, face))
	})
}
