// Package process has what a running shop says of its own process.
package process

import "github.com/your-org/seckill/shared/seckill"

// Usage is what a process has used of its machine so far: the answer of GET /_local/process. What the operating system
// does not say is 0.
type Usage struct {
	CPUSeconds float64 `json:"cpu_seconds"` // user and system, since the process started
	RSS        int64   `json:"rss_bytes"`
	PeakRSS    int64   `json:"peak_rss_bytes"`
	Heap       uint64  `json:"heap_bytes"` // live and not yet collected
	Goroutines int     `json:"goroutines"`
	Uptime     float64 `json:"uptime_seconds"`
	Version    string  `json:"version"`
	Go         string  `json:"go_version"`

	// Events is what the flows counted; what a real server's other clients did is not in it.
	Events map[seckill.Event]int `json:"events"`
}
