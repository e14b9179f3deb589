package drivertest

import (
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

var repairCases = []stockCase{
	{"due messages come once per wait, which doubles to the longest", func(e *stockEnv) {
		e.install()
		want := e.reserved(1, "1", 1, 1)
		at := e.now
		for i, step := range []struct {
			after time.Duration
			n     int
		}{{resend - 1, 0}, {resend, 1}, {resend, 0}, {3*resend - 1, 0}, {3 * resend, 1}, {6*resend - 1, 0},
			{6 * resend, 1}, {9 * resend, 1}} {
			due, err := e.Due(e.ctx, at.Add(step.after), e.item.ID, 10, 3*resend)
			e.must(err)
			if len(due) != step.n || step.n == 1 && fmt.Sprint(due[0]) != fmt.Sprint(want) {
				e.Fatalf("step %d: %d due %+v, want %d", i, len(due), due, step.n)
			}
		}
		e.confirmed(1, "1", 1)
		if due, err := e.Due(e.ctx, at.Add(time.Hour), e.item.ID, 10, 3*resend); err != nil || len(due) != 0 {
			e.Errorf("confirmed, yet due: %v %v", due, err)
		}
	}},
	{"due keeps to its limit", func(e *stockEnv) {
		e.item.Stock = 20
		e.install()
		for i := range 7 {
			e.reserved(i, fmt.Sprint(i), 1, i+1)
		}
		total := 0
		for range 3 {
			due, err := e.Due(e.ctx, e.now.Add(time.Minute), e.item.ID, 3, time.Hour)
			e.must(err)
			total += len(due)
		}
		if total != 7 {
			e.Errorf("%d due in threes, want 7", total)
		}
	}},
	{"a build becomes live whole", func(e *stockEnv) {
		e.install(seckill.UnitRow{Unit: 2, Order: oid(1), User: "1"}, seckill.UnitRow{Unit: 4, Order: oid(1),
			User: "1"}, seckill.UnitRow{Unit: 3, Order: oid(2), User: "1"})
		e.holders(map[int]string{2: oid(1), 4: oid(1), 3: oid(2)})
		e.entries("1", map[string]int{oid(1): 2, oid(2): 1})
		e.level(2, 3, 0, 4)
		e.refused(5, "1", 1, seckill.ReserveLimit)
		e.reserved(6, "6", 2, 1, 5)
	}},
	{"a build that is not whole is dropped", func(e *stockEnv) {
		rows := []seckill.UnitRow{{Unit: 2, Order: oid(1), User: "1"}}
		for name, try := range map[string]func() error{
			"units": func() error { return e.Install(e.ctx, e.item, "tok", 2, 1, 2, 0) },
			"users": func() error { return e.Install(e.ctx, e.item, "tok", 1, 2, 2, 0) },
			"gaps":  func() error { return e.Install(e.ctx, e.item, "tok", 1, 1, 3, 0) },
			"token": func() error { return e.Install(e.ctx, e.item, "other", 1, 1, 2, 0) },
		} {
			e.now = e.now.Add(time.Minute)
			e.must(e.BuildStart(e.ctx, e.now, e.item.ID, "tok"))
			_, err := e.BuildUnits(e.ctx, e.now, e.item.ID, "tok", rows)
			e.must(err)
			e.must(e.BuildGaps(e.ctx, e.now, e.item.ID, "tok", 1, 2))
			e.is(try(), seckill.ErrBuildLost)
			must.Is(e, seckill.ErrNotInstalled, must.Err(e.Level(e.ctx, e.item.ID)), name, "must not install")
		}
	}},
	{"only one builder at a time, and a dead one is replaced", func(e *stockEnv) {
		const almost = seckill.BuildPatience - time.Millisecond
		rows := []seckill.UnitRow{{Unit: 1, Order: oid(1), User: "1"}}
		e.must(e.BuildStart(e.ctx, e.now, e.item.ID, "a"))
		e.is(e.BuildStart(e.ctx, e.now.Add(almost), e.item.ID, "b"), seckill.ErrBuildBusy)
		// from a clock that is behind
		e.is(e.BuildStart(e.ctx, e.now.Add(-almost), e.item.ID, "b"), seckill.ErrBuildBusy)
		_, err := e.BuildUnits(e.ctx, e.now.Add(almost), e.item.ID, "a", rows)
		e.must(err)
		e.is(e.BuildStart(e.ctx, e.now.Add(2*almost), e.item.ID, "b"), seckill.ErrBuildBusy)
		e.must(e.BuildGaps(e.ctx, e.now.Add(2*almost), e.item.ID, "a", 1, 1))
		e.is(e.BuildStart(e.ctx, e.now.Add(3*almost), e.item.ID, "b"), seckill.ErrBuildBusy)
		late := e.now.Add(2*almost + seckill.BuildPatience)
		e.must(e.BuildStart(e.ctx, late, e.item.ID, "b"))
		_, err = e.BuildUnits(e.ctx, late, e.item.ID, "a", rows)
		e.is(err, seckill.ErrBuildLost)
		e.is(e.BuildGaps(e.ctx, late, e.item.ID, "a", 1, 1), seckill.ErrBuildLost)
		e.is(e.Install(e.ctx, e.item, "a", 1, 1, 1, 0), seckill.ErrBuildLost)
		e.must(e.Install(e.ctx, e.item, "b", 0, 0, 0, 0))
		e.level(5, 0, 0, 0)
	}},
	{"a row that is added to a build twice counts once", func(e *stockEnv) {
		rows := []seckill.UnitRow{{Unit: 1, Order: oid(1), User: "1"}, {Unit: 2, Order: oid(1), User: "1"}}
		e.must(e.BuildStart(e.ctx, e.now, e.item.ID, "a"))
		for _, want := range []int{1, 0} {
			if n, err := e.BuildUnits(e.ctx, e.now, e.item.ID, "a", rows); err != nil || n != want {
				e.Fatalf("%d users seen first, %v; want %d", n, err, want)
			}
		}
		e.must(e.BuildGaps(e.ctx, e.now, e.item.ID, "a", 1, 2))
		e.must(e.Install(e.ctx, e.item, "a", 2, 1, 2, 0))
		e.entries("1", map[string]int{oid(1): 2})
	}},
	{"a build holds units back from new reservations, until two looks agree", func(e *stockEnv) {
		e.item.Limit = 5
		e.held(5)
		back := func(look, counted, want int) {
			e.Helper()
			got, err := e.HoldBack(e.ctx, e.item.ID, seckill.HeldBack{Build: "tok", Looks: look, Units: counted})
			must.OK(e, err)
			must.Equal(e, want, got, "held back after look", look)
		}
		e.refused(1, "1", 1, seckill.ReserveHeld)
		back(1, 2, 5)
		e.refused(1, "1", 1, seckill.ReserveHeld)
		back(1, 0, 0) // this look was made
		back(3, 0, 0) // out of turn
		back(2, 1, 2)
		level := must.Get(e.Level(e.ctx, e.item.ID))
		must.Equal(e, seckill.HeldBack{Units: 2, Build: "tok", Looks: 2}, level.Back, "level")
		e.refused(1, "1", 4, seckill.ReserveHeld)
		e.reserved(1, "1", 3, 1, 2, 3)
		e.refused(2, "2", 1, seckill.ReserveHeld)
		e.refused(2, "2", 3, seckill.ReserveFew)
		got, err := e.HoldBack(e.ctx, e.item.ID, seckill.HeldBack{Build: "other", Looks: 3})
		must.OK(e, err)
		must.Equal(e, 0, got, "for another build")
		e.refused(2, "2", 1, seckill.ReserveHeld)
		back(3, 3, 2) // it does not rise
		back(4, 0, 2)
		back(5, 0, 0)
		must.Equal(e, seckill.HeldBack{}, must.Get(e.Level(e.ctx, e.item.ID)).Back, "level")
		e.reserved(2, "2", 2, 4, 5)
		e.refused(3, "3", 1, seckill.ReserveNone)
	}},
	{"while units are held back, an order that the stock has lost gets its units, wherever they are",
		func(e *stockEnv) {
			e.item.Limit = 5
			e.held(2)
			e.reserved(1, "1", 2, 1, 2)
			e.confirmed(9, "9", 2, 4)
			e.holders(map[int]string{1: oid(1), 2: oid(9), 4: oid(9)})
			e.level(2, 3, 1, 4)
			mine := seckill.Reservation{Request: e.request(1, "1", 2), Units: []int{1, 2}}
			code, r, err := e.Redraw(e.ctx, e.now, mine, seckill.Collision{Unit: 2, Owner: oid(9), User: "9"}, resend)
			must.OK(e, err)
			must.Equal(e, seckill.RedrawUnits, code)
			must.Equal(e, []int{1, 3}, r.Units)
			e.holders(map[int]string{1: oid(1), 2: oid(9), 3: oid(1), 4: oid(9)})
		}},
	{"an order that the stock has lost, and that was reserved again, gets the units of the ledger", func(e *stockEnv) {
		e.held(2)
		e.reserved(1, "1", 1, 1)
		e.confirmed(1, "1", 3)
		e.holders(map[int]string{3: oid(1)})
		e.level(4, 1, 0, 3)
	}},
	{"a unit that is far above high-water is claimed as well", func(e *stockEnv) {
		e.item.Stock = 12000
		e.held(2)
		e.confirmed(9, "9", 11999)
		e.holders(map[int]string{11999: oid(9)})
		e.level(11999, 1, 0, 11999)
	}},
	{"units held back serve an order that the stock has lost", func(e *stockEnv) {
		e.held(5)
		code, r, err := e.Redraw(e.ctx, e.now, seckill.Reservation{Request: e.request(9, "9", 1), Units: []int{1}},
			seckill.Collision{}, resend)
		must.OK(e, err)
		must.Equal(e, seckill.RedrawUnits, code)
		must.Equal(e, []int{1}, r.Units)
	}},
	{"a build never replaces a live item", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 1, 1)
		e.must(e.BuildStart(e.ctx, e.now, e.item.ID, "late"))
		e.is(e.Install(e.ctx, e.item, "late", 0, 0, 0, 0), seckill.ErrBuildLost)
		e.level(4, 1, 1, 1)
	}},
	{"a large build", func(e *stockEnv) {
		e.item.Stock, e.item.Limit = 5000, 1000
		var rows []seckill.UnitRow
		for n := 2; n <= 4000; n += 2 {
			rows = append(rows, seckill.UnitRow{Unit: n, Order: oid(n / 20), User: fmt.Sprint(n % 7)})
		}
		e.install(rows...)
		e.level(3000, 2000, 0, 4000)
		e.reserved(9999, "x", 3, 1, 3, 5)
	}},
	{"correct: a held number goes to its row's owner, or becomes free", func(e *stockEnv) {
		e.install(seckill.UnitRow{Unit: 1, Order: oid(1), User: "1"}, seckill.UnitRow{Unit: 2, Order: oid(2),
			User: "2"})
		e.corrected(seckill.Correction{Unit: 1, Holder: oid(1), Owner: oid(3), User: "3"}, true)
		e.corrected(seckill.Correction{Unit: 2, Holder: oid(2)}, true)
		e.holders(map[int]string{1: oid(3)})
		e.entries("3", map[string]int{oid(3): 0})
		e.corrected(seckill.Correction{Unit: 2, Holder: oid(2)}, false)
		e.level(4, 1, 0, 2)
	}},
	{"correct: a free or not issued number becomes its row's owner's", func(e *stockEnv) {
		e.install(seckill.UnitRow{Unit: 2, Order: oid(1), User: "1"})
		e.corrected(seckill.Correction{Unit: 1, Owner: oid(1), User: "1"}, true)
		e.corrected(seckill.Correction{Unit: 5, Owner: oid(2), User: "2"}, true)
		e.holders(map[int]string{1: oid(1), 2: oid(1), 5: oid(2)})
		e.level(2, 3, 0, 5)
	}},
	{"correct changes nothing that is not as seen, or awaited", func(e *stockEnv) {
		e.install(seckill.UnitRow{Unit: 1, Order: oid(1), User: "1"})
		e.reserved(2, "2", 1, 2)
		for _, c := range []seckill.Correction{
			{Unit: 1, Holder: oid(2)},
			{Unit: 1, Owner: oid(3), User: "3"},
			{Unit: 2, Holder: oid(2)},
			{Unit: 2, Holder: oid(2), Owner: oid(3), User: "3"},
			{Unit: 1, Holder: oid(1), Owner: oid(1), User: "1"},
			{Unit: 4},
		} {
			e.corrected(c, false)
		}
		e.holders(map[int]string{1: oid(1), 2: oid(2)})
		e.level(3, 2, 1, 2)
	}},
	{"users page through all, and tell who is busy", func(e *stockEnv) {
		e.item.Stock = 400
		e.install()
		for i := range 250 {
			e.reserved(i, fmt.Sprint(i), 1, i+1)
			if i%2 == 0 {
				e.confirmed(i, fmt.Sprint(i), i+1)
			}
		}
		all := e.users()
		for i := range 250 {
			u := all[fmt.Sprint(i)]
			if u.Orders[oid(i)] != 1 || u.Busy != (i%2 == 1) {
				e.Fatalf("user %d: %+v", i, u)
			}
		}
		if len(all) != 250 {
			e.Errorf("%d users, want 250", len(all))
		}
	}},
	{"a user's entries are corrected only as seen and while nothing is awaited", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 1, 1)
		busy := e.users()["1"]
		e.correctedUser(busy, nil, false)
		e.confirmed(1, "1", 1)
		seen := e.users()["1"]
		e.correctedUser(seen, map[string]int{oid(1): 1, oid(2): 2}, true)
		e.entries("1", map[string]int{oid(1): 1, oid(2): 2})
		e.correctedUser(seen, nil, false)
		e.correctedUser(e.users()["1"], nil, true)
		e.entries("1", nil)
	}},
	{"drift passes are numbered", func(e *stockEnv) {
		e.install()
		for want := int64(1); want <= 3; want++ {
			if n, err := e.DriftBegin(e.ctx, e.item.ID, "t"); err != nil || n != want {
				e.Fatalf("pass %d, %v; want %d", n, err, want)
			}
		}
	}},
	{"a sold number far above high-water is reached in steps", func(e *stockEnv) {
		const sold = 12_000
		e.item.Stock, e.item.Buckets = 20_000, 3
		e.install()
		c := seckill.Correction{Unit: sold, Owner: oid(1), User: "1"}
		for steps := 1; ; steps++ {
			e.corrected(c, true)
			l, err := e.Level(e.ctx, e.item.ID)
			e.must(err)
			if l.Left != e.item.Stock-l.Held || l.Held == 1 && steps < 2 || steps > 10 {
				e.Fatalf("after %d steps: %+v", steps, l)
			}
			if l.Held == 1 {
				break
			}
		}
		e.level(e.item.Stock-1, 1, 0, sold)
		must.Equal(e, sold, len(e.seen()), "numbers seen")
		e.holders(map[int]string{sold: oid(1)})
		e.entries("1", map[string]int{oid(1): 0})
	}},
	{"remove forgets an item, also what waits to be placed", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 1, 1)
		e.reserved(2, "2", 1, 2)
		e.confirmed(1, "1", 1)
		e.must(e.Remove(e.ctx, e.item.ID))
		must.Is(e, seckill.ErrNotInstalled, must.Err(e.Level(e.ctx, e.item.ID)), "after removal")
		e.must(e.Remove(e.ctx, e.item.ID))
	}},
}

func (e *stockEnv) corrected(c seckill.Correction, want bool) {
	e.Helper()
	if got, err := e.Correct(e.ctx, e.item.ID, c); err != nil || got != want {
		e.Fatalf("correct %+v: changed %v, %v; want %v", c, got, err, want)
	}
}

func (e *stockEnv) correctedUser(seen seckill.UserEntries, want map[string]int, changed bool) {
	e.Helper()
	if got, err := e.CorrectUser(e.ctx, e.item.ID, seen, want); err != nil || got != changed {
		e.Fatalf("correct user %+v to %v: changed %v, %v; want %v", seen, want, got, err, changed)
	}
}
