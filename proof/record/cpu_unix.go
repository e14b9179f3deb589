//go:build unix

package record

import (
	"syscall"
	"time"
)

// cpuSeconds returns the processor time that this process has used.
func cpuSeconds() float64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano()).Seconds()
}
