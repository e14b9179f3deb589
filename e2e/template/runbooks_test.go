//go:build sam

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/infra/plan"
	"github.com/your-org/seckill/shared/driver/dynamoledger"
)

var runbook = regexp.MustCompile(`docs/runbooks/([a-z-]+)\.md`)

// occasions are pages that people, not alarms, lead to.
var occasions = []string{"restore"}

// TestRunbooks checks that each alarm names its page, that each page is about an alarm or an occasion and has its
// four parts, and that the index lists all pages.
func TestRunbooks(t *testing.T) {
	folder := filepath.Join(root, "docs", "runbooks")
	about := map[string][]string{} // alarms' names, by page
	for _, a := range alarms(t) {
		name := alarmName(a)
		page := runbook.FindStringSubmatch(str(a.prop(), "AlarmDescription"))
		if page == nil || !strings.HasPrefix(name, page[1]) {
			t.Errorf("%s: the alarm %s names the page %v", a.id, name, page)
			continue
		}
		about[page[1]] = append(about[page[1]], name)
	}
	var pages []string
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
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
		for _, alarm := range about[page] {
			if !strings.Contains(index, alarm) && !strings.Contains(index, page+"-…") {
				t.Errorf("the index does not name the alarm %s", alarm)
			}
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

// TestAlarmsAreCounted checks that each alarm has a severity, and the numbers of alarms, in all and by severity, and
// their cost, in DEPLOY.md and the index of runbooks. The one of a sale at risk knows all of severity 1 that are in its
// region.
func TestAlarmsAreCounted(t *testing.T) {
	n, of, first := 0, map[string]int{}, map[string]bool{}
	index := read(t, filepath.Join(root, "docs", "runbooks", "README.md"))
	for _, a := range alarms(t) {
		says := severity.FindStringSubmatch(str(a.prop(), "AlarmDescription"))
		if says == nil {
			t.Errorf("%s has no severity: %q", a.id, str(a.prop(), "AlarmDescription"))
			continue
		}
		n++
		of[says[1]]++
		page := runbook.FindStringSubmatch(str(a.prop(), "AlarmDescription"))
		if page == nil || !regexp.MustCompile(`\[`+page[1]+`\]\([a-z-]+\.md\) \|[^|]*\|[^|]*\b`+says[1]+`\b`).
			MatchString(index) {
			t.Errorf("%s: the index does not say severity %s of %s", alarmName(a), says[1], page)
		}
		if name := alarmName(a); says[1] == "1" && name != "api-faults-edge" {
			first[name] = true
		}
	}
	known := map[string]bool{}
	for _, m := range regexp.MustCompile(`ALARM\("\$\{Name\}-([a-z-]+)"\)`).FindAllStringSubmatch(
		read(t, filepath.Join(root, "infra", "alert.yaml")), -1) {
		known[m[1]] = true
	}
	if diff := cmp.Diff(first, known); diff != "" {
		t.Errorf("alarms of severity 1, and those that the sale at risk knows:\n%s", diff)
	}
	n++ // the sale at risk
	said := regexp.MustCompile(`\| (\d+) alarms with a cache, a webhook and the CDN \| (\d+) × 0\.10 \+ 0\.50 ` +
		`\| ([0-9.]+) \|`).FindStringSubmatch(read(t, filepath.Join(root, "docs", "DEPLOY.md")))
	if want := fmt.Sprintf("[%d %d %.2f]", n, n-1, float64(n-1)/10+0.5); said == nil || fmt.Sprint(said[1:]) != want {
		t.Errorf("DEPLOY.md says %v, want %s", said, want)
	}
	if want := fmt.Sprintf("%d alarms have severity 1, %d severity 2 and %d severity 3", of["1"], of["2"],
		of["3"]); !strings.Contains(index, want) {
		t.Errorf("the index of runbooks does not say %q", want)
	}
}
