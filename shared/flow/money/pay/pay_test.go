package pay_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/money/pay"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	order = "oabcdefghijklmnopqrstuvwxyz"
	alice = "1001"
)

var (
	placed = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	payBy  = placed.Add(15 * time.Minute)
)

// ledger has one order, or fails.
type ledger struct {
	order seckill.Order
	err   error
	reads int
}

func (l *ledger) Order(_ context.Context, id string) (seckill.Order, error) {
	l.reads++
	if l.err == nil && id != l.order.ID {
		return seckill.Order{}, seckill.ErrNoOrder
	}
	return l.order, l.err
}

// provider tells in its addresses what it was given.
type provider struct{ err error }

func (p provider) Prepare(o seckill.Order) (string, error) { return "app " + o.ID, p.err }

func (p provider) PagePay(_ context.Context, o seckill.Order, back string) (string, error) {
	return "page " + o.ID + " back " + back, p.err
}

func (p provider) WapPay(_ context.Context, o seckill.Order, quit, back string) (string, error) {
	return "wap " + o.ID + " quit " + quit + " back " + back, p.err
}

// TestPay is the specification of the step: who gets which way to the cashier, and when.
func TestPay(t *testing.T) {
	const none = "oabcdefghijklmnopqrstuvwxy2"
	fault, later := errors.New("no answer"), seckill.ErrSignLater
	way := func(k seckill.PayKind, url, app string) pay.Way { return pay.Way{Kind: k, URL: url, OrderString: app} }
	const back = "https://shop.example/live/?paid=" + order
	for _, c := range []struct {
		name  string
		user  string
		order string
		kind  seckill.PayKind
		state seckill.State
		now   time.Time
		read  error // of the ledger
		sign  error // of the provider
		want  pay.Way
		code  seckill.Code // of the refusal; "" for none
	}{
		{"a computer", alice, order, seckill.PayPage, seckill.PendingPayment, placed, nil, nil,
			way("page", "page "+order+" back "+back, ""), ""},
		{"a phone", alice, order, seckill.PayWap, seckill.PendingPayment, placed, nil, nil,
			way("wap", "wap "+order+" quit https://shop.example/live/?order="+order+" back "+back, ""), ""},
		{"an app", alice, order, seckill.PayApp, seckill.PendingPayment, placed, nil, nil,
			way("app", "", "app "+order), ""},
		{"the last moment of the hold", alice, order, seckill.PayApp, seckill.PendingPayment,
			payBy.Add(-time.Millisecond), nil, nil, way("app", "", "app "+order), ""},
		{"the hold is over", alice, order, seckill.PayPage, seckill.PendingPayment, payBy, nil, nil, pay.Way{},
			seckill.CodeNotPayable},
		{"another kind", alice, order, "qr", seckill.PendingPayment, placed, nil, nil, pay.Way{}, seckill.CodeInvalid},
		{"no kind", alice, order, "", seckill.PendingPayment, placed, nil, nil, pay.Way{}, seckill.CodeInvalid},
		{"another's order", "1002", order, seckill.PayPage, seckill.PendingPayment, placed, nil, nil, pay.Way{},
			seckill.CodeOrderUnknown},
		{"another's order that is paid", "1002", order, seckill.PayPage, seckill.Paid, placed, nil, nil, pay.Way{},
			seckill.CodeOrderUnknown},
		{"no order, or one that is still queued", alice, none, seckill.PayPage, seckill.PendingPayment, placed, nil,
			nil, pay.Way{}, seckill.CodeOrderUnknown},
		{"not an id", alice, "o/../x", seckill.PayPage, seckill.PendingPayment, placed, nil, nil, pay.Way{},
			seckill.CodeOrderUnknown},
		{"the ledger does not answer", alice, order, seckill.PayPage, seckill.PendingPayment, placed, fault, nil,
			pay.Way{}, seckill.CodeUnavailable},
		{"the provider does not answer", alice, order, seckill.PayPage, seckill.PendingPayment, placed, nil, fault,
			pay.Way{}, seckill.CodeUnavailable},
		{"too many signatures", alice, order, seckill.PayWap, seckill.PendingPayment, placed, nil, later, pay.Way{},
			seckill.CodeUnavailable},
	} {
		l, m := &ledger{order: seckill.Order{ID: order, User: alice, State: c.state, Placed: placed, PayBy: payBy},
			err: c.read}, memory.Meter{}
		f := pay.New(pay.Deps{Ledger: l, Pages: provider{c.sign}, Clock: memory.NewClock(c.now), Meter: m,
			Public: "https://shop.example/live"})
		got, err := f.Pay(t.Context(), c.user, c.order, c.kind)
		if got != c.want || (err == nil) != (c.code == "") || err != nil && seckill.CodeOf(err) != c.code {
			t.Errorf("%s: %+v, %v; want %+v, %q", c.name, got, err, c.want, c.code)
		}
		var e *seckill.Error
		if errors.As(err, &e) && (c.code == seckill.CodeUnavailable) != (e.RetryAfter > 0) {
			t.Errorf("%s: retry after %v", c.name, e.RetryAfter)
		}
		if foreign := e != nil && e.Token == seckill.OrderForeign; foreign != (c.user == "1002") {
			t.Errorf("%s: refused as another's: %v", c.name, foreign)
		}
		if offered := m[seckill.EventCashier] == 1; offered != (err == nil) {
			t.Errorf("%s: counted %v", c.name, m)
		}
		if c.code == seckill.CodeInvalid && l.reads > 0 {
			t.Errorf("%s: the ledger was read", c.name)
		}
	}
}

// TestOnlyOpenOrdersArePaid goes through every state: only one of them can be paid.
func TestOnlyOpenOrdersArePaid(t *testing.T) {
	for _, s := range seckill.States {
		l := &ledger{order: seckill.Order{ID: order, User: alice, State: s.State, Placed: placed, PayBy: payBy}}
		f := pay.New(pay.Deps{Ledger: l, Pages: provider{}, Clock: memory.NewClock(placed), Meter: memory.Meter{},
			Public: "https://shop.example/"})
		got, err := f.Pay(t.Context(), alice, order, seckill.PayPage)
		if s.State == seckill.PendingPayment {
			if err != nil || got.URL != "page "+order+" back https://shop.example/?paid="+order {
				t.Errorf("%s: %+v, %v", s.State, got, err)
			}
			continue
		}
		var e *seckill.Error
		if !errors.As(err, &e) || e.Code != seckill.CodeNotPayable || e.Order != order || got != (pay.Way{}) {
			t.Errorf("%s: %+v, %v; want %s", s.State, got, err, seckill.CodeNotPayable)
		}
	}
}
