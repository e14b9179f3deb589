package drivertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/your-org/seckill/shared/seckill"
)

// listLag is how long, in real time, List may lag behind a Put before the suite fails.
const listLag = 10 * time.Second

var itemsStart = time.Date(2026, 11, 11, 12, 0, 0, 0, time.UTC)

// sample returns a valid first version with every field set.
func sample(id string) seckill.Item {
	return seckill.Item{
		ID: id,
		Commodity: seckill.Commodity{
			ID: "9223372036854775807", Title: "限量球鞋 “黑金” 😀", Price: 1299_00,
			CreateTime: itemsStart.Add(-48 * time.Hour),
		},
		Price: 99_01, Start: itemsStart, End: itemsStart.Add(2*time.Hour + 345*time.Millisecond),
		CreateTime: itemsStart.Add(-24 * time.Hour),
		Stock:      10_000, Limit: 3, Buckets: seckill.BucketsFor(10_000), Checks: seckill.ChecksStrict,
		Variant: seckill.Variant{Family: "9223372036854775806", LimitSpans: true,
			Options: seckill.Options{{Name: "颜色", Value: "黑"}, {Name: "容量", Value: "256 GB"}}},
		Stopped: true, Version: 1,
		Stops: []seckill.Stop{{From: itemsStart.Add(time.Millisecond), To: itemsStart.Add(time.Second)},
			{From: itemsStart.Add(time.Minute)}},
	}
}

func putItem(t *testing.T, items seckill.Items, it seckill.Item) {
	t.Helper()
	if err := items.Put(t.Context(), it, nil); err != nil {
		t.Fatalf("Put(%s, version %d): %v", it.ID, it.Version, err)
	}
}

func get(t *testing.T, items seckill.Items, id string) seckill.Item {
	t.Helper()
	it, err := items.Get(t.Context(), id)
	if err != nil {
		t.Fatalf("Get(%s): %v", id, err)
	}
	return it
}

func diff(want, got any) string { return cmp.Diff(want, got, cmpopts.EquateEmpty()) }

// alike reports how a value differs from the one wanted; nil and empty lists are alike.
func alike(t *testing.T, want, got any, what string) {
	t.Helper()
	if d := diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func testRoundTrip(t *testing.T, items seckill.Items) {
	bare := sample("2")
	bare.Commodity.Price, bare.Stopped, bare.Stops = 0, false, nil
	bare.Variant = seckill.Variant{}
	zoned := sample("3")
	zoned.Start = zoned.Start.In(time.FixedZone("CST", 8*3600))
	for _, want := range []seckill.Item{sample("1"), bare, zoned, sample("9223372036854775807")} {
		putItem(t, items, want)
		got := get(t, items, want.ID)
		if d := diff(want, got); d != "" {
			t.Errorf("item %s (-put +got):\n%s", want.ID, d)
		}
		for name, at := range map[string]time.Time{"Start": got.Start, "End": got.End, "CreateTime": got.CreateTime,
			"Commodity.CreateTime": got.Commodity.CreateTime} {
			if at.Location() != time.UTC {
				t.Errorf("item %s: %s is in %v, want UTC", want.ID, name, at.Location())
			}
		}
	}
}

func testUnknown(t *testing.T, items seckill.Items) {
	putItem(t, items, sample("12"))
	for _, id := range []string{"1", "2", "123", "9223372036854775807"} {
		it, err := items.Get(t.Context(), id)
		if seckill.CodeOf(err) != seckill.CodeItemUnknown {
			t.Errorf("Get(%s): %+v, error %v, want CodeItemUnknown", id, it, err)
		}
	}
}

func testVersions(t *testing.T, items seckill.Items) {
	tests := []struct {
		name    string
		stored  int64 // 0 if there is none
		version int64
		want    error
	}{
		{"new with version 1", 0, 1, nil},
		{"new with version 0", 0, 0, seckill.ErrStateChanged},
		{"new with version 2", 0, 2, seckill.ErrStateChanged},
		{"new with a negative version", 0, -1, seckill.ErrStateChanged},
		{"made a second time", 1, 1, seckill.ErrStateChanged},
		{"the next", 1, 2, nil},
		{"the next but one", 1, 3, seckill.ErrStateChanged},
		{"the same again", 3, 3, seckill.ErrStateChanged},
		{"an older one", 3, 2, seckill.ErrStateChanged},
		{"the first again", 3, 1, seckill.ErrStateChanged},
		{"zero over an existing one", 3, 0, seckill.ErrStateChanged},
		{"the fourth", 3, 4, nil},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			id := strconv.Itoa(i + 1)
			before := sample(id)
			for v := int64(1); v <= tt.stored; v++ {
				before.Version = v
				putItem(t, items, before)
			}
			after := sample(id)
			after.Version, after.Stopped, after.Stock = tt.version, false, 20_000
			if err := items.Put(t.Context(), after, nil); !errors.Is(err, tt.want) {
				t.Fatalf("Put of version %d over %d: %v, want %v", tt.version, tt.stored, err, tt.want)
			}
			want := after
			if tt.want != nil {
				want = before
			}
			if tt.want != nil && tt.stored == 0 {
				if it, err := items.Get(t.Context(), id); seckill.CodeOf(err) != seckill.CodeItemUnknown {
					t.Errorf("a refused Put left %+v, error %v", it, err)
				}
				return
			}
			alike(t, want, get(t, items, id), "afterwards")
		})
	}
}

