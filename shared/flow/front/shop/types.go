// Package shop serves what shoppers see: lists, an item's detail and their orders; and what they do to an order:
// cancel it, confirm its receipt, ask for a refund. It reads items, stock and ledger, signs pay strings,
// and sends to the closings queue.
package shop

import (
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// View is an item as shoppers see it.
type View struct {
	Item        seckill.Item
	Description seckill.Description
	Left        int                     // units left
	Activity    *seckill.ListedActivity // nil if the item is in none
	// AsOf is when this state was certain, if it is older than a moment because a newer one could not be read;
	// otherwise zero.
	AsOf time.Time
}

// Page is a page of a list. AsOf is the oldest AsOf of its views.
type Page struct {
	Items []View
	AsOf  time.Time
}

// Status is the state of a shopper's newest order of an item.
type Status struct {
	Order      string        // "" if there is none
	State      seckill.State // "" if there is none
	PayBy      time.Time     // pending_payment: the end of the hold
	Reason     seckill.Code  // rejected: the reason
	RetryAfter time.Duration // when to poll again; 0 if nothing is under way
	PayString  string        // what the app passes to the payment provider; "" unless the order can be paid now
}

// OrderView is an order as its shopper sees it.
type OrderView struct {
	Order     seckill.Order
	Item      View
	AsSold    bool // Item has title, prices and first picture as when it was bought, else as they are now
	PayString string
	Payments  []seckill.Payment // only in a single order's view
}
