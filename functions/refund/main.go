// Command refund gives back, each minute, the money that is due back, as a Lambda function.
package main

import (
	"seckill/functions/internal/boot"
	"seckill/shared/adapter/apigw"
	"seckill/shared/adapter/config"
	"seckill/shared/flow/refund"
)

func main() {
	boot.Run("refund", func(s config.Refund, b *boot.Boot) apigw.Handler {
		ledger, _ := b.Ledger()
		flow := refund.New(refund.Deps{
			Ledger:  ledger,
			Refunds: b.Payments(s.Alipay),
			Orders:  b.Queue(s.Orders.URL, ""),
			Clock:   b.Clock, Meter: b.Meter,
		})
		return apigw.Schedule(flow.Sweep)
	})
}
