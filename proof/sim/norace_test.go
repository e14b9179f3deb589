//go:build !race

package sim

const (
	seedsOfTest      = 2000
	situationsOfTest = 4
)
