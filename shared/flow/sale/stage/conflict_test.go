package stage_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

// TestTheSecondOfTwoEditorsSeesTheDifference: both edit version 1; the second one's save changes nothing, and says what
// is stored now.
func TestTheSecondOfTwoEditorsSeesTheDifference(t *testing.T) {
	t.Parallel()
	items := memory.NewItems()
	f := flow(t, memory.NewClock(now), items, item("1", time.Hour), item("2", time.Hour))
	save := func(base int64, change func(*seckill.Listing), others ...seckill.Listing) (stage.Imported, error) {
		it := with(item("1", time.Hour), change)
		it.Base = base
		return f.Import(t.Context(), append(others, it))
	}
	first := func(it *seckill.Listing) { it.Stock, it.Detail = 20, "<p>1</p>" }
	second := func(it *seckill.Listing) { it.Commodity.Title, it.Stock = "钟", 12 }
	if done, err := save(1, first); err != nil || len(done.Changed) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	other := with(item("2", time.Hour), func(it *seckill.Listing) { it.Price = 99 })
	_, err := save(1, second, other)
	var refused *stage.ImportError
	if !errors.As(err, &refused) || len(refused.Conflicts()) != 1 {
		t.Fatalf("the second editor: %v, want one conflict", err)
	}
	got := refused.Conflicts()[0]
	want := with(item("1", time.Hour), first)
	want.Version, want.Described, want.Cover = 2, 2, "/a.svg"
	if diff := cmp.Diff(stage.Conflict{From: 1, Fields: []string{"title", "detail", "stock"}, Now: want}, got,
		cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for _, id := range []string{"1", "2"} {
		if it, err := items.Get(t.Context(), id); err != nil || it.Commodity.Title != "表" || it.Price != 100 {
			t.Errorf("a refused save changed %+v, %v", it, err)
		}
	}
	if done, err := save(1, first); err != nil || !slices.Equal(done.Unchanged, []string{"1"}) {
		t.Errorf("the first save again, after a lost answer: %+v, %v", done, err)
	}
	second2 := func(it *seckill.Listing) { second(it); it.Stock = 21 }
	must.Equal(t, 1, len(must.Get(save(2, second2)).Changed), "made from what is stored")
	must.Equal(t, 1, len(must.Get(save(0, func(it *seckill.Listing) { it.Stock = 30 })).Changed),
		"one that does not say from which version it was made")
	made := item("3", time.Hour)
	made.Base = 7 // from another shop's export
	must.Equal(t, 1, len(must.Get(f.Import(t.Context(), []seckill.Listing{made})).Made),
		"an item that the shop does not have")
	bad := item("4", time.Hour)
	bad.Limit = 0
	if _, err = save(1, second, bad); !errors.As(err, &refused) || refused.Conflicts() != nil {
		t.Errorf("a conflict beside a bad item: %v, want no conflicts alone", err)
	}
}

// TestOfARunningSale: text and more stock, and nothing else.
func TestOfARunningSale(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]func(*seckill.Listing){
		"title":  func(it *seckill.Listing) { it.Commodity.Title = "钟" },
		"detail": func(it *seckill.Listing) { it.Detail = "<p>1</p>" },
		"covers": func(it *seckill.Listing) { it.Covers = nil },
		"stock":  func(it *seckill.Listing) { it.Stock++ }, "sk_price": func(it *seckill.Listing) { it.Price++ },
		"limit": func(it *seckill.Listing) { it.Limit++ }, "price": func(it *seckill.Listing) { it.Commodity.Price++ },
		"start_time":   func(it *seckill.Listing) { it.Start = it.Start.Add(-time.Hour) },
		"end_time":     func(it *seckill.Listing) { it.End = it.End.Add(time.Hour) },
		"commodity_id": func(it *seckill.Listing) { it.Commodity.ID = "77" },
		"family": func(it *seckill.Listing) {
			it.Variant = seckill.Variant{Family: "7", Options: seckill.Options{{Name: "颜色", Value: "黑"}}}
		},
		"checks": func(it *seckill.Listing) { it.Checks = seckill.ChecksStandard },
		"questions": func(it *seckill.Listing) {
			it.Questions = []seckill.Question{{Text: "a", Answers: []string{"b"}}}
		},
	} {
		there := item("1", -time.Minute)
		f := flow(t, memory.NewClock(now), memory.NewItems(), there)
		_, err := f.Import(t.Context(), []seckill.Listing{with(there, change)})
		var refused *stage.ImportError
		may := slices.Contains([]string{"title", "detail", "covers", "stock"}, field)
		if may != (err == nil) || !may && !errors.As(err, &refused) {
			t.Errorf("%s: %v, want it allowed: %t", field, err, may)
		}
		for _, r := range there.Rules(now) {
			if r.Field == field && (r.May == seckill.MayNot) == may {
				t.Errorf("the rule of %s says %s", field, r.May)
			}
		}
	}
}

// faster is a table of items before whose next write somebody else saves.
type faster struct {
	seckill.Items
	save func() error
}

func (r *faster) Put(ctx context.Context, it seckill.Item, d *seckill.Description) error {
	if save := r.save; save != nil {
		r.save = nil
		if err := save(); err != nil {
			return err
		}
	}
	return r.Items.Put(ctx, it, d)
}

// TestTheSlowerOfTwoEditors: both saves pass the check; the one that writes later is refused with the difference, and
// changes no question either.
func TestTheSlowerOfTwoEditors(t *testing.T) {
	t.Parallel()
	items := memory.NewItems()
	f := flow(t, memory.NewClock(now), items, item("1", time.Hour))
	asking := func(text string) seckill.Listing {
		return with(item("1", time.Hour), func(it *seckill.Listing) {
			it.Base, it.Questions = 1, []seckill.Question{{Text: text, Answers: []string{"1"}}}
			it.Commodity.Title = text
		})
	}
	r := &faster{Items: items}
	f.Items = r
	r.save = func() error {
		_, err := f.Import(t.Context(), []seckill.Listing{asking("first")})
		return err
	}
	_, err := f.Import(t.Context(), []seckill.Listing{asking("second")})
	var refused *stage.ImportError
	if !errors.As(err, &refused) || len(refused.Conflicts()) != 1 {
		t.Fatalf("the slower editor: %v, want one conflict", err)
	}
	got, err := f.Listing(t.Context(), "1")
	if err != nil || got.Commodity.Title != "first" || len(got.Questions) != 1 || got.Questions[0].Text != "first" {
		t.Errorf("%+v, %v: want the first editor's title and question", got, err)
	}
}
