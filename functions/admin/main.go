// Command admin is the entry of the back office as a Lambda function behind API Gateway: it takes the commands of staff
// whom API Gateway has verified, and of those who have signed in in a browser, records them, and has the stack's other
// functions execute them. It shows running sales itself, and has dead letters moved back.
package main

import (
	"context"

	"github.com/your-org/seckill/functions/internal/aws"
	"github.com/your-org/seckill/functions/internal/office"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/app"
	"github.com/your-org/seckill/shared/driver/cloudmetrics"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/flow/office/livescreen"
)

// liveReads is how many figures of a live row are read at once.
const liveReads = 8

func main() {
	aws.Run("admin", func(d *aws.Drivers) apigw.Handler {
		log := app.Audit(d)
		commands := &operator.Office{
			Stack:    d.Stack(),
			Clock:    d.Clock(),
			Invoke:   newCaller(d.AWS(), d.Stack()).Invoke,
			Sessions: app.Staff(d, log),
			Record:   &operator.Recorder{Log: log, Text: office.Text()},
			Imports:  d.Ledger(),
		}
		orders, closings := d.OrdersOperated(), d.ClosingsOperated()
		queues := []operator.LiveQueue{{Name: "orders", OperatedQueue: orders},
			{Name: "closings", OperatedQueue: closings}}
		source := &operator.LiveSource{Items: commands.Items(), Waiting: queues,
			Measured: cloudmetrics.New(d.AWS(), d.Clock(), d.Stack(), map[string]string{
				"orders":   cloudmetrics.NameOf(aws.Part[config.Orders](d).URL),
				"closings": cloudmetrics.NameOf(aws.Part[config.Closings](d).URL)}).Read}
		viewers := livescreen.New(livescreen.Deps{Ledger: d.Ledger(), Source: source, Clock: d.Clock(),
			MetricsAge: livescreen.MinuteAge, Each: d.Each(liveReads),
			Failed: func(ctx context.Context, part string, err error) {
				d.Log.WarnContext(ctx, "figures are old", "part", part, "err", err)
			}})
		commands.Live = operator.NewLiveHandler(viewers, queues)
		if store := d.Pictures(); store != nil {
			commands.Pictures = operator.NewPictureHandler(store)
		}
		return office.Handler(d, commands)
	})
}
