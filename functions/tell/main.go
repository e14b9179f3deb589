// Command tell tells the changes of orders to other systems, as a Lambda function on the stream of the orders table; it
// also executes the operator's commands about events.
package main

import (
	"log/slog"
	"os"

	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/shared/adapter/apigw"
	"github.com/your-org/seckill/shared/adapter/config"
	"github.com/your-org/seckill/shared/adapter/operator"
	"github.com/your-org/seckill/shared/adapter/stream"
	"github.com/your-org/seckill/shared/adapter/telemetry"
	"github.com/your-org/seckill/shared/flow/tell"
)

func main() {
	boot.Run("tell", func(s config.Tell, b *boot.Boot) apigw.Handler {
		flow := tell.New(tell.Deps{Bus: b.Bus(s.Bus), Ledger: b.LedgerOnly(), Meter: b.Meter})
		audit := telemetry.NewLog(os.Stdout, slog.LevelInfo) // independent of LOG_LEVEL
		return apigw.BatchOr(stream.Handle(flow, b.Log), operator.Serve(audit, operator.NewEventHandler(flow)))
	})
}
