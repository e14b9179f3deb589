package shop_test

import (
	"context"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/seckill"
)

// waiting is a stock in which buyer's newest order waits for its placement, if it has one.
type waiting struct {
	seckill.Stock
	order   string
	created time.Time
	err     error
}

func (s *waiting) Queued(context.Context, string, string, string) (seckill.Reservation, error) {
	r := seckill.Reservation{}
	r.Order, r.Created = s.order, s.created
	return r, s.err
}

// newest is a ledger with buyer's newest order, if its state is set.
type newest struct {
	shop.Ledger
	order seckill.Order
	err   error
}

func (l *newest) Quota(context.Context, string, string) (q seckill.Quota, err error) {
	if l.order.State != "" {
		q.Newest = l.order.ID
	}
	return q, l.err
}

func (l *newest) Order(context.Context, string) (seckill.Order, error) {
	if l.order.State == "" {
		return seckill.Order{}, seckill.ErrNoOrder
	}
	return l.order, l.err
}

// signs signs pay strings, or is too busy to.
type signs struct{ err error }

func (s signs) Prepare(seckill.Order) (string, error) { return "pay", s.err }

// TestNewest is the specification of a status poll: the shopper's answer while an order is in the stock, the ledger,
// both or neither.
func TestNewest(t *testing.T) {
	t.Parallel()
	now := start.Add(20 * time.Minute)
	lost := seckill.ErrNotInstalled
	for _, c := range []struct {
		name   string
		queued bool          // the stock has the order
		stock  error         // of Queued
		placed seckill.State // the order's state in the ledger; "" if it has none
		payBy  time.Duration // from now
		ledger error         // of the ledger's reads
		sign   error
		at     time.Duration // after the start
		state  seckill.State
		again  time.Duration // when to poll again
		pay    string
		code   seckill.Code
	}{
		{name: "no order"},
		{name: "queued", queued: true, state: seckill.Queued, again: 3 * time.Second},
		{name: "placed, and still in the stock", queued: true, placed: seckill.PendingPayment, payBy: time.Minute,
			state: seckill.PendingPayment, pay: "pay"},
		{name: "to be paid", placed: seckill.PendingPayment, payBy: time.Minute, state: seckill.PendingPayment,
			pay: "pay"},
		{name: "to be paid, the signer is busy", placed: seckill.PendingPayment, payBy: time.Minute,
			sign: seckill.ErrSignLater, state: seckill.PendingPayment, again: 10 * time.Second},
		{name: "its hold is over", placed: seckill.PendingPayment, payBy: -time.Second, state: seckill.PendingPayment,
			again: time.Second},
		{name: "closing", placed: seckill.Closing, state: seckill.Closing, again: time.Second},
		{name: "paid", placed: seckill.Paid, state: seckill.Paid},
		{name: "rejected", placed: seckill.Rejected, state: seckill.Rejected},
		{name: "the stock is lost, no row", stock: lost, code: seckill.CodeNotReady},
		{name: "the stock is lost, a row", stock: lost, placed: seckill.Paid, state: seckill.Paid},
		{name: "not in the stock yet", stock: lost, at: -time.Hour},
		{name: "no longer in the stock", stock: lost, at: 72 * time.Hour},
		{name: "the stock does not answer", stock: errNoAnswer, code: seckill.CodeUnavailable},
		{name: "the stock does not answer, a row", stock: errNoAnswer, placed: seckill.Paid, state: seckill.Paid},
		{name: "the ledger does not answer", ledger: errNoAnswer, code: seckill.CodeUnavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			at := now
			if c.at != 0 {
				at = start.Add(c.at)
			}
			id := seckill.KeyedOrderID("1", buyer, "k")
			stock := &waiting{err: c.stock, created: at.Add(-3 * time.Second)}
			if c.queued {
				stock.order = id
			}
			items := memory.NewItems()
			must.OK(t, items.Put(t.Context(), drivertest.Item("1", start), nil))
			f := shop.New(shop.Deps{Stock: stock, Items: items, Payments: signs{c.sign}, Clock: memory.NewClock(at),
				Meter: memory.Meter(nil), Ledger: &newest{err: c.ledger, order: seckill.Order{ID: id, User: buyer,
					State: c.placed, Placed: at.Add(-time.Minute), PayBy: at.Add(c.payBy)}}})
			got, err := f.Newest(t.Context(), buyer, "1")
			if c.code != "" && (err == nil || seckill.CodeOf(err) != c.code) || c.code == "" && err != nil {
				t.Errorf("got %v, want code %q", err, c.code)
			}
			if got.State != c.state || got.RetryAfter != c.again || got.PayString != c.pay {
				t.Errorf("got %q, again in %v, pay string %q; want %q, %v, %q", got.State, got.RetryAfter,
					got.PayString, c.state, c.again, c.pay)
			}
		})
	}
}
