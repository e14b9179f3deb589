// Package report has the types of the report from sim/mutants/play to sim/mutants.
package report

// Result is how a run of seeds ended.
type Result struct {
	Seeds  uint64 // played, the last one included
	Seed   uint64 // the last one
	Check  string // what it violated: a guarantee's name, panic, hang; empty when nothing was
	Detail string // the violation in words
}
