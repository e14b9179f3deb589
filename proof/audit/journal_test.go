package audit

import (
	"testing"

	"github.com/your-org/seckill/proof/record"
)

// TestWhoHeardNothing: a shopper gave up without a decision if the last purchase got no answer, 5xx or 429. A second
// press within a second of a decision does not count.
func TestWhoHeardNothing(t *testing.T) {
	const second = int64(1e6) // microseconds
	type press struct {
		sent, answered int64
		status         int
		code           string
	}
	for name, c := range map[string]struct {
		presses []press
		nothing bool
	}{
		"sold out":  {[]press{{0, 10, 409, "sold_out"}}, false},
		"no answer": {[]press{{0, 10, 0, ""}}, true},
		"busy":      {[]press{{0, 10, 503, "unavailable"}}, true},
		"throttled, then stopped": {[]press{{0, 10, 429, "unavailable"}, {20, 30, 409, "stopped"}},
			false},
		"stopped, and a second press throttled": {[]press{{0, 10, 409, "stopped"},
			{second, second + 10, 429, "unavailable"}}, false},
		"stopped, and throttled another time": {[]press{{0, 10, 409, "stopped"}, {second + 11000, second + 12000,
			429, "unavailable"}}, true},
		"both presses throttled": {[]press{{0, 10, 429, "unavailable"}, {5, 20, 429, "unavailable"}},
			true},
		"the first press answered after the other": {[]press{{0, 50, 429, "unavailable"}, {5, 20, 409, "stopped"}},
			false},
	} {
		told := &journalView{moment: 1_000_000, item: "1", users: map[string]*asker{}, acked: map[string]*acked{}}
		open := map[uint64]pending{}
		for i, p := range c.presses {
			told.take(&record.Entry{N: uint64(1 + i), Kind: record.KindRequest, At: p.sent, User: "7",
				Act: record.ActBuy, Item: "1"}, open)
		}
		last := -1
		for range c.presses { // in order of their answers
			next := -1
			for i, p := range c.presses {
				if (last < 0 || p.answered > c.presses[last].answered) &&
					(next < 0 || p.answered < c.presses[next].answered) {
					next = i
				}
			}
			last = next
			p := c.presses[last]
			told.take(&record.Entry{N: uint64(100 + last), Kind: record.KindAnswer, At: p.answered,
				Request: uint64(1 + last), User: "7", Act: record.ActBuy,
				Item: "1", Status: p.status, Code: p.code}, open)
		}
		if got := told.users["7"].vague; got != c.nothing {
			t.Errorf("%s: without a decision %v, want %v", name, got, c.nothing)
		}
	}
}
