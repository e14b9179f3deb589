package operator_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/api/itemfile"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

// did gives an import, and returns what the audit log has of it.
func (w *shop) did(t *testing.T, items ...seckill.Listing) (before, after string) {
	t.Helper()
	event, err := json.Marshal(map[string]any{"operator": map[string]any{"command": "import", "who": "ann",
		"items": json.RawMessage(itemfile.Format(items))}})
	must.OK(t, err)
	b, err := w.handle(t.Context(), event)
	var answer struct {
		Did struct{ Before, After string }
	}
	must.OK(t, errors.Join(err, json.Unmarshal(b, &answer)))
	if len(answer.Did.Before) > seckill.MaxAuditText || len(answer.Did.After) > seckill.MaxAuditText {
		t.Errorf("cut: %d and %d bytes", len(answer.Did.Before), len(answer.Did.After))
	}
	return answer.Did.Before, answer.Did.After
}

// TestTheAuditLogHasWhatAnImportChanged: of each item the fields that differ, before and after, and of very many how
// many more; no answer to a question.
func TestTheAuditLogHasWhatAnImportChanged(t *testing.T) {
	t.Parallel()
	one, two, three := item("7", time.Hour), item("8", time.Hour), item("9", time.Hour)
	w := newShop(t, one, two, three)
	one.Stock, one.Commodity.Title = 20, strings.Repeat("表", 30)
	two.Questions, two.Checks = []seckill.Question{{Text: "q", Answers: []string{"secret"}}}, seckill.ChecksStrict
	before, after := w.did(t, one, two, three)
	if want := "7.title=表 7 7.stock=10 8.checks=off 8.questions=0"; before != want {
		t.Errorf("before %q, want %q", before, want)
	}
	want := "7.title=" + strings.Repeat("表", 24) + "…(30) 7.stock=20 8.checks=strict 8.questions=1 made=[] " +
		"changed=[7 8]"
	if after != want {
		t.Errorf("after %q, want %q", after, want)
	}
	made := item("10", time.Hour)
	before, after = w.did(t, made)
	if before != "" || !strings.HasPrefix(after, "10.title=表 10 10.detail=<b>x</b> 10.stock=10 ") ||
		!strings.Contains(after, " 10.sk_price=1.00 ") || !strings.HasSuffix(after, " made=[10] changed=[]") {
		t.Errorf("made: %q, %q", before, after)
	}
	var many []seckill.Listing
	for i := range 40 {
		many = append(many, item(fmt.Sprint(100+i), time.Hour))
	}
	w.did(t, many...)
	for i := range many {
		many[i].Commodity.Title, many[i].Stock = strings.Repeat("x", 30), 99
	}
	before, after = w.did(t, many...)
	kept := strings.Count(after, ".")
	rest := fmt.Sprintf(" and_more_fields=%d", 2*len(many)-kept)
	if kept < 8 || !strings.HasSuffix(before, rest) ||
		!strings.HasSuffix(after, rest+" made=[] changed=[100 101 102 103 104 and 35 more]") {
		t.Errorf("many: %q, %q", before, after)
	}
}

// TestACheckOfAnImportIsTheImport: it says what the import would do, or refuses it in the same words, every fault at
// once; it changes nothing.
func TestACheckOfAnImportIsTheImport(t *testing.T) {
	t.Parallel()
	there := item("7", time.Minute)
	w := newShop(t, there, item("9", time.Hour))
	w.lines(t)
	changed := item("9", time.Hour)
	changed.Commodity.Title = "钟"
	good := []seckill.Listing{there, changed, item("10", time.Hour)}
	check := func(items ...seckill.Listing) (stage.Imported, error) {
		return operator.Give[stage.Imported](t.Context(), &w.client,
			&operator.Import{Items: itemfile.Format(items), Dry: true})
	}
	const want = "{[10] [9] [7] map[]} <nil>"
	for range 2 {
		if done, err := check(good...); fmt.Sprint(done, err) != want {
			t.Errorf("checked: %v, %v; want %s", done, err, want)
		}
	}
	if l := w.lines(t); len(l) != 2 || l[0]["dry"] != true || l[0]["result"] != "unchanged" {
		t.Errorf("log: %v", l)
	}
	row := func(id, title, price, start string, stock int) string {
		return fmt.Sprintf(`{"id": %s, "title": %q, "price": 2, "sk_price": %s, "start_time": %q, `+
			`"end_time": "2026-11-11T14:00:00Z", "stock": %d, "limit": 1}`, id, title, price, start, stock)
	}
	const hour = "2026-11-11T13:00:00Z"
	file := "[\n" + strings.Join([]string{row("7", "表", "9", "2026-11-11T12:01:00Z", 10), row("11", "", "1", hour, 1),
		row("9", "表", "1", hour, 1), row("9", "表", "1", "soon", 0)}, ",\n") + "]"
	var first operator.Refusal
	for _, dry := range []bool{true, false} {
		event := fmt.Appendf(nil, `{"operator":{"command":"import","who":"ann","dry":%t,"items":%s}}`, dry, file)
		var answer struct{ Problem operator.Refusal }
		b, err := w.handle(t.Context(), event)
		must.OK(t, errors.Join(err, json.Unmarshal(b, &answer)))
		p := answer.Problem
		if p.Code != seckill.CodeInvalid || p.Wrong != 4 || len(p.Lines) != 4 {
			t.Fatalf("dry %t: %s", dry, b)
		}
		for i, what := range []string{"item 7: sk_price: fixed since", "title: want 1 to 100 characters",
			"item 9: stock: 1 is less than the 10", `start_time "soon": want a time`} {
			if l := p.Lines[i]; l.N != i+1 || !strings.HasPrefix(l.What, what) ||
				l.Where != fmt.Sprintf("element %d (line %d)", i+1, i+2) {
				t.Errorf("dry %t, line %d: %+v, want %s", dry, i, l, what)
			}
		}
		if !dry {
			if diff := cmp.Diff(first, p); diff != "" {
				t.Errorf("-check +import\n%s", diff)
			}
		}
		first = p
	}
	bad := item("9", time.Hour)
	bad.Stock = 1
	var refused *operator.Refusal
	if _, err := check(bad); !errors.As(err, &refused) ||
		refused.Wrong != 1 || refused.Lines[0].N != 1 {
		t.Errorf("refused by the shop alone: %v", err)
	}
	if it, err := w.items.Get(t.Context(), "9"); err != nil || it.Version != 1 {
		t.Errorf("a check changed %+v, %v", it, err)
	}
}
