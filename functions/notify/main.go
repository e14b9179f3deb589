// Command notify is the step behind Alipay's callback as a Lambda function behind API Gateway: it records authentic
// payments.
package main

import (
	"time"

	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/flow/money/notify"
)

func main() {
	boot.Run("notify", func(s config.Notify, b *boot.Boot) apigw.Handler {
		ledger := b.LedgerOnly()
		flow := notify.New(notify.Deps{Verifier: b.Verifier(s.Verifier), Ledger: ledger, Clock: b.Clock, Meter: b.Meter,
			Keep: time.Duration(s.KeepDays) * 24 * time.Hour})
		return apigw.HTTP(httpapi.NewNotify(flow, b.Options(httpapi.Options{}, nil)))
	})
}
