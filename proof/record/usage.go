package record

import "github.com/your-org/seckill/shared/seckill"

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
