package plan

import (
	"math"
	"time"
)

// seen bounds how long a page before the opening may go without a list, because its looks are throttled.
const seen = time.Minute

// need returns the smallest limits under which no shopper waits longer than the sale allows. It finds them one after
// another, the API's first, because those decide the load of the others.
func need(s *Sale, free *Outcome) Limits {
	l, wait, lost := unlimited, s.Wait.Seconds(), half
	good := func() bool {
		o := simulate(s, l)
		return o.LongestWait <= wait && o.GaveUp <= lost
	}
	l.Ramp = rampInstances
	// Pages look at lists before the opening, and buyers at their orders after it.
	l.Poll = max(Today.Poll, min(maxThrottle, up(free.PeakPolls, 100)))
	l.PollBurst = max(Today.PollBurst, up(l.Poll/4, 100))
	pages := float64(s.Shoppers) * s.First
	lists := min(pages*s.Looks/openingLists, pages/seen.Seconds())
	if s.Edge {
		lists = min(lists, locations*languages)
	}
	l.Rate = max(Today.Rate, min(maxThrottle, up(lists, 100)))
	if s.hasChecks() { // with this rate, whoever came before the opening soon has a ticket
		l.Rate = least(l.Rate, max(l.Rate, maxThrottle), 100, func(v float64) bool {
			return s.admission(v, free.SoldOut).Wait <= s.Wait.Seconds()
		})
	}
	l.Admitting = s.admitting(l.Rate)
	l.Burst = max(Today.Burst, up(l.Rate/4, 100))
	rate := func(v float64) { l.BuyRate, l.BuyBurst, l.Provisioned = v, math.Round(v/2), up(1.2*Occupied*v, 50) }
	most := max(Today.BuyRate, min(maxThrottle, up(free.PeakCalls, 100)))
	rate(most)
	best := simulate(s, l) // where even that is not enough, do not exceed what helps
	wait, lost = max(wait, best.LongestWait), max(lost, best.GaveUp)
	rate(least(Today.BuyRate, most, 100, func(v float64) bool { rate(v); return good() }))
	l.Consume = firstOf(consumeChoices, func(v float64) bool { l.Consume = v; return placedInTime(s, simulate(s, l)) })
	l.Writes = least(NewTableWrites, up(writesMost(s.Count)*float64(s.Units)/float64(s.Count), 1000), 1000,
		func(v float64) bool {
			l.Writes = v
			return placedInTime(s, simulate(s, l))
		})
	// The largest burst for which instances start, with the fewest provisioned instances that allow a tenth of the
	// rate.
	provision := func(v float64) bool {
		l.Provisioned, l.BuyBurst = v, 0
		l.BuyBurst = max(1, min(math.Round(l.BuyRate/5), math.Floor(v+spared*rampInstances-l.Starting())))
		return l.BuyBurst >= math.Round(l.BuyRate/10)
	}
	provision(least(0, up(1.2*Occupied*l.BuyRate, 50), 50, func(v float64) bool { return provision(v) && good() }))
	o := simulate(s, l)
	l.notify(o.PeakPaid)
	l.signin(s)
	others := o.PeakPaid*Occupied + l.Telling() + l.Admitting // instances of pay, tell, deliver and admit
	l.Concurrency = max(accountConcurrency, up(max(l.Reserved()+1.2*o.PeakInstances+others,
		l.Reserved()+l.Provisioned+max(Unreserved, l.Starting()+l.Admitting+listMethods*l.Rate*Occupied)), 100))
	calls, burst := l.Calls()
	l.Account, l.AccountSize = max(accountRate, up(calls, 100)), max(accountBurst, up(burst, 100))
	return l
}

// notify admits twice the expected notifications, because shoppers pay in bunches and Alipay repeats. The burst is at
// least the default's, and otherwise what Lambda starts; executions are reserved for all of them.
func (l *Limits) notify(paid float64) {
	l.Notify = max(Today.Notify, up(2*paid, 100))
	l.NotifyBurst = math.Floor(min(l.Notify/2, spared*l.Ramp-l.Notify*coldSeconds))
	l.NotifyBurst = max(Today.NotifyBurst, l.NotifyBurst)
	l.NotifyKept = l.Notifying()
}

// signin admits all shoppers within the time that the sale says, evenly, and reserves an execution for each.
func (l *Limits) signin(s *Sale) {
	l.Signin = Today.Signin
	if s.Signin > 0 {
		l.Signin = max(l.Signin, min(maxThrottle, up(float64(s.Shoppers)/s.Signin.Seconds(), 10)))
	}
	l.SigninKept = math.Ceil(l.Signin * signinSeconds)
}

// placedInTime reports whether the last order gets its row within the sale's Wait.
func placedInTime(s *Sale, o Outcome) bool {
	return o.LastPlaced >= 0 && o.LastPlaced-max(o.LastSold, 0) <= s.Wait.Seconds()
}

// least returns the smallest good value of from, from+step, …, to; or to when none is good.
func least(from, to, step float64, good func(float64) bool) float64 {
	n := int(max(0, math.Ceil((to-from)/step)))
	lo, hi := 0, n // hi is good or the last value
	for lo < hi {
		if mid := (lo + hi) / 2; good(from + float64(mid)*step) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return from + float64(hi)*step
}

// firstOf returns the first good value, or the last value.
func firstOf(values []float64, good func(float64) bool) float64 {
	for _, v := range values[:len(values)-1] {
		if good(v) {
			return v
		}
	}
	return values[len(values)-1]
}

// spared is the share of Lambda's instances at once that a plan relies on.
const spared = 0.8
