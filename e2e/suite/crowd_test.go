package suite

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest/contracttest"
	"github.com/your-org/seckill/shared/seckill"
)

// crowdPatience is the longest duration of a crowd.
const crowdPatience = 4 * patience

// crowd makes n shoppers visit a sale, as many at once as there are clients, each repeatedly until its visit reports
// done or enough returns true; each comes at least once. A visit's error ends the crowd.
func (s *sale) crowd(t *testing.T, n int, visit func(ctx context.Context, p *shopper) (done bool, err error),
	enough func() bool) {
	t.Helper()
	type guest struct {
		*shopper
		back time.Time // when it comes again; zero if it has not come yet
	}
	limited, cancel := context.WithTimeoutCause(t.Context(), crowdPatience,
		fmt.Errorf("the crowd was not done within %v", crowdPatience))
	defer cancel()
	ctx, fail := context.WithCancelCause(limited)
	defer fail(nil)
	ids := newShoppers(n)
	line := make(chan guest, n)
	for i := range n {
		line <- guest{s.shopper(t, ids+int64(i)), time.Time{}}
	}
	var gone, came atomic.Int64
	var workers sync.WaitGroup
	for range s.clients() {
		workers.Go(func() {
			for ctx.Err() == nil && gone.Load() < int64(n) && (came.Load() < int64(n) || !enough()) {
				var g guest
				select {
				case g = <-line:
				case <-time.After(pollEvery): // the other workers have all shoppers
					continue
				}
				pause(ctx, time.Until(g.back))
				done, err := visit(ctx, g.shopper)
				if g.back.IsZero() {
					came.Add(1)
				}
				switch {
				case err != nil:
					fail(err)
				case done:
					gone.Add(1)
				default:
					g.back = time.Now().Add(time.Second)
					line <- g
				}
			}
		})
	}
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		t.Fatalf("%v (%d of %d shoppers were done)", err, gone.Load(), n)
	}
}

// pause waits for d or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// later reports whether an answer means that a retry may help. With rough, functions are killed or replaced under the
// crowd, or a call may time out, and any answer of the gateway counts; the suite's last line counts those.
func later(a contracttest.Answer, rough bool) bool {
	return a.Status == 503 || rough && a.Status >= 500
}

// payer returns a visit that buys one unit and stays until the order is paid. If the order expires, it starts again.
func payer(acked func(), paid func()) func(context.Context, *shopper) (bool, error) {
	var attempts sync.Map // attempts by shopper
	return func(ctx context.Context, p *shopper) (bool, error) {
		n, _ := attempts.LoadOrStore(p.id, 1)
		a, err := p.buy(ctx, 1, fmt.Sprintf("attempt-%d", n))
		if err != nil {
			return false, err
		}
		switch code := a.Text("code"); {
		case a.Status == 200:
			acked()
		case code == "limit_reached":
		case code == "sold_out" || later(a, true): // on a full machine a stand-in lets a call time out
			return false, nil
		default:
			return false, fmt.Errorf("buy: %v", a)
		}
		state, err := p.finish(ctx)
		if err == nil && state == seckill.Paid {
			paid()
			return true, nil
		}
		if err == nil {
			attempts.Store(p.id, n.(int)+1)
		}
		return false, err
	}
}

// finish pays the shopper's order once it is placed, and returns its state.
func (p *shopper) finish(ctx context.Context) (seckill.State, error) {
	for ; ctx.Err() == nil; pause(ctx, pollEvery) {
		a, err := p.status(ctx)
		if err != nil {
			return "", err
		}
		state := seckill.State(a.Text("state"))
		switch {
		case later(a, true) || state == seckill.Queued || state == seckill.Closing:
		case state == seckill.PendingPayment && a.Text("alipay_order") != "":
			page, err := p.pay(ctx, a.Text("alipay_order"))
			if err != nil {
				return "", err
			}
			if page.Status != 200 && page.Status != 410 && !later(page, true) { // 410: its hold has ended
				return "", fmt.Errorf("cashier: %v", page)
			}
		case state == seckill.PendingPayment: // its hold has ended: it expires, and another shopper buys the unit
			return state, nil
		case a.Status == 200 && a.Text("state") != "":
			return state, nil
		default:
			return "", fmt.Errorf("status: %v", a)
		}
	}
	return "", context.Cause(ctx)
}
