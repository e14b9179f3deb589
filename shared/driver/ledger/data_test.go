package ledger_test

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// tableRow matches a row of a Markdown table.
var tableRow = regexp.MustCompile(`(?m)^\| *(.*?) *\|$`)

// dataSection returns what follows a heading of docs/DATA.md.
func dataSection(t *testing.T, heading string) string {
	t.Helper()
	page := must.Get(os.ReadFile("../../../docs/DATA.md"))
	_, section, found := strings.Cut(string(page), "\n"+heading+"\n")
	if !found {
		t.Fatalf("docs/DATA.md has no heading %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n#")
	return section
}

// dataTable returns the cells of a section's tables, without the first one's header.
func dataTable(t *testing.T, heading string) [][]string {
	t.Helper()
	section := dataSection(t, heading)
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

var update = flag.Bool("update", false, "write what is generated in docs/DATA.md")

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
	page := must.Get(os.ReadFile(file))
	open, end := "<!-- generated: "+name+", by make generate -->\n", "<!-- end: "+name+" -->"
	before, rest, opened := strings.Cut(string(page), open)
	got, after, ended := strings.Cut(rest, end)
	if !opened || !ended {
		t.Fatalf("%s has no place for %s", file, name)
	}
	if *update {
		must.OK(t, os.WriteFile(file, []byte(before+open+want+end+after), 0o600))
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s and ledger.Schema differ (make generate):\n%s", file, diff)
	}
}

// reading lists the methods of seckill.Ledger that write nothing.
var reading = []string{"Act", "ActivitiesOf", "Activity", "ActsOn", "AuditOn", "BlocksOn",
	"Counted", "Counts", "DueOrders", "FulfilDue", "ListActivities", "ListBlocks", "ListSessions", "Live",
	"NewestOrders", "Notifications", "Order", "OrdersByItem", "OrdersByUser", "Payments", "PaymentsOn", "Proposal",
	"Proposals",
	"Questions", "Quota", "Quotas", "RangeBlocks", "Reconciliations", "SpanQuota",
	"RefundsDue", "RefundsOn", "RefundsOutside", "RefundsRefused", "Return", "Returns", "Session", "Stored",
	"Units", "UserBlocks", "UserOf", "Webhook", "WebhooksDue", "WebhooksGivenUp"}

// TestDataPageListsTheTransactions: the section names each method that writes, in its table or below, and no other.
func TestDataPageListsTheTransactions(t *testing.T) {
	var writing []string
	methods := reflect.TypeFor[seckill.Ledger]()
	for i := range methods.NumMethod() {
		if name := methods.Method(i).Name; !slices.Contains(reading, name) {
			writing = append(writing, name)
		}
	}
	var listed []string
	for _, cells := range dataTable(t, "## Transactions") {
		listed = append(listed, cells[0])
	}
	below := regexp.MustCompile(`(?m)^[^|]*$`).FindAllString(dataSection(t, "## Transactions"), -1)
	for _, word := range regexp.MustCompile(`\w+`).FindAllString(strings.Join(below, "\n"), -1) {
		if slices.Contains(writing, word) {
			listed = append(listed, word)
		}
	}
	slices.Sort(listed)
	if diff := cmp.Diff(writing, listed); diff != "" {
		t.Errorf("docs/DATA.md (+) and seckill.Ledger's methods that write (-) differ:\n%s", diff)
	}
}
