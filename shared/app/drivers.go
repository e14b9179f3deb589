// Package app puts the shop together: which ports each step uses. This is said once. A function gives it the drivers of
// AWS, a local run embedded ones, the simulator ones that fail when it wants.
//
// In: Drivers. Out: the steps of package flow. It opens nothing itself, and imports no driver.
package app

import (
	"context"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Drivers opens ports. A step calls only those that it uses, so that a function opens, and links, nothing else. What is
// called twice is opened once.
type Drivers interface {
	Clock() seckill.Clock
	IDs() IDs
	Meter() seckill.Meter
	// Each returns what calls do for 0 to n-1, at most so many at once, and returns when all have ended.
	Each(most int) func(n int, do func(i int))

	Stock() seckill.Stock       // connects before the first event
	LazyStock() seckill.Stock   // connects at its first use: an operator's stop waits for no PING
	Reserver() seckill.Reserver // the stock, for purchases
	Ledger() seckill.Ledger
	Items() seckill.Items
	Orders() seckill.Queue       // to send to
	OrdersWork() seckill.Queue   // to receive from
	Closings() seckill.Queue     // to send to
	ClosingsWork() seckill.Queue // to receive from

	Tickets() seckill.TicketChecker // if nil, every item sells without tickets
	Admission() Admission
	Issuers() seckill.Issuers
	ReturnPages() seckill.ReturnPages // of those who sign in
	TokenSigner() seckill.TokenSigner

	Verifier() seckill.Verifier
	Signer() seckill.Signer // of pay strings; calls nobody
	Pages() seckill.Pages   // signs addresses of the cashier; calls nobody
	Provider() Provider

	Bus() seckill.Bus
	Endpoint() seckill.Endpoint
	GivenUp(ctx context.Context, order string, err error) // is told of orders whose events no endpoint took
	Connections() seckill.Connections
	Wire() seckill.Wire
	Recent() seckill.Recent // if nil, the wire cannot send as soon as a page is connected

	StaffSessions() seckill.StaffSessions
	StaffIssuer() seckill.StaffIssuer // if nil, staff sign in nowhere
	StaffClock() seckill.Clock        // the clock by which staff's sessions end

	// What differs between shops.
	Hold() time.Duration              // how long an unpaid order keeps its units
	KeepNetworks() time.Duration      // after the end of a sale; 0 if none are kept
	KeepAddresses() time.Duration     // after the end of a sale; 0 means forever
	KeepNotifications() time.Duration // 0 means forever
	Alone() seckill.AloneLimit        // what one person may refund
	Public() string                   // the page's address
}

// IDs makes ids and secrets.
type IDs interface {
	seckill.IDs
	seckill.UserIDs
	Token() string
	Bytes(n int) []byte
}

// Provider is all of a payment provider.
type Provider interface {
	seckill.Payments
	seckill.Refunds
	seckill.Trades
	seckill.Bills
}

// Admission has what the step admit needs to give tickets.
type Admission struct {
	Tickets seckill.TicketMaker
	Proofs  seckill.Proofs
	Picker  seckill.Picker
	Work    seckill.Work // of a proof
}
