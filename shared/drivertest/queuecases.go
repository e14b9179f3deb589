package drivertest

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

func testArrives(t *testing.T, e *queueEnv) {
	addresses := []string{
		"北京市朝阳区建国路88号，张三收", "😀 𠮷野家", `quotes " ' \ and <b>&amp;</b>`, "line\nbreak\tand\rtab",
		"control \x01\x1f\x7f", "separators \u2028\u2029\u00a0", "not characters \ufffe\uffff\ufffd",
		strings.Repeat("长", seckill.MaxAddress),
	}
	sent := map[string]seckill.Message{}
	for i, a := range addresses {
		m := order(i)
		m.Reservation.Address = a
		sent[e.send(t, m, 0)] = m
	}
	for i := range 12 {
		for _, m := range []seckill.Message{{Kind: seckill.MessageReturn, Order: orderID(100 + i)},
			{Kind: seckill.MessageClose, Order: orderID(200 + i)},
			{Kind: seckill.MessageWake, Item: fmt.Sprint(1 + i)}} {
			sent[e.send(t, m, 0)] = m
		}
	}
	got := e.drain(t)
	for body, want := range sent {
		n := got[body]
		if n == 0 || n > 1 && e.Exact {
			t.Errorf("delivered %d times: %.200s", n, body)
		}
		if m, err := seckill.DecodeMessage([]byte(body)); err != nil || !reflect.DeepEqual(m, want) {
			t.Errorf("decoded %+v, error %v, want %+v", m, err, want)
		}
		delete(got, body)
	}
	for body := range got {
		t.Errorf("delivered, but never sent: %.200s", body)
	}
}

func testDelete(t *testing.T, e *queueEnv) {
	e.send(t, order(1), 0)
	d := e.one(t)
	e.delete(t, d)
	if e.Exact {
		e.drained(t)
		return
	}
	e.drain(t) // ends after a while: deleted messages stay away
	e.none(t, "after the drain")
}

func testComesBack(t *testing.T, e *queueEnv) {
	body := e.send(t, order(1), 0)
	first := e.one(t)
	if first.Receives != 1 || string(first.Body) != body {
		t.Errorf("first delivery: receives %d, body %s, want 1 and %s", first.Receives, first.Body, body)
	}
	if e.Exact {
		e.none(t, "at once")
		e.Advance(e.Visible - time.Millisecond)
		e.none(t, "a millisecond before the visibility timeout")
		e.Advance(time.Millisecond)
	} else {
		e.Advance(e.Visible)
	}
	second := e.one(t)
	if second.ID != first.ID || second.Receives <= first.Receives || second.Receipt == first.Receipt ||
		string(second.Body) != body {
		t.Errorf("second delivery %+v, want the same message as %+v, more receives, another receipt", second, first)
	}
	if e.Exact && second.Receives != 2 {
		t.Errorf("second delivery: receives %d, want 2", second.Receives)
	}
	e.delete(t, second)
	if e.Exact {
		e.drained(t)
	}
}

func testDelayedSend(t *testing.T, e *queueEnv) {
	const delay = 5 * time.Second
	body := e.send(t, order(1), delay)
	e.none(t, "just sent")
	if e.Exact {
		e.Advance(delay - time.Millisecond)
		e.none(t, "a millisecond before the delay is over")
		e.Advance(time.Millisecond)
		if d := e.one(t); string(d.Body) != body || d.Receives != 1 {
			t.Errorf("delivery %+v, want receives 1 and body %s", d, body)
		}
		return
	}
	e.Advance(delay)
	e.drained(t, body)
}

func testDelayHides(t *testing.T, e *queueEnv) {
	e.send(t, order(1), 0)
	first := e.one(t)
	wait := e.Visible + 3*time.Second
	if !e.Exact {
		// The queue may have delivered the message again already; then the first receipt cannot hide it.
		if e.Queue.Delay(t.Context(), first, wait) != nil {
			first = e.one(t)
			e.delay(t, first, wait)
		}
		e.Advance(e.Visible)
		e.none(t, "after the visibility timeout, before the end of Delay")
		e.Advance(wait - e.Visible)
	} else {
		e.Advance(time.Second) // Delay counts from its call, not from the receive
		e.delay(t, first, wait)
		e.Advance(wait - time.Millisecond)
		e.none(t, "a millisecond before the end of Delay")
		e.Advance(time.Millisecond)
	}
	if second := e.one(t); second.ID != first.ID || second.Receives <= first.Receives {
		t.Errorf("then came %+v, want the message of %+v with more receives", second, first)
	}
}

