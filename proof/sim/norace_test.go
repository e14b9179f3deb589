//go:build !race

package sim

const (
	seedsOfTest      = 1000
	situationsOfTest = 4
)
