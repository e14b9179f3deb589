package drivertest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// described returns a description that is unique to the name.
func described(name string) seckill.Description {
	return seckill.Description{Covers: []string{"https://example.com/a.png", "/covers/二.jpg?" + name},
		Detail: "<p>每人一双 &amp; 不退 " + name + "</p>"}
}

// putDescribed puts an item with its description and returns the stored item.
func putDescribed(t *testing.T, items seckill.Items, it seckill.Item, d seckill.Description) seckill.Item {
	t.Helper()
	if err := items.Put(t.Context(), it, &d); err != nil {
		t.Fatalf("Put(%s, version %d, with a description): %v", it.ID, it.Version, err)
	}
	it.Described, it.Cover = it.Version, d.FirstCover()
	if d := diff(it, get(t, items, it.ID)); d != "" {
		t.Fatalf("item %s (-put +got):\n%s", it.ID, d)
	}
	return it
}

// wantDescription reads an item's description at the version that the item names.
func wantDescription(t *testing.T, items seckill.Items, id string, want seckill.Description) {
	t.Helper()
	got, err := items.Description(t.Context(), id, get(t, items, id).Described)
	if d := diff(want, got); d != "" || err != nil {
		t.Errorf("description of item %s: error %v (-want +got):\n%s", id, err, d)
	}
}

// next returns the item's next version.
func next(it seckill.Item) seckill.Item {
	it.Version++
	return it
}

func testDescription(t *testing.T, items seckill.Items) {
	longest := seckill.Description{Detail: strings.Repeat("😀", seckill.MaxDetail)}
	for range seckill.MaxCovers {
		longest.Covers = append(longest.Covers, "/"+strings.Repeat("c", seckill.MaxCoverLength-1))
	}
	for id, want := range map[string]seckill.Description{"1": described("1"), "2": {}, "3": longest,
		"9223372036854775807": described("4")} {
		putDescribed(t, items, sample(id), want)
		wantDescription(t, items, id, want)
	}
	putItem(t, items, sample("5"))
	wantDescription(t, items, "5", seckill.Description{})
	for _, it := range listed(t, items, itemsStart, "1", "2", "3", "5", "9223372036854775807") {
		if want := get(t, items, it.ID).Described; it.Described != want {
			t.Errorf("listed item %s: its description is of version %d, want %d", it.ID, it.Described, want)
		}
	}
	for name, bad := range map[string]seckill.Description{"detail": {Detail: longest.Detail + "x"},
		"covers": {Covers: append(longest.Covers, "/c")}, "cover": {Covers: []string{""}}} {
		if err := items.Put(t.Context(), sample("6"), &bad); seckill.CodeOf(err) != seckill.CodeInvalid {
			t.Errorf("%s: %v, want CodeInvalid", name, err)
		}
	}
	if it, err := items.Get(t.Context(), "6"); seckill.CodeOf(err) != seckill.CodeItemUnknown {
		t.Errorf("a refused Put left %+v, error %v", it, err)
	}
}

func testDescriptionAge(t *testing.T, items seckill.Items) {
	first := putDescribed(t, items, sample("1"), described("first"))
	second := putDescribed(t, items, next(first), described("second"))
	for _, version := range []int64{1, 2} { // a reader of the first version may get the second, never the reverse
		got, err := items.Description(t.Context(), "1", version)
		if d := diff(described("second"), got); err != nil || version == second.Version && d != "" {
			t.Errorf("of version %d: error %v (-want +got):\n%s", version, err, d)
		}
	}
	putItem(t, items, sample("2"))
	for id, version := range map[string]int64{"1": 3, "2": 1, "404": 1} {
		if got, err := items.Description(t.Context(), id, version); !errors.Is(err, seckill.ErrUnreadable) {
			t.Errorf("item %s, of version %d: %+v, error %v, want ErrUnreadable", id, version, got, err)
		}
	}
}

func testDescriptionStays(t *testing.T, items seckill.Items) {
	it := putDescribed(t, items, sample("1"), described("first"))
	for range 3 {
		it = next(it)
		it.Stock++
		putItem(t, items, it)
		if d := diff(it, get(t, items, "1")); d != "" {
			t.Errorf("version %d (-put +got):\n%s", it.Version, d)
		}
		wantDescription(t, items, "1", described("first"))
	}
	// Neither version's description may be taken for the other's.
	for _, wrong := range []int64{0, 2, it.Version, it.Version + 1} {
		lost := next(it)
		lost.Described = wrong
		for _, d := range []*seckill.Description{nil, {}} {
			must.Is(t, seckill.ErrStateChanged, items.Put(t.Context(), lost, d),
				"Put that says its description is of version", wrong)
		}
	}
	made := sample("2")
	made.Described = 1
	must.Is(t, seckill.ErrStateChanged, items.Put(t.Context(), made, nil),
		"a new item with a description that was never written")
	wantDescription(t, items, "1", described("first"))
	putDescribed(t, items, next(it), described("second"))
	wantDescription(t, items, "1", described("second"))
}

func testTogether(t *testing.T, items seckill.Items) {
	first := putDescribed(t, items, sample("1"), described("first"))
	for _, version := range []int64{-1, 0, 1, 3} {
		it := first
		it.Version = version
		other := described("other")
		must.Is(t, seckill.ErrStateChanged, items.Put(t.Context(), it, &other), "Put of version", version, "over 1")
	}
	alike(t, first, get(t, items, "1"), "item after refused writes")
	wantDescription(t, items, "1", described("first"))
}

func testConcurrentDescriptions(t *testing.T, items seckill.Items) {
	const writers, rounds = 8, 3
	putDescribed(t, items, sample("7"), described("0"))
	for round := range rounds {
		was := get(t, items, "7")
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				name := fmt.Sprintf("round %d, writer %d", round, w)
				it, d := next(was), described(name)
				it.Commodity.Title = name
				if err := items.Put(t.Context(), it, &d); err != nil && !errors.Is(err, seckill.ErrStateChanged) {
					t.Errorf("%s: %v, want ErrStateChanged", name, err)
				}
			})
		}
		wg.Wait()
		now := get(t, items, "7")
		if now.Version != was.Version+1 {
			t.Fatalf("round %d: version %d after %d", round, now.Version, was.Version)
		}
		wantDescription(t, items, "7", described(now.Commodity.Title))
	}
}

func testNoSharing(t *testing.T, items seckill.Items) {
	it, d := sample("5"), described("5")
	putDescribed(t, items, it, d)
	d.Covers[0], it.Stops[0].From = "changed after Put", itemsStart
	first := get(t, items, "5")
	first.Stops[0].From = itemsStart
	for _, l := range listed(t, items, itemsStart, "5") {
		l.Stops[0].From = itemsStart
	}
	want := sample("5")
	want.Described, want.Cover = 1, described("5").Covers[0]
	alike(t, want, get(t, items, "5"), "stored item")
	got, err := items.Description(t.Context(), "5", 1)
	if err != nil {
		t.Fatal(err)
	}
	got.Covers[0] = "changed after Description"
	wantDescription(t, items, "5", described("5"))
}
