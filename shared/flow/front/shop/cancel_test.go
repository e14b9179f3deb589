package shop_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/seckill"
)

const buyer = "9"

var errNoAnswer = errors.New("no answer")

// oneOrder is a ledger with one order of buyer. Successive reads return it in successive states; the last one stays.
type oneOrder struct {
	shop.Ledger
	states []seckill.State
	close  error // error of BeginClosing
	closes int
}

func (l *oneOrder) Order(_ context.Context, id string) (seckill.Order, error) {
	if len(l.states) == 0 {
		return seckill.Order{}, seckill.ErrNoOrder
	}
	o := seckill.Order{ID: id, User: buyer, State: l.states[0], PayBy: start.Add(time.Hour)}
	l.states = l.states[min(1, len(l.states)-1):]
	return o, nil
}

func (l *oneOrder) BeginClosing(_ context.Context, _ seckill.Order, to seckill.State, _ time.Time, _ string) error {
	l.closes++
	if to != seckill.Cancelled {
		return errors.New("not for its shopper")
	}
	return l.close
}

// TestCancel is the specification of a cancel: the shopper's answer, and whether the order begins to close.
func TestCancel(t *testing.T) {
	t.Parallel()
	pending, closing, paid := seckill.PendingPayment, seckill.Closing, seckill.Paid
	for _, c := range []struct {
		name   string
		states []seckill.State // the order's state at each read; if there are none, the ledger has no such order
		user   string
		close  error        // the ledger's error
		code   seckill.Code // code of the refusal or fault; "" if there is none
		state  seckill.State
		closes int // calls of BeginClosing
		sent   int // closing messages sent
	}{
		{"an unpaid order", []seckill.State{pending}, buyer, nil, "", closing, 1, 1},
		{"one that is closing", []seckill.State{closing}, buyer, nil, "", closing, 0, 0},
		{"one that was cancelled", []seckill.State{seckill.Cancelled}, buyer, nil, "", seckill.Cancelled, 0, 0},
		{"a paid order", []seckill.State{paid}, buyer, nil, seckill.CodeNotCancelable, "", 0, 0},
		{"an expired order", []seckill.State{seckill.Expired}, buyer, nil, seckill.CodeNotCancelable, "", 0, 0},
		{"one that is paid meanwhile", []seckill.State{pending, paid}, buyer, seckill.ErrStateChanged,
			seckill.CodeNotCancelable, "", 1, 0},
		{"one that begins to close meanwhile", []seckill.State{pending, closing}, buyer, seckill.ErrStateChanged,
			"", closing, 1, 0},
		{"one too many", []seckill.State{pending}, buyer, seckill.ErrCancels, seckill.CodeCancelLimit, "", 1, 0},
		{"a ledger that does not answer", []seckill.State{pending}, buyer, errNoAnswer, seckill.CodeUnavailable, "", 1,
			0},
		{"another user's order", []seckill.State{pending}, "8", nil, seckill.CodeOrderUnknown, "", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clock := memory.NewClock(start)
			closings := memory.NewQueue(clock, memory.QueueOptions{})
			l := &oneOrder{states: c.states, close: c.close}
			f := shop.New(shop.Deps{Ledger: l, Items: memory.NewItems(), Closings: closings, Clock: clock,
				Meter: memory.Meter(nil)})
			got, err := f.Cancel(t.Context(), c.user, seckill.KeyedOrderID("1", buyer, "k"))
			if c.code != "" && (err == nil || seckill.CodeOf(err) != c.code) || c.code == "" && err != nil ||
				got.State != c.state {
				t.Errorf("got %q, %v; want %q, code %q", got.State, err, c.state, c.code)
			}
			var e *seckill.Error
			if foreign := errors.As(err, &e) && e.Token == seckill.OrderForeign; foreign != (c.user == "8") {
				t.Errorf("refused as another's: %v", foreign)
			}
			sent, err := closings.Receive(t.Context(), 10)
			if err != nil {
				t.Fatal(err)
			}
			if l.closes != c.closes || len(sent) != c.sent {
				t.Errorf("began to close it %d times, sent %d messages; want %d, %d", l.closes, len(sent), c.closes,
					c.sent)
			}
		})
	}
}
