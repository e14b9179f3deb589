package plan

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/your-org/seckill/proof/crowd"
)

// TestReportsAreRead: ReadLoad finds the figures that package crowd writes.
func TestReportsAreRead(t *testing.T) {
	var r crowd.Report
	r.Options.Shoppers, r.Options.Count, r.Options.Ramp, r.Options.Repeat, r.Stock = 20_000, 1, "1s", 0.2, 1000
	r.Outcomes = []crowd.Outcome{{Name: "placed", Latency: crowd.Latency{Max: 1194}},
		{Name: "sold_out", Latency: crowd.Latency{Max: 1203}}}
	r.Rates = crowd.Rates{Placed: 383, AnsweredAfter: 12298, SellOutSeconds: 0.24, LastFirstPlaced: 2.62,
		LastAnswerSecond: 2.14}
	b, err := json.Marshal(&r)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ReadLoad(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	want := Figures{SellOut: 0.24, AnsweredAfter: 12298, LastAnswer: 2.14, LongestWait: 1.203, Placed: 383,
		LastPlaced: 2.62}
	if got := l.Measured(); got != want || l.Options.Shoppers != 20_000 || l.Options.Repeat != 0.2 || l.Stock != 1000 {
		t.Errorf("%+v of %+v, want %+v", got, l, want)
	}
}
