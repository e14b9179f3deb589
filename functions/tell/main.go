// Command tell tells the changes of orders to shoppers' pages and to other systems, and counts them by item and minute,
// as a Lambda function on the stream of the orders table; it also executes the operator's commands about events and
// counts.
package main

import (
	"time"

	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/functions/internal/office"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/driver/stream"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/driver/wspush"
	"github.com/your-org/seckill/shared/flow/front/push"
	"github.com/your-org/seckill/shared/flow/front/tell"
	"github.com/your-org/seckill/shared/flow/office/count"
)

// pushTime is how long a batch's pushes may take of the function's 30 s.
const pushTime = 5 * time.Second

func main() {
	boot.Run("tell", func(s config.Tell, b *boot.Boot) apigw.Handler {
		ledger := b.LedgerOnly()
		teller := tell.New(tell.Deps{Bus: b.Bus(s.Bus), Ledger: ledger, Meter: b.Meter})
		counter := count.New(count.Deps{Ledger: ledger, Clock: b.Clock, Meter: b.Meter})
		// What the bus or the counts lack comes back to both: events are told twice, and nothing is counted twice.
		steps := stream.Each(teller, counter)
		if s.Pushes.Stage != "" { // first, because shoppers wait; what it lacks never comes back
			pusher := push.New(push.Deps{Connections: b.Connections(), Wire: b.Wire(s.Pushes.Stage), Clock: b.Clock,
				Meter: b.Meter, Each: system.Several(wspush.AtOnce)})
			steps = stream.Each(stream.Within(pushTime, pusher), steps)
		}
		return apigw.BatchOr(stream.Handle(steps, b.Log), office.Serve(b, s.Commands,
			operator.NewEventHandler(teller), operator.NewCountHandler(counter)))
	})
}
