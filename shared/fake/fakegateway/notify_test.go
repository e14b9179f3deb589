package fakegateway_test

import (
	"context"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// paid returns a system in which order(0) was opened and paid at start.
func paid(t *testing.T, change func(*fakegateway.Options)) (*fakegateway.Gateway, *shop, *clock) {
	t.Helper()
	g, s, c := system(t, change)
	open(t, g, s, order(0))
	if _, due := g.Next(); due || len(g.Ready()) != 0 {
		t.Fatal("a notification is queued before payment")
	}
	must.OK(t, g.Pay(orderID))
	return g, s, c
}

func TestNotifyIsDueAtOnceAndAuthentic(t *testing.T) {
	g, s, c := paid(t, nil)
	select {
	case <-g.Ready():
	default:
		t.Error("Ready says nothing")
	}
	if next, ok := g.Next(); !ok || !next.Equal(start) {
		t.Errorf("next attempt at %v, %v, want %v", next, ok, start)
	}
	if delivered, failed := g.Tick(context.Background()); delivered != 1 || failed != 0 || len(s.got) != 1 {
		t.Fatalf("%d delivered, %d failed, %d received, want 1, 0, 1", delivered, failed, len(s.got))
	}
	got, err := s.client.Verify(s.got[0])
	want := seckill.Notification{ID: s.got[0].Get("notify_id"), Order: orderID, TradeNo: g.Trades()[0].TradeNo,
		Amount: 88_80, Paid: true, Raw: s.got[0].Encode()}
	if err != nil || got != want || got.ID == "" {
		t.Errorf("the shop reads %+v, %v, want %+v", got, err, want)
	}
	for _, name := range []string{"notify_id", "notify_time", "notify_type", "app_id", "seller_id", "out_trade_no",
		"trade_no",
		"trade_status", "total_amount", "subject", "gmt_create", "gmt_payment", "buyer_id", "charset", "version",
		"sign", "sign_type"} {
		if s.got[0].Get(name) == "" {
			t.Errorf("the notification has no %s", name)
		}
	}
	if s.got[0].Get("gmt_payment") != "2026-01-01 20:00:00" {
		t.Errorf("gmt_payment %q, want Beijing's time", s.got[0].Get("gmt_payment"))
	}
	c.set(start.Add(48 * time.Hour))
	steps(t, g, 0, 0)
	if _, ok := g.Next(); ok {
		t.Error("an attempt is due after delivery")
	}
}

func TestNotifyIsRepeatedUntilSuccess(t *testing.T) {
	g, s, c := paid(t, nil)
	at := start
	for i, tc := range []struct {
		status int
		answer string
	}{{500, "success"}, {200, "Success"}, {200, "success\n"}, {200, "success!"}, {200, ""}, {302, "success"},
		{400, "fail"}} {
		c.set(at.Add(-1))
		if d, f := g.Tick(context.Background()); i > 0 && d+f != 0 {
			t.Errorf("attempt %d was made too early", i+1)
		}
		c.set(at)
		s.status, s.answer = tc.status, tc.answer
		steps(t, g, 0, 1)
		at = at.Add(fakegateway.AlipayRetries[i])
		must.Equal(t, []fakegateway.Pending{{OutTradeNo: orderID, Attempts: i + 1, Next: at}}, g.Pending(),
			"after attempt", i+1)
	}
	c.set(at)
	s.status, s.answer = 200, "success"
	if d, f := g.Tick(context.Background()); d != 1 || f != 0 || len(g.Pending()) != 0 {
		t.Errorf("last attempt: %d delivered, %d failed, pending %v; want 1, 0, none", d, f, g.Pending())
	}
	for i, form := range s.got {
		if _, err := s.client.Verify(form); err != nil || form.Get("notify_id") != s.got[0].Get("notify_id") {
			t.Errorf("attempt %d: %v, notify_id %q, want the same each time", i+1, err, form.Get("notify_id"))
		}
		if i > 0 && form.Get("notify_time") == s.got[i-1].Get("notify_time") {
			t.Errorf("attempt %d has the notify_time of the one before", i+1)
		}
	}
}

func TestNotifyIsGivenUpAfterTheLastRetry(t *testing.T) {
	g, s, c := paid(t, nil)
	s.answer = "fail"
	for range 1 + len(fakegateway.AlipayRetries) {
		next, ok := g.Next()
		if !ok {
			t.Fatalf("given up after %d attempts, want %d", len(s.got), 1+len(fakegateway.AlipayRetries))
		}
		c.set(next)
		g.Tick(context.Background())
	}
	if _, ok := g.Next(); ok || len(s.got) != 8 || len(g.Pending()) != 0 {
		t.Errorf("after %d attempts pending %v, want 8 and none", len(s.got), g.Pending())
	}
}

func TestDroppedNotifyComesAgain(t *testing.T) {
	g, s, c := paid(t, nil)
	g.SetDropNotifications(true)
	if d, f := g.Tick(context.Background()); d != 0 || f != 1 || len(s.got) != 0 {
		t.Errorf("dropping: %d delivered, %d failed, %d received, want 0, 1, 0", d, f, len(s.got))
	}
	g.SetDropNotifications(false)
	c.set(start.Add(4 * time.Minute))
	if d, f := g.Tick(context.Background()); d != 1 || f != 0 || len(s.got) != 1 {
		t.Errorf("later: %d delivered, %d failed, %d received, want 1, 0, 1", d, f, len(s.got))
	}
}

func TestABrokenOffAttemptDoesNotCount(t *testing.T) {
	g, s, _ := paid(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	s.onCall = cancel
	if d, f := g.Tick(ctx); d+f != 0 {
		t.Errorf("broken off: %d delivered, %d failed, want none", d, f)
	}
	must.Equal(t, []fakegateway.Pending{{OutTradeNo: orderID, Next: start}}, g.Pending(), "pending")
	if d, f := g.Tick(ctx); d+f != 0 || len(s.got) != 1 {
		t.Errorf("with an ended context %d attempts were made", len(s.got)-1)
	}
	s.onCall = nil
	if d, _ := g.Tick(context.Background()); d != 1 {
		t.Errorf("%d delivered, want 1", d)
	}
}
