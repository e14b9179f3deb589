package acts_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/flow/office/acts"
	"github.com/your-org/seckill/shared/seckill"
)

var now = time.Date(2026, 11, 11, 1, 59, 0, 0, time.UTC)

// shown is an act that breaks no rule.
func shown(user int) (seckill.Act, acts.Seen) {
	return seckill.Act{At: now, Action: seckill.ActTicket, Item: "1", Result: seckill.ActDone, Agent: "Mozilla/5.0"},
		acts.Seen{User: fmt.Sprint(user), Network: netip.MustParsePrefix(fmt.Sprintf("203.0.%d.%d/32", user/250,
			user%250)), Page: true}
}

// TestRules: each rule marks from its threshold on, and not before; nothing else marks.
func TestRules(t *testing.T) {
	t.Parallel()
	one := netip.MustParsePrefix("198.51.100.1/32")
	early := seckill.Reason(seckill.CodeNotStarted)
	for name, c := range map[string]struct {
		change func(i int, a *seckill.Act, s *acts.Seen) // the ith act
		n      int                                       // acts that break no rule
		want   seckill.Rules                             // of the next one
	}{
		"ordinary":             {func(int, *seckill.Act, *acts.Seen) {}, 400, 0},
		"a ticket for no page": {func(_ int, _ *seckill.Act, s *acts.Seen) { s.Page = false }, 0, seckill.RulePrelude},
		"a challenge for no page": {func(_ int, a *seckill.Act, s *acts.Seen) {
			a.Action, s.Page = seckill.ActChallenge, false
		}, 400, 0},
		"too fast": {func(_ int, _ *seckill.Act, s *acts.Seen) { s.TooFast = true }, 0, seckill.RuleFast},
		"users of one network": {func(i int, a *seckill.Act, s *acts.Seen) {
			s.Network, a.Agent = one, fmt.Sprint(i)
		}, 1000, seckill.RuleNetwork},
		"users of one network over hours": {func(i int, a *seckill.Act, s *acts.Seen) {
			s.Network, a.Agent, a.At = one, fmt.Sprint(i), now.Add(time.Duration(i)*600*time.Millisecond)
		}, 4000, 0},
		"users of one client in one network": {func(_ int, a *seckill.Act, s *acts.Seen) {
			s.Network, a.Action = one, seckill.ActChallenge
		}, 300, seckill.RuleAgent},
		"one user of one network": {func(_ int, _ *seckill.Act, s *acts.Seen) {
			s.Network, s.User = one, "7"
		}, 4000, 0},
		"no network": {func(_ int, _ *seckill.Act, s *acts.Seen) { s.Network = netip.Prefix{} }, 400, 0},
		"one wrong answer": {func(i int, _ *seckill.Act, s *acts.Seen) {
			s.Wrong = []string{"Paris!", " PARIS! ", "ｐａｒｉｓ！"}[i%3]
		}, 10, seckill.RuleAnswer},
		"one short wrong answer": {func(_ int, _ *seckill.Act, s *acts.Seen) { s.Wrong = " 123 " }, 400, 0},
		"wrong answers": {func(i int, _ *seckill.Act, s *acts.Seen) { s.Wrong = fmt.Sprintf("%04d", i) }, 400,
			0},
		"one wrong answer, by items": {func(i int, a *seckill.Act, s *acts.Seen) {
			s.Wrong, a.Item = "Paris!", fmt.Sprint(i)
		}, 400, 0},
		"early presses": {func(_ int, a *seckill.Act, s *acts.Seen) {
			a.Action, a.Result, s.User = seckill.ActBuy, early, "7"
		}, 5, seckill.RuleEarly},
		"early presses, by minutes": {func(i int, a *seckill.Act, s *acts.Seen) {
			a.Action, a.Result, s.User, a.At = seckill.ActBuy, early, "7", now.Add(time.Duration(i)*12*time.Second)
		}, 400, 0},
		"early presses of many": {func(_ int, a *seckill.Act, _ *acts.Seen) {
			a.Action, a.Result = seckill.ActBuy,
				early
		}, 400, 0},
		"presses after the start": {func(_ int, a *seckill.Act, s *acts.Seen) {
			a.Action, s.User = seckill.ActBuy,
				"7"
		}, 400, 0},
		"a purchase from no page": {func(_ int, a *seckill.Act, s *acts.Seen) {
			a.Action, s.Page = seckill.ActBuy,
				false
		}, 400, 0},
		"purchases from one network": {func(_ int, a *seckill.Act, s *acts.Seen) {
			a.Action, s.Network = seckill.ActBuy, one
		}, 400, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := acts.NewWatch()
			for i := range c.n + 1 {
				a, s := shown(i)
				c.change(i, &a, &s)
				want := seckill.Rules(0)
				if i == c.n {
					want = c.want
				}
				if got := w.Rules(&a, &s); got != want {
					t.Fatalf("act %d breaks %q, want %q", i, got, want)
				}
			}
		})
	}
}

