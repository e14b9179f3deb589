package crowd

import (
	"bytes"
	"os"
	"runtime"
	"strings"
)

// Machine describes where the crowd ran. Fields are empty where the operating system has no /proc.
type Machine struct {
	System     string `json:"system"`
	Cores      int    `json:"cores"`
	Processor  string `json:"processor"`
	Memory     string `json:"memory"`
	LoadBefore string `json:"load_before"` // 1, 5 and 15 minute averages
	LoadAfter  string `json:"load_after"`
	Go         string `json:"go_version"` // of this tool
}

func thisMachine() Machine {
	return Machine{System: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU(),
		Processor: lineOf("/proc/cpuinfo", "model name"),
		Memory:    lineOf("/proc/meminfo", "MemTotal"), LoadBefore: loadAverage(), Go: runtime.Version()}
}

// lineOf returns the value of a "name : value" line in a file, or "".
func lineOf(file, name string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(text) {
		key, value, ok := strings.Cut(string(line), ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(text))
	return strings.Join(fields[:min(3, len(fields))], " ")
}
