package local_test

import (
	"encoding/json"
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/proof/record"
)

func TestTheProcessSaysWhatItUses(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Version: "v1"})
	ask := func() (p record.Usage) {
		a := w.call("", "GET", "/_local/process", nil)
		if err := json.Unmarshal([]byte(a.Raw), &p); err != nil || a.Status != 200 {
			t.Fatalf("%v: %v", a, err)
		}
		return p
	}
	p := ask()
	if p.Version != "v1" || p.Go != runtime.Version() || p.Goroutines < 2 || p.Heap == 0 || p.Uptime <= 0 {
		t.Errorf("%+v", p)
	}
	const ballast = 64 << 20
	held := make([]byte, ballast)
	for i := 0; i < ballast; i += os.Getpagesize() {
		held[i] = 1
	}
	high := ask()
	runtime.KeepAlive(held)
	// Linux counts resident pages on each processor and adds them up late (32 pages or more of three kinds each).
	late := int64(runtime.NumCPU() * 3 * max(32, 2*runtime.NumCPU()) * os.Getpagesize())
	if runtime.GOOS == "linux" && (p.CPUSeconds <= 0 || high.RSS < ballast || high.PeakRSS < high.RSS-late) {
		t.Errorf("%+v: want processor time, and a peak of at least what is resident", high)
	}
	for range 200 {
		w.left(local.DemoLive)
	}
	debug.FreeOSMemory() // held is over
	later := ask()
	if later.CPUSeconds < high.CPUSeconds || later.PeakRSS < high.PeakRSS-late || later.Uptime <= high.Uptime {
		t.Errorf("first %+v, then %+v", high, later)
	}
	if runtime.GOOS == "linux" && later.PeakRSS < ballast {
		t.Errorf("%+v: want the peak kept after %d bytes were given back", later, ballast)
	}
}
