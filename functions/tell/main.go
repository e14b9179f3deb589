// Command tell tells the changes of orders to shoppers' pages and to other systems, and counts them by item and minute,
// as a Lambda function on the stream of the orders table; it also executes the operator's commands about events and
// counts.
package main

import (
	"time"

	"github.com/your-org/seckill/functions/internal/aws"
	"github.com/your-org/seckill/functions/internal/office"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/app"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/driver/stream"
	"github.com/your-org/seckill/shared/driver/wspush"
)

// pushTime is how long a batch's pushes may take of the function's 30 s.
const pushTime = 5 * time.Second

func main() {
	aws.Run("tell", func(d *aws.Drivers) apigw.Handler {
		teller, counter := app.Tell(d), app.Count(d)
		// What the bus or the counts lack comes back to both: events are told twice, and nothing is counted twice.
		steps := stream.Each(teller, counter)
		if aws.Part[config.Pushes](d).URL != "" { // first, because shoppers wait; what it lacks never comes back
			steps = stream.Each(stream.Within(pushTime, app.Push(d, wspush.AtOnce)), steps)
		}
		return apigw.BatchOr(stream.Handle(steps, d.Log), office.Serve(d, operator.NewEventHandler(teller),
			operator.NewCountHandler(counter)))
	})
}
