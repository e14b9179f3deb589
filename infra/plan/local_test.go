package plan

import (
	"math"
	"os"
	"strings"
	"testing"
)

// TestPredictionAgainstALoad: testdata/load.json is part of a report of 20,000 shoppers for 1,000 units on the machine
// of docs/PERFORMANCE.md.
func TestPredictionAgainstALoad(t *testing.T) {
	f, err := os.Open("testdata/load.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := ReadLoad(f)
	if err != nil {
		t.Fatal(err)
	}
	p, m := l.Predict(Machine), l.Measured()
	for what, pair := range map[string][2]float64{"answered after sell-out": {p.AnsweredAfter, m.AnsweredAfter},
		"last answer":  {p.LastAnswer, m.LastAnswer},
		"longest wait": {p.LongestWait, m.LongestWait}, "placed": {p.Placed, m.Placed}, "last placed": {p.LastPlaced,
			m.LastPlaced}} {
		if ratio := pair[1] / pair[0]; ratio < 0.67 || ratio > 1.5 {
			t.Errorf("%s: predicted %.2f, measured %.2f", what, pair[0], pair[1])
		}
	}
	var b strings.Builder
	if err := l.Compare(&b, Machine); err != nil ||
		!strings.Contains(b.String(), "predicted     measured    ratio\n") || strings.Count(b.String(), "\n") != 8 {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// TestPredictionAddsUp: when no shopper hears "sold out", the last answer comes when all work is done.
func TestPredictionAddsUp(t *testing.T) {
	l := &Load{Stock: 1000}
	l.Options.Shoppers, l.Options.Count, l.Options.Ramp = 1000, 1, "0s"
	c := Costs{Cores: 2, Call: 1e-3, Reserve: 1e-3, Place: 1e-3, Sign: 2e-3}
	p := l.Predict(c)
	if p.SellOut != 0 || p.AnsweredAfter != 0 || math.Abs(p.LastAnswer-2) > 0.01 || math.Abs(p.LastPlaced-3.5) > 0.02 ||
		math.Abs(p.Placed-1000/p.LastPlaced) > 1e-9 {
		t.Errorf("%+v", p)
	}
	l.Stock = 1 // one order, 999 refusals
	if p = l.Predict(c); math.Abs(p.LastAnswer-0.5) > 0.01 || math.Abs(p.AnsweredAfter-2000) > 20 || p.SellOut > 0.01 {
		t.Errorf("%+v", p)
	}
}

func TestWhatIsNoReport(t *testing.T) {
	for _, text := range []string{"", "[]", "{}", `{"options":{"shoppers":5,"count":1,"ramp":"x"},"stock":1}`} {
		if l, err := ReadLoad(strings.NewReader(text)); err == nil ||
			!strings.HasPrefix(err.Error(), "not a report of seckill load: ") {
			t.Errorf("%q: %+v, %v", text, l, err)
		}
	}
}
