package stage_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

// variant returns an item of family 70 that begins in an hour.
func variant(id, colour string, changes ...func(*seckill.Listing)) seckill.Listing {
	it := item(id, time.Hour)
	it.Variant = seckill.Variant{Family: "70", Options: seckill.Options{{Name: "颜色", Value: colour}}}
	for _, change := range changes {
		change(&it)
	}
	return it
}

// TestImportOfFamilies: what does not fit its family, in the file or stored, is refused by item and field, and nothing
// is written.
func TestImportOfFamilies(t *testing.T) {
	t.Parallel()
	later := func(it *seckill.Listing) { it.Start, it.End = it.Start.Add(1e9), it.End.Add(1e9) }
	spans := func(it *seckill.Listing) { it.Variant.LimitSpans = true }
	two := func(it *seckill.Listing) { it.Limit = 2 }
	many := func(n int) (all []seckill.Listing) {
		for i := range n {
			all = append(all, variant(strconv.Itoa(100+i), strconv.Itoa(i)))
		}
		return all
	}
	var full []seckill.Listing
	for i := range seckill.MaxItems {
		full = append(full, item(strconv.Itoa(1000+i), time.Hour))
	}
	for _, tt := range []struct {
		name  string
		there []seckill.Listing
		file  []seckill.Listing
		want  string // item and field; "" if it is imported
	}{
		{"a family", nil, []seckill.Listing{variant("1", "黑"), variant("2", "白")}, ""},
		{"beside a stored one", []seckill.Listing{variant("1", "黑")}, []seckill.Listing{variant("2", "白")}, ""},
		{"again", []seckill.Listing{variant("1", "黑")}, []seckill.Listing{variant("1", "黑"), variant("2", "白")}, ""},
		{"options change places", []seckill.Listing{variant("1", "黑"), variant("2", "白")},
			[]seckill.Listing{variant("1", "白"), variant("2", "黑")}, ""},
		{"the whole family moves", []seckill.Listing{variant("1", "黑"), variant("2", "白")},
			[]seckill.Listing{variant("1", "黑", later), variant("2", "白", later)}, ""},
		{"as many as a family may have", nil, many(seckill.MaxFamily), ""},
		{"twice in a file", nil, []seckill.Listing{variant("1", "黑"), variant("2", "黑")}, "2 options"},
		{"as a stored one", []seckill.Listing{variant("1", "黑")}, []seckill.Listing{variant("2", "黑")}, "2 options"},
		{"another window", []seckill.Listing{variant("1", "黑")}, []seckill.Listing{variant("2", "白", later)},
			"2 start_time"},
		{"one of a family moves", []seckill.Listing{variant("1", "黑"), variant("2", "白")},
			[]seckill.Listing{variant("1", "黑", later)}, "1 start_time"},
		{"a limit that spans differs", []seckill.Listing{variant("1", "黑", spans)},
			[]seckill.Listing{variant("2", "白", spans, two)}, "2 limit"},
		{"one spans, one does not", []seckill.Listing{variant("1", "黑", spans)}, []seckill.Listing{variant("2", "白")},
			"2 limit_spans"},
		{"too many", nil, many(seckill.MaxFamily + 1), "150 family"},
		{"of a sale that is over", []seckill.Listing{variant("1", "黑", func(it *seckill.Listing) {
			it.Start, it.End = now.Add(-9*24*time.Hour), now.Add(-8*24*time.Hour)
		})}, []seckill.Listing{variant("2", "白")}, "2 start_time"},
		{"of a sale of last year", []seckill.Listing{variant("1", "黑", func(it *seckill.Listing) {
			it.Start, it.End = now.Add(-366*24*time.Hour), now.Add(-365*24*time.Hour)
		})}, []seckill.Listing{variant("2", "白")}, "2 start_time"},
		{"in a shop with as many items as one list has", full, []seckill.Listing{variant("2", "白"),
			item("3", time.Hour)}, "2 family"},
		{"no family in a shop with as many", full, []seckill.Listing{item("3", time.Hour)}, ""},
	} {
		items := memory.NewItems()
		f := flow(t, memory.NewClock(now), items, tt.there...)
		_, err := f.Import(t.Context(), tt.file)
		if tt.want == "" {
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		id, field, _ := strings.Cut(tt.want, " ")
		var refused *stage.ImportError
		if !errors.As(err, &refused) || len(refused.Faults) != 1 || refused.Faults[0].Item != id ||
			!slices.ContainsFunc(refused.Faults[0].Fields, func(f stage.Fault) bool { return f.Field == field }) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
		must.Equal(t, len(tt.there), len(must.Get(items.List(t.Context(), time.Time{}))), tt.name, "items")
	}
}

// TestAFileWithoutTheColumnsOfVariants: the item stays a variant, and has to fit its family.
func TestAFileWithoutTheColumnsOfVariants(t *testing.T) {
	t.Parallel()
	spans := func(it *seckill.Listing) { it.Variant.LimitSpans = true }
	items := memory.NewItems()
	f := flow(t, memory.NewClock(now), items, variant("1", "黑", spans), variant("2", "白", spans))
	file := func(change func(*seckill.Listing)) []seckill.Listing {
		it := item("1", time.Hour)
		it.KeepsVariant = true
		change(&it)
		return []seckill.Listing{it}
	}
	must.Equal(t, 1, len(must.Get(f.Import(t.Context(), file(func(*seckill.Listing) {}))).Unchanged),
		"nothing else changes")
	done, err := f.Import(t.Context(), file(func(it *seckill.Listing) { it.Stock++ }))
	if it, e := items.Get(t.Context(), "1"); err != nil || e != nil || len(done.Changed) != 1 ||
		it.Variant.Span() != "70" || len(it.Variant.Options) != 1 {
		t.Errorf("more stock: %+v, %v, %+v, %v", done, err, it, e)
	}
	var refused *stage.ImportError
	limit := func(it *seckill.Listing) { it.Limit, it.Stock = 2, it.Stock+1 }
	if _, err := f.Import(t.Context(), file(limit)); !errors.As(err, &refused) ||
		refused.Faults[0].Fields[0].Field != "limit" {
		t.Errorf("another limit than its family: %v", err)
	}
}
