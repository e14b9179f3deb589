package local

import (
	"context"
	"time"

	"github.com/your-org/seckill/shared/api/altcha"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/app"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// drivers are a system's: embedded ones, and those of real servers. New fills them, part by part, before it asks for
// them.
type drivers struct {
	s   *System
	ids *system.IDs

	tickets  *jwtauth.Tickets
	proofs   *altcha.Proofs
	signer   *jwtauth.Signer // of tokens
	issuers  seckill.Issuers
	bus      seckill.Bus
	endpoint seckill.Endpoint
	staff    seckill.StaffIssuer // if nil, only links sign staff in
}

var _ app.Drivers = (*drivers)(nil)

func (d *drivers) Clock() seckill.Clock                 { return d.s.Clock }
func (d *drivers) IDs() app.IDs                         { return d.ids }
func (d *drivers) Meter() seckill.Meter                 { return d.s.Meter }
func (d *drivers) Stock() seckill.Stock                 { return d.s.Stock }
func (d *drivers) LazyStock() seckill.Stock             { return d.s.Stock }
func (d *drivers) Reserver() seckill.Reserver           { return &d.s.reserve }
func (d *drivers) Ledger() seckill.Ledger               { return d.s.Ledger }
func (d *drivers) Items() seckill.Items                 { return d.s.Items }
func (d *drivers) Orders() seckill.Queue                { return d.s.orders }
func (d *drivers) OrdersWork() seckill.Queue            { return d.s.orders }
func (d *drivers) Closings() seckill.Queue              { return d.s.closings }
func (d *drivers) ClosingsWork() seckill.Queue          { return d.s.closings }
func (d *drivers) Tickets() seckill.TicketChecker       { return d.tickets }
func (d *drivers) Issuers() seckill.Issuers             { return d.issuers }
func (d *drivers) ReturnPages() seckill.ReturnPages     { return seckill.ReturnPages{Open: true} }
func (d *drivers) TokenSigner() seckill.TokenSigner     { return d.signer }
func (d *drivers) Verifier() seckill.Verifier           { return d.s.Payments }
func (d *drivers) Signer() seckill.Signer               { return yieldingPayments{d.s.Payments, &d.s.priority} }
func (d *drivers) Pages() seckill.Pages                 { return d.s.Pages }
func (d *drivers) Provider() app.Provider               { return d.s.Payments }
func (d *drivers) Bus() seckill.Bus                     { return d.bus }
func (d *drivers) Endpoint() seckill.Endpoint           { return d.endpoint }
func (d *drivers) Connections() seckill.Connections     { return memory.NewConnections(d.s.Clock) }
func (d *drivers) Wire() seckill.Wire                   { return d.s.live }
func (d *drivers) Recent() seckill.Recent               { return newRecent(d.s.Clock) }
func (d *drivers) StaffSessions() seckill.StaffSessions { return d.s.Ledger }
func (d *drivers) StaffIssuer() seckill.StaffIssuer     { return d.staff }
func (d *drivers) Hold() time.Duration                  { return d.s.opt.Hold }
func (d *drivers) KeepNetworks() time.Duration          { return d.s.opt.KeepNetworks }
func (d *drivers) KeepAddresses() time.Duration         { return 0 }
func (d *drivers) KeepNotifications() time.Duration     { return 0 }
func (d *drivers) Alone() seckill.AloneLimit            { return d.s.opt.Alone }
func (d *drivers) Public() string                       { return d.s.URL() }

func (d *drivers) Each(most int) func(n int, do func(i int)) { return system.Several(most) }

// Admission has keys that derive from the secret of tokens: whoever has that one may buy for anybody.
func (d *drivers) Admission() app.Admission {
	return app.Admission{Tickets: d.tickets, Proofs: d.proofs, Picker: d.proofs, Work: d.s.opt.Work}
}

func (d *drivers) GivenUp(ctx context.Context, order string, err error) {
	d.s.log.ErrorContext(ctx, "events given up", "order", order, "err", err)
}

// StaffClock is the machine's clock for links, so that moving the shop's clock signs nobody out; with an issuer it is
// the shop's clock.
func (d *drivers) StaffClock() seckill.Clock {
	if d.staff != nil {
		return d.s.Clock
	}
	return system.Clock{}
}

// asked are drivers whose ledger counts an item's orders when it is asked for counts.
type asked struct{ *drivers }

func (d asked) Ledger() seckill.Ledger { return askedLedger{d.s.Ledger, d.s.counts} }
