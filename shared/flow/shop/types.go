// Package shop is what shoppers look at: lists, an item's detail, their orders; and what they do to an order of their
// own, cancel. It reads items, stock and ledger, signs pay strings, and sends to the closings queue.
package shop

import (
	"time"

	"seckill/shared/seckill"
)

// View is an item as shoppers see it.
type View struct {
	Item        seckill.Item
	Description seckill.Description
	Left        int // units left
}

// Status is where a shopper's newest order of an item is.
type Status struct {
	Order      string        // "" when there is none
	State      seckill.State // "" when there is none
	PayBy      time.Time     // pending_payment: the end of the hold
	Reason     seckill.Code  // rejected: why
	RetryAfter time.Duration // when it is worth asking again; 0: nothing is on the way
	PayString  string        // what to hand to the payment provider; "" unless it can be paid now
}

// OrderView is an order as its shopper sees it.
type OrderView struct {
	Order     seckill.Order
	Item      View
	PayString string
	Payments  []seckill.Payment // only in a single order's view
}
