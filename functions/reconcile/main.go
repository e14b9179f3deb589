// Command reconcile matches, each morning, the payment provider's bill of the day before against the ledger, as a Lambda function; it carries out the
// operator's commands about bills, too.
package main

import (
	"log/slog"
	"os"

	"seckill/functions/internal/boot"
	"seckill/shared/adapter/apigw"
	"seckill/shared/adapter/config"
	"seckill/shared/adapter/operator"
	"seckill/shared/adapter/telemetry"
	"seckill/shared/flow/reconcile"
)

func main() {
	boot.Run("reconcile", func(s config.Reconcile, b *boot.Boot) apigw.Handler {
		ledger := b.Books()
		flow := reconcile.New(reconcile.Deps{Ledger: ledger, Bills: b.Payments(s.Alipay), Clock: b.Clock, Meter: b.Meter})
		audit := telemetry.NewLog(os.Stdout, slog.LevelInfo) // whatever LOG_LEVEL says
		return apigw.ScheduleOr(apigw.Schedule(flow.Run), operator.NewBillDesk(flow).Handler(audit))
	})
}
