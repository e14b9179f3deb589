// Command consume is the step on the orders queue as a Lambda function: it places orders and takes returned units back
// into the stock.
package main

import (
	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/flow/sale/consume"
	"github.com/your-org/seckill/shared/flow/sale/repair"
)

func main() {
	boot.Run("consume", func(s config.Consume, b *boot.Boot) apigw.Handler {
		stock, orders := b.Stock(s.Redis), b.Queue(s.Orders.URL, s.Dead.URL)
		ledger, items := b.Ledger()
		flow := consume.New(consume.Deps{
			Stock: stock, Ledger: ledger, Items: items, Orders: orders,
			Closings: b.Queue(s.Closings.URL, ""),
			Clock:    b.Clock, Meter: b.Meter,
			Repair: repair.New(repair.Deps{Stock: stock, Ledger: ledger, Items: items, Orders: orders, Clock: b.Clock,
				IDs: b.IDs, Meter: b.Meter}),
			Hold: s.Hold.Time, KeepNetworks: s.Networks.Keep() > 0,
		})
		return apigw.Batch(flow.Handle, b.Log)
	})
}
