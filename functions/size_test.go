//go:build real

package functions_test

import (
	"archive/zip"
	"compress/flate"
	"io"
	"os"
	"path/filepath"
	"testing"

	"seckill/functions/lambdatest"
)

// Goals of a deployed binary: what an instance loads at a cold start.
const (
	sizeGoal = 14 << 20
	zipGoal  = 4_864 << 10 // 4.75 MiB
)

// TestSize builds the functions for arm64. It needs no server; it is here because another architecture's packages are compiled anew.
func TestSize(t *testing.T) {
	folder := t.TempDir()
	lambdatest.Build(t, "arm64", folder, "./...")
	for _, step := range steps {
		size, zipped := sizes(t, filepath.Join(folder, step))
		t.Logf("%-8s arm64 %.2f MiB, zipped %.2f MiB", step, mib(size), mib(zipped))
		if size > sizeGoal || zipped > zipGoal {
			t.Errorf("%s: %.2f MiB and %.2f zipped, want at most %.2f and %.2f", step, mib(size), mib(zipped), mib(sizeGoal), mib(zipGoal))
		}
	}
}

type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func sizes(t *testing.T, path string) (size, zipped int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var n counter
	z := zip.NewWriter(&n)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	entry, err := z.Create("bootstrap")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := entry.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return len(b), int(n)
}
