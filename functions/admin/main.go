// Command admin is the back office's door as a Lambda function behind API Gateway: it takes the commands of staff whom
// API Gateway has verified, records them, and has the stack's other functions execute them.
package main

import (
	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/functions/internal/office"
	"github.com/your-org/seckill/shared/adapter/apigw"
	"github.com/your-org/seckill/shared/adapter/config"
	"github.com/your-org/seckill/shared/adapter/lambdacall"
	"github.com/your-org/seckill/shared/adapter/operator"
	"github.com/your-org/seckill/shared/flow/audit"
)

func main() {
	boot.Run("admin", func(s config.Admin, b *boot.Boot) apigw.Handler {
		text := office.Text()
		flow := audit.New(audit.Deps{Log: b.LedgerOnly(), Clock: b.Clock, IDs: b.IDs, Meter: b.Meter,
			Keep: operator.KeepHeads(text)})
		door := operator.Office{Stack: b.Stack, Clock: b.Clock, Key: office.Key(b, s.Command),
			Invoke: lambdacall.New(b.AWS(), b.Stack).Invoke,
			Record: &operator.Recorder{Log: flow, Text: text}}
		return door.Handle
	})
}
