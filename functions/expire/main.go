// Command expire is the step on the closings queue, and each minute, as a Lambda function: it closes orders that are
// due.
package main

import (
	"seckill/functions/internal/boot"
	"seckill/shared/adapter/apigw"
	"seckill/shared/adapter/config"
	"seckill/shared/flow/expire"
)

func main() {
	boot.Run("expire", func(s config.Expire, b *boot.Boot) apigw.Handler {
		ledger, _ := b.Ledger()
		flow := expire.New(expire.Deps{
			Ledger:   ledger,
			Payments: b.Payments(s.Alipay),
			Orders:   b.Queue(s.Orders.URL, ""),
			Closings: b.Queue(s.Closings.URL, s.Dead.URL),
			Clock:    b.Clock, Meter: b.Meter,
		})
		return apigw.BatchOr(apigw.Batch(flow.Handle, b.Log), apigw.Schedule(flow.Sweep))
	})
}
