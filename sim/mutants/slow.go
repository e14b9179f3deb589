package main

// slow names the mutants that take more seeds than a check of every change has: -sample does not draw them, a full run plays them.
var slow = map[string]string{
	"drift-ends-unfinished":      "L4 after about 2,000 seeds",
	"drift-end-forgotten-pass":   "L4 after about 2,500 seeds",
	"settled-redrawn":            "L4 after about 2,500 seeds",
	"item-age-from-the-end":      "I10 after about 4,000 seeds",
	"give-back-when-paid":        "I5 after about 1,700 seeds",
	"give-back-from-any-state":   "I5 after about 1,700 seeds",
	"correct-blindly":            "L3 after about 900 seeds",
	"no-query-after-close":       "I6 after about 2,100 seeds",
	"correct-user-blindly":       "L3 after about 1,500 seeds",
	"moved-order-swallows-money": "I6 after about 1,400 seeds",
	"place-on-old-item":          "I10 after about 1,000 seeds",
	"ledger-before-stock":        "L3 after about 700 seeds",
	"assert-older-version":       "L3 after about 650 seeds",
}