// TestMarkedTogether: once a network has too many users, the first ones break the rule, too, until the window is over.
func TestMarkedTogether(t *testing.T) {
	t.Parallel()
	w := acts.NewWatch()
	act := func(user int, at time.Time) seckill.Rules {
		a, s := shown(user)
		s.Network, a.At, a.Agent = netip.MustParsePrefix("2001:db8::/64"), at, fmt.Sprint(user)
		return w.Rules(&a, &s)
	}
	for user := range acts.MaxOfNetwork + 1 {
		act(user, now)
	}
	for after, want := range map[time.Duration]seckill.Rules{0: seckill.RuleNetwork,
		acts.Window - 1: seckill.RuleNetwork} {
		must.Equal(t, want, act(0, now.Add(after)), "the first user after", after)
	}
	for _, at := range []time.Time{now.Add(acts.Window), now} { // the second one by a clock that was set back
		must.Equal(t, 0, act(0, at), "at", at)
	}
}

// TestMemory: however many networks, users and answers there are, the rules take no more memory after their first use,
// and mark nobody for sharing room.
func TestMemory(t *testing.T) {
	w := acts.NewWatch()
	i := 0
	each := func() {
		i++
		a, s := shown(i % 60000)
		s.Wrong = fmt.Sprintf("wrong %d", i)
		if got := w.Rules(&a, &s); got != 0 {
			t.Errorf("act %d breaks %q", i, got)
		}
	}
	each()
	// The texts of this test are five allocations; PlainAnswer's is one.
	if n := testing.AllocsPerRun(20000, each); n > 8 {
		t.Errorf("%v allocations for each act", n)
	}
}

// TestOwnGroupsStay: a script does not get rid of what counts against it by many answers, or clients, of its own.
func TestOwnGroupsStay(t *testing.T) {
	t.Parallel()
	w, one, others := acts.NewWatch(), netip.MustParsePrefix("198.51.100.1/32"), 0
	decoys := func(n int) {
		for range n {
			others++
			a, s := shown(1000 + others%50)
			a.At, s.Network = now.Add(time.Duration(others)*time.Millisecond), one
			s.Wrong, a.Agent = fmt.Sprintf("decoy %d", others), fmt.Sprintf("client %d", others)
			if got := w.Rules(&a, &s); got&(seckill.RuleAnswer|seckill.RuleAgent) != 0 {
				t.Fatalf("decoy %d breaks %q", others, got)
			}
		}
	}
	for user := range acts.MaxOfAgent + 1 {
		a, s := shown(user)
		a.At, s.Network = now.Add(time.Duration(others)*time.Millisecond), one
		s.Wrong, a.Agent = "the farm's answer", "curl"
		got, want := w.Rules(&a, &s), seckill.Rules(0)
		if user >= acts.MaxOfAnswer {
			want |= seckill.RuleAnswer
		}
		if user >= acts.MaxOfAgent {
			want |= seckill.RuleAgent
		}
		if got &= seckill.RuleAnswer | seckill.RuleAgent; got != want {
			t.Fatalf("user %d breaks %q, want %q", user, got, want)
		}
		decoys(60) // in the end 30 times as many as there is room for
	}
}
