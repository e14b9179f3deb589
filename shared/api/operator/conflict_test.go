package operator_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// TestAnEditorReadsSavesAndIsRefused: an item as an editor gets it may be saved as it is; a save from an older version
// gets a problem with the item as it is now.
func TestAnEditorReadsSavesAndIsRefused(t *testing.T) {
	t.Parallel()
	w := newShop(t, item("7", time.Hour))
	save := func(change func(map[string]any), from json.RawMessage) (string, error) {
		var fields map[string]any
		must.OK(t, json.Unmarshal(from, &fields))
		change(fields)
		file, _ := json.Marshal([]any{fields})
		event, _ := json.Marshal(map[string]any{"operator": map[string]any{"command": "import", "who": "ann",
			"items": json.RawMessage(file)}})
		b, err := w.handle(t.Context(), event)
		return string(b), err
	}
	first, err := operator.Give[operator.ItemView](t.Context(), &w.client, &operator.ReadItem{Item: "7"})
	if err != nil || first.State != seckill.ItemWaiting || !strings.Contains(string(first.Item), `"version":1`) ||
		len(first.Rules) != 15 {
		t.Fatalf("%+v, %v", first, err)
	}
	if got, err := save(func(map[string]any) {}, first.Item); err != nil || !strings.Contains(got, `"unchanged":["7"]`) {
		t.Errorf("as it was: %s, %v", got, err)
	}
	got, err := save(func(m map[string]any) { m["detail"] = `<p onclick="x()">1</p><script>2</script>` }, first.Item)
	if err != nil || !strings.Contains(got, `"removed":{"7":["onclick of <p>","<script>"]}`) ||
		!strings.Contains(got, `"before":"7.detail=<b>x</b>","after":"7.detail=<p>1</p> made=[] changed=[7]"`) {
		t.Errorf("a description with a script: %s, %v", got, err)
	}
	got, err = save(func(m map[string]any) { m["title"], m["stock"] = "二", 30 }, first.Item)
	var answer struct {
		Problem struct {
			operator.Refusal
			Status int `json:"status"`
		} `json:"problem"`
	}
	must.OK(t, errors.Join(err, json.Unmarshal([]byte(got), &answer)))
	p := answer.Problem
	if p.Status != 409 || p.Code != operator.CodeConflict || len(p.Conflicts) != 1 {
		t.Fatalf("the second editor: %s", got)
	}
	c := p.Conflicts[0]
	if c.ID != "7" || c.From != 1 || c.Version != 2 || !slices.Equal(c.Fields, []string{"title", "detail", "stock"}) {
		t.Errorf("the conflict: %+v", c)
	}
	if got, err := save(func(m map[string]any) { m["title"] = "二" }, c.Now); err != nil ||
		!strings.Contains(got, `"changed":["7"]`) {
		t.Errorf("made from the item that the problem has: %s, %v", got, err)
	}
	for _, c := range []struct {
		field string
		to    any
		want  string
	}{
		{"sk_price", "x", `"field":"sk_price"`}, {"covers", []string{"javascript:1"}, `"field":"covers"`},
		{"title", "", `"field":"title"`}, {"checks", "easy", `"field":"checks"`}, {"stock", 5, `"field":"stock"`},
		{"end_time", "2020-01-01T00:00:00Z", `"field":"end_time"`},
		{"questions", []any{map[string]any{"text": "", "answers": []string{"a"}}}, `"field":"questions"`},
		{"commodity_id", "x", `"field":"commodity_id"`},
	} {
		got, err := save(func(m map[string]any) { m[c.field] = c.to; delete(m, "version") }, first.Item)
		if err != nil || !strings.Contains(got, c.want) || !strings.Contains(got, `"code":"invalid_request"`) {
			t.Errorf("%s %v: %s, %v", c.field, c.to, got, err)
		}
	}
	got, err = save(func(m map[string]any) { m["price"], m["limit"] = "x", "y" }, first.Item)
	if err != nil || !strings.Contains(got, `"field":"price"`) || !strings.Contains(got, `"field":"limit"`) {
		t.Errorf("two wrong fields: %s, %v", got, err)
	}
	event := []byte(`{"operator":{"command":"items","who":"ann"}}`)
	if b, err := w.handle(t.Context(), event); err != nil || !strings.Contains(string(b), `{"id":"7","title":"`) ||
		strings.Contains(string(b), "detail") {
		t.Errorf("the list: %s, %v", b, err)
	}
	var refused *operator.Refusal
	_, err = operator.Give[operator.ItemView](t.Context(), &w.client, &operator.ReadItem{Item: "99"})
	if !errors.As(err, &refused) || refused.Code != seckill.CodeItemUnknown {
		t.Errorf("no such item: %v", err)
	}
}
