package report_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/your-org/seckill/proof/report"
)

// BenchmarkReport makes and checks reports in files; the time to write and parse the dump is included: go test -run
// NONE -bench Report -benchtime 1x ./proof/report
func BenchmarkReport(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		key := newKey(b, "shop.example")
		file, err := os.Create(filepath.Join(b.TempDir(), "report"))
		if err != nil {
			b.Fatal(err)
		}
		heap := func(b *testing.B) {
			var mem runtime.MemStats
			runtime.ReadMemStats(&mem)
			b.ReportMetric(float64(mem.HeapSys-mem.HeapReleased)/(1<<20), "heap-MiB")
			size, _ := file.Seek(0, io.SeekEnd)
			b.ReportMetric(float64(size)/(1<<20), "file-MiB")
		}
		b.Run(fmt.Sprintf("make/%d", n), func(b *testing.B) {
			defer debug.SetGCPercent(debug.SetGCPercent(50)) // as the command does
			for b.Loop() {
				if _, err := file.Seek(0, io.SeekStart); err != nil || file.Truncate(0) != nil {
					b.Fatal(err)
				}
				o := report.Options{Items: []string{item}, Key: key}
				if _, err := report.Make(b.Context(), file, source(n), o); err != nil {
					b.Fatal(err)
				}
			}
			heap(b)
		})
		b.Run(fmt.Sprintf("verify/%d", n), func(b *testing.B) {
			debug.FreeOSMemory()
			for b.Loop() {
				if _, err := file.Seek(0, io.SeekStart); err != nil {
					b.Fatal(err)
				}
				c, err := report.Verify(file, key.Verifier, nil)
				if err != nil || !c.OK() || c.Orders != n {
					b.Fatal(err, c)
				}
			}
			heap(b)
		})
		if err := file.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
