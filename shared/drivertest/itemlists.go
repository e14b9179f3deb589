package drivertest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

func publish(t *testing.T, items seckill.Items, l seckill.List) {
	t.Helper()
	if err := items.Publish(t.Context(), l); err != nil {
		t.Fatalf("Publish(version %d): %v", l.Version, err)
	}
}

// wantPublished reads the list by each method.
func wantPublished(t *testing.T, items seckill.Items, want seckill.List) {
	t.Helper()
	for range 20 { // reads of each of several copies
		got, err := items.ReadList(t.Context(), want.Version)
		if d := diff(want, got); d != "" || err != nil {
			t.Fatalf("ReadList(%d): error %v (-want +got):\n%s", want.Version, err, d)
		}
	}
	got, err := items.Published(t.Context())
	if d := diff(want, got); d != "" || err != nil {
		t.Fatalf("Published: error %v (-want +got):\n%s", err, d)
	}
	for until := time.Now().Add(listLag); ; time.Sleep(10 * time.Millisecond) { // it may lag
		version, err := items.ListVersion(t.Context())
		if err == nil && version == want.Version {
			return
		}
		if err != nil || time.Now().After(until) {
			t.Fatalf("ListVersion: %d, error %v, want %d", version, err, want.Version)
		}
	}
}

func testPublish(t *testing.T, items seckill.Items) {
	wantPublished(t, items, seckill.List{})
	bare := sample("2")
	bare.Commodity.Price, bare.Stopped, bare.Stops = 0, false, nil
	for n, list := range [][]seckill.Item{{sample("1"), bare, sample("9223372036854775807")}, {}, {bare}} {
		l := seckill.List{Version: int64(n + 1), Items: list}
		if n == 0 {
			l.Activities = []seckill.ListedActivity{{ID: "9223372036854775807", Title: "双十一 “早场” 😀",
				Items: []string{"2", "1"}}, {ID: "3", Title: "3", Items: []string{"9223372036854775807"}}}
		}
		publish(t, items, l)
		wantPublished(t, items, l)
	}
	pictured := sample("3")
	pictured.Cover = "/c.jpg"
	publish(t, items, seckill.List{Version: 4, Items: []seckill.Item{pictured}})
	wantPublished(t, items, seckill.List{Version: 4, Items: []seckill.Item{sample("3")}})
}

func testPublishVersions(t *testing.T, items seckill.Items) {
	one := seckill.List{Version: 1, Items: []seckill.Item{sample("1")}}
	refuse := func(version int64) {
		t.Helper()
		if err := items.Publish(t.Context(), seckill.List{Version: version,
			Items: []seckill.Item{sample("2")}}); !errors.Is(err, seckill.ErrStateChanged) {
			t.Errorf("Publish(version %d): %v, want ErrStateChanged", version, err)
		}
	}
	refuse(2)
	refuse(0)
	publish(t, items, one)
	refuse(1)
	refuse(3)
	wantPublished(t, items, one)
	if l, err := items.ReadList(t.Context(), 2); !errors.Is(err, seckill.ErrUnreadable) {
		t.Errorf("ReadList of a version to come: %+v, error %v, want ErrUnreadable", l, err)
	}
}

func testConcurrentPublish(t *testing.T, items seckill.Items) {
	const writers = 8
	var mu sync.Mutex
	var won []seckill.List
	var all sync.WaitGroup
	for n := range writers {
		all.Go(func() {
			l := seckill.List{Version: 1, Items: []seckill.Item{sample(fmt.Sprint(n + 1))}}
			switch err := items.Publish(context.Background(), l); {
			case err == nil:
				mu.Lock()
				won = append(won, l)
				mu.Unlock()
			case !errors.Is(err, seckill.ErrStateChanged):
				t.Errorf("writer %d: %v", n, err)
			}
		})
	}
	all.Wait()
	if len(won) != 1 {
		t.Fatalf("%d of %d writers of one version won", len(won), writers)
	}
	wantPublished(t, items, won[0])
}

// testLongestList publishes the largest number of items, with long titles that hardly compress.
func testLongestList(t *testing.T, items seckill.Items) {
	l := seckill.List{Version: 1}
	for n := range seckill.MaxItems {
		it := sample(fmt.Sprint(math.MaxInt64 - int64(n)*7919))
		it.Commodity.Title = fmt.Sprintf("限量球鞋 %d “黑金” %x", n*7919, n*104729)
		it.Start = it.Start.Add(time.Duration(n*1009) * time.Millisecond)
		l.Items = append(l.Items, it)
	}
	publish(t, items, l)
	wantPublished(t, items, l)
	l.Version++
	l.Items = append(slices.Clone(l.Items), sample("1"))
	if err := items.Publish(t.Context(), l); seckill.CodeOf(err) != seckill.CodeInvalid {
		t.Errorf("Publish of %d items: %v, want CodeInvalid", len(l.Items), err)
	}
}

func testListCancelled(t *testing.T, items seckill.Items) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, verr := items.ListVersion(ctx)
	_, rerr := items.ReadList(ctx, 0)
	_, perr := items.Published(ctx)
	for name, err := range map[string]error{"ListVersion": verr, "ReadList": rerr, "Published": perr,
		"Publish": items.Publish(ctx, seckill.List{Version: 1})} {
		if err == nil || errors.Is(err, seckill.ErrStateChanged) || errors.Is(err, seckill.ErrUnreadable) {
			t.Errorf("%s with a cancelled context: %v", name, err)
		}
	}
	wantPublished(t, items, seckill.List{})
}
