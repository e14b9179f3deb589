// Command admit gives tickets to shoppers who pass an item's checks, as a Lambda function behind API Gateway.
package main

import (
	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/api/picture"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/flow/sale/admit"
	"github.com/your-org/seckill/shared/seckill"
)

func main() {
	boot.Run("admit", func(s config.Admit, b *boot.Boot) apigw.Handler {
		ledger, items := b.Ledger()
		tickets := b.TicketMaker(s.Ticket)
		flow := admit.New(admit.Deps{Ledger: ledger, Items: items, Questions: ledger, Tickets: tickets,
			Proofs: tickets.Proofs(), Picker: tickets, Work: seckill.UsualWork, Clock: b.Clock, Meter: b.Meter,
			Painter: picture.Painter{}})
		auth := b.Tokens(s.Tokens)
		return apigw.HTTP(httpapi.NewAdmit(flow, auth, b.Options(httpapi.Options{CORSOrigin: s.CORS.Origin,
			Contact: s.Contact}, auth)))
	})
}
