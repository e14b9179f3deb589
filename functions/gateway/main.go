// Command gateway is the fake payment gateway of a sandbox as a Lambda function: the payment provider's calls, a
// cashier, and notifications. No money moves.
//
//	routes    GET and POST /gateway.do · GET /cashier · POST /cashier/pay · GET /bill, and a schedule each minute,
//	          which repeats notifications
//	settings  TABLE_PREFIX SECRETS ALIPAY_APP_ID ALIPAY_SELLER_ID GATEWAY_PRIVATE_KEY_NAME
//	          ALIPAY_SHOP_PUBLIC_KEY_NAME (or both keys themselves). ALIPAY_GATEWAY, CASHIER_RETURN_URL,
//	          GATEWAY_FAULTS and what every function has may be left out
//	table     <TABLE_PREFIX>gateway_trades: out_trade_no S; index notifications_due: notify_state S, notify_at S,
//	          keys only (fakegateway.Table)
//	rights    GetItem, PutItem on the table, Query on its index, secretsmanager:GetSecretValue on the secret
//	          SECRETS; no queue, no Redis, no VPC
//	bills     are served beside ALIPAY_GATEWAY. A REST API returns a ZIP's bytes only if application/zip is one of
//	          its binary types and the client names that type first in Accept, as package alipay does; otherwise
//	          it returns base64. Lambda's answers hold 6 MB; the timeout allows a few thousand trades a day
//	faults    GATEWAY_FAULTS (notification-lost=0.2,unknown=0.1) is the plan of every instance. A seed in it has no
//	          effect, because each instance draws for itself. There is no /faults, which anybody who finds the API
//	          could set, and no /trades, which would need a right to read the whole table
//	time      a trade is finished 90 days after its payment, and takes no refund from then on
//	timeout   15 s or more: a payment's first notification is sent within its request, and waits at most 5 s for
//	          the shop
package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/your-org/seckill/functions/internal/aws"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/fake/fakegateway"
)

func main() {
	aws.Run("gateway", func(d *aws.Drivers) apigw.Handler {
		g, err := open(d)
		d.Fail(err)
		return apigw.HTTPOr(apigw.HTTP(g), apigw.Schedule(func(ctx context.Context) error {
			delivered, failed, err := g.Repeat(ctx)
			if delivered+failed > 0 {
				d.Log.InfoContext(ctx, "notifications repeated", "delivered", delivered, "failed", failed)
			}
			return err
		}))
	})
}

// open opens the gateway, whose trades are in the table.
func open(d *aws.Drivers) (*fakegateway.Gateway, error) {
	s := aws.Part[config.FakeGateway](d)
	faults, err := fakegateway.ParseFaults(s.Faults)
	if err != nil {
		return nil, fmt.Errorf("settings: GATEWAY_FAULTS: %w", err)
	}
	private, shop := d.Secret(s.Private), d.Secret(s.ShopPublic)
	if _, err := alipay.ParsePrivateKey(private); err != nil {
		return nil, s.Private.Wrong(err)
	}
	if _, err := alipay.ParsePublicKey(shop); err != nil {
		return nil, s.ShopPublic.Wrong(err)
	}
	faults.Seed = rand.Uint64() // with one seed all instances would start with the same faults
	return fakegateway.New(fakegateway.Options{
		Clock:             d.Clock(),
		Log:               d.Log,
		Store:             fakegateway.NewTable(d.Table(fakegateway.Table)),
		AtOnce:            true,
		Faults:            faults,
		FinishAfter:       fakegateway.AlipayFinishes,
		AppID:             s.AppID,
		SellerID:          s.SellerID,
		URL:               s.URL,
		ReturnURL:         s.ReturnURL,
		PrivateKey:        private,
		MerchantPublicKey: shop,
	})
}
