package on

// Result is the outcome of a run of seeds.
type Result struct {
	Seeds  uint64 // seeds played, the last one included
	Seed   uint64 // the last seed
	Check  string // what was violated: a guarantee's name, panic, hang; empty if nothing was
	Detail string // the violation in words
}
