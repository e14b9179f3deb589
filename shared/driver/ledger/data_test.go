package ledger_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// tableRow matches a row of a Markdown table.
var tableRow = regexp.MustCompile(`(?m)^\| *(.*?) *\|$`)

// dataTable returns the cells of the first table after a heading of docs/DATA.md, without its header.
func dataTable(t *testing.T, heading string) [][]string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/DATA.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n"+heading+"\n")
	if !found {
		t.Fatalf("docs/DATA.md has no heading %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n#")
	var rows [][]string
	for _, m := range tableRow.FindAllStringSubmatch(section, -1) {
		cells := strings.Split(m[1], "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	if len(rows) < 3 {
		t.Fatalf("docs/DATA.md: no table below %q", heading)
	}
	return rows[2:]
}

var update = flag.Bool("update", false, "write keys and indexes in docs/DATA.md")

// TestDataPageListsTheSchema compares keys and indexes in docs/DATA.md with ledger.Schema; -update writes them.
func TestDataPageListsTheSchema(t *testing.T) {
	keys := "| table | partition key | sort key |\n|---|---|---|\n"
	indexes := "| index | table | partition key | sort key | carries |\n|---|---|---|---|---|\n"
	for _, table := range ledger.Schema {
		keys += fmt.Sprintf("| %s | %s | %s |\n", table.Name, table.PK, table.SK)
		for _, i := range table.Indexes {
			carries := "all"
			if i.KeysOnly {
				carries = "keys"
			}
			indexes += fmt.Sprintf("| %s | %s | %s | %s | %s |\n", i.Name, table.Name, i.PK, i.SK, carries)
		}
	}
	holdBlock(t, "keys", keys)
	holdBlock(t, "indexes", indexes)
}

// holdBlock compares a block of docs/DATA.md with want.
func holdBlock(t *testing.T, name, want string) {
	t.Helper()
	const file = "../../../docs/DATA.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	open, end := "<!-- generated: "+name+", by make generate -->\n", "<!-- end: "+name+" -->"
	before, rest, opened := strings.Cut(string(page), open)
	got, after, ended := strings.Cut(rest, end)
	if !opened || !ended {
		t.Fatalf("%s has no place for %s", file, name)
	}
	if *update {
		if err := os.WriteFile(file, []byte(before+open+want+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s and ledger.Schema differ (make generate):\n%s", file, diff)
	}
}

// ofMinute matches an attribute that a row of counts has per minute.
var ofMinute = regexp.MustCompile(`^([a-z])\d{8}$`)

func TestDataPageListsWhatTheLedgerWrites(t *testing.T) {
	rows := newRows()
	l := ledger.New(rows)
	written := map[string]map[string]string{} // table → attribute → type
	for _, step := range lifeSteps {
		if err := step.run(l); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		for _, table := range ledger.Schema {
			if written[table.Name] == nil {
				written[table.Name] = map[string]string{}
			}
			for _, row := range rows.Dump(table.Name) {
				for attr, v := range row {
					written[table.Name][ofMinute.ReplaceAllString(attr, "$1<minute>")] = typeName(v)
				}
			}
		}
	}
	for _, table := range slices.Sorted(maps.Keys(written)) {
		listed := map[string]string{"v": "N"}
		for _, cells := range dataTable(t, "### "+table) {
			listed[cells[0]] = cells[1]
		}
		if diff := cmp.Diff(written[table], listed); diff != "" {
			t.Errorf("%s: docs/DATA.md (+) and what the ledger writes (-) differ:\n%s", table, diff)
		}
	}
}

func typeName(v any) string {
	switch v.(type) {
	case string:
		return "S"
	case int64:
		return "N"
	case []string:
		return "L"
	case ledger.Set:
		return "SS"
	}
	return "?"
}

// reading lists the methods of seckill.Ledger that write nothing.
var reading = []string{"Act", "ActivitiesOf", "Activity", "ActsOn", "AuditOn", "BlocksOn",
	"Counted", "Counts", "DueOrders",
	"FulfilDue", "ListActivities", "ListBlocks", "Live",
	"Notifications", "Order", "OrdersByItem", "OrdersByUser", "Payments", "PaymentsOn", "Proposal", "Proposals",
	"Questions", "Quota", "Quotas",
	"RangeBlocks", "Reconciliations",
	"RefundsDue", "RefundsOn", "RefundsRefused", "Return", "Returns", "Stored",
	"Units", "UserBlocks", "UserOf", "Webhook", "WebhooksDue", "WebhooksGivenUp"}

func TestDataPageListsTheTransactions(t *testing.T) {
	var writing, listed []string
	methods := reflect.TypeFor[seckill.Ledger]()
	for i := range methods.NumMethod() {
		if name := methods.Method(i).Name; !slices.Contains(reading, name) {
			writing = append(writing, name)
		}
	}
	for _, cells := range dataTable(t, "## Transactions") {
		listed = append(listed, strings.Split(cells[0], ", ")...)
	}
	slices.Sort(listed)
	if diff := cmp.Diff(writing, listed); diff != "" {
		t.Errorf("docs/DATA.md (+) and seckill.Ledger's methods that write (-) differ:\n%s", diff)
	}
}
