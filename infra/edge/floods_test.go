package edge

import (
	"fmt"
	"maps"
	"testing"
)

func throttles(buy, other int) func(string) string {
	return func(name string) string {
		return map[string]string{"BuyRate": fmt.Sprint(buy), "ThrottleRate": fmt.Sprint(other)}[name]
	}
}

// TestFloodsFollowTheThrottles checks the web ACL's limits: a share of what the throttles let through in a minute, at
// least WAF's fewest, and never what the check before a deployment refuses.
func TestFloodsFollowTheThrottles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ buy, other, share, wantBuy, wantAdmit int }{
		{1000, 300, DefaultShare, 6000, 1800}, {200, 200, DefaultShare, 1200, 1200}, {1000, 300, 5, 3000, 900},
		{1000, 300, MostShare, 15000, 4500}, {1, 1, 1, 10, 10}, {100000, 100000, MostShare, 1500000, 1500000},
	} {
		got, err := Floods(throttles(c.buy, c.other), c.share)
		want := map[string]string{"FloodOfPurchases": fmt.Sprint(c.wantBuy), "FloodOfAnswers": fmt.Sprint(c.wantAdmit)}
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
		if err := CheckFloods(got, throttles(c.buy, c.other)); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, share := range []int{-1, 0, MostShare + 1, 100} {
		if got, err := Floods(throttles(1000, 300), share); err == nil {
			t.Errorf("%d in 100: %v", share, got)
		}
	}
	if got, err := Floods(func(string) string { return "" }, DefaultShare); err == nil {
		t.Errorf("a stack without throttles: %v", got)
	}
}

// TestFloodsAreRefused checks that no limit is deployed with which one address takes more than a quarter of a throttle.
func TestFloodsAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		buy, admit string
		refused    bool
	}{
		{"15000", "4500", false}, {"15001", "4500", true}, {"15000", "4501", true}, {"60000", "30000", true},
		{"10", "10", false}, {"9", "10", true}, {"", "10", true}, {"many", "10", true}, {"-1", "10", true},
	} {
		limits := map[string]string{"FloodOfPurchases": c.buy, "FloodOfAnswers": c.admit}
		err := CheckFloods(limits, throttles(1000, 300))
		if (err != nil) != c.refused {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
