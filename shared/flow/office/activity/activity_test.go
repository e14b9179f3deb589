package activity_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/office/activity"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

var now = time.Date(2026, 11, 4, 8, 0, 0, 0, time.UTC)

// stock takes every state, except of the items that fail.
type stock struct {
	seckill.Stock
	fails map[string]bool
}

func (s *stock) Assert(_ context.Context, it seckill.Item) error {
	if s.fails[it.ID] {
		return errors.New("i/o timeout")
	}
	return nil
}

// rows fails the n-th transaction, counted from 1, and runs a function once after one.
type rows struct {
	*memory.Rows
	fail, n int
	after   func() // nil if nothing happens
}

func (r *rows) Transact(ctx context.Context, w []ledger.Write) error {
	if r.n++; r.n == r.fail {
		return errors.New("throttled")
	}
	err := r.Rows.Transact(ctx, w)
	if do := r.after; do != nil {
		r.after = nil
		do()
	}
	return err
}

// failing fails the next read of each of these items, and runs a function once before a write of an item.
type failing struct {
	*memory.Items
	unread map[string]bool
	before func() // nil if nothing happens
}

func (f *failing) Get(ctx context.Context, id string) (seckill.Item, error) {
	if f.unread[id] {
		delete(f.unread, id)
		return seckill.Item{}, errors.New("throttled")
	}
	return f.Items.Get(ctx, id)
}

func (f *failing) Put(ctx context.Context, it seckill.Item, d *seckill.Description) error {
	if do := f.before; do != nil {
		f.before = nil
		do()
	}
	return f.Items.Put(ctx, it, d)
}

type env struct {
	*testing.T
	*activity.Flow
	items  *memory.Items
	faulty *failing // the flow's items
	stock  *stock
	rows   *rows
	clock  *memory.Clock
}

// newEnv has items 1 to 4, which sell from 10:00 to 11:00, 11:00 to 12:00 and so on.
func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{T: t, items: memory.NewItems(), stock: &stock{fails: map[string]bool{}}, clock: memory.NewClock(now)}
	e.rows = &rows{Rows: memory.NewRows(memory.RowsOptions{Clock: e.clock})}
	e.faulty = &failing{Items: e.items}
	l := ledger.New(e.rows)
	for i, id := range []string{"1", "2", "3", "4"} {
		it := drivertest.Item(id, now.Add(time.Duration(2+i)*time.Hour))
		must.OK(t, e.items.Put(t.Context(), it, &seckill.Description{Detail: "<p>" + id + "</p>"}))
	}
	e.Flow = activity.New(activity.Deps{Activities: l, Items: e.faulty, Questions: l, Clock: e.clock,
		Stage: stage.New(stage.Deps{Stock: e.stock, Items: e.faulty, Clock: e.clock, IDs: system.NewIDs(nil),
			Questions: l, Activities: l, Blocks: l})})
	return e
}

func form(id string, base int64, items ...string) *activity.Form {
	return &activity.Form{ID: id, Title: "早场", Start: now.Add(2 * time.Hour), End: now.Add(6 * time.Hour),
		Items: items, Base: base, By: "ann", From: seckill.MadeAtCLI}
}

func (e *env) save(f *activity.Form) seckill.Activity {
	e.Helper()
	done, err := e.Save(e.Context(), f)
	if err != nil || !done.Changed {
		e.Fatalf("save %+v: %+v, %v", f, done, err)
	}
	return done.After
}

// refused checks that a command is refused with this text, and that nothing has changed.
func (e *env) refused(what, want string, do func() (activity.Done, error)) {
	e.Helper()
	before := e.rows.Dump(ledger.TableActivities)
	done, err := do()
	var refused *activity.Refused
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) || done.Changed {
		e.Errorf("%s: %+v, %v; want it refused: %s", what, done, err, want)
	}
	must.Equal(e, before, e.rows.Dump(ledger.TableActivities), what, "a refused command changed")
}

