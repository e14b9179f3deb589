// Command signin exchanges what an issuer of OpenID Connect gave to a shopper for the shop's own token, as a Lambda
// function behind API Gateway.
package main

import (
	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/flow/front/signin"
)

func main() {
	boot.Run("signin", func(s config.Signin, b *boot.Boot) apigw.Handler {
		flow := signin.New(signin.Deps{Issuers: b.Issuers(s.Issuers), Identities: b.LedgerOnly(), IDs: b.IDs,
			Signer: b.TokenSigner(s.Tokens), Clock: b.Clock, Meter: b.Meter})
		face := b.Options(httpapi.Options{CORSOrigin: s.CORS.Origin}, b.Tokens(s.Tokens))
		return apigw.HTTP(httpapi.NewSignIn(flow, face))
	})
}
