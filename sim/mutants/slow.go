package main

// slow names the mutants that take more seeds than a check of every change has: -sample does not draw them, a full run plays them.
var slow = map[string]string{
	"users.lua:off-by-one:5":     "L3 after 549 seeds",
	"no-query-after-close":       "I6 after 649 seeds",
	"redraw-none-at-once":        "L4 after 714 seeds",
	"redraw-none-same-pass":      "L4 after 714 seeds",
	"install-over-live":          "L3 after 743 seeds",
	"drift-ends-unfinished":      "L4 after 749 seeds",
	"correct-blindly":            "L3 after 898 seeds",
	"settle-frees-nothing":       "L4 after 1,689 seeds",
	"item-age-from-the-end":      "I10 after 2,528 seeds",
	"place-on-old-item":          "I10 after 3,443 seeds",
	"settled-redrawn":            "L4 after 3,677 seeds",
	"moved-order-swallows-money": "I6 after 3,918 seeds",
	"give-back-from-any-state":   "I5 after 6,430 seeds",
	"give-back-when-paid":        "I5 after 6,430 seeds",
	"drift-end-forgotten-pass":   "L4 after 11,081 seeds",
	"correct-user-blindly":       "I12 after 11,729 seeds",
}
