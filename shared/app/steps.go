package app

import (
	"context"
	"errors"

	"github.com/your-org/seckill/shared/flow/front/deliver"
	"github.com/your-org/seckill/shared/flow/front/push"
	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/flow/front/signin"
	"github.com/your-org/seckill/shared/flow/front/tell"
	"github.com/your-org/seckill/shared/flow/money/notify"
	"github.com/your-org/seckill/shared/flow/money/pay"
	"github.com/your-org/seckill/shared/flow/money/reconcile"
	"github.com/your-org/seckill/shared/flow/money/refund"
	"github.com/your-org/seckill/shared/flow/office/activity"
	"github.com/your-org/seckill/shared/flow/office/acts"
	"github.com/your-org/seckill/shared/flow/office/auditlog"
	"github.com/your-org/seckill/shared/flow/office/block"
	"github.com/your-org/seckill/shared/flow/office/count"
	"github.com/your-org/seckill/shared/flow/office/erase"
	"github.com/your-org/seckill/shared/flow/office/fulfil"
	"github.com/your-org/seckill/shared/flow/office/session"
	"github.com/your-org/seckill/shared/flow/sale/admit"
	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/flow/sale/consume"
	"github.com/your-org/seckill/shared/flow/sale/expire"
	"github.com/your-org/seckill/shared/flow/sale/repair"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

// Buy reserves units and sends the reservation.
func Buy(d Drivers) *buy.Flow {
	return buy.New(buy.Deps{
		Stock:        d.Reserver(),
		Orders:       d.Orders(),
		Items:        d.Items(),
		Tickets:      d.Tickets(),
		Spans:        d.Ledger(),
		KeepNetworks: d.KeepNetworks() > 0,
		Clock:        d.Clock(),
		IDs:          d.IDs(),
		Meter:        d.Meter(),
	})
}

// Admit gives tickets to shoppers who pass an item's checks.
func Admit(d Drivers, painter seckill.Painter) *admit.Flow {
	admission := d.Admission()
	return admit.New(admit.Deps{
		Ledger:    d.Ledger(),
		Items:     d.Items(),
		Questions: d.Ledger(),
		Tickets:   admission.Tickets,
		Proofs:    admission.Proofs,
		Picker:    admission.Picker,
		Work:      admission.Work,
		Painter:   painter,
		Clock:     d.Clock(),
		Meter:     d.Meter(),
	})
}

// Consume places orders, and takes returned units back into the stock.
func Consume(d Drivers) *consume.Flow {
	return consume.New(consume.Deps{
		Stock:        d.Stock(),
		Ledger:       d.Ledger(),
		Items:        d.Items(),
		Grouping:     d.Ledger(),
		Orders:       d.OrdersWork(),
		Closings:     d.Closings(),
		Repair:       Repair(d),
		Hold:         d.Hold(),
		KeepNetworks: d.KeepNetworks() > 0,
		Clock:        d.Clock(),
		Meter:        d.Meter(),
	})
}

// Expire closes orders that are due, and ends those that were shipped.
func Expire(d Drivers) *expire.Flow {
	return expire.New(expire.Deps{
		Ledger:   d.Ledger(),
		Payments: d.Provider(),
		Orders:   d.Orders(),
		Closings: d.ClosingsWork(),
		Clock:    d.Clock(),
		Meter:    d.Meter(),
	})
}

// Repair keeps stock and ledger consistent.
func Repair(d Drivers) *repair.Flow {
	return repair.New(repair.Deps{
		Stock:  d.Stock(),
		Ledger: d.Ledger(),
		Items:  d.Items(),
		Orders: d.Orders(),
		Clock:  d.Clock(),
		IDs:    d.IDs(),
		Meter:  d.Meter(),
	})
}

// Stage loads items into the stock.
func Stage(d Drivers) *stage.Flow {
	return stage.New(stage.Deps{
		Stock:      d.LazyStock(),
		Items:      d.Items(),
		Questions:  d.Ledger(),
		Activities: d.Ledger(),
		Blocks:     d.Ledger(),
		Each:       d.Each(stage.AtOnce),
		Clock:      d.Clock(),
		IDs:        d.IDs(),
	})
}

// Notify records the payments that the provider's notifications name.
func Notify(d Drivers) *notify.Flow {
	return notify.New(notify.Deps{
		Verifier: d.Verifier(),
		Ledger:   d.Ledger(),
		Keep:     d.KeepNotifications(),
		Clock:    d.Clock(),
		Meter:    d.Meter(),
	})
}

// Pay gives ways to the provider's cashier.
func Pay(d Drivers) *pay.Flow {
	return pay.New(pay.Deps{
		Ledger: d.Ledger(),
		Pages:  d.Pages(),
		Public: d.Public(),
		Clock:  d.Clock(),
		Meter:  d.Meter(),
	})
}

// Refund makes the refunds that are due, and those that staff order.
func Refund(d Drivers) *refund.Flow {
	provider := d.Provider()
	return refund.New(refund.Deps{
		Ledger:  d.Ledger(),
		Refunds: provider,
		Trades:  provider,
		Orders:  d.Orders(),
		Alone:   d.Alone(),
		Clock:   d.Clock(),
		Meter:   d.Meter(),
	})
}

// Reconcile compares the provider's bills with the payments.
func Reconcile(d Drivers) *reconcile.Flow {
	return reconcile.New(reconcile.Deps{Ledger: d.Ledger(), Bills: d.Provider(), Clock: d.Clock(), Meter: d.Meter()})
}

// Shop shows items, and a shopper's orders.
func Shop(d Drivers) *shop.Flow {
	return shop.New(shop.Deps{
		Stock:    d.Stock(),
		Ledger:   d.Ledger(),
		Items:    d.Items(),
		Closings: d.Closings(),
		Payments: d.Signer(),
		Clock:    d.Clock(),
		Meter:    d.Meter(),
	})
}

// SignIn exchanges an issuer's token for one of the shop's own.
func SignIn(d Drivers) *signin.Flow {
	return signin.New(signin.Deps{
		Issuers:    d.Issuers(),
		Pages:      d.ReturnPages(),
		Identities: d.Ledger(),
		Sessions:   d.Ledger(),
		Signer:     d.TokenSigner(),
		IDs:        d.IDs(),
		Clock:      d.Clock(),
		Meter:      d.Meter(),
	})
}

// Push pushes outcomes to shoppers' pages, to a bounded number at once.
func Push(d Drivers, atOnce int) *push.Flow {
	return push.New(push.Deps{
		Connections: d.Connections(),
		Wire:        d.Wire(),
		Recent:      d.Recent(),
		Each:        d.Each(atOnce),
		Clock:       d.Clock(),
		Meter:       d.Meter(),
	})
}

// Tell publishes changes of orders on the event bus.
func Tell(d Drivers) *tell.Flow {
	return tell.New(tell.Deps{Bus: d.Bus(), Ledger: d.Ledger(), Meter: d.Meter()})
}

const posts = 16 // of webhooks at once: as many may be slow before they delay others

// Deliver posts changes of orders to the shop's endpoint.
func Deliver(d Drivers) *deliver.Flow {
	return deliver.New(deliver.Deps{
		Ledger:   d.Ledger(),
		Endpoint: d.Endpoint(),
		Each:     d.Each(posts),
		GivenUp:  d.GivenUp,
		Clock:    d.Clock(),
		Meter:    d.Meter(),
	})
}

// Count counts orders by the minute.
func Count(d Drivers) *count.Flow {
	return count.New(count.Deps{Ledger: d.Ledger(), Clock: d.Clock(), Meter: d.Meter()})
}

// Erase erases addresses.
func Erase(d Drivers) *erase.Flow {
	return erase.New(erase.Deps{
		Stock:        d.Stock(),
		Ledger:       d.Ledger(),
		Items:        d.Items(),
		Keep:         d.KeepAddresses(),
		KeepNetworks: d.KeepNetworks(),
		Clock:        d.Clock(),
		Meter:        d.Meter(),
	})
}

// EachMinute is what the step repair does each minute beside the sale: repairs and erasures.
func EachMinute(r *repair.Flow, e *erase.Flow) func(context.Context) error {
	return func(ctx context.Context) error { return errors.Join(r.Run(ctx), e.Ended(ctx)) }
}

// Activity groups items.
func Activity(d Drivers, s *stage.Flow) *activity.Flow {
	return activity.New(activity.Deps{
		Activities: d.Ledger(),
		Questions:  d.Ledger(),
		Items:      d.Items(),
		Stage:      s,
		Clock:      d.Clock(),
	})
}

const actWrites = 16 // at once

// Acts keeps suspicious acts.
func Acts(d Drivers) *acts.Flow {
	return acts.New(acts.Deps{Ledger: d.Ledger(), Each: d.Each(actWrites), Clock: d.Clock(), Meter: d.Meter()})
}

// Block blocks shoppers.
func Block(d Drivers) *block.Flow {
	return block.New(block.Deps{Ledger: d.Ledger(), Stock: d.Stock(), Items: d.Items(), Clock: d.Clock()})
}

// Fulfil is what staff do with paid orders.
func Fulfil(d Drivers) *fulfil.Flow {
	return fulfil.New(fulfil.Deps{Ledger: d.Ledger(), Clock: d.Clock()})
}

// Audit records what staff do.
func Audit(d Drivers) *auditlog.Flow {
	return auditlog.New(auditlog.Deps{Log: d.Ledger(), Clock: d.Clock(), IDs: d.IDs(), Meter: d.Meter()})
}

// Staff signs staff in.
func Staff(d Drivers, log *auditlog.Flow) *session.Flow {
	return session.New(session.Deps{
		Sessions: d.StaffSessions(),
		Issuer:   d.StaffIssuer(),
		Random:   d.IDs(),
		Audit:    log,
		Clock:    d.StaffClock(),
		Meter:    d.Meter(),
	})
}
