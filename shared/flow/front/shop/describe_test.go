package shop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// catalog counts the reads of descriptions and fails them while broken.
type catalog struct {
	seckill.Items
	reads  int
	broken bool
	during func() // called during a read
}

var errBroken = errors.New("no answer")

func (c *catalog) Description(ctx context.Context, id string, described int64) (seckill.Description, error) {
	c.reads++
	if c.during != nil {
		during := c.during
		c.during = nil
		during()
	}
	if c.broken {
		return seckill.Description{}, errBroken
	}
	return c.Items.Description(ctx, id, described)
}

// shown is a shop instance and the item whose descriptions put writes.
type shown struct {
	*Flow
	*catalog
	clock *memory.Clock
	item  seckill.Item
}

func newShown() *shown {
	now := time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	s := &shown{catalog: &catalog{Items: memory.NewItems()}, clock: memory.NewClock(now)}
	s.item = drivertest.Item("1001", now)
	s.item.Version, s.item.Buckets = 0, countBuckets+1
	s.Flow = New(Deps{Items: s.catalog, Clock: s.clock})
	return s
}

// put writes the item's next version, with a new description unless detail is "".
func (s *shown) put(t *testing.T, detail string) {
	t.Helper()
	s.item.Version++
	var d *seckill.Description
	if detail != "" {
		d = &seckill.Description{Detail: detail}
	}
	must.OK(t, s.Put(t.Context(), s.item, d))
	var err error
	if s.item, err = s.Get(t.Context(), s.item.ID); err != nil {
		t.Fatal(err)
	}
}

// want reads the item and compares the shown description and the total number of reads.
func (s *shown) want(t *testing.T, when, detail string, reads int) {
	t.Helper()
	if got := s.describe(t.Context(), &s.item); got.Detail != detail || s.reads != reads {
		t.Errorf("%s: shows %q after %d reads, want %q after %d", when, got.Detail, s.reads, detail, reads)
	}
}

// TestADescriptionIsReadOnceForEachVersion checks that however long the instance lives and whatever else changes, a
// version is read once.
func TestADescriptionIsReadOnceForEachVersion(t *testing.T) {
	s := newShown()
	s.put(t, "")
	s.want(t, "an item that has none", "", 0)
	s.put(t, "first")
	for range 3 {
		s.want(t, "the first", "first", 1)
		s.clock.Advance(time.Hour)
	}
	s.put(t, "")
	s.want(t, "after a stop", "first", 1)
	old := s.item
	s.put(t, "second")
	s.want(t, "after an import", "second", 2)
	s.item = old
	s.want(t, "by a row of the item that is a moment old", "second", 2)
}

// TestADescriptionThatCannotBeRead checks that the item is still shown, and that the description is read again a
// second later.
func TestADescriptionThatCannotBeRead(t *testing.T) {
	s := newShown()
	s.put(t, "first")
	s.broken = true
	s.want(t, "none is known", "", 1)
	s.want(t, "the next look", "", 1)
	s.clock.Advance(seckill.ItemFresh)
	s.broken = false
	s.want(t, "a second later", "first", 2)
	s.broken = true
	s.put(t, "second")
	s.want(t, "the one before is known", "first", 3)
	s.want(t, "the next look", "first", 3)
	s.clock.Advance(seckill.ItemFresh)
	s.broken = false
	s.want(t, "a second later", "second", 4)
}

// TestASlowReadOfADescriptionReplacesNoNewer checks that a slow read does not overwrite a newer description that
// another request has read meanwhile.
func TestASlowReadOfADescriptionReplacesNoNewer(t *testing.T) {
	s := newShown()
	s.put(t, "first")
	old := s.item
	s.during = func() {
		s.put(t, "second")
		s.want(t, "the other look", "second", 2)
	}
	must.Equal(t, "second", s.describe(t.Context(), &old).Detail, "the slow look shows")
	s.want(t, "afterwards", "second", 2)
}

// TestDescriptionsTakeBoundedMemory checks that of a catalog above the bound some descriptions are read again.
func TestDescriptionsTakeBoundedMemory(t *testing.T) {
	s := newShown()
	longest := strings.Repeat("长", seckill.MaxDetail)
	for i := range maxDescribed/len(longest) + 10 {
		s.item.ID, s.item.Version, s.item.Described = fmt.Sprint(1+i), 0, 0
		s.put(t, longest)
		s.want(t, "item "+s.item.ID, longest, i+1)
		size := 0
		for _, d := range s.described {
			size += d.size()
		}
		if size != s.describedSize || size > maxDescribed {
			t.Fatalf("%d bytes are remembered, of which it knows %d, want at most %d", size, s.describedSize,
				maxDescribed)
		}
	}
	if n := len(s.described); n > 20 {
		t.Errorf("%d descriptions are remembered, want those since it was full", n)
	}
	s.want(t, "the last again", longest, s.reads)
}

// TestPagesShowDescriptions checks lists, details and orders.
func TestPagesShowDescriptions(t *testing.T) {
	s := newShown()
	s.put(t, "first")
	s.Stock = unknown{}
	s.item.Start = s.item.Start.Add(-time.Hour)
	s.put(t, "")
	must.OK(t, s.Publish(t.Context(), seckill.List{Version: 1, Items: []seckill.Item{s.item}}))
	list, err := s.Live(t.Context(), 1, 10)
	detail, derr := s.Detail(t.Context(), s.item.ID)
	order, oerr := s.view(t.Context(), seckill.Order{Item: s.item.ID, State: seckill.Paid})
	must.OK(t, errors.Join(err, derr, oerr))
	for _, v := range slices.Concat(list.Items, []View{detail, order.Item}) {
		if v.Description.Detail != "first" || v.Item.ID != s.item.ID {
			t.Errorf("%+v, want the description", v)
		}
	}
	if len(list.Items) != 1 || s.reads != 1 {
		t.Errorf("%d items listed, %d reads, want 1 and 1", len(list.Items), s.reads)
	}
}

// unknown is a stock without levels; the item has too many buckets to count rows instead.
type unknown struct{ seckill.Stock }

func (unknown) Level(context.Context, string) (seckill.Level, error) {
	return seckill.Level{}, errBroken
}
