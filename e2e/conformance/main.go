// Command conformance reads the events of `go test -json`: it prints a line per package and the output of failing
// tests, as go test does, and then a table of which driver passed which case of each conformance suite. It exits with
// 1 if anything failed, or if a driver did not run every case that another driver of its suite ran.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// runs lists the tests that run a suite, by package and test; the rest of a test's name is the case.
var runs = []struct{ pkg, test, suite, driver string }{
	{"memory", "TestStock", "stock", "embedded"},
	{"redisconn", "TestRealStock", "stock", "redis-server"},
	{"redisconn", "TestRealStockCluster/cases", "stock", "cluster of 3"},
	{"redisconn", "TestRealStockTLSAndPassword/cases", "stock", "TLS, password"},
	{"memory", "TestRowsConform/lag_0s", "ledger", "embedded"},
	{"memory", "TestRowsConform/lag_3s", "ledger", "embedded, lag"},
	{"dynamoledger", "TestRowsConform", "ledger", "DynamoDB API"},
	{"memory", "TestItemsConform", "items", "embedded"},
	{"dynamoledger", "TestItemsConform", "items", "DynamoDB API"},
	{"fakegateway", "TestStoreConforms", "gateway", "embedded rows"},
	{"fakegateway", "TestRealStoreConforms", "gateway", "DynamoDB API"},
	{"memory", "TestQueueConforms/in_order", "queue", "embedded"},
	{"memory", "TestQueueConforms/shuffled", "queue", "embedded, shuffled"},
	{"sqsqueue", "TestRealConforms", "queue", "SQS API"},
}

type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // seconds
}

// results holds actions (pass, fail, skip) by suite, case and driver.
type results map[string]map[string]map[string]string

func main() {
	table, failed, err := read(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
	failed += table.print()
	if failed > 0 || len(table) == 0 {
		fmt.Fprintf(os.Stderr, "conformance: %d tests or cells are not passed\n", failed)
		os.Exit(1)
	}
}

// read reads what `go test -json` prints. It prints the output of failed tests and returns their number.
func read(from io.Reader) (table results, failed int, err error) {
	table = results{}
	printed := map[string][]string{} // by package and test
	in := bufio.NewScanner(from)
	in.Buffer(nil, 4<<20)
	for in.Scan() {
		var e event
		if json.Unmarshal(in.Bytes(), &e) != nil {
			fmt.Println(in.Text()) // compiler errors are plain text
			continue
		}
		at := e.Package + " " + e.Test
		switch e.Action {
		case "output":
			printed[at] = append(printed[at], e.Output)
			continue
		case "pass", "fail", "skip":
		default:
			continue
		}
		if e.Action == "fail" {
			failed++
			fmt.Print(strings.Join(printed[at], ""))
		}
		delete(printed, at)
		if e.Test == "" {
			fmt.Printf("%-4s %s %.1fs\n", e.Action, e.Package, e.Elapsed)
		}
		table.add(&e)
	}
	return table, failed, in.Err()
}

// add records a finished test if it is a case of a conformance suite.
func (table results) add(e *event) {
	for _, r := range runs {
		name, ok := strings.CutPrefix(e.Test, r.test+"/")
		if !ok || !strings.HasSuffix(e.Package, "/"+r.pkg) {
			continue
		}
		if first, rest, deep := strings.Cut(name, "/"); r.suite != "ledger" {
			name = first
		} else if !deep { // the ledger's cases come in groups
			continue
		} else {
			rest, _, _ = strings.Cut(rest, "/")
			name = first + ": " + rest
		}
		if table[r.suite] == nil {
			table[r.suite] = map[string]map[string]string{}
		}
		if table[r.suite][name] == nil {
			table[r.suite][name] = map[string]string{}
		}
		if table[r.suite][name][r.driver] != "fail" {
			table[r.suite][name][r.driver] = e.Action
		}
	}
}

// print prints a table per suite and returns the number of cells that are not passed.
func (table results) print() (failed int) {
	for _, suite := range slices.Sorted(maps.Keys(table)) {
		var drivers []string
		for _, r := range runs {
			if r.suite == suite && slices.ContainsFunc(slices.Collect(maps.Values(table[suite])),
				func(c map[string]string) bool { return c[r.driver] != "" }) {
				drivers = append(drivers, r.driver)
			}
		}
		fmt.Printf("\n%-100s %s\n", suite, strings.Join(drivers, " | "))
		for _, name := range slices.Sorted(maps.Keys(table[suite])) {
			marks := make([]string, len(drivers))
			for i, d := range drivers {
				marks[i] = fmt.Sprintf("%-*s", len(d), table[suite][name][d])
				if table[suite][name][d] != "pass" {
					failed++
				}
			}
			fmt.Printf("  %-98.98s %s\n", strings.ReplaceAll(name, "_", " "), strings.Join(marks, " | "))
		}
	}
	return failed
}
