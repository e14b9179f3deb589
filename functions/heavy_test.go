//go:build real

package functions_test

import (
	"archive/zip"
	"compress/flate"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/your-org/seckill/functions/lambdatest"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// Goals for a deployed binary, which an instance loads at a cold start.
const (
	sizeGoal = 14 << 20
	zipGoal  = 4_864 << 10 // 4.75 MiB
)

// arch is the architecture of TestSize. Another one's packages must be compiled, which takes a minute.
var arch = flag.String("arch", runtime.GOARCH, "build the functions for `arm64` or amd64 to see how large they are")

// TestSize builds the functions as they are deployed. It needs no server but takes long.
func TestSize(t *testing.T) {
	path := func(step string) string { return binary(t, step) }
	if *arch != runtime.GOARCH {
		folder := t.TempDir()
		lambdatest.Build(t, *arch, folder, "./...")
		path = func(step string) string { return filepath.Join(folder, step) }
	}
	for _, step := range steps {
		size, zipped := sizes(t, path(step))
		t.Logf("%-9s %s %.2f MiB, zipped %.2f MiB", step, *arch, mib(size), mib(zipped))
		if size > sizeGoal || zipped > zipGoal {
			t.Errorf("%s: %.2f MiB and %.2f zipped, want at most %.2f and %.2f", step, mib(size), mib(zipped),
				mib(sizeGoal), mib(zipGoal))
		}
	}
}

// TestMemoryOfBatches checks that the function consume has not grown after many messages in batches of ten. It needs no
// server but takes long.
func TestMemoryOfBatches(t *testing.T) {
	manyEvents := *manyEvents
	w := newDeployment(t)
	w.loaded(t, live("2002", 2*manyEvents))
	f := w.start(t, "consume")
	f.Ready()
	before, begun := f.Resident(), time.Now()
	for n := 0; n < manyEvents; {
		var bodies []string
		for range seckill.MaxBatch {
			n++
			m := seckill.Message{Kind: seckill.MessageOrder, Reservation: seckill.Reservation{Units: []int{n},
				Request: drivertest.Request("2002", fmt.Sprint(n), time.Now())}}
			bodies = append(bodies, string(m.Encode()))
		}
		run(t, f, batch(t, bodies...), done)
	}
	after := f.Resident()
	t.Logf(
		"consume: resident %.1f MiB at the start, %.1f MiB after %d messages; %.2f ms a message, this test's part "+
			"included",
		mib(before), mib(after), manyEvents, time.Since(begun).Seconds()*1000/float64(manyEvents))
	grown(t, before, after)
}

type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func sizes(t *testing.T, path string) (size, zipped int) {
	t.Helper()
	b := must.Get(os.ReadFile(path))
	var n counter
	z := zip.NewWriter(&n)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	entry := must.Get(z.Create("bootstrap"))
	must.Get(entry.Write(b))
	must.OK(t, z.Close())
	return len(b), int(n)
}
