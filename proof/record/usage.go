package record

import (
	"bytes"
	"os"
	"strconv"

	"github.com/your-org/seckill/shared/seckill"
)

// Usage is a process's resource use so far, the answer of GET /_local/process. Figures that the operating system does
// not provide are 0.
type Usage struct {
	CPUSeconds float64 `json:"cpu_seconds"` // user and system, since the process started
	RSS        int64   `json:"rss_bytes"`
	PeakRSS    int64   `json:"peak_rss_bytes"`
	Heap       uint64  `json:"heap_bytes"` // live and not yet collected
	Goroutines int     `json:"goroutines"`
	Uptime     float64 `json:"uptime_seconds"`
	Version    string  `json:"version"`
	Go         string  `json:"go_version"`

	// Events counts this process's events, not those of other clients of the same servers.
	Events map[seckill.Event]int `json:"events"`

	Reserves int64 `json:"reserve_calls"` // of the stock: purchases that reached Redis
}

// Used returns what this process has used of its machine: processor time and memory.
func Used() Usage {
	u := Usage{CPUSeconds: cpuSeconds()}
	if status, err := os.ReadFile("/proc/self/status"); err == nil { // the file exists only on Linux
		u.RSS, u.PeakRSS = statusBytes(status, "VmRSS:"), statusBytes(status, "VmHWM:")
	}
	return u
}

// statusBytes returns a size from the text of /proc/self/status (proc(5)), which has it in kB.
func statusBytes(status []byte, name string) int64 {
	_, rest, _ := bytes.Cut(status, []byte("\n"+name))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	kb, err := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(line), []byte("kB")))), 10, 64)
	if err != nil {
		return 0
	}
	return kb << 10
}
