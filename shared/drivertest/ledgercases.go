package drivertest

import "testing"

// Ledger is the suite of seckill.Ledger and ledger.Rows. open returns empty tables for each test; the suite waits for
// indexes through LedgerEnv.CatchUp.
func Ledger(t *testing.T, open func(t *testing.T) LedgerEnv) {
	groups := []struct {
		name  string
		cases []ledgerCase
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