func testConcurrentPut(t *testing.T, items seckill.Items) {
	const writers = 16
	putItem(t, items, sample("7"))
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			it := sample("7")
			it.Version, it.Commodity.Title = 2, fmt.Sprintf("writer %d", w)
			errs[w] = items.Put(t.Context(), it, nil)
		})
	}
	wg.Wait()
	winner := -1
	for w, err := range errs {
		switch {
		case err == nil && winner >= 0:
			t.Errorf("writers %d and %d both wrote version 2", winner, w)
		case err == nil:
			winner = w
		case !errors.Is(err, seckill.ErrStateChanged):
			t.Errorf("writer %d: %v, want ErrStateChanged", w, err)
		}
	}
	if got, want := get(t, items, "7").Commodity.Title, fmt.Sprintf("writer %d", winner); got != want {
		t.Errorf("stored title %q, want %q", got, want)
	}
}

func testInvalid(t *testing.T, items seckill.Items) {
	tests := []struct {
		name  string
		spoil func(*seckill.Item)
	}{
		{"id", func(it *seckill.Item) { it.ID = "007" }},
		{"window", func(it *seckill.Item) { it.End = it.Start }},
		{"price", func(it *seckill.Item) { it.Price = 0 }},
		{"stock", func(it *seckill.Item) { it.Stock = 0 }},
		{"limit", func(it *seckill.Item) { it.Limit = seckill.MaxLimit + 1 }},
		{"buckets", func(it *seckill.Item) { it.Buckets = 0 }},
		{"checks", func(it *seckill.Item) { it.Checks = "lax" }},
		{"title", func(it *seckill.Item) { it.Commodity.Title = "" }},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			it := sample(strconv.Itoa(100 + i))
			tt.spoil(&it)
			err := items.Put(t.Context(), it, nil)
			if seckill.CodeOf(err) != seckill.CodeInvalid {
				t.Errorf("Put: %v, want CodeInvalid", err)
			}
			if got, err := items.Get(t.Context(), it.ID); seckill.CodeOf(err) != seckill.CodeItemUnknown {
				t.Errorf("a refused Put left %+v, error %v", got, err)
			}
		})
	}
}

// listed polls List until it has exactly these ids, or listLag has passed.
func listed(t *testing.T, items seckill.Items, endsAfter time.Time, want ...string) []seckill.Item {
	t.Helper()
	slices.Sort(want)
	return poll(t, items, endsAfter, fmt.Sprintf("ids %q", want), func(list []seckill.Item) bool {
		got := []string{}
		for _, it := range list {
			got = append(got, it.ID)
		}
		slices.Sort(got)
		return slices.Equal(got, want)
	})
}

func poll(t *testing.T, items seckill.Items, endsAfter time.Time, want string,
	ok func([]seckill.Item) bool) []seckill.Item {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), listLag)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		list, err := items.List(t.Context(), endsAfter)
		if err != nil {
			t.Fatalf("List(%v): %v", endsAfter, err)
		}
		if ok(list) {
			return list
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("List(%v) still has %d items %+v after %v, want %s", endsAfter, len(list),
				list[:min(len(list), 5)], listLag, want)
		}
	}
}

func testList(t *testing.T, items seckill.Items) {
	listed(t, items, time.Time{})
	ends := map[string]time.Duration{"1": -time.Hour, "2": 0, "3": time.Millisecond, "4": time.Hour}
	for id, d := range ends {
		it := sample(id)
		it.Start, it.End = itemsStart.Add(-2*time.Hour), itemsStart.Add(d)
		putItem(t, items, it)
	}
	listed(t, items, itemsStart.Add(-2*time.Hour), "1", "2", "3", "4")
	listed(t, items, itemsStart.Add(-time.Hour), "2", "3", "4")
	listed(t, items, itemsStart, "3", "4") // [Start, End): an item that ends at this instant is over
	listed(t, items, itemsStart.Add(time.Hour))

	longer := sample("1")
	longer.Version, longer.End = 2, itemsStart.Add(24*time.Hour)
	putItem(t, items, longer)
	for _, it := range listed(t, items, itemsStart.Add(time.Hour), "1") {
		alike(t, longer, it, "listed item")
	}
}

