// Command refund makes the due refunds each minute, as a Lambda function, and executes the operator's commands about
// money.
package main

import (
	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/functions/internal/office"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/flow/money/refund"
)

func main() {
	boot.Run("refund", func(s config.Refund, b *boot.Boot) apigw.Handler {
		ledger := b.LedgerOnly()
		provider := b.Payments(s.Alipay)
		flow := refund.New(refund.Deps{
			Ledger:  ledger,
			Refunds: provider, Trades: provider,
			Orders: b.Queue(s.Orders.URL, ""),
			Clock:  b.Clock, Meter: b.Meter,
			Alone: s.Alone.Limit(),
		})
		return apigw.ScheduleOr(apigw.Schedule(flow.Sweep),
			office.Serve(b, s.Commands, operator.NewPaymentHandler(flow)))
	})
}
