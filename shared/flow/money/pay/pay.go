// Package pay gives shoppers the way to the payment provider's cashier for one of their own open orders. In: user,
// order and kind of way. Out: an address for a browser, or a string for an app. It reads the ledger and changes
// nothing: whoever comes back from the cashier has proved nothing, and notify and expire record the payment.
package pay

import (
	"context"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

// Ledger is the part of the ledger that the step pay calls.
type Ledger interface{ seckill.OrderReader }

// Deps are the step's dependencies.
type Deps struct {
	Ledger Ledger
	Pages  seckill.Pages
	Clock  seckill.Clock
	Meter  seckill.Meter
	Public string // the page's address, as browsers see it: with the CDN's name or the API's stage
}

// Flow is one instance of the step. It has no memory.
type Flow struct{ Deps }

// New returns an instance.
func New(d Deps) *Flow { return &Flow{d} }

// Way is a way to the cashier.
type Way struct {
	Kind        seckill.PayKind
	URL         string // PayPage and PayWap: where the browser goes
	OrderString string // PayApp: what the app passes to the provider
}

// Kinds is what a request may ask for.
const Kinds = "page, wap, app"

// Pay returns the way to the cashier for one of the user's own orders. It returns CodeInvalid for another kind;
// CodeOrderUnknown, also for another user's order and for one that is still queued; CodeNotPayable for an order that
// is paid, closed or closing, or whose hold is over; CodeUnavailable.
func (f *Flow) Pay(ctx context.Context, user, id string, kind seckill.PayKind) (Way, error) {
	if kind != seckill.PayPage && kind != seckill.PayWap && kind != seckill.PayApp {
		return Way{}, seckill.Invalid("kind", Kinds)
	}
	o, err := seckill.ReadOrder(ctx, f.Ledger, id)
	switch {
	case err != nil:
		return Way{}, err
	case o.User != user:
		return Way{}, seckill.RefuseForeign()
	case !o.Payable(f.Clock.Now()):
		return Way{}, &seckill.Error{Code: seckill.CodeNotPayable, Order: id}
	}
	w, err := f.way(ctx, o, kind)
	if err != nil {
		return Way{}, seckill.AsError(err)
	}
	f.Meter.Count(seckill.EventCashier, 1)
	return w, nil
}

func (f *Flow) way(ctx context.Context, o seckill.Order, kind seckill.PayKind) (w Way, err error) {
	w.Kind = kind
	switch kind {
	case seckill.PayPage:
		w.URL, err = f.Pages.PagePay(ctx, o, f.page("paid", o.ID))
	case seckill.PayWap:
		w.URL, err = f.Pages.WapPay(ctx, o, f.page("order", o.ID), f.page("paid", o.ID))
	default:
		w.OrderString, err = f.Pages.Prepare(o)
	}
	return w, err
}

// page returns the page's address for an order. The order's id is a query parameter, like those that the provider
// appends: what comes after # is not sent to servers, and providers cut it off.
func (f *Flow) page(name, order string) string {
	return strings.TrimSuffix(f.Public, "/") + "/?" + name + "=" + order
}
