package config_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
)

// TestRenew: whoever needs the newest secrets waits for one read; a flood reads no more, and waits no more.
func TestRenew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const age, wait = 10 * time.Second, time.Second
		clock := memory.NewClock(time.Date(2026, 11, 11, 0, 0, 0, 0, time.UTC))
		api, src := &store{values: map[string]string{"a": "1"}}, config.Source{Setting: "A", Name: "a"}
		s, err := load(t.Context(), api, clock, "/buy", src)
		if err != nil {
			t.Fatal(err)
		}
		check := func(step string, calls int32, value string, wantChanged, wantErr bool, longest time.Duration) {
			t.Helper()
			begun := time.Now()
			changed, err := s.Renew(age, wait)
			if changed != wantChanged || (err != nil) != wantErr || api.calls.Load() != calls ||
				string(s.Of(src)) != value || time.Since(begun) > longest {
				t.Errorf("%s: changed %v, %v, %q after %d calls and %s; want %v, error %v, %q after %d, %s", step,
					changed, err, string(s.Of(src)), api.calls.Load(), time.Since(begun), wantChanged, wantErr, value,
					calls, longest)
			}
		}
		api.set("a", "2")
		check("first", 2, "2", true, false, 0)
		api.set("a", "3")
		for range 1000 {
			check("a flood", 2, "2", false, false, 0)
		}
		clock.Advance(age)
		check("later", 3, "3", true, false, 0)
		clock.Advance(time.Hour)
		api.set("a", "4")
		must.Get(s.Refresh())
		check("it joins the read of an event", 4, "4", true, false, 0)
		clock.Advance(age)
		api.set("a", "5", errThrottle)
		check("a fault", 5, "4", false, true, 0)
		check("a fault is no proof", 5, "4", false, true, 0)
		clock.Advance(age)
		api.set("a", "6", slices.Repeat([]error{errSilent}, 1)...)
		check("no answer", 6, "4", false, true, wait)
		for range 1000 {
			check("a flood without an answer", 6, "4", false, true, 0)
		}
		time.Sleep(time.Minute) // the read has given up
		clock.Advance(age)
		check("what the read of before said", 6, "4", false, true, 0)
		check("again", 7, "6", true, false, 0)
	})
}
