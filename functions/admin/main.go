// Command admin is the back office's door as a Lambda function behind API Gateway: it takes the commands of staff whom
// API Gateway has verified, and of those who have signed in in a browser, records them, and has the stack's other
// functions execute them. It shows running sales itself, and has dead letters moved back.
package main

import (
	"context"

	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/functions/internal/office"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/lambdacall"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/cloudmetrics"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/flow/office/audit"
	"github.com/your-org/seckill/shared/flow/office/session"
	"github.com/your-org/seckill/shared/flow/office/watch"
)

// liveReads is how many figures of a live row are read at once.
const liveReads = 8

func main() {
	boot.Run("admin", func(s config.Admin, b *boot.Boot) apigw.Handler {
		text, ledger := office.Text(), b.LedgerOnly()
		flow := audit.New(audit.Deps{Log: ledger, Clock: b.Clock, IDs: b.IDs, Meter: b.Meter})
		staff := session.New(session.Deps{Sessions: ledger, Issuer: office.Staff(b, s.Staff), Random: b.IDs,
			Clock: b.Clock, Meter: b.Meter, Audit: flow})
		door := &operator.Office{Stack: b.Stack, Clock: b.Clock,
			Invoke: lambdacall.New(b.AWS(), b.Stack).Invoke, Sessions: staff,
			Record: &operator.Recorder{Log: flow, Text: text}}
		queues := []operator.LiveQueue{
			{Name: "orders", OperatedQueue: b.Queue(s.Orders.URL, s.OrdersDead.URL)},
			{Name: "closings", OperatedQueue: b.Queue(s.Closings.URL, s.ClosingsDead.URL)}}
		source := &operator.LiveSource{Items: door.Items(), Waiting: queues,
			Measured: cloudmetrics.New(b.AWS(), b.Clock, b.Stack, map[string]string{
				"orders":   cloudmetrics.NameOf(s.Orders.URL),
				"closings": cloudmetrics.NameOf(s.Closings.URL)}).Read}
		viewers := watch.New(watch.Deps{Ledger: ledger, Source: source, Clock: b.Clock, MetricsAge: watch.MinuteAge,
			Each: system.Several(liveReads), Failed: func(ctx context.Context, part string, err error) {
				b.Log.WarnContext(ctx, "figures are old", "part", part, "err", err)
			}})
		door.Live = operator.NewLiveHandler(viewers, queues)
		if s.Pictures.Bucket != "" {
			door.Pictures = operator.NewPictureHandler(b.Pictures(s.Pictures))
		}
		return office.Doors(b, s.Page, door, office.Keys(b, s.Command))
	})
}
