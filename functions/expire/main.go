// Command expire is the step on the closings queue, and each minute, as a Lambda function: it closes orders that are
// due, and ends those that were shipped.
package main

import (
	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/flow/sale/expire"
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
