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
	}
}

// TestRestoreNamesAll: the page about a restore has every table, every queue's mapping and every schedule of a shop.
func TestRestoreNamesAll(t *testing.T) {
	page, all := read(t, filepath.Join(root, "docs", "runbooks", "restore.md")), open(t)
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
			want = append(want, strings.TrimPrefix(str(table.prop(), "TableName", "Fn::Sub"), "${AWS::StackName}-"))
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
	if says := str(all.tree, "Parameters", "ReserveConcurrency", "Description"); !strings.HasPrefix(says,
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

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
