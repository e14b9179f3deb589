package fakegateway_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/fake/memory"
)

// pair is two gateways that share a store and a clock. The gateway that sends a notification calls its own shop.
type pair struct {
	clock       *memory.Clock // with a finer resolution than the store has
	gateways    [2]*fakegateway.Gateway
	shops       [2]pairShop
	orderString string // order string of a trade that can be paid for 15 minutes
}

// pairShop answers a notification.
type pairShop func(context.Context) (answer string)

// RoundTrip implements http.RoundTripper.
func (s pairShop) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := s(r.Context())
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
}

func newPair(t *testing.T, s fakegateway.Store, atOnce bool) *pair {
	t.Helper()
	p := &pair{clock: memory.NewClock(start.Add(1_234_567 * time.Nanosecond))}
	for i := range p.gateways {
		p.shops[i] = func(context.Context) string { return "success" }
		var one *shop
		p.gateways[i], one, _ = system(t, func(o *fakegateway.Options) {
			o.Clock, o.Store, o.AtOnce = p.clock, s, atOnce
			o.HTTP = &http.Client{Transport: pairShop(func(ctx context.Context) string { return p.shops[i](ctx) })}
		})
		p.orderString = prepare(t, one, order(0))
	}
	return p
}

func testShared(t *testing.T, s fakegateway.Store) {
	const shoppers = 8
	p := newPair(t, s, false)
	var told atomic.Int64
	for i := range p.shops {
		p.shops[i] = func(context.Context) string {
			told.Add(1)
			return "success"
		}
	}
	var numbers, pays [shoppers]string
	var wg sync.WaitGroup
	for i := range shoppers {
		g := p.gateways[i%len(p.gateways)]
		wg.Go(func() {
			no, err := g.Open(p.orderString)
			if err != nil && !errors.Is(err, fakegateway.ErrPaid) {
				t.Error(err)
			}
			numbers[i] = no
			switch err := g.Pay(orderID); {
			case err == nil:
				pays[i] = "paid"
			case !errors.Is(err, fakegateway.ErrPaid):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	paid := 0
	for i, no := range numbers {
		if no == "" || no != numbers[0] {
			t.Errorf("shopper %d opened trade %q, another %q", i, no, numbers[0])
		}
		if pays[i] != "" {
			paid++
		}
	}
	if paid != 1 {
		t.Errorf("paid %d times, want once", paid)
	}
	var delivered [shoppers]int
	awaitDue(t, s, p.clock.Now(), trade(orderID))
	for i := range shoppers {
		wg.Go(func() {
			d, failed, err := p.gateways[i%len(p.gateways)].Repeat(context.Background())
			if failed != 0 || err != nil {
				t.Errorf("%d failed, %v", failed, err)
			}
			delivered[i] = d
		})
	}
	wg.Wait()
	sum := 0
	for _, d := range delivered {
		sum += d
	}
	if sum != 1 || told.Load() != 1 {
		t.Errorf("%d delivered, the shop was told %d times; want once", sum, told.Load())
	}
	r, _, err := s.Load(t.Context(), trade(orderID))
	if err != nil || len(r.Notifications) != 1 || r.Notifications[0].Attempts != 1 || !r.Next().IsZero() ||
		r.Status != fakegateway.StatusSuccess {
		t.Errorf("%+v, %v; want one attempt and no other to come", r, err)
	}
}

func testRhythm(t *testing.T, s fakegateway.Store) {
	p := newPair(t, s, false)
	p.shops[0] = func(context.Context) string { return "fail" }
	must.Get(p.gateways[0].Open(p.orderString))
	must.OK(t, p.gateways[0].Pay(orderID))
	for i, wait := range fakegateway.AlipayRetries[:2] {
		awaitDue(t, s, p.clock.Now(), trade(orderID))
		if delivered, failed, err := p.gateways[0].Repeat(t.Context()); delivered != 0 || failed != 1 || err != nil {
			t.Errorf("attempt %d: %d delivered, %d failed, %v; want 0, 1", i+1, delivered, failed, err)
		}
		r, _, err := s.Load(t.Context(), trade(orderID))
		if want := p.clock.Now().Add(wait); err != nil || len(r.Notifications) != 1 || r.Notifications[0].Attempts != i+
			1 || r.Next().Sub(want).Abs() > time.Millisecond {
			t.Errorf("after attempt %d: %+v, %v; want the next at %v", i+1, r.Notifications, err, want)
		}
		p.clock.Advance(wait)
	}
	awaitDue(t, s, p.clock.Now(), trade(orderID))
	if delivered, failed, err := p.gateways[1].Repeat(t.Context()); delivered != 1 || failed != 0 || err != nil {
		t.Errorf("the other gateway: %d delivered, %d failed, %v; want 1, 0", delivered, failed, err)
	}
}

// testClaim checks that another gateway repeats an attempt that hangs, and that the first attempt's outcome is
// then ignored.
func testClaim(t *testing.T, s fakegateway.Store) {
	p := newPair(t, s, false)
	hangs, goOn := make(chan struct{}), make(chan struct{})
	p.shops[0] = func(context.Context) string {
		close(hangs)
		<-goOn
		return "fail"
	}
	must.Get(p.gateways[0].Open(p.orderString))
	must.OK(t, p.gateways[1].Pay(orderID))
	awaitDue(t, s, p.clock.Now(), trade(orderID))
	var wg sync.WaitGroup
	wg.Go(func() {
		if delivered, failed, err := p.gateways[0].Repeat(context.Background()); delivered != 0 || failed != 1 ||
			err != nil {
			t.Errorf("the one that hung: %d delivered, %d failed, %v; want 0, 1", delivered, failed, err)
		}
	})
	<-hangs
	if delivered, failed, err := p.gateways[1].Repeat(t.Context()); delivered+failed != 0 || err != nil {
		t.Errorf("while the first one is at it: %d delivered, %d failed, %v; want none", delivered, failed, err)
	}
	p.clock.Advance(2 * time.Minute)
	awaitDue(t, s, p.clock.Now(), trade(orderID))
	if delivered, failed, err := p.gateways[1].Repeat(t.Context()); delivered != 1 || failed != 0 || err != nil {
		t.Errorf("after the claim: %d delivered, %d failed, %v; want 1, 0", delivered, failed, err)
	}
	close(goOn)
	wg.Wait()
	if r, _, err := s.Load(t.Context(), trade(orderID)); err != nil || len(r.Notifications) != 1 ||
		r.Notifications[0].Attempts != 1 || !r.Next().IsZero() {
		t.Errorf("%+v, %v; want it confirmed", r.Notifications, err)
	}
}

// broken is a store that fails every call once its fault is set.
type broken struct {
	fakegateway.Store
	fault error
}

func (b *broken) Load(ctx context.Context, k fakegateway.Key) (fakegateway.Record, bool, error) {
	if b.fault != nil {
		return fakegateway.Record{}, false, b.fault
	}
	return b.Store.Load(ctx, k)
}

func (b *broken) Save(ctx context.Context, r fakegateway.Record) error {
	if b.fault != nil {
		return b.fault
	}
	return b.Store.Save(ctx, r)
}

func (b *broken) Due(ctx context.Context, by time.Time) ([]fakegateway.Key, error) {
	if b.fault != nil {
		return nil, b.fault
	}
	return b.Store.Due(ctx, by)
}

func testFaults(t *testing.T, s fakegateway.Store) {
	b := &broken{Store: s}
	p := newPair(t, b, true)
	if w := get(p.gateways[0], p.orderString, ""); w.Code != http.StatusOK {
		t.Fatalf("status %d", w.Code)
	}
	b.fault = errors.New("no answer")
	if w := get(p.gateways[0], p.orderString, ""); w.Code != http.StatusServiceUnavailable ||
		!strings.Contains(w.Body.String(), "收银台暂时无法应答") ||
		w.Header().Get("X-Sub-Code") != fakegateway.ErrUnavailable.SubCode {
		t.Errorf("cashier: status %d, %s", w.Code, w.Body)
	}
	if err := p.gateways[1].Pay(orderID); !errors.Is(err, fakegateway.ErrUnavailable) || !errors.Is(err, b.fault) {
		t.Errorf("pay: %v, want ErrUnavailable and its cause", err)
	}
	if _, _, err := p.gateways[1].Repeat(t.Context()); !errors.Is(err, fakegateway.ErrUnavailable) {
		t.Errorf("repeat: %v, want ErrUnavailable", err)
	}
	b.fault = nil
	if err := p.gateways[1].Pay(orderID); err != nil {
		t.Errorf("once it answers again: %v", err)
	}
}

func testTwoTrades(t *testing.T, s fakegateway.Store) {
	p := newPair(t, s, false)
	must.OK(t, p.gateways[1].SetFaults(
		fakegateway.Faults{Shares: map[fakegateway.Fault]float64{fakegateway.TwoTrades: 1}}))
	var nos [2]string
	for i, g := range p.gateways {
		var err error
		if nos[i], err = g.Open(p.orderString); err != nil {
			t.Fatal(err)
		}
		must.OK(t, p.gateways[1-i].PayTrade(nos[i]))
	}
	byOrder := map[string]any{"out_trade_no": orderID}
	if got, _ := call(t, p.gateways[1], alipay.MethodQuery, byOrder); got["trade_no"] != nos[0] || nos[0] == nos[1] {
		t.Errorf("query by out_trade_no: %v, want the first of %q", got, nos)
	}
	refund := map[string]any{"trade_no": nos[0], "refund_amount": "88.80", "out_request_no": "r1"}
	for i, want := range []string{"Y", "N"} {
		if got, _ := call(t, p.gateways[i], alipay.MethodRefund, refund); code(got) != want {
			t.Errorf("refund at gateway %d: %v, want fund_change %s", i, got, want)
		}
	}
	if got, _ := call(t, p.gateways[0], alipay.MethodQuery, byOrder); got["trade_no"] != nos[1] ||
		got["trade_status"] != "TRADE_SUCCESS" {
		t.Errorf("query by out_trade_no, the first refunded: %v, want the second", got)
	}
	bill := billOf("2026-01-01")
	if got, _ := call(t, p.gateways[0], alipay.MethodBill, bill); got["sub_code"] != fakegateway.ErrNoBill.SubCode {
		t.Errorf("bill on the same day: %v", got)
	}
	p.clock.Advance(4 * time.Hour) // midnight in China
	var address string
	for deadline := time.Now().Add(dueLag); address == "" && time.Now().Before(deadline); {
		got, _ := call(t, p.gateways[0], alipay.MethodBill, bill)
		address = got["bill_download_url"]
	}
	var lines int
	for deadline := time.Now().Add(dueLag); lines != 3 && time.Now().Before(deadline); { // the index may lag
		lines = 0
		for _, text := range files(t, p.gateways[1], address) {
			lines += strings.Count(text, orderID)
		}
	}
	if lines != 3 {
		t.Errorf("%d lines in the bill, want two payments and a refund", lines)
	}
}
