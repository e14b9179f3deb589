// Command repair keeps stock and ledger consistent, as a Lambda function that runs each minute. Because it is the
// only function without crowds that reaches both stock and ledger, it also executes the operator's commands about a
// user, about blocks and about orders after they are paid, and erases expired addresses.
package main

import (
	"context"
	"errors"

	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/functions/internal/office"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/flow/office/block"
	"github.com/your-org/seckill/shared/flow/office/erase"
	"github.com/your-org/seckill/shared/flow/office/fulfil"
	"github.com/your-org/seckill/shared/flow/sale/repair"
)

func main() {
	boot.Run("repair", func(s config.Repair, b *boot.Boot) apigw.Handler {
		ledger, items := b.Ledger()
		stock := b.Stock(s.Redis)
		flow := repair.New(repair.Deps{
			Stock: stock, Ledger: ledger, Items: items,
			Orders: b.Queue(s.Orders.URL, ""),
			Clock:  b.Clock, IDs: b.IDs, Meter: b.Meter,
		})
		addresses := erase.New(erase.Deps{Stock: stock, Ledger: ledger, Items: items, Clock: b.Clock, Meter: b.Meter,
			Keep: s.Addresses.Keep(), KeepNetworks: s.Networks.Keep()})
		users := operator.NewUserHandler(addresses)
		blocks := operator.NewBlockHandler(block.New(block.Deps{Ledger: ledger, Items: items, Clock: b.Clock}))
		// Its role reads orders by item and by user, and changes them, for erasures: orders need no more.
		orders := operator.NewOrderHandler(fulfil.New(fulfil.Deps{Ledger: ledger, Clock: b.Clock}))
		minute := func(ctx context.Context) error { return errors.Join(flow.Run(ctx), addresses.Ended(ctx)) }
		return apigw.ScheduleOr(apigw.Schedule(minute), office.Serve(b, s.Commands, users, blocks, orders))
	})
}
