// Package drivertest has a conformance suite for each port that drivers implement: Stock, Ledger with its rows, Items
// and Queue. Every driver of a port runs its suite, so what the embedded driver proves on a laptop holds for the real
// one, too. In: a driver, empty. A suite uses it only through its port.
package drivertest

import (
	"context"
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"github.com/your-org/seckill/shared/seckill"
)

// Stock runs every case on a new, empty stock.
func Stock(t *testing.T, make func(t *testing.T) seckill.Stock) {
	for _, c := range slices.Concat(reserveCases, confirmCases, repairCases, copyCases) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(&stockEnv{T: t, Stock: make(t), ctx: context.Background(), now: stockStart, item: testItem()})
		})
	}
}

// Ledger is the suite of seckill.Ledger and ledger.Rows. open returns empty tables for each test; the suite waits for
// indexes through LedgerEnv.CatchUp.
func Ledger(t *testing.T, open func(t *testing.T) LedgerEnv) {
	groups := []struct {
		name  string
		cases []ledgerCase
	}{
		{"rows", rowCases}, {"place", placeCases}, {"span", spanCases},
		{"closing", closingCases}, {"money", moneyCases},
		{"refund", refundCases}, {"outside", outsideCases}, {"fulfil", fulfilCases},
		{"books", bookCases}, {"erasures", erasures}, {"deliveries", deliveryCases},
		{"identities", identityCases}, {"blocks", blockCases},
		{"admission", admissionCases}, {"acts", actCases}, {"audit log", auditCases}, {"proposals", proposalCases},
		{"activities", activityCases},
		{"sessions", sessionCases},
		{"sessions of shoppers", signInCases},
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

// Items runs the suite. open returns an empty table for each test.
func Items(t *testing.T, open func(t *testing.T) seckill.Items) {
	tests := []struct {
		name string
		run  func(t *testing.T, items seckill.Items)
	}{
		{"what is put is got, field by field", testRoundTrip},
		{"an unknown item is CodeItemUnknown", testUnknown},
		{"only the next version is written", testVersions},
		{"of concurrent writers of one version one wins", testConcurrentPut},
		{"an invalid item is refused and not written", testInvalid},
		{"a list has the items that end later than asked", testList},
		{"a list has at most MaxItems", testListLimit},
		{"a list of what ended has the items whose addresses are not erased", testListEnded},
		{"a cancelled context is a fault, never an answer", itemsCancelled},
		{"a description is read as it was put", testDescription},
		{"a description is never older than asked", testDescriptionAge},
		{"what is put without a description keeps the one it had", testDescriptionStays},
		{"an item and its description are written together or not at all", testTogether},
		{"of concurrent writers one's item and description win", testConcurrentDescriptions},
		{"a list is read as it was published", testPublish},
		{"only the next version of the list is published", testPublishVersions},
		{"of concurrent publications of one version one wins", testConcurrentPublish},
		{"a list holds MaxItems and no more", testLongestList},
		{"a cancelled context publishes and reads no list", testListCancelled},
		{"callers share no memory with the tables", testNoSharing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}

// Queue runs the suite. open returns an empty queue for each test.
func Queue(t *testing.T, open func(t *testing.T) QueueEnv) {
	tests := []struct {
		name string
		run  func(t *testing.T, e *queueEnv)
	}{
		{"every message arrives, its body intact", testArrives},
		{"a deleted message does not come back", testDelete},
		{"an undeleted message comes back after the visibility timeout", testComesBack},
		{"a delayed send arrives then, not before", testDelayedSend},
		{"Delay hides a message for longer", testDelayHides},
		{"Delay of nothing shows a message at once", testDelayShows},
		{"calls out of their limits are refused and do nothing", testLimits},
		{"a batch has at most as many as asked for, each once", testBatch},
		{"a parked message keeps its body, its neighbours go on", testPark},
		{"a message received too often is parked by the queue", testDeadLetter},
		{"parked messages are moved back, whoever parked them", testRedrive},
		{"only the newest receipt counts", testReceipts},
		{"parallel receivers share the messages out", testParallel},
		{"the depth says where messages are", testDepth},
		{"a cancelled context is a fault", queueCancelled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, &queueEnv{open(t)}) })
	}
}

// Given returns what is known of a shopper, of which every field has a value: also those that are added later.
func Given() seckill.Given {
	g := seckill.Given{Network: netip.MustParseAddr("2001:db8:1:2:3:4:5:6")}
	fields := reflect.ValueOf(&g).Elem()
	for i := range fields.NumField() {
		if fields.Field(i).Kind() == reflect.String {
			fields.Field(i).SetString("杭州|西湖\"1号\\ " + fields.Type().Field(i).Name)
		}
	}
	g.Session = "" // an order of a session is placed only while there is that session
	return g
}
