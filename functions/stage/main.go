// Command stage is the step that brings items into the stock, as a Lambda function: it runs each minute, and carries
// out the operator's commands.
package main

import (
	"log/slog"
	"os"

	"seckill/functions/internal/boot"
	"seckill/shared/adapter/apigw"
	"seckill/shared/adapter/config"
	"seckill/shared/adapter/operator"
	"seckill/shared/adapter/telemetry"
	"seckill/shared/flow/stage"
)

func main() {
	boot.Run("stage", func(s config.Stage, b *boot.Boot) apigw.Handler {
		stock, servers := b.StockAndServers(s.Redis)
		flow := stage.New(stage.Deps{Stock: stock, Items: b.Items(), Clock: b.Clock, IDs: b.IDs})
		handler := operator.NewItemHandler(flow)
		handler.Look = servers
		audit := telemetry.NewLog(os.Stdout, slog.LevelInfo) // whatever LOG_LEVEL says
		return apigw.ScheduleOr(apigw.Schedule(flow.Run), handler.Handler(audit))
	})
}
