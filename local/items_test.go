package local_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/adapter/itemfile"
	"github.com/your-org/seckill/shared/seckill"
)

// file is an items file in JSON.
func file(items ...seckill.Listing) string { return string(itemfile.Format(items)) }

func TestItemsOutAndIn(t *testing.T) {
	t.Parallel()
	from := start(t, local.Options{})
	out := from.call("", "GET", "/_local/items", nil)
	if out.status != 200 || out.header.Get("Content-Type") != "application/json" ||
		!strings.Contains(out.raw, local.DemoUpcoming) {
		t.Fatal(out)
	}
	to := start(t, local.Options{Items: []seckill.Listing{live("11", 3, 1)}})
	for _, want := range []string{`{"made":["2001","2002","2003"],"changed":[],"unchanged":[]}`,
		`{"made":[],"changed":[],"unchanged":["2001","2002","2003"]}`} {
		if in := to.call("", "POST", "/_local/items", out.raw); in.status != 200 || strings.TrimSpace(in.raw) != want {
			t.Errorf("import: %v, want %s", in, want)
		}
	}
	again := to.call("", "GET", "/_local/items", nil)
	items, err := itemfile.Parse("a.json", []byte(again.raw), time.Now())
	if err != nil || len(items) != 4 {
		t.Fatalf("%d items, %v: %v", len(items), err, again)
	}
	wanted, err := itemfile.Parse("a.json", []byte(out.raw), items[0].CreateTime)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]seckill.Listing{}
	for _, it := range items {
		got[it.ID] = it
	}
	for _, it := range wanted {
		if diff := cmp.Diff(it, got[it.ID]); diff != "" {
			t.Errorf("item %s: -exported here +there\n%s", it.ID, diff)
		}
	}
	to.bought("1001", local.DemoLive) // imported while on sale: sold at once
	to.drained()
}

func TestItemsAreChangedByImportUntilTheyAreLoaded(t *testing.T) {
	t.Parallel()
	later := live("12", 5, 1)
	later.Start = time.Now().Add(time.Hour).Truncate(time.Second)
	w := start(t, local.Options{Items: []seckill.Listing{later}})
	later.Price, later.Stock = 77_00, 8
	if a := w.call("", "POST", "/_local/items", file(later)); a.status != 200 ||
		!strings.Contains(a.raw, `"changed":["12"]`) {
		t.Fatal(a)
	}
	w.pass(time.Hour)
	w.awaitLeft("12", "8")
	if a := w.call("", "GET", "/seckill/detail/12", nil); !strings.Contains(a.raw, `"sk_price":77.00`) {
		t.Error(a)
	}
	later.Price = 1
	a := w.call("", "POST", "/_local/items", file(live("13", 1, 1), later))
	if a.status != 422 || a.text("code") != "invalid_request" ||
		!strings.HasPrefix(a.text("detail"), "item 12: it is another than the one that has been loaded") {
		t.Error(a)
	}
	if a := w.call("", "GET", "/seckill/detail/13", nil); a.status != 404 {
		t.Errorf("imported beside a refused one: %v", a)
	}
}

func TestImportTakesCSVAndNamesBadLines(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{})
	const header = "id,title,price,sk_price,start_time,end_time,stock,limit\n"
	row := func(id, stock string) string {
		return id + ",表,2,1,2026-11-11T12:00:00Z,2999-11-12T12:00:00Z," + stock + ",1\n"
	}
	for _, tt := range []struct {
		behaviour, kind, body string
		status                int
		want                  string
	}{
		{"CSV", "text/csv; charset=utf-8", header + row("21", "5"), 200, `"made":["21"]`},
		{"CSV with bad lines", "text/csv", header + row("22", "0") + row("23", "5") + row("24", "x"), 422,
			`items.csv: line 2: stock 0: want 1 to 1000000; line 4: stock \"x\": want a whole number`},
		{"CSV said to be JSON", "application/json", header + row("22", "5"), 422, "items.json: line 1: not JSON"},
		{"empty", "application/json", "", 422, "no items in it"},
		{"an item less stock", "text/csv", header + row("21", "4") + row("22", "5"), 422, "item 21: "},
		{"too large", "text/csv", header + strings.Repeat(" ", itemfile.MaxSize), 422, "body_too_large"},
	} {
		a := w.call("", "POST", "/_local/items", tt.body, "Content-Type", tt.kind)
		problem := strings.HasPrefix(a.header.Get("Content-Type"), "application/problem+json")
		if a.status != tt.status || !strings.Contains(a.raw, tt.want) || problem != (tt.status != http.StatusOK) {
			t.Errorf("%s: %v\nwant %d with %s", tt.behaviour, a, tt.status, tt.want)
		}
	}
	for _, id := range []string{"22", "23", "24"} {
		if a := w.call("", "GET", "/seckill/detail/"+id, nil); a.status != 404 {
			t.Errorf("item %s of a refused file: %v", id, a)
		}
	}
}

func TestChangesSayWhetherAnythingChanged(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Listing{live("11", 3, 1)}})
	for _, step := range []struct {
		path, body, state string
		stock             int
		changed           bool
	}{
		{"stop", "", "stopped", 3, true},
		{"stop", "", "stopped", 3, false},
		{"resume", "", "online", 3, true},
		{"resume", "", "online", 3, false},
		{"stock", `{"stock":5}`, "online", 5, true},
		{"stock", `{"stock":5}`, "online", 5, false},
		{"stock", `{"stock":4}`, "online", 5, false},
	} {
		a := w.call("", "POST", "/_local/items/11/"+step.path, step.body)
		want := fmt.Sprintf("%s %d %t", step.state, step.stock, step.changed)
		if got := fmt.Sprintf("%v %v %v", a.json["state"], a.json["stock"], a.json["changed"]); a.status != 200 ||
			got != want {
			t.Errorf("%s %s: %v, want %s", step.path, step.body, a, want)
		}
	}
}
