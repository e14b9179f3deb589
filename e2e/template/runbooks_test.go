//go:build sam

package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/infra/edge"
	"github.com/your-org/seckill/infra/plan"
	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/drivertest/must"
)

var runbook = regexp.MustCompile(`docs/runbooks/([a-z-]+)\.md`)

// occasions are pages that people, not alarms, lead to.
var occasions = []string{"restore"}

// TestRunbooks checks that each alarm names its page, that each page is about an alarm or an occasion and has its
// four parts, and that the index lists all pages.
func TestRunbooks(t *testing.T) {
	folder := filepath.Join(root, "docs", "runbooks")
	about := map[string]bool{} // pages
	for _, a := range alarms(t) {
		name := alarmName(a)
		page := runbook.FindStringSubmatch(str(a.prop(), "AlarmDescription"))
		if page == nil || !strings.HasPrefix(name, page[1]) {
			t.Errorf("%s: the alarm %s names the page %v", a.id, name, page)
			continue
		}
		about[page[1]] = true
	}
	var pages []string
	entries := must.Get(os.ReadDir(folder))
	for _, e := range entries {
		if page := strings.TrimSuffix(e.Name(), ".md"); page != "README" {
			pages = append(pages, page)
		}
	}
	if want := slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Keys(about)), occasions))); !slices.Equal(
		pages, want) {
		t.Errorf("pages %v, alarms want %v", pages, want)
	}
	index := read(t, filepath.Join(folder, "README.md"))
	for _, page := range pages {
		text := read(t, filepath.Join(folder, page+".md"))
		parts := []string{"**Meaning.**", "**Impact.**", "**Diagnosis.**", "**Mitigation.**"}
		if slices.Contains(occasions, page) {
			parts = []string{"**When.**", "**Before.**", "**Steps.**", "**Afterwards.**"}
		}
		for _, part := range append(parts, "# "+page+"\n", "```sh\n") {
			if !strings.Contains(text, part) {
				t.Errorf("%s.md has no %q", page, part)
			}
		}
		if !strings.Contains(index, "["+page+"]("+page+".md)") {
			t.Errorf("the index does not lead to %s.md", page)
		}
	}
}

// TestRestoreNamesAll: the page about a restore has every table, every queue's mapping and every schedule of a shop.
func TestRestoreNamesAll(t *testing.T) {
	page, all := read(t, filepath.Join(root, "docs", "runbooks", "restore.md")), deployed(t, everything)
	var tables []string
	for _, line := range regexp.MustCompile(`(?m)^TABLES="(?:\$TABLES )?(.*)"$`).FindAllStringSubmatch(page, -1) {
		tables = append(tables, strings.Fields(line[1])...)
	}
	var want, got []string
	for _, table := range dynamoledger.Schema() {
		want = append(want, table.Name)
	}
	if !slices.Equal(slices.Sorted(slices.Values(tables)), slices.Sorted(slices.Values(want))) {
		t.Errorf("tables %v, want %v", tables, want)
	}
	expiring := strings.Fields(regexp.MustCompile(`(?m)^for t in (.*); do
  aws dynamodb update-time-to-live`).FindStringSubmatch(page)[1])
	want = nil
	kept := 0
	for _, table := range all.resources(kindTable) {
		if !strings.HasPrefix(str(table.all, "DeletionPolicy"), "Retain") {
			continue // it goes with its stack
		}
		kept++
		if at(table.prop(), "TimeToLiveSpecification") != nil {
			want = append(want, strings.TrimPrefix(str(table.prop(), "TableName"), "shop-"))
		}
	}
	if !slices.Equal(slices.Sorted(slices.Values(expiring)), slices.Sorted(slices.Values(want))) {
		t.Errorf("restored tables whose rows expire: %v, want %v", expiring, want)
	}
	deploy := read(t, filepath.Join(root, "docs", "DEPLOY.md"))
	for _, fact := range []string{fmt.Sprintf("**%d tables**", kept),
		fmt.Sprintf("keeps %.0f, and AWS wants %d unreserved", plan.Today.Reserved(), plan.Unreserved)} {
		if !strings.Contains(deploy, fact) {
			t.Errorf("DEPLOY.md does not say %q", fact)
		}
	}
	if says := str(file(t, rootFile).tree, "Parameters", "ReserveConcurrency", "Description"); !strings.HasPrefix(says,
		fmt.Sprintf("Keep %d and ", plan.Reserved)) {
		t.Errorf("ReserveConcurrency: %s", says)
	}
	for _, m := range regexp.MustCompile(`\$\(id (?:Sale|Money|Events) (\w+)\)`).FindAllStringSubmatch(page, -1) {
		got = append(got, m[1])
	}
	want = nil
	for _, f := range all.functions() {
		triggers, _ := f.prop("Events").(map[string]any)
		for name, e := range triggers {
			if kind := str(e, "Type"); kind == "SQS" || kind == "Schedule" {
				want = append(want, f.id+name)
			}
		}
	}
	if got, want := slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
		t.Errorf("mappings and rules\n%v, want\n%v", got, want)
	}
}

