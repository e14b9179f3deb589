package local

import (
	"net/http"
	"runtime"
	"time"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/system"
)

var started = time.Now()

func (s *System) getProcess(w http.ResponseWriter, _ *http.Request) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := system.Used()
	s.reply(w, record.Usage{CPUSeconds: u.CPUSeconds, RSS: u.RSS, PeakRSS: u.PeakRSS, Heap: m.HeapAlloc,
		Goroutines: runtime.NumGoroutine(),
		Uptime:     time.Since(started).Seconds(), Version: s.opt.Version, Go: runtime.Version(),
		Events: s.Meter.Counts(), Reserves: s.reserve.calls.Load()})
}
