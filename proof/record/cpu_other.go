//go:build !unix

package record

// cpuSeconds is unknown on this operating system.
func cpuSeconds() float64 { return 0 }
