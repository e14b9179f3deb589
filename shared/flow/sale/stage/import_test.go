package stage_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

var now = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

func item(id string, startsIn time.Duration) seckill.Listing {
	return seckill.Listing{Description: seckill.Description{Covers: []string{"/a.svg"}},
		Item: seckill.Item{ID: id, Price: 100, Start: now.Add(startsIn), End: now.Add(startsIn + time.Hour), Stock: 10,
			Limit: 1, Buckets: 16,
			CreateTime: now, Version: 1, Commodity: seckill.Commodity{ID: id, Title: "表", Price: 200, CreateTime: now}}}
}

func with(it seckill.Listing, change func(*seckill.Listing)) seckill.Listing {
	change(&it)
	return it
}

func flow(t *testing.T, clock seckill.Clock, items seckill.Items, there ...seckill.Listing) *stage.Flow {
	t.Helper()
	for _, it := range there {
		must.OK(t, items.Put(t.Context(), it.Item, &it.Description))
	}
	l := newLedger()
	return stage.New(stage.Deps{Items: items, Clock: clock, Questions: l, Activities: l, Blocks: l,
		Stock: &willing{has: map[string]bool{}}, IDs: system.NewIDs(nil)})
}

func newLedger() *ledger.Ledger {
	return ledger.New(memory.NewRows(memory.RowsOptions{Clock: memory.NewClock(now)}))
}

// TestImportOfQuestions: an item gets the file's questions in the file's order, until shoppers are asked; a file
// without any changes none.
func TestImportOfQuestions(t *testing.T) {
	t.Parallel()
	clock, items := memory.NewClock(now), memory.NewItems()
	f := flow(t, clock, items, item("2", time.Hour))
	q := func(text string) seckill.Question { return seckill.Question{Text: text, Answers: []string{"1", text}} }
	with := func(id string, all ...seckill.Question) seckill.Listing {
		it := item(id, time.Hour)
		it.Checks, it.Questions = seckill.ChecksStrict, all
		return it
	}
	check := func(what string, want ...string) {
		t.Helper()
		all, err := f.Questions.Questions(t.Context(), "1")
		var got []string
		for _, q := range all {
			got = append(got, q.Text)
		}
		if !slices.Equal(got, want) || err != nil {
			t.Errorf("%s: %v, %v; want %v", what, got, err, want)
		}
	}
	for _, c := range []struct {
		what    string
		file    seckill.Listing
		changed bool
		want    []string
	}{
		{"new", with("1", q("a"), q("b"), q("c")), true, []string{"a", "b", "c"}},
		{"again", with("1", q("a"), q("b"), q("c")), false, []string{"a", "b", "c"}},
		{"none in the file", with("1"), false, []string{"a", "b", "c"}},
		{"another order, and one less", with("1", q("c"), q("a")), true, []string{"c", "a"}},
		{"another answer", with("1", q("c"), seckill.Question{Text: "a", Answers: []string{"2"}}), true,
			[]string{"c", "a"}},
		{"all dropped", with("1"), true, nil},
		{"and given again", with("1", q("a")), true, []string{"a"}},
	} {
		if c.want == nil {
			c.file.Questions = []seckill.Question{}
		}
		got := must.Get(f.Import(t.Context(), []seckill.Listing{c.file}))
		must.Equal(t, c.changed, len(got.Unchanged) == 0, c.what)
		check(c.what, c.want...)
	}
	refused := func(what, want string, file ...seckill.Listing) {
		t.Helper()
		_, err := f.Import(t.Context(), file)
		var e *stage.ImportError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", what, err, want)
		}
		check(what, "a")
	}
	refused("another item is bad", "item 3: question 2: 0 answers", with("1", q("b")),
		with("3", q("a"), seckill.Question{Text: "b"}))
	clock.Advance(time.Hour - seckill.TicketLead)
	refused("once tickets are given", "item 1: questions: fixed since", with("1", q("b")))
	refused("the answers, too", "item 1: questions: fixed since",
		with("1", seckill.Question{Text: "a", Answers: []string{"2"}}))
	must.Equal(t, 1, len(must.Get(f.Import(t.Context(), []seckill.Listing{with("1", q("a"))})).Unchanged), "the same")
}

