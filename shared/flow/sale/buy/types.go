// Package buy is the purchase step: it reserves units with one script and enqueues the reservation. In: a shopper's
// purchase. Out: an order id that will get a row in the ledger, or a refusal. It touches the stock, the orders queue
// and the items table, reads users' quotas where a limit spans a family, and never touches the payment provider.
package buy

import "github.com/your-org/seckill/shared/seckill"

// Purchase is one purchase request.
type Purchase struct {
	Item  string
	User  string
	Count int
	seckill.Given
	Key    string // Idempotency-Key, "" if the request has none
	Ticket string // "" if the request has none
}
