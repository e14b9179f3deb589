package seckill

import (
	"strings"
	"testing"
	"time"
)

func TestOptionsAsText(t *testing.T) {
	t.Parallel()
	o := Options{{"颜色", "黑"}, {"容量", "256 GB"}}
	if got := o.String(); got != "颜色=黑 | 容量=256 GB" {
		t.Errorf("%q", got)
	}
	for text, want := range map[string]string{"": "", " ": "", "颜色=黑": "颜色=黑", " a = b|c=d ": "a=b | c=d",
		"a=b=c": "a=b=c", "a=": "a="} {
		got, err := ParseOptions(text)
		if err != nil || got.String() != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"黑", "a=b |", "|"} {
		if got, err := ParseOptions(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}

func TestValidVariants(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("色", n) }
	one, four := Options{{"颜色", "黑"}}, Options{{"a", "1"}, {"b", "1"}, {"c", "1"}, {"d", "1"}}
	for _, tt := range []struct {
		v    Variant
		want string // "" if valid
	}{
		{Variant{}, ""},
		{Variant{Family: "7", Options: one}, ""},
		{Variant{Family: "7", Options: Options{{long(20), long(40)}, {"b", "黑"}, {"c", "c"}}, LimitSpans: true}, ""},
		{Variant{Options: one}, "family"},
		{Variant{LimitSpans: true}, "family"},
		{Variant{Family: "07", Options: one}, "family"},
		{Variant{Family: "7"}, "options: want 1 to 3"},
		{Variant{Family: "7", Options: four}, "options: want 1 to 3"},
		{Variant{Family: "7", Options: Options{{"a", "1"}, {"a", "2"}}}, "options: a is there twice"},
		{Variant{Family: "7", Options: Options{{long(21), "1"}}}, "options: want names"},
		{Variant{Family: "7", Options: Options{{"a", long(41)}}}, "options: want names"},
		{Variant{Family: "7", Options: Options{{"a", ""}}}, "options: want names"},
		{Variant{Family: "7", Options: Options{{"a", " x"}}}, "options: want names"},
		{Variant{Family: "7", Options: Options{{"a", "b=c"}}}, "options: want names"},
		{Variant{Family: "7", Options: Options{{"a", "b|c"}}}, "options: want names"},
		{Variant{Family: "7", Options: Options{{"a", "b\nc"}}}, "options: want names"},
		{Variant{Family: "7", Options: Options{{"a", "\xff"}}}, "options: want names"},
	} {
		err := tt.v.Check()
		if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.v, err, tt.want)
		}
	}
}

func TestItemsOfAFamilyFit(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 11, 12, 0, 0, 0, time.UTC)
	of := func(change func(*Item)) *Item {
		it := &Item{ID: "1", Start: start, End: start.Add(time.Hour), Limit: 2,
			Variant: Variant{Family: "7", Options: Options{{"颜色", "黑"}}}}
		change(it)
		return it
	}
	white := func(it *Item) { it.Variant.Options = Options{{"颜色", "白"}} }
	spans := func(it *Item) { it.Variant.LimitSpans = true }
	for _, tt := range []struct {
		field  string
		it     *Item
		beside *Item
	}{
		{"", of(white), of(func(*Item) {})},
		{"", of(white), of(func(it *Item) { it.Limit = 3 })},
		{"options", of(func(*Item) {}), of(func(*Item) {})},
		{"options", of(func(it *Item) { it.Variant.Options = Options{{"色", "白"}} }), of(func(*Item) {})},
		{"options", of(func(it *Item) { it.Variant.Options = Options{{"颜色", "白"}, {"b", "1"}} }), of(func(*Item) {})},
		{"start_time", of(func(it *Item) { white(it); it.Start = start.Add(1) }), of(func(*Item) {})},
		{"end_time", of(func(it *Item) { white(it); it.End = start.Add(1) }), of(func(*Item) {})},
		{"limit_spans", of(func(it *Item) { white(it); spans(it) }), of(func(*Item) {})},
		{"limit", of(func(it *Item) { white(it); spans(it) }), of(func(it *Item) { spans(it); it.Limit = 3 })},
	} {
		if field, why := tt.it.Fits(tt.beside); field != tt.field || (why == "") != (field == "") {
			t.Errorf("%+v beside %+v: %q, %q; want %q", tt.it, tt.beside, field, why, tt.field)
		}
	}
}