func testDelayShows(t *testing.T, e *queueEnv) {
	e.send(t, order(1), 0)
	first := e.one(t)
	if err := e.Queue.Delay(t.Context(), first, 0); err != nil && e.Exact {
		t.Fatalf("Delay of 0: %v", err)
	}
	if second := e.one(t); second.ID != first.ID || second.Receives <= first.Receives {
		t.Errorf("then came %+v, want the message of %+v with more receives", second, first)
	}
}

func testLimits(t *testing.T, e *queueEnv) {
	wide := order(1)
	wide.Reservation.Address = strings.Repeat("x", seckill.MaxMessage)
	sends := []struct {
		name  string
		m     seckill.Message
		delay time.Duration
		ok    bool
	}{
		{"longest delay", order(2), seckill.MaxDelay, true},
		{"longer", order(3), seckill.MaxDelay + time.Second, false},
		{"a millisecond longer", order(3), seckill.MaxDelay + time.Millisecond, false},
		{"negative delay", order(4), -time.Second, false},
		{"over 256 KiB", wide, 0, false},
	}
	for _, tt := range sends {
		if err := e.Queue.Send(t.Context(), tt.m, tt.delay); (err == nil) != tt.ok {
			t.Errorf("Send %s: error %v, want accepted %v", tt.name, err, tt.ok)
		}
	}
	for _, limit := range []int{-1, 0, seckill.MaxBatch + 1} {
		if ds, err := e.Queue.Receive(t.Context(), limit); err == nil {
			t.Errorf("Receive(%d): %d messages and no error", limit, len(ds))
		}
	}
	e.none(t, "after refused sends")
	body := e.send(t, order(5), 0)
	d := e.one(t)
	for _, wait := range []time.Duration{-time.Second, 12*time.Hour + time.Second} {
		if err := e.Queue.Delay(t.Context(), d, wait); err == nil {
			t.Errorf("Delay(%v): no error", wait)
		}
	}
	if e.Exact {
		if got, want := e.depth(t), (seckill.Depth{InFlight: 1, Delayed: 1}); got != want {
			t.Errorf("depth %+v, want %+v", got, want)
		}
		e.Advance(seckill.MaxDelay)
		e.drained(t, body, string(sends[0].m.Encode()))
	}
}

func testBatch(t *testing.T, e *queueEnv) {
	var want []string
	for i := range 25 {
		want = append(want, e.send(t, order(i), 0))
	}
	e.receive(t, 1) // receive checks that there is only one message
	ds := e.receive(t, seckill.MaxBatch)
	if e.Exact && len(ds) != seckill.MaxBatch {
		t.Errorf("Receive(%d) gave %d of 25 visible messages", seckill.MaxBatch, len(ds))
	}
	ids, receipts := map[string]bool{}, map[string]bool{}
	for _, d := range ds {
		ids[d.ID], receipts[d.Receipt] = true, true
	}
	if len(ids) != len(ds) || len(receipts) != len(ds) {
		t.Errorf("a batch of %d has %d ids and %d receipts", len(ds), len(ids), len(receipts))
	}
	e.drained(t, want...)
}

func testPark(t *testing.T, e *queueEnv) {
	const poison = `{"v":1,"kind":"order","order":"无法读取"`
	good := []string{e.send(t, order(1), 0), e.send(t, order(2), 0)}
	e.sendRaw(t, poison)
	good = append(good, e.send(t, order(3), 0))
	found, seen := false, map[string]int{}
	for i := 0; i < polls && !found; i++ {
		for _, d := range e.receive(t, seckill.MaxBatch) {
			if string(d.Body) != poison {
				seen[string(d.Body)]++
				continue
			}
			if err := e.Queue.Park(t.Context(), d, "不是消息: not a message"); err != nil {
				t.Fatalf("Park: %v", err)
			}
			e.delete(t, d)
			found = true
		}
		if !found {
			e.Advance(pollWait)
		}
	}
	if !found {
		t.Fatalf("the unreadable message did not arrive; others: %v", seen)
	}
	e.parked(t, poison)
	if e.Exact {
		if got, want := e.depth(t), (seckill.Depth{InFlight: 3, Parked: 1}); got != want {
			t.Errorf("depth %+v, want %+v", got, want)
		}
		e.drained(t, good...)
		e.parked(t, poison)
		return
	}
	got := e.drain(t)
	for _, body := range good {
		if got[body] == 0 {
			t.Errorf("a neighbour is lost: %s", body)
		}
	}
}

