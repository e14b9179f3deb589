// Package shop is what shoppers look at: lists, an item's detail, their orders; and what they do to an order of their
// own, cancel. It reads items, stock and ledger, signs pay strings, and sends to the closings queue.
package shop

import (
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// View is an item as shoppers see it.
type View struct {
	Item        seckill.Item
	Description seckill.Description
	Left        int // units left
	// AsOf is when all this was certainly so, when that is more than a moment ago, because what can say more could not
	// be asked; else zero.
	AsOf time.Time
}

// Page is a page of a list. AsOf is that of what is oldest in it, as in View.
type Page struct {
	Items []View
	AsOf  time.Time
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