func TestImportMakesChangesAndLeavesItems(t *testing.T) {
	t.Parallel()
	items := memory.NewItems()
	later := item("2", time.Hour)
	later.Stopped, later.Buckets = true, 40
	f := flow(t, memory.NewClock(now), items, later, item("3", -time.Hour/2))
	changed := with(item("2", 2*time.Hour), func(it *seckill.Listing) {
		it.Stock, it.Buckets, it.Commodity.Title, it.CreateTime = 9999, 20, "钟", now.Add(time.Minute)
	})
	again := with(item("3", -time.Hour/2), func(it *seckill.Listing) { it.CreateTime = now.Add(time.Minute) })
	file := []seckill.Listing{item("1", time.Minute), changed, again}
	got, err := f.Import(t.Context(), file)
	want := stage.Imported{Made: []string{"1"}, Changed: []string{"2"}, Unchanged: []string{"3"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n-want +got\n%s", err, diff)
	}
	it, err := items.Get(t.Context(), "2")
	// an import never sets these
	changed.Stopped, changed.Buckets, changed.Version, changed.Described, changed.CreateTime = true, 40, 2, 2, now
	changed.Cover = changed.Covers[0]
	if diff := cmp.Diff(changed.Item, it); err != nil || diff != "" {
		t.Errorf("changed item: %v\n-want +got\n%s", err, diff)
	}
	got, err = f.Import(t.Context(), file)
	want = stage.Imported{Made: []string{}, Changed: []string{}, Unchanged: []string{"1", "2", "3"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("the same again: %v\n-want +got\n%s", err, diff)
	}
}

func TestImportRefusesAllWhenOneMayNotBe(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		behaviour   string
		there, file seckill.Listing
		want        string
	}{
		{"stock smaller", item("2", time.Hour), with(item("2", time.Hour), func(it *seckill.Listing) { it.Stock = 9 }),
			"item 2: stock: 9 is less than the 10 that it has, and stock only grows"},
		{"loaded a moment ago", item("2", seckill.StageLead), with(item("2", time.Hour), func(it *seckill.Listing) {
			it.Price = 99
		}), "item 2: sk_price: fixed since 2026-11-01T00:00:00Z, when it was loaded for sale, "},
		{"less stock while on sale", item("2", -time.Minute), with(item("2", -time.Minute), func(it *seckill.Listing) {
			it.Stock = 9
		}), "item 2: stock: 9 is less"},
		{"checks while shoppers pass them", item("2", seckill.TicketLead), with(item("2", seckill.TicketLead),
			func(it *seckill.Listing) { it.Checks = seckill.ChecksStrict }),
			"item 2: checks: fixed since 2026-11-01T00:00:00Z, when shoppers began"},
		{"long over", item("2", -1000*time.Hour), with(item("2", -1000*time.Hour), func(it *seckill.Listing) {
			it.Commodity.Title = "钟"
		}), "item 2: title: fixed since 2026-09-20T09:00:00Z, when its sale ended"},
		{"against the rules", item("3", time.Hour), with(item("2", time.Hour), func(it *seckill.Listing) {
			it.Limit = 0
		}), "item 2: limit 0"},
	} {
		items := memory.NewItems()
		f := flow(t, memory.NewClock(now), items, tt.there)
		got, err := f.Import(t.Context(), []seckill.Listing{item("1", time.Hour), tt.file})
		var refused *stage.ImportError
		if !errors.As(err, &refused) || len(refused.Faults) != 1 || len(err.Error()) < len(tt.want) ||
			err.Error()[:len(tt.want)] != tt.want {
			t.Errorf("%s: %+v, %v; want %q", tt.behaviour, got, err, tt.want)
		}
		if _, err := items.Get(t.Context(), "1"); err == nil {
			t.Errorf("%s: its neighbour was written", tt.behaviour)
		}
		must.Equal(t, 1, must.Get(items.Get(t.Context(), tt.there.ID)).Version, tt.behaviour)
	}
}

func TestImportOneMomentBeforeLoading(t *testing.T) {
	t.Parallel()
	f := flow(t, memory.NewClock(now), memory.NewItems(), item("1", seckill.StageLead+time.Millisecond))
	got, err := f.Import(t.Context(), []seckill.Listing{with(item("1", time.Hour), func(it *seckill.Listing) {
		it.Price = 99
	})})
	if err != nil || len(got.Changed) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestImportOfAnotherDescription checks that a changed description alone is a change, and that it replaces an
// unreadable description.
func TestImportOfAnotherDescription(t *testing.T) {
	t.Parallel()
	soon, loaded := item("2", time.Hour), item("3", 0)
	items := memory.NewItems()
	f := flow(t, memory.NewClock(now), items, soon, loaded)
	other := seckill.Description{Detail: "<p>钟</p>", Covers: []string{"/b.svg"}}
	soon.Description = other
	got := must.Get(f.Import(t.Context(), []seckill.Listing{soon, loaded}))
	must.Equal(t, stage.Imported{Made: []string{}, Changed: []string{"2"}, Unchanged: []string{"3"}}, got)
	if d, err := items.Description(t.Context(), "2", 2); err != nil || !d.Equal(&other) {
		t.Errorf("%+v, %v, want %+v", d, err, other)
	}
	f.Stock = deaf{}
	// the crash happens after the item's row is written and before its description
	if err := f.SetStopped(t.Context(), "2", true); !errors.Is(err, errDeaf) {
		t.Error(err)
	}
	if it, err := items.Get(t.Context(), "2"); err != nil || it.Version != 3 || it.Described != 2 {
		t.Errorf("%+v, %v, want version 3 with the description of version 2", it, err)
	}
	for name, err := range map[string]error{"lost": seckill.ErrUnreadable, "no answer": errBroken} {
		f.Items = unread{items, err}
		got, err := f.Import(t.Context(), []seckill.Listing{soon})
		if mended := name == "lost"; (err == nil && len(got.Changed) == 1) != mended || !mended &&
			!errors.Is(err, errBroken) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	loaded.Description = other
	f.Items = items
	must.Equal(t, 1, len(must.Get(f.Import(t.Context(), []seckill.Listing{loaded})).Changed), "an item on sale")
}

// TestWhatAFileDoesNotSayStays: with the columns that it lacks a file changes nothing, and one with a new title alone
// changes the title alone; what cannot be read is neither kept nor dropped.
func TestWhatAFileDoesNotSayStays(t *testing.T) {
	t.Parallel()
	there := with(item("1", time.Hour), func(it *seckill.Listing) {
		it.Checks, it.Commodity.ID, it.Detail = seckill.ChecksStrict, "777", "<p>x</p>"
	})
	items := memory.NewItems()
	f := flow(t, memory.NewClock(now), items, there)
	short := item("1", time.Hour)
	short.Covers, short.KeepsCovers, short.KeepsDetail, short.KeepsChecks, short.KeepsCommodity = nil, true, true, true,
		true
	must.Equal(t, 1, len(must.Get(f.Import(t.Context(), []seckill.Listing{short})).Unchanged), "as it is")
	short.Commodity.Title = "钟"
	done, err := f.Import(t.Context(), []seckill.Listing{short})
	it, getErr := items.Get(t.Context(), "1")
	d, readErr := items.Description(t.Context(), "1", it.Described)
	if err = errors.Join(err, getErr, readErr); err != nil || len(done.Changed) != 1 || it.Commodity.Title != "钟" ||
		it.Commodity.ID != "777" || it.Checks != seckill.ChecksStrict || !d.Equal(&there.Description) {
		t.Errorf("another title: %+v, %v: %+v, %+v", done, err, it, d)
	}
	f.Items = unread{items, seckill.ErrUnreadable}
	short.Commodity.Title = "表"
	var refused *stage.ImportError
	if _, err := f.Import(t.Context(), []seckill.Listing{short}); !errors.As(err, &refused) {
		t.Errorf("what cannot be read: %v", err)
	}
}

// unread is a table of items whose descriptions cannot be read.
type unread struct {
	seckill.Items
	err error
}

func (u unread) Description(context.Context, string, int64) (seckill.Description, error) {
	return seckill.Description{}, u.err
}

// rival changes an item between another caller's read and write, a given number of times.
type rival struct {
	seckill.Items
	times int
}

func (r *rival) Put(ctx context.Context, it seckill.Item, d *seckill.Description) error {
	if r.times > 0 {
		r.times--
		now, err := r.Get(ctx, it.ID)
		if err != nil {
			return err
		}
		now.Version++
		now.Stopped = !now.Stopped
		if err := r.Items.Put(ctx, now, nil); err != nil {
			return err
		}
	}
	return r.Items.Put(ctx, it, d)
}

func TestImportBesideAnotherOperator(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		times int
		done  bool
	}{{1, true}, {4, true}, {5, false}} {
		items := memory.NewItems()
		f := flow(t, memory.NewClock(now), items, item("1", time.Hour))
		f.Items = &rival{items, tt.times}
		_, err := f.Import(t.Context(), []seckill.Listing{with(item("1", time.Hour), func(it *seckill.Listing) {
			it.Price = 99
		})})
		it, getErr := items.Get(t.Context(), "1")
		if (err == nil) != tt.done || getErr != nil || (it.Price == 99) != tt.done || it.Stopped != (tt.times%2 == 1) {
			t.Errorf("overtaken %d times: %v, %+v; want done %t and the other's stop kept", tt.times, err, it, tt.done)
		}
		if !tt.done && !errors.Is(err, seckill.ErrStateChanged) {
			t.Errorf("overtaken %d times: %v", tt.times, err)
		}
	}
}

// broken is a table of items whose nth call fails, before or after its effect.
type broken struct {
	seckill.Items
	calls, nth int
	after      bool
}

var errBroken = errors.New("broken")

func (b *broken) Get(ctx context.Context, id string) (seckill.Item, error) {
	if b.calls++; b.calls == b.nth {
		return seckill.Item{}, errBroken
	}
	return b.Items.Get(ctx, id)
}

func (b *broken) Description(ctx context.Context, id string, described int64) (seckill.Description, error) {
	if b.calls++; b.calls == b.nth {
		return seckill.Description{}, errBroken
	}
	return b.Items.Description(ctx, id, described)
}

func (b *broken) Put(ctx context.Context, it seckill.Item, d *seckill.Description) error {
	b.calls++
	if b.calls == b.nth && !b.after {
		return errBroken
	}
	err := b.Items.Put(ctx, it, d)
	if b.calls == b.nth {
		return errBroken
	}
	return err
}

func TestImportDoneAgainAfterAnyFaultIsWhole(t *testing.T) {
	t.Parallel()
	there := item("2", time.Hour)
	file := []seckill.Listing{item("1", time.Hour), with(there, func(it *seckill.Listing) {
		it.Stock = 20
	}), item("3", time.Hour)}
	all := func(items seckill.Items) (all []seckill.Listing) {
		t.Helper()
		list, err := items.List(t.Context(), time.Time{})
		for _, it := range list {
			d, derr := items.Description(t.Context(), it.ID, it.Described)
			all, err = append(all, seckill.Listing{Item: it, Description: d}), errors.Join(err, derr)
		}
		must.OK(t, err)
		return all
	}
	whole := memory.NewItems()
	must.Get(flow(t, memory.NewClock(now), whole, there).Import(t.Context(), file))
	faults := 0
	for _, after := range []bool{false, true} {
		for nth := 1; ; nth++ {
			items := memory.NewItems()
			f := flow(t, memory.NewClock(now), items, there)
			f.Items = &broken{Items: items, nth: nth, after: after}
			_, err := f.Import(t.Context(), file)
			if err == nil {
				break // fewer calls than nth: every call has failed once
			}
			faults++
			var refused *stage.ImportError
			if !errors.Is(err, errBroken) || errors.As(err, &refused) {
				t.Errorf("call %d, after its effect %t: %v; want the fault", nth, after, err)
			}
			f.Items = items
			if _, err := f.Import(t.Context(), file); err != nil {
				t.Errorf("call %d, after its effect %t: again: %v", nth, after, err)
			}
			must.Equal(t, all(whole), all(items), "call", nth, "after its effect", after)
		}
	}
	if want := 2 * 11; faults != want { // four reads to check, four again, and a write per item
		t.Errorf("%d faults, want %d", faults, want)
	}
}

// TestAnImportIntoAnOpenWindowBringsBlocks: who is blocked is refused by an item as soon as an import has put it on
// sale, and not only after repair's next run. The import stands without the list of blocks.
func TestAnImportIntoAnOpenWindowBringsBlocks(t *testing.T) {
	t.Parallel()
	clock, stock := memory.NewClock(now), redisstock.New(memory.NewRedis())
	f := flow(t, clock, memory.NewItems())
	l := newLedger()
	f.Stock, f.Blocks = stock, l
	for user, item := range map[string]string{"1": seckill.Everywhere, "2": "7", "3": "8"} {
		must.OK(t, l.PutBlock(t.Context(), seckill.Block{Subject: seckill.UserSubject(user), Item: item, Reason: "r",
			By: "ada", Made: now}))
	}
	press := func(item, user string) seckill.ReserveCode {
		r := drivertest.Request(item, user, clock.Now())
		return must.Get(stock.Reserve(t.Context(), clock.Now(), r, true, seckill.Resend)).Code
	}
	must.Get(f.Import(t.Context(), []seckill.Listing{item("7", -time.Minute)}))
	for user, want := range map[string]seckill.ReserveCode{"1": seckill.ReserveBlocked, "2": seckill.ReserveBlocked,
		"3": seckill.Reserved} {
		must.Equal(t, want, press("7", user), "user", user)
	}
	f.Blocks = ledger.New(unlisted{memory.NewRows(memory.RowsOptions{Clock: clock})})
	must.Get(f.Import(t.Context(), []seckill.Listing{item("8", -time.Minute), item("9", -time.Minute)}))
	must.Equal(t, seckill.Reserved, press("8", "4"), "without the list of blocks")
	must.Equal(t, seckill.Reserved, press("9", "4"), "without the list of blocks")
}

// unlisted are rows whose indexes nobody can read.
type unlisted struct{ ledger.Rows }

func (unlisted) Index(context.Context, string, string, string, int, bool) ([]ledger.Row, string, error) {
	return nil, "", errors.New("throttled")
}
