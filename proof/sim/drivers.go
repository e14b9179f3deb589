package sim

import (
	"context"
	"time"

	"github.com/your-org/seckill/shared/app"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/seckill"
)

// drivers are the drivers of one process: the world's ports, behind a Hook.
type drivers struct {
	app.Drivers // nil, so that drivers of ports that no process uses fail

	w                *World
	hook             Hook
	clock            seckill.Clock
	ledger           *ledger.Ledger
	items            seckill.Items
	orders, closings seckill.Queue
	provider         *Provider
	keys             *keyring       // of admit
	tickets          *ticketChecker // of buy; if nil, the world needs none
}

// cheap is the work of the world's proofs.
var cheap = seckill.Work{Cost: 1, Tries: 2}

func (w *World) drivers(hook Hook, clock seckill.Clock, rows Rows, orders, closings seckill.Queue,
	p *Provider) *drivers {
	d := &drivers{w: w, hook: hook, clock: clock, ledger: ledger.New(rows), items: Items{published{w.items, w}, hook},
		orders: Queue{"orders", orders, hook}, closings: Queue{"closings", closings, hook}, provider: p,
		keys: w.keyring(clock)}
	if !w.door.closed {
		d.tickets = w.ticketChecker(clock)
	}
	return d
}

func (d *drivers) Clock() seckill.Clock                         { return d.clock }
func (d *drivers) IDs() app.IDs                                 { return ids{d.w.ids, fewNumbers{d.w.userIDs}} }
func (d *drivers) Meter() seckill.Meter                         { return d.w.Events }
func (d *drivers) Ledger() seckill.Ledger                       { return d.ledger }
func (d *drivers) Items() seckill.Items                         { return d.items }
func (d *drivers) Orders() seckill.Queue                        { return d.orders }
func (d *drivers) OrdersWork() seckill.Queue                    { return d.orders }
func (d *drivers) Closings() seckill.Queue                      { return d.closings }
func (d *drivers) ClosingsWork() seckill.Queue                  { return d.closings }
func (d *drivers) LazyStock() seckill.Stock                     { return d.Stock() }
func (d *drivers) Reserver() seckill.Reserver                   { return d.Stock() }
func (d *drivers) Verifier() seckill.Verifier                   { return Payments{d.provider, d.hook} }
func (d *drivers) Signer() seckill.Signer                       { return Payments{d.provider, d.hook} }
func (d *drivers) ReturnPages() seckill.ReturnPages             { return seckill.ReturnPages{} }
func (d *drivers) Issuers() seckill.Issuers                     { return issuers{d.w, d.hook, d.clock.Now} }
func (d *drivers) TokenSigner() seckill.TokenSigner             { return noToken{} }
func (d *drivers) Bus() seckill.Bus                             { return bus{d.w, d.hook} }
func (d *drivers) Endpoint() seckill.Endpoint                   { return endpoint{d.w, d.hook} }
func (d *drivers) Hold() time.Duration                          { return Hold }
func (d *drivers) KeepNetworks() time.Duration                  { return d.w.networkKeep }
func (d *drivers) KeepAddresses() time.Duration                 { return seckill.MinAddressKeep }
func (d *drivers) KeepNotifications() time.Duration             { return 0 }
func (d *drivers) Alone() seckill.AloneLimit                    { return d.w.truth.limit }
func (d *drivers) Each(int) func(n int, do func(i int))         { return system.Several(1) }
func (d *drivers) GivenUp(_ context.Context, o string, _ error) { d.w.givenUp(o) }

func (d *drivers) Stock() seckill.Stock {
	return hookedStock{redisstock.New(Runner{watched{d.w.Redis, d.w}, d.hook}), d.w}
}

func (d *drivers) Tickets() seckill.TicketChecker {
	if d.tickets == nil {
		return nil
	}
	return d.tickets
}

func (d *drivers) Admission() app.Admission {
	return app.Admission{Tickets: d.keys, Proofs: ringProofs{d.keys}, Picker: d.keys, Work: cheap}
}

func (d *drivers) Provider() app.Provider {
	p, hook := d.provider, d.hook
	return provider{Payments{p, hook}, Refunds{p, hook}, Trades{p, hook}, Bills{p, hook}}
}

// ids makes the world's ids. It has few user ids.
type ids struct {
	*system.IDs
	users fewNumbers
}

// UserID implements seckill.UserIDs.
func (i ids) UserID() string { return i.users.UserID() }

// provider is all of the payment provider.
type provider struct {
	Payments
	Refunds
	Trades
	Bills
}
