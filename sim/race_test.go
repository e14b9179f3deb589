//go:build race

package sim

// Under the race detector a seed takes ten times as long, and nothing in it runs at the same time.
const (
	seedsOfTest      = 200
	situationsOfTest = 1
)
