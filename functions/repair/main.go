// Command repair is the step that keeps stock and ledger together, as a Lambda function that runs each minute.
package main

import (
	"seckill/functions/internal/boot"
	"seckill/shared/adapter/apigw"
	"seckill/shared/adapter/config"
	"seckill/shared/flow/repair"
)

func main() {
	boot.Run("repair", func(s config.Repair, b *boot.Boot) apigw.Handler {
		ledger, items := b.Ledger()
		flow := repair.New(repair.Deps{
			Stock: b.Stock(s.Redis), Ledger: ledger, Items: items,
			Orders: b.Queue(s.Orders.URL, ""),
			Clock:  b.Clock, IDs: b.IDs, Meter: b.Meter,
		})
		return apigw.Schedule(flow.Run)
	})
}
