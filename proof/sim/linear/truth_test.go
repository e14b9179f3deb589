package linear

import (
	"errors"
	"slices"
	"testing"

	"github.com/your-org/seckill/shared/seckill"
)

// TestRefusalsAreTrue checks refusals between 100 and 110 of an item installed at 10, sold out from 50 to 60 and
// stopped from 70 to 90. Refusals may be 30 old; clocks differ by up to 5.
func TestRefusalsAreTrue(t *testing.T) {
	history := []Moment{{At: 0}, {At: 10, Installed: true, Left: 3}, {At: 50, Installed: true},
		{At: 60, Installed: true, Left: 3},
		{At: 70, Installed: true, Left: 3, Stopped: true}, {At: 90, Installed: true, Left: 3}}
	for _, c := range []struct {
		name   string
		code   seckill.Code
		call   int64
		count  int
		window [2]int64
		lies   bool
	}{
		{"sold out just then", seckill.CodeSoldOut, 55, 1, [2]int64{0, 1000}, false},
		{"sold out within the second", seckill.CodeSoldOut, 90, 1, [2]int64{0, 1000}, false},
		{"sold out too long ago", seckill.CodeSoldOut, 91, 1, [2]int64{0, 1000}, true},
		{"not yet sold out", seckill.CodeSoldOut, 39, 1, [2]int64{0, 1000}, true},
		{"sold out when the answer came", seckill.CodeSoldOut, 40, 1, [2]int64{0, 1000}, false},
		{"not installed is not sold out", seckill.CodeSoldOut, 5, 1, [2]int64{0, 1000}, true},
		{"fewer than asked for", seckill.CodeNotEnough, 100, 4, [2]int64{0, 1000}, false},
		{"as many as asked for", seckill.CodeNotEnough, 100, 3, [2]int64{0, 1000}, true},
		{"stopped within the second", seckill.CodeStopped, 120, 1, [2]int64{0, 1000}, false},
		{"resumed long ago", seckill.CodeStopped, 121, 1, [2]int64{0, 1000}, true},
		{"not installed yet", seckill.CodeNotReady, 9, 1, [2]int64{0, 1000}, false},
		{"installed long ago", seckill.CodeNotReady, 100, 1, [2]int64{0, 1000}, true},
		{"not started, by a clock that is late", seckill.CodeNotStarted, 100, 1, [2]int64{96, 1000}, false},
		{"started", seckill.CodeNotStarted, 100, 1, [2]int64{95, 1000}, true},
		{"over, by a clock that is early", seckill.CodeEnded, 100, 1, [2]int64{0, 115}, false},
		{"not over", seckill.CodeEnded, 100, 1, [2]int64{0, 116}, true},
		{"a code that nothing is known of", seckill.CodeItemUnknown, 100, 1, [2]int64{0, 1000}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			truth := &Truth{Opens: c.window[0], Closes: c.window[1]}
			for _, m := range history {
				truth.Note(m)
				truth.Note(m)
			}
			ops := told(buys("", c.count).answered(refused(c.code, "")))
			ops[0].Call, ops[0].Return = c.call, c.call+10
			_, err := Check(ops, Options{Stale: 30, Skew: 5, Truth: map[string]*Truth{"1001": truth}})
			var lie *Contradiction
			if errors.As(err, &lie) != c.lies || err != nil && lie == nil || c.lies && lie.Rule != RuleRefusal {
				t.Fatalf("got %v, want a contradiction: %t", err, c.lies)
			}
		})
	}
}

// TestARepeatHearsTheSame: who bought hears of the order, not that nothing is left, unless an instance may remember
// that from before, or the stock has lost data.
func TestARepeatHearsTheSame(t *testing.T) {
	for _, c := range []struct {
		name   string
		ops    []Op
		losses []int64
		stale  int64
		lies   bool
	}{
		{"of an order that still waits", []Op{buys("k", 1).answered(accepted("a"))}, nil, 0, true},
		{"remembered from before", []Op{buys("k", 1).answered(accepted("a"))}, nil, 1000, false},
		{"after a loss", []Op{buys("k", 1).answered(accepted("a"))}, []int64{15}, 0, false},
		{"of what was given back",
			[]Op{buys("k", 1).answered(accepted("a")), looks("a", row("a", seckill.Expired))}, nil, 0, false},
	} {
		for _, key := range []string{"", "k"} {
			for i := range c.ops {
				if c.ops[i].Kind == Buy {
					c.ops[i].Key = key
				}
			}
			for _, code := range []seckill.Code{seckill.CodeSoldOut, seckill.CodeEnded, seckill.CodeStopped} {
				last := looks("a", row("a", seckill.Queued))
				if n := len(c.ops); c.ops[n-1].Kind != Buy {
					last = c.ops[n-1]
				}
				ops := told(append(slices.Clone(c.ops), buys(key, 1).answered(refused(code, "")), last)...)
				_, err := Check(ops, Options{Losses: c.losses, Stale: c.stale})
				if (err != nil) != c.lies {
					t.Errorf("%s, key %q, %s: got %v, want a contradiction: %t", c.name, key, code, err, c.lies)
				}
			}
		}
	}
}

func TestRefusalsWithoutTheTruthAreNotChecked(t *testing.T) {
	ops := told(buys("", 1).answered(refused(seckill.CodeSoldOut, "")),
		buys("", 1).answered(refused(seckill.CodeLimitReached, "")))
	r, err := Check(ops, Options{})
	if err != nil || r.Refusals != 0 || r.Operations != 2 {
		t.Fatalf("got %+v, %v; want two operations, no refusal judged, no error", r, err)
	}
}
