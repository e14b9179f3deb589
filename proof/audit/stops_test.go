package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/seckill"
)

// TestOrdersPlacedWhileStopped checks I10 against the stops in the items row. Orders may be placed for 9 s after a
// stop: its write takes up to 5 s, orders may follow for 2 s, and clocks may be off by 2 s.
func TestOrdersPlacedWhileStopped(t *testing.T) {
	t.Parallel()
	const stopHeld, apart = 9000, 2000
	ten := make([]string, seckill.MaxStops)
	for i := range ten {
		ten[i] = fmt.Sprintf("%d-%d", i+1, i+2)
	}
	for _, tt := range []struct {
		what  string
		stops func(placed int64) []string
		want  audit.Verdict
	}{
		{"never stopped", func(int64) []string { return []string{} }, audit.Holds},
		{"placed too late", func(at int64) []string { return []string{fmt.Sprint(at-stopHeld-1, "-")} }, audit.Broken},
		{"placed just in time", func(at int64) []string { return []string{fmt.Sprint(at-stopHeld, "-")} }, audit.Holds},
		{"placed too late, before the resumption", func(at int64) []string {
			return []string{fmt.Sprintf("%d-%d", at-stopHeld-1, at+apart+1)}
		}, audit.Broken},
		{"placed when it was resumed", func(at int64) []string {
			return []string{fmt.Sprintf("%d-%d", at-stopHeld-1, at+apart)}
		}, audit.Holds},
		{"placed between two stops", func(at int64) []string {
			return []string{fmt.Sprintf("%d-%d", at-60_000, at-20_000), fmt.Sprint(at+20_000, "-")}
		}, audit.Holds},
		{"placed in the first of two", func(at int64) []string {
			return []string{fmt.Sprintf("%d-%d", at-20_000, at+20_000), fmt.Sprint(at+40_000, "-")}
		}, audit.Broken},
		{"stopped before it was placed, by a clock set back", func(at int64) []string {
			return []string{fmt.Sprintf("%d-%d", at-20_000, at-30_000)}
		}, audit.Holds},
		{"more stops than are kept", func(int64) []string { return ten }, audit.Unknown},
		{"no times", func(int64) []string { return []string{"x-"} }, audit.Unknown},
	} {
		w := atRest()
		row, o := w.tables[record.PartItems][0], w.paid()
		last := int64(0)
		for _, other := range w.tables["orders"] {
			last = max(last, other["placed"].(int64))
		}
		o["placed"] = last + 3_600_000
		stops := tt.stops(o["placed"].(int64))
		row["stops"], row["version"], row["stopped"] = stops, int64(2*len(stops)), int64(0)
		if n := len(stops); n > 0 && strings.HasSuffix(stops[n-1], "-") {
			row["stopped"] = int64(1)
		}
		r := w.audit(t)
		j := r.Of("I10")
		if j.Verdict != tt.want {
			t.Errorf("%s: %s, want %s: %+v", tt.what, j.Verdict, tt.want, j)
		}
		if tt.want == audit.Broken && !slices.ContainsFunc(j.Findings, func(f audit.Finding) bool {
			return f.Row == id(o)
		}) {
			t.Errorf("%s: found %+v, want %s", tt.what, j.Findings, id(o))
		}
		o["state"] = string(seckill.Rejected)
		if r := w.audit(t); r.Of("I10").Verdict == audit.Broken && tt.want == audit.Broken {
			t.Errorf("%s, rejected: %+v", tt.what, r.Of("I10"))
		}
	}
}

// TestAnItemsRowThatSaysNothingOfItsStops: I10 is unknown when the items row may lack stops.
func TestAnItemsRowThatSaysNothingOfItsStops(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what string
		row  map[string]any
		want audit.Verdict
	}{
		{"of an older release, version 1", map[string]any{"version": int64(1)}, audit.Holds},
		{"of an older release", map[string]any{"version": int64(2)}, audit.Unknown},
		{"stopped, without a stop", map[string]any{"version": int64(2), "stopped": int64(1), "stops": []string{}},
			audit.Unknown},
		{"not stopped, with an open stop", map[string]any{"version": int64(2), "stopped": int64(0),
			"stops": []string{"9999999999999-"}}, audit.Unknown},
		{"stock added, never stopped", map[string]any{"version": int64(2), "stops": []string{}}, audit.Holds},
	} {
		w := atRest()
		delete(w.tables[record.PartItems][0], "stops")
		for attr, v := range tt.row {
			w.tables[record.PartItems][0][attr] = v
		}
		if j := w.audit(t).Of("I10"); j.Verdict != tt.want {
			t.Errorf("%s: %s, want %s: %+v", tt.what, j.Verdict, tt.want, j)
		}
	}
}
