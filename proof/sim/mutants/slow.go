package main

// slow lists the mutants that need more seeds than a check of every change can afford, above 700: -sample skips them, a
// full run plays them. The figures are of 2026-11-26.
var slow = map[string]string{
	"stop-not-installed-acked":       "I10 after 732 seeds",
	"recount-walks-once":             "I15 after 854 seeds",
	"known-entry-reserved-again":     "I4 after 885 seeds",
	"span-refusal-is-a-fault":        "L4 after 891 seeds",
	"two-ticket-keys":                "A1 after 1,003 seeds",
	"window-ends-late":               "I10 after 1,047 seeds",
	"forgotten-not-awaited":          "L4 after 1,706 seeds",
	"redraw.lua:drop-call:3":         "L4 after 1,706 seeds",
	"return-row-missing":             "L4 after 1,565 seeds",
	"install-over-live":              "I12 after 1,574 seeds",
	"moved-order-swallows-money":     "I6 after 1,931 seeds",
	"question-of-the-newest-key":     "A1 after 2,040 seeds",
	"item-age-from-the-end":          "I10 after 2,528 seeds",
	"install-incomplete":             "L3 after 2,608 seeds",
	"trade-unrecorded-but-confirmed": "I6 after 2,849 seeds",
	"drift-ends-unfinished":          "L4 after 3,087 seeds",
	"list-shown-forever":             "I12 after 3,910 seeds",
	"drift-end-forgotten-pass":       "L4 after 4,393 seeds",
	"refund-unconfirmed":             "I6 after 5,797 seeds",
	"approved-by-oneself":            "I17 after 6,335 seeds",
	"correct-user-blindly":           "I12 after 7,141 seeds",
	"no-query-after-close":           "I6 after 8,933 seeds",
	"correct-blindly":                "L3 after 12,435 seeds",
	"give-back-from-any-state":       "I5 after 12,611 seeds",
	"give-back-when-paid":            "I5 after 12,611 seeds",
	"refunds-end-apart":              "I6 after 26,239 seeds",
	"earlier-bills-unasked":          "I6 after 27,020 seeds",
}
