//go:build race

package sim

// Under the race detector a seed takes ten times as long, and a seed has no concurrency.
const (
	seedsOfTest      = 200
	situationsOfTest = 1
)
