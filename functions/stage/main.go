// Command stage loads items into the stock, as a Lambda function: it runs each minute, and executes the operator's
// commands about items.
package main

import (
	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/functions/internal/office"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/flow/office/activity"
	"github.com/your-org/seckill/shared/flow/sale/stage"
)

func main() {
	boot.Run("stage", func(s config.Stage, b *boot.Boot) apigw.Handler {
		stock, servers := b.StockAndServers(s.Redis)
		ledger, items := b.Ledger()
		flow := stage.New(stage.Deps{Stock: stock, Items: items, Clock: b.Clock, IDs: b.IDs, Questions: ledger,
			Activities: ledger, Each: system.Several(stage.AtOnce)})
		handler := operator.NewItemHandler(flow)
		handler.Look = servers
		return apigw.ScheduleOr(apigw.Schedule(flow.Run), office.Serve(b, s.Commands, handler,
			operator.NewActivityHandler(activity.New(activity.Deps{Activities: ledger, Items: items, Questions: ledger,
				Stage: flow, Clock: b.Clock}), handler)))
	})
}
