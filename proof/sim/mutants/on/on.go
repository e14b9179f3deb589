// Package on holds the number of the mutant that a process runs, and what it reports. Only the mutated copies
// of the sources that proof/sim/mutants writes import it: production code has no hooks for mutants.
package on

import (
	"os"
	"strconv"
)

// Env is the environment variable with the active mutant's number; empty or 0 for none.
const Env = "SECKILL_MUTANT"

var active = fromEnv()

func fromEnv() int {
	s := os.Getenv(Env)
	if s == "" {
		return 0
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(Env + ": " + err.Error())
	}
	return n
}

// On reports whether mutant n is active. It costs one comparison.
func On(n int) bool { return active == n }
