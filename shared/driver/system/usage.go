package system

import (
	"bytes"
	"os"
	"strconv"
)

// Usage is what this process has used of its machine since it started. A value that the operating system does not
// report is 0.
type Usage struct {
	CPUSeconds float64 // user and system
	RSS        int64   // resident now, in bytes
	PeakRSS    int64   // in bytes
}

// Used returns the process's usage so far.
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