func testDeadLetter(t *testing.T, e *queueEnv) {
	const poison = "nobody can read this"
	e.sendRaw(t, poison)
	for receives := 0; receives < e.MaxReceives; {
		d := e.one(t)
		if e.Exact && d.Receives != receives+1 {
			t.Fatalf("delivery %d says receives %d", receives+1, d.Receives)
		}
		receives = d.Receives
		if err := e.Queue.Delay(t.Context(), d, 0); err != nil && e.Exact {
			t.Fatalf("Delay of 0: %v", err)
		}
	}
	neighbour := e.send(t, order(1), 0)
	got := e.drain(t)
	if got[neighbour] == 0 || got[poison] != 0 {
		t.Errorf("after %d receives came %v, want only %s", e.MaxReceives, got, neighbour)
	}
	e.parked(t, poison)
}

func testRedrive(t *testing.T, e *queueEnv) {
	const byQueue = "nobody can read this"
	byHand := e.send(t, order(1), 0)
	d := e.one(t)
	if err := e.Queue.Park(t.Context(), d, "a test"); err != nil {
		t.Fatalf("Park: %v", err)
	}
	e.delete(t, d)
	e.sendRaw(t, byQueue)
	for range e.MaxReceives {
		if err := e.Queue.Delay(t.Context(), e.one(t), 0); err != nil && e.Exact {
			t.Fatalf("Delay of 0: %v", err)
		}
	}
	e.drain(t) // the receive that parks it
	e.parked(t, byHand, byQueue)
	if n, err := e.Queue.Redrive(t.Context()); err != nil || n != 2 {
		t.Fatalf("Redrive: %d messages, error %v, want 2", n, err)
	}
	e.parked(t)
	got := map[string]int{}
	for i := 0; i < polls && len(got) < 2; i++ {
		for _, d := range e.receive(t, seckill.MaxBatch) {
			if got[string(d.Body)]++; d.Receives > e.MaxReceives {
				t.Errorf("moved back with %d receives: %s", d.Receives, d.Body)
			}
			e.delete(t, d)
		}
		if len(got) < 2 {
			e.Advance(pollWait)
		}
	}
	if got[byHand] == 0 || got[byQueue] == 0 || len(got) != 2 {
		t.Errorf("after Redrive came %v", got)
	}
	if n, err := e.Queue.Redrive(t.Context()); err != nil || n != 0 {
		t.Errorf("Redrive of nothing: %d messages, error %v", n, err)
	}
}

func testReceipts(t *testing.T, e *queueEnv) {
	for _, receipt := range []string{"", "nonsense", "queue#1"} {
		d := seckill.Delivery{ID: "nonsense", Receipt: receipt}
		if err := e.Queue.Delete(t.Context(), d); err == nil {
			t.Errorf("Delete by receipt %q: no error", receipt)
		}
		if err := e.Queue.Delay(t.Context(), d, time.Second); err == nil {
			t.Errorf("Delay by receipt %q: no error", receipt)
		}
	}
	body := e.send(t, order(1), 0)
	first := e.one(t)
	e.Advance(e.Visible)
	if e.Exact {
		if err := e.Queue.Delay(t.Context(), first, time.Minute); err == nil {
			t.Error("Delay after the visibility timeout: no error")
		}
	}
	second := e.one(t)
	e.delete(t, first) // late, by a receiver that lost the message to another receiver
	if !e.Exact {
		e.delete(t, second)
		e.delete(t, second)
		return
	}
	if err := e.Queue.Delay(t.Context(), first, time.Minute); err == nil {
		t.Error("Delay by an old receipt: no error")
	}
	e.none(t, "after calls with an old receipt")
	e.Advance(e.Visible)
	third := e.one(t)
	if third.ID != first.ID || third.Receives != 3 || string(third.Body) != body {
		t.Errorf("third delivery %+v, want %s with receives 3", third, first.ID)
	}
	e.Advance(e.Visible)
	e.delete(t, third) // late, but no other receiver has it
	e.delete(t, third)
	if err := e.Queue.Delay(t.Context(), third, time.Minute); err == nil {
		t.Error("Delay of a deleted message: no error")
	}
	e.drained(t)
}

