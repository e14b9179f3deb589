package ledgertest

import (
	"testing"
)

// Run runs the whole suite; open returns empty tables for each test.
func Run(t *testing.T, open func(t *testing.T) Env) {
	groups := []struct {
		name  string
		cases []testCase
	}{
		{"rows", rowCases}, {"place", placeCases}, {"span", spanCases},
		{"closing", closingCases}, {"money", moneyCases},
		{"refund", refundCases}, {"fulfil", fulfilCases},
		{"books", bookCases}, {"erasures", erasures}, {"deliveries", deliveryCases},
		{"identities", identityCases}, {"blocks", blockCases},
		{"admission", admissionCases}, {"acts", actCases}, {"audit log", auditCases}, {"proposals", proposalCases},
		{"activities", activityCases},
		{"sessions", sessionCases},
		{"index", indexCases},
		{"history", historyCases}, {"counts", countCases}, {"live rows", liveCases},
	}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			for _, c := range g.cases {
				t.Run(c.name, func(t *testing.T) { c.run(newSuite(t, open(t))) })
			}
		})
	}
}
