// Package buy is the purchase step: it reserves units with one script and enqueues the reservation. In: a shopper's
// purchase. Out: an order id that will get a row in the ledger, or a refusal. It touches the stock, the orders queue
// and the items table, never the ledger or the payment provider.
package buy

import "net/netip"

// Purchase is one purchase request.
type Purchase struct {
	Item    string
	User    string
	Count   int
	Address string
	Name    string     // the shopper's; "" if their token does not say
	Network netip.Addr // where the request comes from, whole; the zero Addr if unknown
	Key     string     // Idempotency-Key, "" if the request has none
	Ticket  string     // "" if the request has none
}