func (e *env) titles() (out []string) {
	e.Helper()
	l := must.Get(e.items.Published(e.Context()))
	for _, a := range l.Activities {
		out = append(out, a.Title+" "+strings.Join(a.Items, ","))
	}
	return out
}

// TestSave: what is made, left alone, and refused.
func TestSave(t *testing.T) {
	e := newEnv(t)
	a := e.save(form("70", 0, "2", "1"))
	if a.Version != 1 || a.MadeBy != "ann" || !a.Made.Equal(now) || a.StateAt(now) != seckill.ActivityWaiting {
		t.Errorf("made %+v", a)
	}
	if got := e.titles(); !slices.Equal(got, []string{"早场 2,1"}) {
		t.Errorf("pages show %q", got)
	}
	for _, base := range []int64{0, 1, 9} {
		if done, err := e.Save(t.Context(), form("70", base, "2", "1")); err != nil || done.Changed {
			t.Errorf("the same again, from version %d: %+v, %v", base, done, err)
		}
	}
	with := func(f *activity.Form, change func(*activity.Form)) func() (activity.Done, error) {
		change(f)
		return func() (activity.Done, error) { return e.Save(t.Context(), f) }
	}
	same := func(*activity.Form) {}
	e.refused("an unknown item", "items: there is no item 9", with(form("71", 0, "9"), same))
	e.refused("another's item", "item 2 is in activity 70 already", with(form("71", 0, "3", "2"), same))
	e.refused("a window too short", "items: item 1 sells from 2026-11-04T10:00:00Z", with(form("70", 1, "1", "2"),
		func(f *activity.Form) { f.Start = f.Start.Add(time.Minute) }))
	for name, change := range map[string]func(*activity.Form){
		"title": func(f *activity.Form) { f.Title = "a\nb" }, "end_time": func(f *activity.Form) { f.End = f.Start },
		"id": func(f *activity.Form) { f.ID = "x" }, "items": func(f *activity.Form) { f.Items = []string{"1", "1"} },
	} {
		_, err := with(form("71", 0), change)()
		if e := seckill.AsError(err); e.Code != seckill.CodeInvalid || e.Field != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTheSecondOfTwoEditors: both read version 1; the second one changes nothing, and sees the difference.
func TestTheSecondOfTwoEditors(t *testing.T) {
	e := newEnv(t)
	e.save(form("70", 0, "1"))
	first := e.save(form("70", 1, "1", "2"))
	second := form("70", 1, "1", "3")
	second.Title = "晚场"
	_, err := e.Save(t.Context(), second)
	var conflict *activity.Conflict
	if !errors.As(err, &conflict) {
		t.Fatalf("the second editor: %v", err)
	}
	want := &activity.Conflict{From: 1, Fields: []string{"title", "items"}, Now: first}
	must.Equal(t, want, conflict)
	if _, err := e.Save(t.Context(), form("70", 0, "1")); !errors.As(err, &conflict) ||
		!strings.Contains(err.Error(), "there is an activity 70 already") {
		t.Errorf("a new one under its id: %v", err)
	}
	second.Base = 2
	e.save(second)
	if in, err := e.Activities.ActivitiesOf(t.Context(), []string{"1", "2", "3"}); err != nil ||
		cmp.Diff(map[string]string{"1": "70", "3": "70"}, in) != "" {
		t.Errorf("items in activities: %v, %v", in, err)
	}
}

// TestWhileItRunsAndAfter: items on sale stay, the rest may change; then nothing.
func TestWhileItRunsAndAfter(t *testing.T) {
	e := newEnv(t)
	e.save(form("70", 0, "1", "2"))
	e.clock.Advance(2*time.Hour + time.Minute) // item 1 is on sale
	e.refused("taken out", "on sale now: 1", func() (activity.Done, error) {
		return e.Save(t.Context(), form("70", 1, "2"))
	})
	e.refused("deleted", "on sale now: 1", func() (activity.Done, error) { return e.Delete(t.Context(), "70", false) })
	renamed := form("70", 1, "1", "3")
	renamed.Title = "改"
	if a := e.save(renamed); a.StateAt(e.clock.Now()) != seckill.ActivityOnline {
		t.Errorf("state %s", a.StateAt(e.clock.Now()))
	}
	if got := e.titles(); !slices.Equal(got, []string{"改 1,3"}) {
		t.Errorf("pages show %q", got)
	}
	e.clock.Advance(4 * time.Hour)
	e.refused("renamed when it is over", "title: fixed since 2026-11-04T14:00:00Z", func() (activity.Done, error) {
		return e.Save(t.Context(), form("70", 2, "1", "3"))
	})
	e.refused("offline when it is over", "ended at", func() (activity.Done, error) {
		return e.SetOffline(t.Context(), "70", true)
	})
	if done, err := e.Delete(t.Context(), "70", false); err != nil || !done.Changed {
		t.Errorf("deleted when it is over: %+v, %v", done, err)
	}
}

// TestDeleteAndUndelete: its items are free, and come back only if they still are.
func TestDeleteAndUndelete(t *testing.T) {
	e := newEnv(t)
	e.save(form("70", 0, "1", "2"))
	set := func(undo, changed bool) {
		t.Helper()
		if done, err := e.Delete(t.Context(), "70", undo); err != nil || done.Changed != changed ||
			done.After.Deleted.IsZero() != undo {
			t.Errorf("undo %t: %+v, %v", undo, done, err)
		}
	}
	set(false, true)
	set(false, false)
	if got := e.titles(); got != nil {
		t.Errorf("pages show %q", got)
	}
	e.refused("a save", "deleted: undelete it first", func() (activity.Done, error) {
		return e.Save(t.Context(), form("70", 2, "1"))
	})
	e.refused("offline", "deleted: undelete it first", func() (activity.Done, error) {
		return e.SetOffline(t.Context(), "70", true)
	})
	e.save(form("71", 0, "2"))
	e.refused("undelete", "item 2 is in activity 71", func() (activity.Done, error) {
		return e.Delete(t.Context(), "70", true)
	})
	e.save(form("71", 1))
	set(true, true)
	set(true, false)
	must.Is(t, seckill.ErrNoActivity, must.Err(e.Delete(t.Context(), "404", false)), "an unknown one")
}

// TestOfflineAndOnline: as many items as it can; a repetition finishes.
func TestOfflineAndOnline(t *testing.T) {
	e := newEnv(t)
	e.save(form("70", 0, "1", "2", "3"))
	e.clock.Advance(3*time.Hour + time.Minute) // item 1 is over, 2 is on sale, 3 waits
	e.stock.fails["2"] = true
	done, err := e.SetOffline(t.Context(), "70", true)
	if err == nil || !strings.Contains(err.Error(), "item 2: ") || !done.After.Offline || done.Items != 2 {
		t.Errorf("the stock does not answer for item 2: %+v, %v", done, err)
	}
	e.stopped("2", "3")
	e.stock.fails["2"] = false
	if done, err := e.SetOffline(t.Context(), "70", true); err != nil || done.Changed || done.Items != 0 {
		t.Errorf("again: %+v, %v", done, err)
	}
	e.refused("an item that sells, into one that is offline", "item 4 is not stopped", func() (activity.Done, error) {
		return e.Save(t.Context(), form("70", 2, "1", "2", "3", "4"))
	})
	if a, err := e.Activities.Activity(t.Context(), "70"); err != nil ||
		a.StateAt(e.clock.Now()) != seckill.ActivityOffline {
		t.Errorf("%+v, %v", a, err)
	}
	if done, err := e.SetOffline(t.Context(), "70", false); err != nil || !done.Changed || done.Items != 2 {
		t.Errorf("online: %+v, %v", done, err)
	}
	e.stopped()
	e.rows.fail = e.rows.n + 1
	if _, err := e.SetOffline(t.Context(), "70", true); err == nil {
		t.Error("the switch is not written, and no error")
	}
	e.stopped()
}

// TestOnlineResumesWhatOfflineStopped: an item that a person stopped by itself stays stopped, and is named, also when a
// command fails halfway and is repeated.
func TestOnlineResumesWhatOfflineStopped(t *testing.T) {
	e := newEnv(t)
	e.save(form("70", 0, "1", "2", "3"))
	e.alone(true, "2")
	e.stock.fails["1"] = true
	if done, err := e.SetOffline(t.Context(), "70", true); err == nil || done.Items != 2 {
		t.Errorf("offline, and the stock fails: %+v, %v", done, err)
	}
	e.stock.fails["1"] = false
	if _, err := e.SetOffline(t.Context(), "70", true); err != nil {
		t.Error(err)
	}
	e.alone(true, "4")
	e.save(form("70", 2, "1", "2", "3", "4"))
	e.stock.fails["3"] = true
	done, err := e.SetOffline(t.Context(), "70", false)
	if err == nil || done.Items != 2 || !slices.Equal(done.Stays, []string{"2", "4"}) || done.After.Offline {
		t.Errorf("online, and the stock fails: %+v, %v", done, err)
	}
	e.stock.fails["3"] = false
	for _, when := range []string{"repeated", "and again"} {
		done, err = e.SetOffline(t.Context(), "70", false)
		if err != nil || done.Items != 0 || !slices.Equal(done.Stays, []string{"2", "4"}) ||
			done.After.Resumes != nil {
			t.Errorf("online, %s: %+v, %v", when, done, err)
		}
	}
	e.alone(true, "1") // by itself, while the activity is online
	done, err = e.SetOffline(t.Context(), "70", false)
	if err != nil || done.Changed || !slices.Equal(done.Stays, []string{"1", "2", "4"}) {
		t.Errorf("online, of what is online: %+v, %v", done, err)
	}
}

func (e *env) switched(offline bool) (activity.Done, error) {
	return e.SetOffline(e.Context(), "70", offline)
}

// must switches the activity, and checks which of its items are stopped then.
func (e *env) must(offline bool, stopped ...string) seckill.Activity {
	e.Helper()
	done := must.Get(e.switched(offline))
	must.Equal(e, offline, done.After.Offline, "offline")
	e.stopped(stopped...)
	return done.After
}

func (e *env) stopped(want ...string) {
	e.Helper()
	var got []string
	for _, id := range []string{"1", "2", "3", "4"} {
		if it, err := e.items.Get(e.Context(), id); err != nil {
			e.Fatal(err)
		} else if it.Stopped {
			got = append(got, id)
		}
	}
	if !slices.Equal(got, want) {
		e.Errorf("stopped are %q, want %q", got, want)
	}
}

// alone stops or resumes items by themselves.
func (e *env) alone(stopped bool, ids ...string) {
	e.Helper()
	must.Get(e.Stage.SetAllStopped(e.Context(), ids, stopped))
}

// TestAnItemThatCannotBeReadIsResumed: offline stops it after all, and online resumes it.
func TestAnItemThatCannotBeReadIsResumed(t *testing.T) {
	e := newEnv(t)
	e.save(form("70", 0, "1", "2"))
	e.faulty.unread = map[string]bool{"2": true}
	e.must(true, "1", "2")
	e.must(false)
}

// TestOfflineForgetsNoneThatItStopped: also when online failed halfway, or a person resumed an item alone meanwhile.
func TestOfflineForgetsNoneThatItStopped(t *testing.T) {
	e := newEnv(t)
	e.save(form("70", 0, "1", "2", "3"))
	e.alone(true, "1")
	e.must(true, "1", "2", "3")
	e.faulty.unread = map[string]bool{"3": true} // SetOffline's look at it; the next one is the write's
	e.faulty.before = func() { e.faulty.unread["3"] = true }
	if done, err := e.switched(false); err == nil || done.Items != 1 {
		t.Errorf("online, and item 3 is not written: %+v, %v", done, err)
	}
	e.stopped("1", "3")
	e.must(true, "1", "2", "3")
	e.must(false, "1")
	e.must(true, "1", "2", "3")
	e.alone(false, "1")
	e.must(true, "1", "2", "3")
	e.must(false)
	e.must(true, "1", "2", "3")
	e.alone(false, "2")
	e.alone(true, "2") // an item does not say who stopped it
	e.save(form("70", e.version(), "1", "2"))
	e.must(false, "3")
}

func (e *env) version() int64 {
	e.Helper()
	return must.Get(e.Activities.Activity(e.Context(), "70")).Version
}

// TestOnlineOfOneThatNotesNothing: an earlier release did not note which items it stopped. All are resumed, also when
// the command is repeated. With an empty list none is.
func TestOnlineOfOneThatNotesNothing(t *testing.T) {
	e := newEnv(t)
	made := e.save(form("70", 0, "1", "2"))
	old := made
	old.Version, old.Offline = 2, true
	must.OK(t, e.Activities.SaveActivity(t.Context(), old, &made))
	e.alone(true, "1", "2")
	e.must(true, "1", "2")
	e.stock.fails["1"] = true
	e.faulty.unread = map[string]bool{"2": true}
	e.faulty.before = func() { e.faulty.unread["2"] = true }
	if _, err := e.switched(false); err == nil {
		t.Error("online, and neither item is done: no error")
	}
	e.stopped("2")
	e.stock.fails["1"] = false
	e.must(false)

	e.alone(true, "1", "2")
	if a := e.must(true, "1", "2"); a.Resumes == nil {
		t.Errorf("offline, and nothing was running: %+v", a)
	}
	e.must(false, "1", "2")
}

// TestOfflineDuringOnline: an online that is overtaken leaves the items stopped, and fails.
func TestOfflineDuringOnline(t *testing.T) {
	for name, overtakes := range map[string]func(e *env, do func()){
		"before the first item is written": func(e *env, do func()) { e.rows.after = do },
		"while they are":                   func(e *env, do func()) { e.faulty.before = do },
	} {
		e := newEnv(t)
		e.save(form("70", 0, "1", "2"))
		e.must(true, "1", "2")
		overtakes(e, func() { e.must(true, "1", "2") })
		if done, err := e.switched(false); !errors.Is(err, seckill.ErrStateChanged) {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
		e.stopped("1", "2")
		e.must(false)
	}
}

// TestCopy: last week's activity, with new ids, a week later; a repetition after any fault finishes it.
func TestCopy(t *testing.T) {
	const week = 7 * 24 * time.Hour
	// whole copies while the fail-th transaction fails (none if fail is 0), and then copies again
	whole := func(e *env, fail int) (seckill.Activity, []seckill.Listing) {
		e.Helper()
		q := seckill.Question{ID: seckill.QuestionID(1), Text: "a", Answers: []string{"b"}}
		must.OK(e, e.Questions.PutQuestion(e.Context(), "2", q))
		two := must.Get(e.Stage.Listing(e.Context(), "2"))
		two.Variant = seckill.Variant{Family: "7", Options: seckill.Options{{Name: "颜色", Value: "黑"}}}
		must.Get(e.Stage.Import(e.Context(), []seckill.Listing{two}))
		e.save(form("70", 0, "2", "1"))
		must.Get(e.Stage.SetAllStopped(e.Context(), []string{"1"}, true))
		must.OK(e, e.Stage.AddStock(e.Context(), "2", 9))
		if fail > 0 {
			e.rows.fail = e.rows.n + fail
		}
		_, err := e.Copy(e.Context(), "70", now.Add(2*time.Hour+week), "bob", seckill.MadeAtPage)
		if (err != nil) != (fail > 0) {
			e.Fatalf("while transaction %d fails: %v", fail, err)
		}
		done := must.Get(e.Copy(e.Context(), "70", now.Add(2*time.Hour+week), "bob", seckill.MadeAtPage))
		var items []seckill.Listing
		for _, id := range done.After.Items {
			l := must.Get(e.Stage.Listing(e.Context(), id))
			items = append(items, l)
		}
		all := must.Get(e.items.List(e.Context(), time.Time{}))
		must.Equal(e, 6, len(all), "items")
		return done.After, items
	}
	e := newEnv(t)
	a, items := whole(e, 0)
	if a.ID == "70" || a.Version != 1 || a.MadeBy != "bob" || a.MadeFrom != seckill.MadeAtPage || a.Title != "早场" ||
		!a.Start.Equal(now.Add(2*time.Hour+week)) || !a.End.Equal(now.Add(6*time.Hour+week)) || len(items) != 2 {
		t.Errorf("copied %+v", a)
	}
	for i, of := range []string{"2", "1"} {
		old := must.Get(e.Stage.Listing(t.Context(), of))
		got := items[i]
		if family := got.Variant.Family; len(family) != 18*len(old.Variant.Family) || family == got.ID {
			t.Errorf("item %s of family %q became one of %q", of, old.Variant.Family, family)
		}
		got.Variant.Family = old.Variant.Family
		if !got.Variant.Equal(&old.Variant) {
			t.Errorf("item %s became %+v", of, got.Variant)
		}
		if len(got.ID) != 18 || got.Stopped || got.Stops != nil || got.Stock != old.Stock || got.Version != 1 ||
			!got.Start.Equal(old.Start.Add(week)) || !got.End.Equal(old.End.Add(week)) || got.Detail != old.Detail ||
			len(got.Questions) != len(old.Questions) || !a.Covers(&got.Item) {
			t.Errorf("item %s became %+v", of, got)
		}
	}
	for fail := 1; fail <= 2; fail++ { // a question, the activity
		b, others := whole(newEnv(t), fail)
		if diff := cmp.Diff(a, b) + cmp.Diff(items, others); diff != "" {
			t.Errorf("transaction %d failed first: %s", fail, diff)
		}
	}
	e.refused("into the past", "start: 2026-11-04T08:00:00Z: the copy must begin", func() (activity.Done, error) {
		return e.Copy(t.Context(), "70", now, "bob", seckill.MadeAtCLI)
	})
	must.Get(e.Delete(t.Context(), a.ID, false))
	e.refused("a copy that is deleted", "start: activity "+a.ID+" is the copy of 70", func() (activity.Done, error) {
		return e.Copy(t.Context(), "70", a.Start, "bob", seckill.MadeAtCLI)
	})
	_, err := e.Copy(t.Context(), "404", now.Add(week), "bob", seckill.MadeAtCLI)
	must.Is(t, seckill.ErrNoActivity, err, "an unknown one")
}

// TestAnItemStaysInItsActivitysWindow: an import cannot move it out.
func TestAnItemStaysInItsActivitysWindow(t *testing.T) {
	e := newEnv(t)
	e.save(form("70", 0, "4")) // until 14:00, as the activity
	l := must.Get(e.Stage.Listing(t.Context(), "4"))
	l.End = l.End.Add(time.Minute)
	var refused *stage.ImportError
	if _, err := e.Stage.Import(t.Context(), []seckill.Listing{l}); !errors.As(err, &refused) ||
		!strings.Contains(err.Error(), "outside of its activity 70") {
		t.Errorf("got %v", err)
	}
	must.Get(e.Delete(t.Context(), "70", false))
	if _, err := e.Stage.Import(t.Context(), []seckill.Listing{l}); err != nil {
		t.Errorf("when the activity is deleted: %v", err)
	}
	e.refused("undelete", "item 4 sells from", func() (activity.Done, error) {
		return e.Delete(t.Context(), "70", true)
	})
}
