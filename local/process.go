package local

import (
	"bytes"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"time"
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
}

var started = time.Now()

func (s *System) getProcess(w http.ResponseWriter, _ *http.Request) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	p := Process{Heap: m.HeapAlloc, Goroutines: runtime.NumGoroutine(), Uptime: time.Since(started).Seconds(), Version: s.opt.Version, Go: runtime.Version()}
	p.CPUSeconds = cpuSeconds()
	status, err := os.ReadFile("/proc/self/status")
	if err == nil { // there is such a file on Linux only
		p.RSS, p.PeakRSS = statusBytes(status, "VmRSS:"), statusBytes(status, "VmHWM:")
	}
	s.reply(w, p)
}

// statusBytes finds a size in the text of /proc/self/status (proc(5)), which gives them in kB.
func statusBytes(status []byte, name string) int64 {
	_, rest, _ := bytes.Cut(status, []byte("\n"+name))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	kb, err := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(line), []byte("kB")))), 10, 64)
	if err != nil {
		return 0
	}
	return kb << 10
}
