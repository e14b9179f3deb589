package ledger_test

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/adapter/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// tableRow matches a row of a Markdown table.
var tableRow = regexp.MustCompile(`(?m)^\| *(.*?) *\|$`)

// dataTable gives the cells below the head of the first table after a heading of docs/DATA.md.
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

func TestDataPageListsTheSchema(t *testing.T) {
	var keys, indexes [][]string
	for _, table := range ledger.Schema {
		keys = append(keys, []string{table.Name, table.PK, table.SK})
		for _, i := range table.Indexes {
			carries := "all"
			if i.KeysOnly {
				carries = "keys"
			}
			indexes = append(indexes, []string{i.Name, table.Name, i.PK, i.SK, carries})
		}
	}
	if diff := cmp.Diff(keys, dataTable(t, "## Keys")); diff != "" {
		t.Errorf("keys: docs/DATA.md (+) and ledger.Schema (-) differ:\n%s", diff)
	}
	if diff := cmp.Diff(indexes, dataTable(t, "## Indexes")); diff != "" {
		t.Errorf("indexes: docs/DATA.md (+) and ledger.Schema (-) differ:\n%s", diff)
	}
}

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
					written[table.Name][attr] = typeName(v)
				}
			}
		}
	}
	for _, table := range slices.Sorted(maps.Keys(written)) {
		listed := map[string]string{}
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

// reading are the methods of seckill.Ledger that write nothing.
var reading = []string{"DueOrders", "Notifications", "Order", "OrdersByItem", "OrdersByUser", "Payments", "PaymentsOn",
	"Quota", "Quotas", "Reconciliations", "RefundsDue", "RefundsOn", "RefundsRefused", "Return", "Returns", "Units"}

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
