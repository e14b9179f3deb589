package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// hookRows is the hook of the ledger's rows. A sweep's reads of sixteen mostly empty partitions are not steps of the
// history, but the calls that follow from them are. The reads may be throttled, though.
func (s *Sim) hookRows(call string, do func() error) error {
	method, how, _ := strings.Cut(call, "/")
	switch method {
	case "ledger.Returns", "ledger.DueOrders", "ledger.RefundsDue", "ledger.RefundsRefused", "ledger.WebhooksDue":
		if how == "Index" {
			s.indexed()
		}
		s.swept++
		n := (s.draw ^ s.swept*0x9e3779b97f4a7c15) >> 16 % 10_000
		if s.faultsOn && s.plan.Faults[Throttle] && n < uint64(s.plan.Rates[Throttle]*scale[Throttle]) {
			s.fire(Throttle)
			return errFault
		}
		return do()
	}
	if how == "Index" {
		s.indexed()
	}
	return s.hook(call, do)
}

// indexed counts a read of an index that lags behind a write.
func (s *Sim) indexed() {
	if s.plan.IndexLag > 0 && s.Clock.Now().Sub(s.wrote) < s.plan.IndexLag {
		s.fire(StaleIndex)
	}
}

func (s *Sim) fire(f Fault) { s.Fired[f]++ }

// hook runs before every port call of every process: others act, and then the call is executed, dropped or delayed.
func (s *Sim) hook(call string, do func() error) error {
	p := s.current
	p.call, p.since = call, s.Clock.Now()
	s.stand(p)
	s.Steps++
	s.Calls[call]++
	if p.left > 0 {
		if p.left--; p.left == 0 {
			s.fire(Timeout)
			p.ends()
		}
	}
	how, err := s.injectFault(p, call, do)
	if err != nil && how == "" {
		how = " → " + err.Error()
	}
	s.trace.step(s.Clock.Now(), p, call, how)
	if p.dies {
		s.trace.step(s.Clock.Now(), p, "dies", "")
		panic(death{})
	}
	if s.faultsOn && int(s.draw>>40%100) < s.plan.Slow && !bounded(call) {
		p.call = call + " answered"
		s.stand(p)
	}
	return err
}

// stand suspends a process so that others act.
func (s *Sim) stand(p *process) {
	if !p.run.yield(false) || p.killed {
		panic(death{})
	}
}

// bounded reports whether a guarantee depends on the call's short deadline.
func bounded(call string) bool { return call == "ledger.Place/Transact" || call == "stock.Reserve" }

// scale converts a plan's rate, 1 to 100, into faults per 10,000 calls: 5 % at most, more for rare calls.
var scale = [nFaults]int{Fail: 5, Lost: 5, Late: 5, Throttle: 5, Conflict: 20, CommitLost: 20, QueryFault: 50,
	CloseFault: 50, RefundFault: 50, Delay: 20, StaleCount: 100}

// injectFault executes a call, or applies a fault that the step's random draw chooses.
func (s *Sim) injectFault(p *process, call string, do func() error) (how string, err error) {
	port, _, _ := strings.Cut(call, ".")
	if bounded(call) && s.Clock.Now().Sub(p.since) > seckill.PlaceTimeout {
		return " misses its deadline", context.DeadlineExceeded
	}
	if call == "stock.Reserve" {
		run := do
		do = func() error { return s.reserve(run) }
	}
	if port == "stock" && s.Clock.Now().Before(s.refuses) {
		s.fire(ReadOnly)
		return " is refused: read only", errFault
	}
	if !s.faultsOn {
		return "", do()
	}
	n := s.draw % 10_000
	if slices.Contains(s.plan.PausePoints, call) {
		n /= 8
	}
	return s.strikeCall(p, call, do, func(f Fault) bool {
		if !s.plan.Faults[f] {
			return false
		}
		rate := uint64(s.plan.Rates[f] * scale[f])
		if n < rate {
			s.fire(f)
			return true
		}
		n -= rate
		return false
	})
}

// strikeCall applies the first fault that fits the call and is drawn.
func (s *Sim) strikeCall(p *process, call string, do func() error, hit func(Fault) bool) (how string, err error) {
	port, name, _ := strings.Cut(call, ".")
	transaction := port == "ledger" && strings.HasSuffix(call, "/Transact")
	late := &s.late
	if p.what == actStream {
		late = &s.lateReads
	}
	switch {
	case port == "ledger" && hit(Throttle):
		return " is throttled", errFault
	case transaction && hit(Conflict):
		return " meets another transaction", errFault
	case transaction && hit(CommitLost):
		return unanswered(do, " is committed, the answer is lost")
	case call == "payments.Query" && hit(QueryFault):
		return " gets no answer", errFault
	case call == "payments.Close" && hit(CloseFault):
		return s.strikeClose(do)
	case call == "payments.Refund" && hit(RefundFault):
		return s.strikeRefund(do)
	case name == "Depth" && hit(StaleCount):
		s.queues[port].stale = s.draw>>20 + 1
		return " is counted late", do()
	case name == "Send" && hit(Delay):
		s.queues[port].extra = time.Duration(s.draw>>20%900+1) * time.Second
		return " will come late", do()
	case hit(Fail):
		return " fails, not done", errFault
	case hit(Lost):
		return unanswered(do, " is done, the answer is lost")
	case !bounded(call) && len(*late) < 4 && hit(Late):
		*late = append(*late, func() {
			s.trace.step(s.Clock.Now(), p, call, fmt.Sprintf(" arrives late (%v)", do()))
		})
		return " fails, and arrives later", errFault
	}
	return "", do()
}

// unanswered executes a call and returns a fault to its caller.
func unanswered(do func() error, how string) (string, error) {
	_ = do()
	return how, errFault
}

func (s *Sim) strikeClose(do func() error) (how string, err error) {
	switch s.draw >> 20 % 3 {
	case 0:
		return unanswered(do, " is done, the answer is lost")
	case 1:
		s.Provider.refuse = true
		return " is refused", do()
	}
	return " gets no answer", errFault
}

func (s *Sim) strikeRefund(do func() error) (how string, err error) {
	switch s.draw >> 20 % 5 {
	case 0:
		return unanswered(do, " is done, the answer is lost")
	case 1:
		s.Provider.poor = true
		return " meets an empty account", do()
	case 2:
		s.Provider.slow = true
		return " is done, the answer does not say so", do()
	case 3:
		s.Provider.stuck = true
		return " is taken and not done", do()
	}
	return " gets no answer", errFault
}

// reserve executes a reservation and checks its time (I10): the script uses its instance's clock, read just before
// the call.
func (s *Sim) reserve(do func() error) error {
	s.reserved = ""
	err := do()
	if s.reserved == "" {
		return err
	}
	it, now, off := s.item(s.reserved), s.Clock.Now(), time.Duration(0)
	for _, in := range s.instances {
		off = max(off, in.clock.by.Abs())
	}
	if s.plan.Faults[ClockJump] {
		off = seckill.SkewBound
	}
	if now.Before(it.Start.Add(-off)) || !now.Before(it.End.Add(off+seckill.PlaceTimeout)) {
		s.truth.fail("I10 a unit of item %s was reserved at %s, on sale from %s to %s, clocks off by at most %s", it.ID,
			now, it.Start, it.End, off)
	}
	return err
}
