package itemfile

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/your-org/seckill/shared/seckill"
)

func TestFormatIsForPeople(t *testing.T) {
	t.Parallel()
	text := `[
  {
    "id": "9007199254740993",
    "title": "西湖龙井, 明前",
    "price": 199.99,
    "sk_price": 88.80,
    "start_time": "2026-11-11T12:00:00Z",
    "end_time": "2026-11-12T12:00:00Z",
    "stock": 1200,
    "limit": 2,
    "covers": [
      "https://example.com/a.jpg",
      "/pictures/tea.svg"
    ],
    "detail": "<p>香 &#34;浓&#34;</p>",
    "commodity_id": "77"
  }
]
`
	if diff := cmp.Diff(text, string(Format([]seckill.Listing{want()}))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got := string(Format(nil)); got != "[]\n" {
		t.Errorf("no items: %q", got)
	}
}

// TestWhatFormatWritesParseReads checks the round trip for arbitrary items from a file.
func TestWhatFormatWritesParseReads(t *testing.T) {
	t.Parallel()
	text := rapid.StringOf(rapid.SampledFrom([]rune("ab <>&\"'\\/,;=#%+\n\t\u2028红套🎧é")))
	rapid.Check(t, func(t *rapid.T) {
		var items []seckill.Listing
		for i := range rapid.IntRange(1, 5).Draw(t, "items") {
			it := want()
			it.ID = fmt.Sprint(100 + i)
			it.Commodity.Title = "t" + strings.Join(strings.Fields(text.Draw(t, "title")), " ")
			it.Detail = text.Draw(t, "detail")
			it.Covers = rapid.SliceOfN(rapid.SampledFrom([]string{"/a.svg", "https://x.example/ü?a=b&c"}), 0, 3).Draw(t,
				"covers")
			it.Price = seckill.Fen(rapid.Int64Range(1, int64(seckill.MaxFen/seckill.MaxCount)).Draw(t, "sk_price"))
			it.Commodity.Price = seckill.Fen(rapid.Int64Range(0, int64(seckill.MaxFen)).Draw(t, "price"))
			it.Start = time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "start")).UTC()
			it.End = it.Start.Add(time.Duration(rapid.Int64Range(1, 1e9).Draw(t, "ms")) * time.Millisecond)
			it.Stock = rapid.IntRange(1, seckill.MaxStock).Draw(t, "stock")
			it.Limit = rapid.IntRange(1, seckill.MaxLimit).Draw(t, "limit")
			it.Buckets = seckill.BucketsFor(it.Stock)
			items = append(items, it)
		}
		first, err := Parse("a.json", Format(items), now) // sanitizes the details
		if err != nil {
			t.Fatal(err)
		}
		second, err := Parse("a.json", Format(first), now)
		if diff := cmp.Diff(first, second, cmpopts.EquateEmpty(), notRemoved); err != nil || diff != "" {
			t.Fatalf("%v\n-first +second\n%s", err, diff)
		}
		for i := range items {
			items[i].Detail = first[i].Detail
		}
		if diff := cmp.Diff(items, first, cmpopts.EquateEmpty(), notRemoved); diff != "" {
			t.Fatalf("-written +read\n%s", diff)
		}
	})
}
