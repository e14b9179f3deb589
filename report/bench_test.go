package report_test

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/your-org/seckill/report"
)

// BenchmarkReport makes and checks reports, writing and parsing of the dump included: go test -run NONE -bench Report
// -benchtime 1x ./report
func BenchmarkReport(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		key := newKey(b, "shop.example")
		var file bytes.Buffer
		heap := func(b *testing.B) {
			var mem runtime.MemStats
			runtime.ReadMemStats(&mem)
			b.ReportMetric(float64(mem.HeapSys-mem.HeapReleased)/(1<<20), "heap-MiB")
			b.ReportMetric(float64(file.Len())/(1<<20), "file-MiB")
		}
		b.Run(fmt.Sprintf("make/%d", n), func(b *testing.B) {
			for b.Loop() {
				file.Reset()
				if _, err := report.Make(b.Context(), &file, source(n), report.Options{Items: []string{item}, Key: key}); err != nil {
					b.Fatal(err)
				}
			}
			heap(b)
		})
		b.Run(fmt.Sprintf("verify/%d", n), func(b *testing.B) {
			debug.FreeOSMemory()
			for b.Loop() {
				c, err := report.Verify(bytes.NewReader(file.Bytes()), key.Verifier, nil)
				if err != nil || !c.OK() || c.Orders != n {
					b.Fatal(err, c)
				}
			}
			heap(b)
		})
	}
}
