//go:build linux

package lambdahost_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/your-org/seckill/e2e/lambdahost"
)

// account allows so many concurrent executions, new instances and requests.
type account struct {
	mu                       sync.Mutex
	executions, starts, pass int
}

func (a *account) Let(string, string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pass--
	return a.pass >= 0
}

func (a *account) Begin(_ string, cold bool) (func(), bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.executions == 0 || cold && a.starts == 0 {
		return nil, false
	}
	a.executions--
	if cold {
		a.starts--
	}
	return func() {
		a.mu.Lock()
		a.executions++
		a.mu.Unlock()
	}, true
}

// Functions that start cold get the processes that their events need, as far as the account allows; the rest is
// refused at once.
func TestColdStartsWithinAnAccount(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var answers []lambdahost.Answer
	h := start(t, lambdahost.Options{Instances: map[string]int{"buy": 0, "gateway": 1}, Cold: map[string]int{"buy": 0},
		Account: &account{executions: 2, starts: 1, pass: 4},
		Answered: func(a lambdahost.Answer) {
			mu.Lock()
			defer mu.Unlock()
			answers = append(answers, a)
		}})
	if s := h.Stats("buy"); s.Started != 0 {
		t.Fatalf("%+v: an instance before the first event", s)
	}
	hung := make(chan struct{})
	_, first := ask(t, h, "/seckill/buy", "") // cold
	_, again := ask(t, h, "/seckill/buy", "")
	if first.PID == 0 || again.PID != first.PID {
		t.Errorf("answered by %d, then by %d: want the same process, it is warm", first.PID, again.PID)
	}
	go func() {
		defer close(hung)
		_, _ = ask(t, h, "/seckill/buy", "hang")
	}()
	eventually(t, "the instance is busy", func() bool { return h.Stats("buy").Invoked == 3 })
	r, _ := ask(t, h, "/seckill/buy", "") // no second start
	refused(t, r)
	if r, _ := ask(t, h, "/seckill/buy", ""); r.StatusCode != http.StatusTooManyRequests ||
		r.Header.Get("Retry-After") != "1" {
		t.Errorf("beyond what API Gateway lets through: %d", r.StatusCode)
	}
	if _, free := ask(t, h, "/cashier", ""); free.PID == 0 {
		t.Error("a function that is none of the account's has its limits")
	}
	if s := h.Stats("buy"); s.Started != 1 || s.Throttled != 1 {
		t.Errorf("%+v", s)
	}
	<-hung
	mu.Lock()
	defer mu.Unlock()
	if len(answers) < 4 || !answers[2].Gateway || !answers[2].Retry || answers[2].Code != "unavailable" ||
		answers[2].Resource != "/seckill/buy" ||
		answers[0].Gateway {
		t.Errorf("%+v", answers)
	}
}

// A process that exits before it asks for an event is a failed init, and fails the event for which it was started.
func TestColdStartThatFails(t *testing.T) {
	t.Parallel()
	h := start(t, lambdahost.Options{
		Instances: map[string]int{"buy": 0},
		Cold:      map[string]int{"buy": 0},
		Account:   &account{executions: 1, starts: 2, pass: 2},
		Own:       map[string]map[string]string{"buy": {"DIE_AT_INIT": "yes"}},
	})
	r, _ := ask(t, h, "/seckill/buy", "")
	refused(t, r)
	eventually(t, "the init error is counted", func() bool { return h.Stats("buy").InitErrors == 1 })
	if s := h.Stats("buy"); s.Started != 1 || s.Invoked != 0 {
		t.Errorf("%+v", s)
	}
}