func testListEnded(t *testing.T, items seckill.Items) {
	wantOf := func(what seckill.Kept, endedBy time.Time, want ...string) {
		t.Helper()
		got, err := items.ListEnded(t.Context(), what, endedBy)
		ids := []string{}
		for _, it := range got {
			ids = append(ids, it.ID)
		}
		if err != nil || !slices.Equal(ids, want) {
			t.Errorf("ListEnded(%v, %v): %q, %v, want %q", what, endedBy, ids, err, want)
		}
	}
	want := func(endedBy time.Time, want ...string) {
		t.Helper()
		wantOf(seckill.KeptAddresses, endedBy, want...)
	}
	want(itemsStart.Add(time.Hour))
	for id, d := range map[string]time.Duration{"1": 0, "2": -time.Hour, "3": time.Millisecond} {
		it := sample(id)
		it.Start, it.End = itemsStart.Add(-2*time.Hour), itemsStart.Add(d)
		putItem(t, items, it)
	}
	want(itemsStart.Add(-time.Hour - time.Millisecond))
	want(itemsStart, "2", "1") // an item that ends at this instant has ended
	want(itemsStart.Add(time.Hour), "2", "1", "3")

	erased := get(t, items, "1")
	erased.AddressesErased = itemsStart.Add(30 * 24 * time.Hour)
	if err := items.MarkErased(t.Context(), "1", seckill.KeptAddresses, erased.AddressesErased); err != nil {
		t.Errorf("MarkErased: %v", err)
	}
	want(itemsStart.Add(time.Hour), "2", "3")
	wantOf(seckill.KeptNetworks, itemsStart.Add(time.Hour), "2", "1", "3")
	erased.NetworksErased = itemsStart.Add(24 * time.Hour)
	if err := items.MarkErased(t.Context(), "1", seckill.KeptNetworks, erased.NetworksErased); err != nil {
		t.Errorf("MarkErased: %v", err)
	}
	wantOf(seckill.KeptNetworks, itemsStart.Add(time.Hour), "2", "3")
	if err := items.MarkErased(t.Context(), "2", seckill.KeptNetworks, itemsStart); err != nil {
		t.Errorf("MarkErased: %v", err)
	}
	wantOf(seckill.KeptNetworks, itemsStart.Add(time.Hour), "3")
	want(itemsStart.Add(time.Hour), "2", "3")
	wantOf(seckill.KeptStock, itemsStart.Add(time.Hour), "2", "1", "3")
	erased.StockErased = itemsStart.Add(72 * time.Hour)
	if err := items.MarkErased(t.Context(), "1", seckill.KeptStock, erased.StockErased); err != nil {
		t.Errorf("MarkErased: %v", err)
	}
	wantOf(seckill.KeptStock, itemsStart.Add(time.Hour), "2", "3")
	alike(t, erased, get(t, items, "1"), "the item with its addresses erased")
	listed(t, items, itemsStart.Add(-2*time.Hour), "1", "2", "3")

	erased.Version = 2
	putItem(t, items, erased)
	want(itemsStart.Add(time.Hour), "2", "3")
	err := items.MarkErased(t.Context(), "9", seckill.KeptAddresses, itemsStart)
	if seckill.CodeOf(err) != seckill.CodeItemUnknown {
		t.Errorf("MarkErased of an unknown item: %v, want %s", err, seckill.CodeItemUnknown)
	}
	want(itemsStart.Add(time.Hour), "2", "3")
}

func testListLimit(t *testing.T, items seckill.Items) {
	for i := range seckill.MaxItems + 5 {
		putItem(t, items, sample(strconv.Itoa(i+1)))
	}
	want := fmt.Sprintf("%d items", seckill.MaxItems)
	poll(t, items, itemsStart, want, func(list []seckill.Item) bool {
		if len(list) > seckill.MaxItems {
			t.Fatalf("List: %d items, want at most %d", len(list), seckill.MaxItems)
		}
		return len(list) == seckill.MaxItems
	})
}

func itemsCancelled(t *testing.T, items seckill.Items) {
	putItem(t, items, sample("1"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if it, err := items.Get(ctx, "2"); err == nil || seckill.CodeOf(err) == seckill.CodeItemUnknown {
		t.Errorf("Get: %+v, error %v, want a fault", it, err)
	}
	if list, err := items.List(ctx, itemsStart); err == nil {
		t.Errorf("List: %d items and no error, want a fault", len(list))
	}
	if list, err := items.ListEnded(ctx, seckill.KeptAddresses, itemsStart); err == nil {
		t.Errorf("ListEnded: %d items and no error, want a fault", len(list))
	}
	err := items.MarkErased(ctx, "1", seckill.KeptAddresses, itemsStart)
	if err == nil || seckill.CodeOf(err) == seckill.CodeItemUnknown {
		t.Errorf("MarkErased: %v, want a fault", err)
	}
	if d, err := items.Description(ctx, "1", 1); err == nil || errors.Is(err, seckill.ErrUnreadable) {
		t.Errorf("Description: %+v, error %v, want a fault", d, err)
	}
	it := sample("1")
	it.Version = 9
	if err := items.Put(ctx, it, nil); err == nil || errors.Is(err, seckill.ErrStateChanged) {
		t.Errorf("Put: %v, want a fault", err)
	}
}
