//go:build e2e

package suite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// consume is killed within batches: every acknowledged order is placed all the same.
func testKill(t *testing.T, s *stack) {
	s.needs(t, s.full(), "takes minutes")
	s.needs(t, s.Kill != "", "there is no command that kills functions")
	const perWave, maxWaves = 20, 20
	waves := 0
	report.timed(t, func() string { return fmt.Sprintf("%d kills, each with %d messages", waves, perWave) })
	sale := s.sell(t, (perWave+1)*maxWaves, 1)

	stranded := 0
	s.undisturbed(func() {
		for stranded == 0 {
			if waves++; waves > maxWaves {
				t.Fatalf("%d kills never met consume at work", maxWaves)
			}
			sale.killWave(t, perWave)
			stranded = sale.stranded(t)
		}
	})
	t.Logf("%d orders are with a killed process after %d kills", stranded, waves)
	began := time.Now()
	sale.placed(t)
	t.Logf("every acknowledged order has its row %.1f s after the last kill", time.Since(began).Seconds())
	if n := sale.inState(t)[seckill.Rejected]; n > 0 {
		t.Errorf("%d orders were rejected while units were left", n)
	}
}

// killWave kills consume once within a batch, at a random moment. It makes consume ready by one order, freezes it,
// hands it the messages of n shoppers, and lets it go on for a moment. A batch takes less time than finding its
// process: a kill that is not prepared so meets consume at work by luck only.
func (s *sale) killWave(t *testing.T, n int) {
	t.Helper()
	buy := func(ctx context.Context, p *shopper) (bool, error) {
		a, err := p.buy(ctx, 1, "cart")
		if err == nil && a.Status != 200 && !later(a, true) {
			err = fmt.Errorf("buy: %v", a)
		}
		return a.Status == 200, err
	}
	kill := func(action string) {
		if err := s.shell(background(t), s.Kill, s.Outputs["ConsumeFunction"], action); err != nil {
			t.Error(err)
		}
	}
	s.crowd(t, 1, buy, func() bool { return false })
	s.placed(t)
	resume := s.pauseQueue(t, "ConsumeFunction")
	s.crowd(t, n, buy, func() bool { return false })
	waiting, _ := s.depth(t, "OrdersQueueUrl")
	kill("freeze")
	defer kill(fmt.Sprintf("%.3f", rand.Float64()*longestLife.Seconds())) // also after a failure: it is still frozen
	resume()
	eventually(t, "message with consume", func() string {
		if visible, _ := s.depth(t, "OrdersQueueUrl"); visible == waiting {
			return "all wait: " + visible
		}
		return ""
	})
}

// longestLife is how long consume may work in a wave before it is killed, at most: about as long as a batch takes.
const longestLife = 30 * time.Millisecond

// stranded returns how many acknowledged orders have no row and no visible message: a killed process had received the
// message, and it is in flight until its visibility timeout ends.
func (s *sale) stranded(t *testing.T) int {
	t.Helper()
	eventually(t, "messages taken up", func() string {
		if visible, _ := s.depth(t, "OrdersQueueUrl"); visible != "0" {
			return visible + " messages wait"
		}
		return ""
	})
	missing := func() int { return len(s.outcomes(s.mustRows(t))) }
	for before := missing() + 1; ; pause(t.Context(), 2*time.Second) { // until no more orders are placed
		now := missing()
		if now == 0 || now == before {
			return now
		}
		before = now
	}
}

// The stack is updated while a crowd buys: no purchase is lost, and at the end the new release answers.
func testUpdate(t *testing.T, s *stack) {
	s.needs(t, s.full(), "takes minutes")
	s.needs(t, s.Update != "", "there is no command that updates the stack")
	s.shown.Lock()
	defer s.shown.Unlock()
	const mostShoppers, perWave = 1000, 10
	var bought, failed atomic.Int64
	var took time.Duration
	report.timed(t, func() string {
		return fmt.Sprintf("update took %.1f s; %d bought meanwhile, %d answers 5xx", took.Seconds(), bought.Load(),
			failed.Load())
	})
	sale := s.sell(t, mostShoppers, 1)
	release := fmt.Sprintf("e2e-%d", runID)
	updated := make(chan error, 1)
	var over atomic.Bool
	began := time.Now()
	go func() {
		err := s.shell(t.Context(), s.Update, "Release="+release)
		took = time.Since(began)
		over.Store(true)
		updated <- err
	}()
	for !over.Load() && bought.Load() <= mostShoppers-perWave {
		sale.crowd(t, perWave, func(ctx context.Context, p *shopper) (bool, error) {
			a, err := p.buy(ctx, 1, "cart")
			switch {
			case err != nil:
				return false, err
			case a.Status == 200:
				bought.Add(1)
				return true, nil
			case later(a, true):
				failed.Add(1)
				return false, nil
			}
			return false, fmt.Errorf("buy: %v", a)
		}, func() bool { return false })
		pause(t.Context(), time.Second) // so that the update makes progress
	}
	if err := <-updated; err != nil {
		t.Fatal(err)
	}
	if bought.Load() == 0 {
		t.Error("nobody bought during the update")
	}
	eventually(t, "new release", func() string {
		a, err := s.Call(t.Context(), "", "GET", "/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.Text("version") != release {
			return a.String()
		}
		return ""
	})
	sale.placed(t)
}

// killOften kills a function at random moments until stop, which returns how often.
func (s *stack) killOften(t *testing.T, output string) (stop func() (kills int)) {
	over, kills, failed := make(chan struct{}), 0, make(chan error, 1)
	go func() {
		for {
			select {
			case <-over:
				failed <- nil
				return
			case <-t.Context().Done():
				return
			case <-time.After(time.Duration(200+rand.IntN(1500)) * time.Millisecond):
			}
			kills++
			if err := s.killAtWork(output); err != nil {
				failed <- err
				return
			}
		}
	}()
	return func() int {
		t.Helper()
		close(over)
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
		return kills
	}
}

// killAtWork kills a function. It first freezes it for a moment, so that most kills meet it with a batch.
func (s *stack) killAtWork(output string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	frozen := s.shell(ctx, s.Kill, s.Outputs[output], "freeze")
	time.Sleep(rand.N(500 * time.Millisecond))
	return errors.Join(frozen, s.shell(ctx, s.Kill, s.Outputs[output],
		fmt.Sprintf("%.3f", rand.Float64()*longestLife.Seconds())))
}
