package plan

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestPageIsTheStorefronts compares the model's page with the storefront's page.
func TestPageIsTheStorefronts(t *testing.T) {
	t.Parallel()
	core, err := os.ReadFile("../../web/src/core.js")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"LOOK_NEAR": lookNear, "LOOK_FAR": lookFar, "SPREAD": lookSpread,
		"NEAR": nearBefore} {
		m := regexp.MustCompile(`(?m)^(?:export )?const ` + name + ` = ([0-9_]+);`).FindSubmatch(core)
		if m == nil {
			t.Errorf("core.js has no %s", name)
			continue
		}
		if ms, err := strconv.ParseFloat(strings.ReplaceAll(string(m[1]), "_", ""), 64); err != nil || ms != want*1000 {
			t.Errorf("%s is %s ms in core.js, the plan's page has %v s", name, m[1], want)
		}
	}
	page, err := os.ReadFile("../../web/dist/index.zh.html")
	if err != nil {
		t.Fatal(err)
	}
	files := 1 + len(regexp.MustCompile(`(?:src|href)="assets/`).FindAll(page, -1))
	if files != openingFiles {
		t.Errorf("a page loads %d files, the plan's page %d", files, openingFiles)
	}
}

// TestPagesLookMoreWhenASaleIsNear checks that the model counts each page's opening once, far looks before the last
// minute, near ones in it, and few once all units are sold.
func TestPagesLookMoreWhenASaleIsNear(t *testing.T) {
	t.Parallel()
	s := &Sale{Shoppers: 100_000, Units: 100, Count: 1, First: 1, Looks: DefaultLooks, Before: DefaultBefore}
	m := &sim{Sale: s, Limits: unlimited, left: 1}
	m.before()
	span := s.Before.Seconds()
	far, near := (span-nearBefore)*(span-nearBefore)/2, span*span/2-(span-nearBefore)*(span-nearBefore)/2
	want := 100_000*opening + 100_000/span*DefaultLooks*(far*farShare+near)
	if got := m.out.ShopCalls; got < want*0.999 || got > want*1.001 {
		t.Errorf("%.0f calls before the opening, want %.0f", got, want)
	}
	_, _, on := m.look(1000, 0)
	m.left = 0
	if _, _, over := m.look(1000, 0); over/on < farShare*0.999 || over/on > farShare*1.001 {
		t.Errorf("%v looks once sold out, %v before: want a share of %v", over, on, farShare)
	}
	if _, _, calls := m.look(0, 10); calls != 10*opening {
		t.Errorf("10 pages that open make %v calls, want %d", calls, 10*opening)
	}
}
