package drivertest

import (
	"context"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Item returns an item of 5 units at 1 yuan, 2 for a user, on sale for an hour.
func Item(id string, start time.Time) seckill.Item {
	return seckill.Item{ID: id, Commodity: seckill.Commodity{ID: "5", Title: "手机"}, Price: 100, Start: start,
		End: start.Add(time.Hour), CreateTime: start, Stock: 5, Limit: 2, Buckets: 16, Version: 1}
}

// Request returns a user's request for one unit.
func Request(item, user string, at time.Time) seckill.Request {
	return seckill.Request{Order: seckill.KeyedOrderID(item, user, "k"), Item: item, User: user, Count: 1,
		Given: seckill.Given{Address: "杭州市西湖区1号"}, Created: at}
}

// Order returns an order of these units at 1 yuan, as Place takes it, to be paid within DefaultHold. Its id names the
// first unit.
func Order(item, user string, at time.Time, units ...int) seckill.Order {
	return seckill.Order{ID: seckill.KeyedOrderID(item, user, fmt.Sprint(units[0])), Item: item, User: user,
		Count: len(units), Units: units, Price: 100, Amount: seckill.Fen(100 * len(units)),
		Given: seckill.Given{Address: "杭州市西湖区1号"}, Title: "手机", Created: at, Placed: at,
		PayBy: at.Add(seckill.DefaultHold), Buckets: 16}
}

// Payment returns the payment of an order by a trade, at the moment of its placement.
func Payment(o seckill.Order, trade string) seckill.Payment {
	return seckill.Payment{Order: o.ID, TradeNo: trade, Amount: o.Amount, State: seckill.Captured, At: o.Placed,
		Cause: "notify"}
}

// Place places an order in a ledger and moves it to a state, as a sale does, at the moment of its placement: paid by
// trade "t", expired or cancelled.
func Place(ctx context.Context, l seckill.Ledger, o seckill.Order, to seckill.State) error {
	if err := l.Place(ctx, o, seckill.MaxLimit); err != nil || to == seckill.PendingPayment {
		return err
	}
	if to == seckill.Paid || to == seckill.RefundOwed {
		p := Payment(o, "t")
		err := l.RecordPayment(ctx, p, seckill.PendingPayment, seckill.Paid)
		if err != nil || to == seckill.Paid {
			return err
		}
		if o, err = l.Order(ctx, o.ID); err != nil {
			return err
		}
		return l.StartRefund(ctx, o, p, false, seckill.Decision{}, p.At, "c")
	}
	o.CloseTo = seckill.Expired
	if to == seckill.Cancelled {
		o.CloseTo = to
	}
	if err := l.BeginClosing(ctx, o, o.CloseTo, o.Placed, "c"); err != nil || to == seckill.Closing {
		return err
	}
	return l.GiveBack(ctx, o, o.Placed, "c")
}
