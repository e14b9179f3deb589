package crowd

import (
	"math"
	"testing"
	"time"

	"github.com/your-org/seckill/proof/record"
)

var schedule = Options{Shoppers: 10_000, Ramp: time.Second, Lead: 5 * time.Second, Seed: 42,
	Shares: record.Shares{Pay: 0.7, Cancel: 0.05, Abandon: 0.1, Repeat: 0.2, Key: 0.5}}

// known returns a visit without its random source.
func known(o *Options, n int) visit {
	v := visitOf(o, n)
	v.random = nil
	return v
}

func TestTheSeedDecidesTheSchedule(t *testing.T) {
	other := schedule
	other.Seed++
	differ := 0
	for n := 1; n <= 1000; n++ {
		a, b := known(&schedule, n), known(&schedule, n)
		if a != b {
			t.Fatalf("shopper %d: %+v, then %+v", n, a, b)
		}
		if a != known(&other, n) {
			differ++
		}
		first, again := visitOf(&schedule, n), visitOf(&schedule, n)
		if x, y := first.random.Uint64(), again.random.Uint64(); x != y {
			t.Fatalf("shopper %d: later choices differ: %d and %d", n, x, y)
		}
	}
	if differ < 1000 {
		t.Errorf("%d of 1000 visits differ with another seed", differ)
	}
}

func TestShoppersComeOverTheWholeRampAndDoTheirShares(t *testing.T) {
	last := visit{opens: -time.Hour, press: -1}
	var keyed, twice int
	fates := map[fate]int{}
	for n := 1; n <= schedule.Shoppers; n++ {
		v := visitOf(&schedule, n)
		if v.press <= last.press-schedule.Ramp/5000 || v.press < 0 || v.press >= schedule.Ramp ||
			v.opens < -schedule.Lead || v.opens >= 0 || v.opens < last.opens-schedule.Lead/5000 {
			t.Fatalf("shopper %d opens at %v and presses at %v, after %v and %v", n, v.opens, v.press, last.opens,
				last.press)
		}
		want := float64(n) / float64(schedule.Shoppers)
		if got := v.press.Seconds() / schedule.Ramp.Seconds(); math.Abs(got-want) > 0.001 {
			t.Fatalf("shopper %d presses at %v of the ramp", n, got)
		}
		last = v
		if v.keyed {
			keyed++
		}
		if v.second != 0 {
			twice++
			if v.second < soonest || v.second >= latest {
				t.Fatalf("second press after %v", v.second)
			}
		}
		fates[v.fate]++
	}
	for _, x := range []struct {
		what  string
		n     int
		share float64
	}{{"keyed", keyed, 0.5}, {"twice", twice, 0.2}, {"pay", fates[pays], 0.7}, {"cancel", fates[cancels], 0.05},
		{"abandon", fates[abandons], 0.1}, {"look", fates[looks], 0.15}} {
		if got := float64(x.n) / float64(schedule.Shoppers); math.Abs(got-x.share) > 0.02 {
			t.Errorf("%s: %v of the shoppers, want %v", x.what, got, x.share)
		}
	}
}
