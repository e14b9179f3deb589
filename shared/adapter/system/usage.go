package system

import (
	"bytes"
	"os"
	"strconv"
)

// Usage is what this process has used of its machine since it started. What the operating system does not say is 0.
type Usage struct {
	CPUSeconds float64 // user and system
	RSS        int64   // bytes resident now
	PeakRSS    int64   // bytes
}

// Used asks the operating system.
func Used() Usage {
	u := Usage{CPUSeconds: cpuSeconds()}
	if status, err := os.ReadFile("/proc/self/status"); err == nil { // there is such a file on Linux only
		u.RSS, u.PeakRSS = statusBytes(status, "VmRSS:"), statusBytes(status, "VmHWM:")
	}
	return u
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
