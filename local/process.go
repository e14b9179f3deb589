package local

import (
	"net/http"
	"runtime"
	"time"

	"github.com/your-org/seckill/proof/record"
)

var started = time.Now()

func (s *System) getProcess(w http.ResponseWriter, _ *http.Request) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := record.Used()
	u.Heap, u.Goroutines, u.Uptime = m.HeapAlloc, runtime.NumGoroutine(), time.Since(started).Seconds()
	u.Version, u.Go = s.opt.Version, runtime.Version()
	u.Events, u.Reserves = s.Meter.Counts(), s.reserve.calls.Load()
	s.reply(w, u)
}
