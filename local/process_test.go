package local_test

import (
	"encoding/json"
	"runtime"
	"testing"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/record/process"
)

func TestTheProcessSaysWhatItUses(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Version: "v1"})
	ask := func() (p process.Usage) {
		a := w.call("", "GET", "/_local/process", nil)
		if err := json.Unmarshal([]byte(a.raw), &p); err != nil || a.status != 200 {
			t.Fatalf("%v: %v", a, err)
		}
		return p
	}
	p := ask()
	if p.Version != "v1" || p.Go != runtime.Version() || p.Goroutines < 2 || p.Heap == 0 || p.Uptime <= 0 {
		t.Errorf("%+v", p)
	}
	if runtime.GOOS == "linux" && (p.CPUSeconds <= 0 || p.RSS < 1<<20 || p.PeakRSS < p.RSS) {
		t.Errorf("%+v: want processor time, and a peak of at least what is resident", p)
	}
	for range 200 {
		w.left(local.DemoLive)
	}
	if later := ask(); later.CPUSeconds < p.CPUSeconds || later.PeakRSS < p.PeakRSS || later.Uptime <= p.Uptime {
		t.Errorf("first %+v, then %+v", p, later)
	}
}