func testParallel(t *testing.T, e *queueEnv) {
	const messages, receivers = 200, 8
	want := map[string]bool{}
	for i := range messages {
		want[e.send(t, order(i), 0)] = true
	}
	var mu sync.Mutex
	held, got := map[string]int{}, map[string]int{}
	var wg sync.WaitGroup
	for r := range receivers {
		wg.Go(func() {
			for {
				ds, err := e.Queue.Receive(t.Context(), 1+r%seckill.MaxBatch)
				if err != nil {
					t.Errorf("receiver %d: Receive: %v", r, err)
					return
				}
				if len(ds) == 0 {
					return
				}
				mu.Lock()
				for _, d := range ds {
					got[string(d.Body)]++
					if held[d.ID]++; held[d.ID] > 1 && e.Exact {
						t.Errorf("receiver %d got %s, which another one holds", r, d.ID)
					}
				}
				mu.Unlock()
				for _, d := range ds {
					mu.Lock()
					held[d.ID]-- // counted before the deletion: after it, no receiver may get the message
					mu.Unlock()
					if err := e.Queue.Delete(t.Context(), d); err != nil {
						t.Errorf("receiver %d: Delete: %v", r, err)
					}
				}
			}
		})
	}
	wg.Wait()
	for body, n := range e.drain(t) { // what an inexact queue has left
		got[body] += n
	}
	for body := range want {
		if n := got[body]; n == 0 || n > 1 && e.Exact {
			t.Errorf("delivered %d times: %s", n, body)
		}
	}
	if len(got) != messages {
		t.Errorf("%d different messages delivered, want %d", len(got), messages)
	}
}

func testDepth(t *testing.T, e *queueEnv) {
	must.Equal(t, seckill.Depth{}, e.depth(t), "depth of an empty queue")
	for i := range 4 {
		e.send(t, order(i), 0)
	}
	e.send(t, order(4), 30*time.Second)
	if !e.Exact {
		var got seckill.Depth
		for range polls {
			if got = e.depth(t); got.Visible > 0 {
				return
			}
			e.Advance(pollWait)
		}
		t.Fatalf("depth %+v, want messages visible", got)
	}
	first, second := e.one(t), e.one(t)
	if err := e.Queue.Park(t.Context(), first, "test"); err != nil {
		t.Fatalf("Park: %v", err)
	}
	steps := []struct {
		name string
		do   func()
		want seckill.Depth
	}{
		{"two received, one of them parked", func() {}, seckill.Depth{Visible: 2, InFlight: 2, Delayed: 1, Parked: 1}},
		{"the parked one deleted", func() {
			e.delete(t, first)
		}, seckill.Depth{Visible: 2, InFlight: 1, Delayed: 1, Parked: 1}},
		{"the other one delayed", func() {
			e.delay(t, second, time.Hour)
		}, seckill.Depth{Visible: 2, InFlight: 1, Delayed: 1, Parked: 1}},
		{"30 s later", func() { e.Advance(30 * time.Second) }, seckill.Depth{Visible: 3, InFlight: 1, Parked: 1}},
		{"an hour later", func() { e.Advance(time.Hour) }, seckill.Depth{Visible: 4, Parked: 1}},
	}
	for _, s := range steps {
		s.do()
		must.Equal(t, s.want, e.depth(t), s.name, "depth")
	}
}

func queueCancelled(t *testing.T, e *queueEnv) {
	body := e.send(t, order(1), 0)
	d := e.one(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	calls := map[string]func() error{
		"Send":    func() error { return e.Queue.Send(ctx, order(2), 0) },
		"Receive": func() error { _, err := e.Queue.Receive(ctx, 1); return err },
		"Delete":  func() error { return e.Queue.Delete(ctx, d) },
		"Delay":   func() error { return e.Queue.Delay(ctx, d, time.Hour) },
		"Park":    func() error { return e.Queue.Park(ctx, d, "test") },
		"Depth":   func() error { _, err := e.Queue.Depth(ctx); return err },
		"Redrive": func() error { _, err := e.Queue.Redrive(ctx); return err },
	}
	for name, call := range calls {
		if call() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// A queue may have executed a call that it reported as failed, but not half of it; an exact queue has not
	// executed it.
	if e.Exact {
		e.Advance(e.Visible)
		e.drained(t, body)
		e.parked(t)
	}
}
