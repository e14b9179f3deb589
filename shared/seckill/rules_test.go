package seckill_test

import (
	"testing"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// TestRules: how far each field may change, by the time.
func TestRules(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 11, 12, 0, 0, 0, time.UTC)
	it := seckill.Item{Start: start, End: start.Add(time.Hour)}
	free, up, not := seckill.MayChange, seckill.MayGrow, seckill.MayNot
	for _, tt := range []struct {
		name                       string
		at                         time.Duration // after the start
		text, stock, checks, price seckill.May
		why                        string // of the price
	}{
		{"long before", -time.Hour, free, up, free, free, ""},
		{"tickets are given", -30 * time.Minute, free, up, not, free, ""},
		{"a moment before it is loaded", -10*time.Minute - time.Millisecond, free, up, not, free, ""},
		{"loaded", -10 * time.Minute, free, up, not, not, seckill.WhyLoaded},
		{"on sale", time.Minute, free, up, not, not, seckill.WhyLoaded},
		{"over", time.Hour, not, not, not, not, seckill.WhyEnded},
	} {
		rules := map[string]seckill.Rule{}
		for _, r := range it.Rules(start.Add(tt.at)) {
			if (r.May == free) != (r.Why == "") || (r.May == not) == r.Since.IsZero() ||
				r.Until.IsZero() != (r.May == not) || (r.May != not && !r.Until.After(start.Add(tt.at))) {
				t.Errorf("%s: %+v", tt.name, r)
			}
			rules[r.Field] = r
		}
		for field, want := range map[string]seckill.May{"title": tt.text, "covers": tt.text, "detail": tt.text,
			"stock": tt.stock, "checks": tt.checks, "questions": tt.checks, "price": tt.price, "sk_price": tt.price,
			"start_time": tt.price, "end_time": tt.price, "limit": tt.price, "commodity_id": tt.price,
			"family": tt.price, "options": tt.text, "limit_spans": tt.price} {
			if rules[field].May != want {
				t.Errorf("%s: %s is %q, want %q", tt.name, field, rules[field].May, want)
			}
		}
		if rules["price"].Why != tt.why || len(rules) != 15 {
			t.Errorf("%s: %d rules, the price's %+v", tt.name, len(rules), rules["price"])
		}
	}
}

// TestRulesOfAnItemThatWasMadeLate: no field is fixed since a moment before the item was there.
func TestRulesOfAnItemThatWasMadeLate(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 11, 12, 0, 0, 0, time.UTC)
	for _, made := range []time.Duration{-time.Hour, -20 * time.Minute, time.Minute} { // after the start
		it := seckill.Item{Start: start, End: start.Add(time.Hour), CreateTime: start.Add(made)}
		for _, r := range it.Rules(start.Add(2 * time.Minute)) {
			want := map[string]time.Duration{seckill.WhyLoaded: max(made, -seckill.StageLead),
				seckill.WhyTickets: max(made, -seckill.TicketLead)}[r.Why]
			if r.May == seckill.MayNot && !r.Since.Equal(start.Add(want)) {
				t.Errorf("made %s: %+v, want since %s", made, r, want)
			}
		}
	}
}
