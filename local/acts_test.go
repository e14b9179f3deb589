package local

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// TestActRing: a run remembers the last acts, the newest first, in bounded memory; user ids only of suspicious ones.
func TestActRing(t *testing.T) {
	t.Parallel()
	r := newActRing(func(text string) string { return "<" + text + ">" })
	from := netip.MustParsePrefix("203.0.113.7/32")
	at := time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	for i := range MaxActs + 50_000 {
		a := seckill.Act{At: at.Add(time.Duration(i) * time.Millisecond), Action: seckill.ActBuy, Item: fmt.Sprint(1 +
			i%2),
			Result: seckill.ActDone, Agent: "x"}
		if i%10 == 0 {
			a.Rules = seckill.RuleEarly
		}
		r.Take(&a, fmt.Sprint(i), from, "")
	}
	all := r.last("", "", MaxActs+1)
	if len(all) != MaxActs || len(r.acts) != MaxActs {
		t.Fatalf("%d acts of %d", len(all), len(r.acts))
	}
	for i, a := range all {
		n := MaxActs + 50_000 - 1 - i
		if suspicious := n%10 == 0; !a.At.Equal(at.Add(time.Duration(n)*time.Millisecond)) ||
			(a.User != "") != suspicious || a.UserHash != fmt.Sprintf("<2026-11-11|user|%d>", n) {
			t.Fatalf("act %d from the end: %+v", i, a)
		}
	}
	if got := r.last("2", "", 7); len(got) != 7 || got[6].Item != "2" {
		t.Errorf("of an item: %+v", got)
	}
	if got := r.last("", "normal", MaxActs); len(got) != MaxActs*9/10 {
		t.Errorf("%d normal acts", len(got))
	}
	if len(r.unkept) != maxUnkept {
		t.Errorf("%d acts wait to be kept, want %d", len(r.unkept), maxUnkept)
	}
	for r.waiting() {
		n := len(r.take())
		r.drop(n)
	}
	if r.kept != maxUnkept {
		t.Errorf("%d were kept", r.kept)
	}
}
