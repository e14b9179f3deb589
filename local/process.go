package local

import (
	"net/http"
	"runtime"
	"time"

	"seckill/shared/adapter/system"
	"seckill/shared/seckill"
)

// Process is what this process has used of its machine so far: the answer of GET /_local/process. What the operating system does not say is 0.
type Process struct {
	CPUSeconds float64 `json:"cpu_seconds"` // user and system, since the process started
	RSS        int64   `json:"rss_bytes"`
	PeakRSS    int64   `json:"peak_rss_bytes"`
	Heap       uint64  `json:"heap_bytes"` // live and not yet collected
	Goroutines int     `json:"goroutines"`
	Uptime     float64 `json:"uptime_seconds"`
	Version    string  `json:"version"`
	Go         string  `json:"go_version"`

	Events map[seckill.Event]int `json:"events"` // what the flows counted; those of a real server's other clients are not among them
}

var started = time.Now()

func (s *System) getProcess(w http.ResponseWriter, _ *http.Request) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := system.Used()
	s.reply(w, Process{CPUSeconds: u.CPUSeconds, RSS: u.RSS, PeakRSS: u.PeakRSS, Heap: m.HeapAlloc, Goroutines: runtime.NumGoroutine(),
		Uptime: time.Since(started).Seconds(), Version: s.opt.Version, Go: runtime.Version(), Events: s.Meter.Counts()})
}