// alarms returns the alarms of a shop with all that it may have, and of its CDN.
func alarms(t *testing.T) []*resource {
	t.Helper()
	stack := deployed(t, whole)
	return append(stack.resources(kindAlarm), file(t, "infra/edge.yaml").resources(kindAlarm)...)
}

// alarmName returns an alarm's name, after the stack's.
func alarmName(a *resource) string {
	_, name, _ := strings.Cut(str(a.prop(), "AlarmName")+str(a.prop(), "AlarmName", "Fn::Sub"), "-")
	return name
}

var severity = regexp.MustCompile(`^Severity ([123]): `)

var update = flag.Bool("update", false, "write what docs/DEPLOY.md and docs/runbooks/README.md have of the templates")

// TestAlarmsAreCounted checks that each alarm has a severity, that the index of runbooks has each alarm (-update writes
// it). The alarm of a sale at risk knows all of severity 1 that are in its region.
func TestAlarmsAreCounted(t *testing.T) {
	of, first := map[string]int{}, map[string]bool{}
	index := map[string]map[string][]string{} // names of alarms by page and severity
	for _, a := range alarms(t) {
		says := severity.FindStringSubmatch(str(a.prop(), "AlarmDescription"))
		page := runbook.FindStringSubmatch(str(a.prop(), "AlarmDescription"))
		if says == nil || page == nil {
			t.Errorf("%s has no severity or no page: %q", a.id, str(a.prop(), "AlarmDescription"))
			continue
		}
		of[says[1]]++
		if index[page[1]] == nil {
			index[page[1]] = map[string][]string{}
		}
		name := alarmName(a)
		index[page[1]][says[1]] = append(index[page[1]][says[1]], name)
		if says[1] == "1" && name != "api-faults-edge" {
			first[name] = true
		}
	}
	holdIndex(t, index, of)
	known := map[string]bool{}
	for _, m := range regexp.MustCompile(`ALARM\("\$\{Name\}-([a-z-]+)"\)`).FindAllStringSubmatch(
		read(t, filepath.Join(root, "infra", "alert.yaml")), -1) {
		known[m[1]] = true
	}
	must.Equal(t, first, known, "alarms of severity 1, and those that the sale at risk knows")
}

// holdIndex compares the index of docs/runbooks/README.md with the alarms of each page, by severity.
func holdIndex(t *testing.T, index map[string]map[string][]string, of map[string]int) {
	t.Helper()
	want := fmt.Sprintf("%d alarms have severity 1, %d severity 2 and %d severity 3.\n\n", of["1"], of["2"], of["3"]) +
		"| page | severity 1 | severity 2 | severity 3 |\n|---|---|---|---|\n"
	for _, page := range slices.Sorted(maps.Keys(index)) {
		want += fmt.Sprintf("| [%s](%[1]s.md) ", page)
		for _, s := range []string{"1", "2", "3"} {
			names := slices.Sorted(slices.Values(index[page][s]))
			for i := range names { // each begins with the page's name
				if names[i] = strings.TrimPrefix(names[i], page+"-"); names[i] == page {
					names[i] = "the page's own"
				}
			}
			want += "| " + strings.Join(names, ", ") + " "
		}
		want += "|\n"
	}
	holdBlock(t, filepath.Join(root, "docs", "runbooks", "README.md"), "alarms", want)
}

