package drivertest

import (
	"fmt"
	"reflect"
	"time"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

var confirmCases = []stockCase{
	{"confirm ends the wait and keeps the ledger's units", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 2, 1, 2)
		e.confirmed(1, "1", 1, 2)
		e.level(3, 2, 0, 2)
		e.holders(map[int]string{1: oid(1), 2: oid(1)})
		e.entries("1", map[string]int{oid(1): 2})
	}},
	{"confirm frees what the ledger did not give", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 2, 1, 2)
		e.confirmed(1, "1", 2)
		e.holders(map[int]string{2: oid(1)})
		e.entries("1", map[string]int{oid(1): 1})
		e.level(4, 1, 0, 2)
	}},
	{"confirm of a rejected order frees all, once", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 2, 1, 2)
		e.confirmed(1, "1")
		e.level(5, 0, 0, 2)
		e.reserved(2, "2", 1, 1)
		e.confirmed(1, "1")
		e.holders(map[int]string{1: oid(2)})
		e.entries("1", nil)
		e.entries("2", map[string]int{oid(2): 1})
	}},
	{"confirm only lowers what counts against the user", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 1, 1)
		e.confirmed(1, "1", 1)
		e.must(e.Return(e.ctx, e.item.ID, oid(1), "1", []int{1}))
		e.confirmed(1, "1", 1) // a late confirm
		e.entries("1", nil)
		e.level(5, 0, 0, 1)
	}},
	{"confirm of an order that the stock forgot takes nothing from others", func(e *stockEnv) {
		e.install()
		e.reserved(2, "2", 1, 1)
		e.confirmed(1, "1", 1)
		e.holders(map[int]string{1: oid(2)})
		e.level(4, 1, 1, 1)
	}},
	{"return moves only what the order still holds", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 2, 1, 2)
		e.confirmed(1, "1", 1, 2)
		e.must(e.Return(e.ctx, e.item.ID, oid(1), "1", []int{1, 2}))
		e.reserved(2, "2", 1, 1)
		e.must(e.Return(e.ctx, e.item.ID, oid(1), "1", []int{1, 2}))
		e.holders(map[int]string{1: oid(2)})
		e.level(4, 1, 1, 2)
	}},
	{"records are kept of what waits, holds a number or counts against its user, and of nothing else",
		func(e *stockEnv) {
			e.install()
			records := e.records
			for n := range 50 {
				e.reserved(n, "1", 2, 1, 2)
				e.confirmed(n, "1", 1, 2)
				e.must(e.Return(e.ctx, e.item.ID, oid(n), "1", []int{1, 2}))
			}
			records(0, "50 orders placed and given back")
			for n := range 50 {
				e.reserved(n, "1", 1, 1)
				e.confirmed(n, "1")
			}
			records(0, "50 orders rejected")
			r := e.reserved(60, "1", 1, 1)
			e.reserved(61, "2", 2, 2, 3)
			e.confirmed(61, "2", 2, 3)
			records(2, "one waits, one holds two numbers")
			e.corrected(seckill.Correction{Unit: 2, Holder: oid(61)}, true)
			records(2, "one of the two numbers is nobody's")
			e.corrected(seckill.Correction{Unit: 3, Holder: oid(61), Owner: oid(62), User: "3"}, true)
			records(2, "and the other somebody else's, but it still counts against its user")
			e.correctedUser(e.users()["2"], nil, true)
			records(1, "no more")
			e.confirmed(60, "1", 5) // the ledger placed it with another unit, before the stock lost data
			records(1, "it holds none that the stock knows, and counts against its user")
			e.refused(60, "1", 1, seckill.ReservedBefore)
			e.refused(60, "1", 2, seckill.ReserveReused)
			e.redraw(r, seckill.Collision{Unit: 1, Owner: oid(9), User: "9"}, seckill.RedrawConfirmed)
			e.must(e.Return(e.ctx, e.item.ID, oid(60), "1", []int{5}))
			records(0, "given back")
		}},
	{"a record goes with the last number that is held, also of an order that counts against nobody", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 1, 1)
		e.confirmed(1, "1", 1)
		e.correctedUser(e.users()["1"], nil, true)
		e.corrected(seckill.Correction{Unit: 1, Holder: oid(1)}, true)
		if l, err := e.Level(e.ctx, e.item.ID); err != nil || l.Records != 0 {
			e.Errorf("%+v, %v: want no record", l, err)
		}
	}},
	{"a keyed repeat after its order was given back reserves again, and its message finds the order decided",
		func(e *stockEnv) {
			e.install()
			e.reserved(1, "1", 2, 1, 2)
			e.confirmed(1, "1", 1, 2)
			e.must(e.Return(e.ctx, e.item.ID, oid(1), "1", []int{1, 2}))
			e.reserved(1, "1", 2, 1, 2)
			e.confirmed(1, "1") // by its row, which has no units
			e.level(5, 0, 0, 2)
			e.entries("1", nil)
			e.item.Stopped, e.item.Version = true, 2
			e.must(e.Assert(e.ctx, e.item))
			e.refused(1, "1", 2, seckill.ReserveStopped)
		}},
	{"a return that is repeated takes nothing from the order's key, asked for again meanwhile, for good",
		func(e *stockEnv) {
			e.install()
			e.reserved(1, "1", 1, 1)
			e.confirmed(1, "1", 1)
			e.must(e.Return(e.ctx, e.item.ID, oid(1), "1", []int{1}))
			e.reserved(1, "1", 1, 1)
			e.must(e.Return(e.ctx, e.item.ID, oid(1), "1", []int{1}))
			e.level(5, 0, 1, 1) // it still waits, and its message is sent again until the ledger's decision arrives
			if due, err := e.Due(e.ctx, e.now.Add(resend), e.item.ID, 10, time.Hour); err != nil || len(due) != 1 ||
				due[0].Order != oid(1) {
				e.Errorf("due %+v, %v", due, err)
			}
			e.confirmed(1, "1")
			e.level(5, 0, 0, 1)
		}},
	{"redraw gives the number to its owner and draws another", func(e *stockEnv) {
		e.install()
		r := e.reserved(1, "1", 2, 1, 2)
		got := e.redraw(r, seckill.Collision{Unit: 1, Owner: oid(9), User: "9"}, seckill.RedrawUnits, 2, 3)
		if got.Request != r.Request {
			e.Errorf("request %+v, want %+v", got.Request, r.Request)
		}
		e.holders(map[int]string{1: oid(9), 2: oid(1), 3: oid(1)})
		e.entries("9", map[string]int{oid(9): 0})
		e.level(2, 3, 1, 3)
	}},
	// after a loss of data a return may arrive for an order that is queued again
	{"redraw keeps only what is still held for the order", func(e *stockEnv) {
		e.install()
		r := e.reserved(1, "1", 2, 1, 2)
		e.must(e.Return(e.ctx, e.item.ID, oid(1), "1", []int{1}))
		e.redraw(r, seckill.Collision{Unit: 2, Owner: oid(9), User: "9"}, seckill.RedrawUnits, 1, 3)
		e.holders(map[int]string{1: oid(1), 2: oid(9), 3: oid(1)})
	}},
	{"a second delivery of the collision gets what was drawn", func(e *stockEnv) {
		e.install()
		r := e.reserved(1, "1", 1, 1)
		e.redraw(r, seckill.Collision{Unit: 1, Owner: oid(9), User: "9"}, seckill.RedrawUnits, 2)
		e.redraw(r, seckill.Collision{Unit: 1, Owner: oid(9), User: "9"}, seckill.RedrawUnits, 2)
		e.level(3, 2, 1, 2)
	}},
	{"a refused number that someone else holds by now stays theirs", func(e *stockEnv) {
		e.install(seckill.UnitRow{Unit: 1, Order: oid(8), User: "8"})
		r := seckill.Reservation{Request: e.request(1, "1", 1), Units: []int{1}}
		e.redraw(r, seckill.Collision{Unit: 1, Owner: oid(9), User: "9"}, seckill.RedrawUnits, 2)
		e.holders(map[int]string{1: oid(8), 2: oid(1)})
	}},
	{"an order that the stock forgot is taken up again, awaiting included", func(e *stockEnv) {
		e.install()
		r := seckill.Reservation{Request: e.request(1, "1", 2), Units: []int{3, 4}}
		got := e.redraw(r, seckill.Collision{Unit: 3, Owner: oid(9), User: "9"}, seckill.RedrawUnits, 1, 2)
		if got.Request != r.Request {
			e.Errorf("request %+v, want %+v", got.Request, r.Request)
		}
		e.holders(map[int]string{1: oid(1), 2: oid(1), 3: oid(9)})
		e.entries("1", map[string]int{oid(1): 2})
		e.level(2, 3, 1, 3)
		due, err := e.Due(e.ctx, e.now.Add(resend), e.item.ID, 10, time.Hour)
		e.must(err)
		if len(due) != 1 || !reflect.DeepEqual(due[0], got) {
			e.Errorf("due %+v, want it", due)
		}
	}},
	{"high-water rises over a gap, and the gap is free", func(e *stockEnv) {
		e.install()
		r := e.reserved(1, "1", 1, 1)
		e.redraw(r, seckill.Collision{Unit: 1, Owner: oid(9), User: "9"}, seckill.RedrawUnits, 2)
		r2 := seckill.Reservation{Request: e.request(2, "2", 1), Units: []int{5}}
		e.redraw(r2, seckill.Collision{Unit: 5, Owner: oid(8), User: "8"}, seckill.RedrawUnits, 3)
		e.level(1, 4, 2, 5)
		e.reserved(3, "3", 1, 4)
		e.refused(4, "4", 1, seckill.ReserveNone)
	}},
	// the ledger placed it with another unit, before the stock lost data, and it has given that back
	{"a drift pass frees a unit of a waiting order that its reservation does not have", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 1, 1)
		e.corrected(seckill.Correction{Unit: 2, Owner: oid(1), User: "1"}, true)
		e.corrected(seckill.Correction{Unit: 1, Holder: oid(1)}, false)
		for _, s := range e.seen() {
			if s.Awaiting != (s.Unit == 1) {
				e.Errorf("%+v: only the reservation's unit waits", s)
			}
		}
		e.corrected(seckill.Correction{Unit: 2, Holder: oid(1)}, true)
		e.entries("1", map[string]int{oid(1): 1})
		e.level(4, 1, 1, 2)
		e.confirmed(1, "1")
		e.level(5, 0, 0, 2)
	}},
	{"another body under the same id: the stored request counts, whole", func(e *stockEnv) {
		e.install()
		stored := e.reserved(1, "1", 2, 1, 2)
		other := seckill.Reservation{Request: e.request(1, "1", 1), Units: []int{5}}
		got := e.redraw(other, seckill.Collision{Unit: 5, Owner: oid(9), User: "9"}, seckill.RedrawUnits, 1, 2)
		must.Equal(e, stored, got)
	}},
	{"a confirmed order is not drawn for again", func(e *stockEnv) {
		e.install()
		r := e.reserved(1, "1", 1, 1)
		e.confirmed(1, "1", 1)
		e.redraw(r, seckill.Collision{Unit: 1, Owner: oid(9), User: "9"}, seckill.RedrawConfirmed)
		e.holders(map[int]string{1: oid(1)})
	}},
	{"no unit left is believed only after a drift pass begun since", func(e *stockEnv) {
		e.install()
		old, err := e.DriftBegin(e.ctx, e.item.ID, "old")
		e.must(err)
		r := e.reserved(1, "1", 1, 1)
		e.reserved(2, "2", 3, 2, 3, 4)
		e.reserved(3, "3", 1, 5)
		c := seckill.Collision{Unit: 1, Owner: oid(9), User: "9"}
		e.redraw(r, c, seckill.RedrawWait)
		e.must(e.DriftEnd(e.ctx, e.item.ID, "old", old))
		e.redraw(r, c, seckill.RedrawWait)
		e.pass("new")
		e.redraw(r, c, seckill.RedrawNone)
		e.confirmed(1, "1")
		e.level(0, 5, 2, 5)
	}},
	{"a number that appears while it waits is drawn", func(e *stockEnv) {
		e.install()
		r := e.reserved(1, "1", 1, 1)
		e.reserved(2, "2", 3, 2, 3, 4)
		e.reserved(3, "3", 1, 5)
		e.redraw(r, seckill.Collision{Unit: 1, Owner: oid(9), User: "9"}, seckill.RedrawWait)
		e.confirmed(3, "3")
		e.pass("p")
		e.redraw(seckill.Reservation{Request: r.Request}, seckill.Collision{}, seckill.RedrawUnits, 5)
	}},
	{"a forgotten order that finds no unit waits too", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 3, 1, 2, 3)
		r := seckill.Reservation{Request: e.request(2, "2", 3), Units: []int{1, 2, 3}}
		e.redraw(r, seckill.Collision{Unit: 1, Owner: oid(1), User: "1"}, seckill.RedrawWait)
		e.level(2, 3, 2, 3)
		e.redraw(r, seckill.Collision{Unit: 1, Owner: oid(1), User: "1"}, seckill.RedrawWait)
		e.pass("p")
		e.redraw(r, seckill.Collision{Unit: 1, Owner: oid(1), User: "1"}, seckill.RedrawNone)
	}},
	{"passes under way at once count each", func(e *stockEnv) {
		e.install()
		r := seckill.Reservation{Request: e.request(1, "1", 1), Units: []int{1}}
		e.reserved(2, "2", 3, 1, 2, 3)
		e.reserved(3, "3", 2, 4, 5)
		c := seckill.Collision{Unit: 1, Owner: oid(2), User: "2"}
		before, err := e.DriftBegin(e.ctx, e.item.ID, "before")
		e.must(err)
		e.redraw(r, c, seckill.RedrawWait)
		first, err := e.DriftBegin(e.ctx, e.item.ID, "first")
		e.must(err)
		_, err = e.DriftBegin(e.ctx, e.item.ID, "second")
		e.must(err)
		e.must(e.DriftEnd(e.ctx, e.item.ID, "before", before))
		e.redraw(r, c, seckill.RedrawWait)
		e.must(e.DriftEnd(e.ctx, e.item.ID, "first", first))
		e.redraw(r, c, seckill.RedrawNone)
	}},
	// The row named its owner a while ago; by now the owner may have given the unit back.
	{"a pass during which a unit went to its row's owner proves nothing", func(e *stockEnv) {
		e.item.Stock = 2
		e.install()
		e.reserved(1, "1", 1, 1)
		e.reserved(2, "2", 1, 2)
		r := seckill.Reservation{Request: e.request(3, "3", 1), Units: []int{1}}
		none := func(want seckill.RedrawCode) {
			e.Helper()
			e.redraw(r, seckill.Collision{Unit: 1, Owner: oid(1), User: "1"}, want)
		}
		none(seckill.RedrawWait)
		for i, claims := range []func(){
			func() { e.corrected(seckill.Correction{Unit: 2, Holder: oid(2), Owner: oid(8), User: "8"}, true) },
			func() {
				e.redraw(seckill.Reservation{Request: e.request(1, "1", 1), Units: []int{1}},
					seckill.Collision{Unit: 1, Owner: oid(9), User: "9"}, seckill.RedrawWait)
			},
			func() { e.must(e.Return(e.ctx, e.item.ID, oid(7), "7", []int{2})) },
		} {
			if i == 0 {
				e.confirmed(2, "2", 2)
			}
			token := fmt.Sprint(i)
			pass, err := e.DriftBegin(e.ctx, e.item.ID, token)
			e.must(err)
			claims()
			e.must(e.DriftEnd(e.ctx, e.item.ID, token, pass))
			none(seckill.RedrawWait)
		}
		e.pass("undisturbed")
		none(seckill.RedrawNone)
	}},
	{"a pass that the stock does not remember proves nothing", func(e *stockEnv) {
		e.install()
		r := seckill.Reservation{Request: e.request(1, "1", 1), Units: []int{1}}
		e.reserved(2, "2", 3, 1, 2, 3)
		e.reserved(3, "3", 2, 4, 5)
		c := seckill.Collision{Unit: 1, Owner: oid(2), User: "2"}
		e.redraw(r, c, seckill.RedrawWait)
		e.must(e.DriftEnd(e.ctx, e.item.ID, "never begun", 7))
		e.redraw(r, c, seckill.RedrawWait)
	}},
}
