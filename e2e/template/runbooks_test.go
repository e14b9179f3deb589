package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var runbook = regexp.MustCompile(`docs/runbooks/([a-z-]+)\.md`)

// TestRunbooks: each alarm names the page that is about it, each page is about an alarm, and has its four parts; the index lists all pages.
func TestRunbooks(t *testing.T) {
	folder := filepath.Join(root, "docs", "runbooks")
	about := map[string][]string{} // alarms' names, by page
	all := open(t)
	cache, err := parse(all.files["infra/cache.yaml"])
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range append(all.resources(kindAlarm), (&template{tree: cache}).resources(kindAlarm)...) {
		name := strings.TrimPrefix(strings.TrimPrefix(str(a.prop(), "AlarmName", "Fn::Sub"), "${AWS::StackName}-"), "${Name}-")
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
	if want := slices.Sorted(maps.Keys(about)); !slices.Equal(pages, want) {
		t.Errorf("pages %v, alarms want %v", pages, want)
	}
	index := read(t, filepath.Join(folder, "README.md"))
	for _, page := range pages {
		text := read(t, filepath.Join(folder, page+".md"))
		for _, part := range []string{"# " + page + "\n", "**Meaning.**", "**Impact.**", "**Diagnosis.**", "**Mitigation.**", "```sh\n"} {
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

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