// holdBlock compares a generated block of a page with want; -update writes it.
func holdBlock(t *testing.T, name, block, want string) {
	t.Helper()
	open, end := "<!-- generated: "+block+", by make alarms -->\n", "<!-- end: "+block+" -->"
	before, rest, opened := strings.Cut(read(t, name), open)
	got, after, ended := strings.Cut(rest, end)
	switch {
	case !opened || !ended:
		t.Errorf("%s has no place for the %s", name, block)
	case *update:
		must.OK(t, os.WriteFile(name, []byte(before+open+want+end+after), 0o600))
	case got != want:
		t.Errorf("%s (make alarms):\n%s", name, cmp.Diff(want, got))
	}
}

// idleMonth has what a stack costs that nobody uses: what, why, and USD in us-east-1 and in ap-southeast-1.
var idleMonth = []struct {
	what, why string
	usd       [2]float64
}{
	{"endpoints of SQS and Secrets Manager", "CreateCache: 2 in 2 zones × 730 h × 0.01 (0.013)",
		[2]float64{29.20, 37.96}},
	{"ElastiCache Serverless for Valkey", "CreateCache: 0.1 GB × 730 h × 0.084 (0.101)", [2]float64{6.13, 7.37}},
	{"WAF: a web ACL with %d rules", "EDGE: 5 + %[1]d × 1", [2]float64{5, 5}},
	{"%d alarms with a cache, a webhook and the CDN", "%[2]d × 0.10 + 0.50", [2]float64{0.5, 0.5}},
	{"dashboard", "CreateDashboard", [2]float64{3, 3}},
	{"secrets, metrics, polling, storage", "about; more in a month of sales", [2]float64{6, 6}},
}

// TestIdleCost compares the idle month of DEPLOY.md with the list above and with what the templates have; -update
// writes it.
func TestIdleCost(t *testing.T) {
	// The last rule of the template stands for those of the floods.
	rules := len(list(file(t, "infra/edge.yaml").tree, "Resources", "Acl", "Properties", "Rules")) - 1 +
		len(edge.Floods())
	n := len(alarms(t))
	var sum, cdn, cache [2]float64
	want := "| resource | why | us-east-1 | ap-southeast-1 |\n|---|---|---|---|\n"
	for _, row := range idleMonth {
		switch {
		case strings.HasPrefix(row.what, "WAF"):
			row.what, row.why = fmt.Sprintf(row.what, rules), fmt.Sprintf(row.why, rules)
			row.usd[0], row.usd[1] = row.usd[0]+float64(rules), row.usd[1]+float64(rules)
		case strings.Contains(row.what, "alarms"): // and the sale at risk
			row.what, row.why = fmt.Sprintf(row.what, n+1), fmt.Sprintf(row.why, n+1, n)
			row.usd[0], row.usd[1] = row.usd[0]+float64(n)/10, row.usd[1]+float64(n)/10
		}
		for i, usd := range row.usd {
			sum[i] += usd
			if strings.HasPrefix(row.why, "EDGE: ") {
				cdn[i] += usd
			} else if strings.HasPrefix(row.why, "CreateCache: ") {
				cache[i] += usd
			}
		}
		want += fmt.Sprintf("| %s | %s | %.2f | %.2f |\n", row.what, row.why, row.usd[0], row.usd[1])
	}
	want += fmt.Sprintf("| | **together** | **%.2f** | **%.2f** |\n", sum[0], sum[1]) +
		fmt.Sprintf("| | **without the CDN** | **%.2f** | **%.2f** |\n", sum[0]-cdn[0], sum[1]-cdn[1]) +
		fmt.Sprintf("| | **and with a Redis of your own** | **%.2f** | **%.2f** |\n", sum[0]-cdn[0]-cache[0],
			sum[1]-cdn[1]-cache[1])
	holdBlock(t, filepath.Join(root, "docs", "DEPLOY.md"), "idle month", want)
}
