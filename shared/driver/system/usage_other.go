//go:build !unix

package system

// cpuSeconds is unknown on this operating system.
func cpuSeconds() float64 { return 0 }
