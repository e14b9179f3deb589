// Command admin is the back office's door as a Lambda function behind API Gateway: it takes the commands of staff whom
// API Gateway has verified, and of those who have signed in in a browser, records them, and has the stack's other
// functions execute them.
package main

import (
	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/functions/internal/office"
	"github.com/your-org/seckill/shared/adapter/apigw"
	"github.com/your-org/seckill/shared/adapter/config"
	"github.com/your-org/seckill/shared/adapter/lambdacall"
	"github.com/your-org/seckill/shared/adapter/operator"
	"github.com/your-org/seckill/shared/flow/audit"
	"github.com/your-org/seckill/shared/flow/session"
)

func main() {
	boot.Run("admin", func(s config.Admin, b *boot.Boot) apigw.Handler {
		text, ledger := office.Text(), b.LedgerOnly()
		flow := audit.New(audit.Deps{Log: ledger, Clock: b.Clock, IDs: b.IDs, Meter: b.Meter,
			Keep: operator.KeepHeads(text)})
		staff := session.New(session.Deps{Sessions: ledger, Issuer: office.Staff(b, s.Staff), Random: b.IDs,
			Clock: b.Clock, Meter: b.Meter, Audit: flow})
		door := operator.Office{Stack: b.Stack, Clock: b.Clock, Key: office.Key(b, s.Command),
			Invoke: lambdacall.New(b.AWS(), b.Stack).Invoke, Sessions: staff,
			Record: &operator.Recorder{Log: flow, Text: text}}
		return office.Doors(b, s.Page, &door)
	})
}
