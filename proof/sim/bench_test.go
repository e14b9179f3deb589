package sim

import "testing"

// BenchmarkSeed plays seeds with one item and thirty shoppers: about 350 steps with faults and as many calls after
// them.
func BenchmarkSeed(b *testing.B) {
	steps, calls := 0, 0
	for i := range b.N {
		r := Play(uint64(i+1), Options{Items: 1, Shoppers: 30, Length: 700}, false)
		if r.Err != nil {
			b.Fatalf("seed %d: %v", r.Seed, r.Err)
		}
		steps, calls = steps+r.Steps, calls+r.Calls
	}
	b.ReportMetric(float64(steps)/float64(b.N), "steps/seed")
	b.ReportMetric(float64(calls)/float64(b.N), "calls/seed")
}
