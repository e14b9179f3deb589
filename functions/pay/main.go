// Command pay is the step that gives ways to Alipay's cashier, as a Lambda function behind API Gateway.
package main

import (
	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/flow/money/pay"
)

func main() {
	boot.Run("pay", func(s config.Pay, b *boot.Boot) apigw.Handler {
		flow := pay.New(pay.Deps{Ledger: b.LedgerOnly(), Pages: b.Signer(s.Alipay), Clock: b.Clock, Meter: b.Meter,
			Public: s.Page.URL})
		auth := b.Tokens(s.Tokens)
		return apigw.HTTP(httpapi.NewPay(flow, auth, b.Options(httpapi.Options{CORSOrigin: s.CORS.Origin}, auth)))
	})
}
