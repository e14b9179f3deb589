package main

// slow lists the mutants that need more seeds than a check of every change can afford: -sample skips them, a full run
// plays them.
var slow = map[string]string{
	"known-entry-reserved-again": "I4 after 508 seeds",
	"refund-unconfirmed":         "I6 after 637 seeds",
	"redraw.lua:drop-call:5":     "L4 after 710 seeds",
	"drift-end-forgotten-pass":   "L4 after 736 seeds",
	"place-on-old-item":          "I10 after 919 seeds",
	"correct-blindly":            "L3 after 1,088 seeds",
	"ledger-before-stock":        "L3 after 1,090 seeds",
	"redraw-takes-from-others":   "L3 after 1,341 seeds",
	"item-age-from-the-end":      "I10 after 1,127 seeds",
	"paid-from-any-state":        "I6 after 1,281 seeds",
	"redraw-gives-unasked":       "L4 after 2,038 seeds",
	"install-over-live":          "L3 after 2,543 seeds",
	"give-back-from-any-state":   "I5 after 5,256 seeds",
	"give-back-when-paid":        "I5 after 5,256 seeds",
	"drift-ends-unfinished":      "L4 after 6,134 seeds",
	"no-query-after-close":       "I6 after 7,077 seeds",
	"refunds-end-apart":          "I6 after 3,670 seeds",
}
