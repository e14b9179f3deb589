// Command reconcile compares, each morning, the payment provider's bill of the day before with the ledger, as a
// Lambda function; it also executes the operator's commands about bills.
package main

import (
	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/functions/internal/office"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/flow/money/reconcile"
)

func main() {
	boot.Run("reconcile", func(s config.Reconcile, b *boot.Boot) apigw.Handler {
		ledger := b.LedgerOnly()
		provider := b.Payments(s.Alipay)
		flow := reconcile.New(reconcile.Deps{Ledger: ledger, Bills: provider, Clock: b.Clock, Meter: b.Meter})
		return apigw.ScheduleOr(apigw.Schedule(b.CountDays(provider, flow.Run)),
			office.Serve(b, s.Commands, operator.NewBillHandler(flow)))
	})
}
