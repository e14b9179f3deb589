package local

import (
	"errors"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

type slowPayments struct {
	seckill.Payments
	enter, leave chan struct{}
}

func (p slowPayments) Prepare(seckill.Order) (string, error) {
	p.enter <- struct{}{}
	<-p.leave
	return "signed", nil
}

// TestPaymentsGiveWay checks that while a crowd buys or orders wait, shoppers are asked to retry, but not forever.
func TestPaymentsGiveWay(t *testing.T) {
	slow := slowPayments{enter: make(chan struct{}, 1), leave: make(chan struct{})}
	close(slow.leave)
	waiting := backlog
	c := &priority{line: make(chan struct{}, signLine), queued: func() int { return waiting }}
	p := yieldingPayments{slow, c}
	later := func(why string) {
		t.Helper()
		c.last = time.Now().Add(time.Hour) // however slow this machine is
		if _, err := p.Prepare(seckill.Order{}); !errors.Is(err, seckill.ErrSignLater) {
			t.Errorf("%s: %v", why, err)
		}
	}
	signed := func(why string) {
		t.Helper()
		if text, err := p.Prepare(seckill.Order{}); err != nil || text != "signed" {
			t.Errorf("%s: %q, %v", why, text, err)
		}
		<-slow.enter
	}
	later("orders wait to be placed")
	waiting = backlog - 1
	signed("nothing is urgent")
	now := time.Now().Add(time.Hour)
	for range crowdCount - 1 {
		c.came(now)
	}
	if c.crowded(now) {
		t.Errorf("%d purchases are a crowd", crowdCount-1)
	}
	c.came(now)
	later("a crowd buys")
	c.last = time.Now().Add(-giveWay)
	signed("the last signature was long ago")
	if c.crowded(now.Add(crowdStays)) {
		t.Error("a crowd stays for ever")
	}
}

// TestPaymentsHaveALine checks that only signLine shoppers wait for a signature.
func TestPaymentsHaveALine(t *testing.T) {
	slow := slowPayments{enter: make(chan struct{}, signLine), leave: make(chan struct{})}
	c := &priority{line: make(chan struct{}, signLine), queued: func() int { return 0 }}
	p := yieldingPayments{slow, c}
	done := make(chan error, signLine)
	for range signLine {
		go func() {
			_, err := p.Prepare(seckill.Order{})
			done <- err
		}()
	}
	for len(c.line) < signLine {
		time.Sleep(time.Millisecond)
	}
	if _, err := p.Prepare(seckill.Order{}); !errors.Is(err, seckill.ErrSignLater) {
		t.Errorf("one more than the line holds: %v", err)
	}
	close(slow.leave)
	for range signLine {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
