package drivertest

import (
	"reflect"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

var reserveCases = []stockCase{
	{"not installed is an answer of its own", func(e *stockEnv) {
		for name, err := range e.everyMethod() {
			must.Is(e, seckill.ErrNotInstalled, err, name)
		}
	}},
	{"numbers come in order, lowest returned first", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 2, 1, 2)
		e.reserved(2, "2", 1, 3)
		e.confirmed(1, "1", 1, 2)
		e.must(e.Return(e.ctx, e.item.ID, oid(1), "1", []int{1, 2}))
		e.level(4, 1, 1, 3)
		e.reserved(3, "3", 3, 1, 2, 4)
		e.level(1, 4, 2, 4)
	}},
	{"the reservation keeps the whole request", func(e *stockEnv) {
		e.install()
		want := e.reserved(1, "1", 2, 1, 2)
		res := e.refused(1, "1", 2, seckill.ReservedAgain)
		must.Equal(e, want, res.Reservation, "stored")
		e.level(3, 2, 1, 2)
	}},
	{"the same id with another body is refused", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 2, 1, 2)
		must.Equal(e, oid(1), e.refused(1, "1", 1, seckill.ReserveReused).Order, "names")
		e.confirmed(1, "1", 1, 2)
		e.refused(1, "1", 1, seckill.ReserveReused)
	}},
	{"a confirmed request is remembered while it holds a number", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 2, 1, 2)
		e.confirmed(1, "1", 1, 2)
		e.refused(1, "1", 2, seckill.ReservedBefore)
		must.Equal(e, oid(1), e.refused(1, "1", 2, seckill.ReservedBefore).Order, "names")
		e.refused(1, "1", 1, seckill.ReserveReused)
		e.level(3, 2, 0, 2)
	}},
	{"a placed request is known after a rebuild, although its record went", func(e *stockEnv) {
		e.install(seckill.UnitRow{Unit: 1, Order: oid(1), User: "1"}, seckill.UnitRow{Unit: 2, Order: oid(1),
			User: "1"})
		must.Equal(e, oid(1), e.refused(1, "1", 2, seckill.ReservedBefore).Order, "names")
		e.level(3, 2, 0, 2)
	}},
	{"a keyless repeat is one while it is queued", func(e *stockEnv) {
		e.install()
		first := e.request(1, "1", 1)
		must.Get(e.Reserve(e.ctx, e.now, first, false, resend))
		res, err := e.Reserve(e.ctx, e.now, e.request(2, "1", 1), false, resend)
		e.must(err)
		if res.Code != seckill.ReservedAgain || res.Order != oid(1) || res.Reservation.Order != oid(1) {
			e.Fatalf("repeat: %+v", res)
		}
		res, err = e.Reserve(e.ctx, e.now, e.request(3, "1", 2), false, resend)
		e.must(err)
		if res.Code != seckill.Reserved {
			e.Fatalf("another count: %+v", res)
		}
		e.confirmed(1, "1", 1)
		e.confirmed(3, "1", 2, 3)
		res, err = e.Reserve(e.ctx, e.now, e.request(4, "1", 1), false, resend)
		e.must(err)
		if res.Code != seckill.ReserveLimit || res.Order != oid(3) {
			e.Fatalf("once placed: %+v, want limit with the newest order", res)
		}
	}},
	{"a keyless repeat asks for the same count and the same address", func(e *stockEnv) {
		e.install()
		ask := func(n, count int, address string) seckill.ReserveResult {
			r := e.request(n, "1", count)
			r.Address = address
			res, err := e.Reserve(e.ctx, e.now, r, false, resend)
			e.must(err)
			return res
		}
		if res := ask(1, 1, "A"); res.Code != seckill.Reserved {
			e.Fatalf("to A: %+v", res)
		}
		if res := ask(2, 1, "B"); res.Code != seckill.Reserved || res.Order != oid(2) ||
			res.Reservation.Address != "B" {
			e.Fatalf("to B while A is queued: %+v, want an order of its own", res)
		}
		for n, address := range map[int]string{1: "A", 2: "B"} {
			if res := ask(2+n, 1, address); res.Code != seckill.ReservedAgain || res.Order != oid(n) ||
				res.Reservation.Address != address {
				e.Errorf("to %s again: %+v, want order %s", address, res, oid(n))
			}
		}
		if res := ask(5, 2, "A"); res.Code != seckill.ReserveLimit || res.Order != oid(2) {
			e.Errorf("2 to A: %+v, want limit with the newest order", res)
		}
		must.Equal(e, seckill.Reserved, ask(6, 1, "C").Code, "to C")
		e.level(2, 3, 3, 3)
	}},
	{"a keyless request repeats a keyed one only with the same address", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 1, 1)
		r := e.request(2, "1", 1)
		if res, err := e.Reserve(e.ctx, e.now, r, false, resend); err != nil || res.Code != seckill.ReservedAgain ||
			res.Order != oid(1) {
			e.Errorf("the same request without its key: %+v, %v", res, err)
		}
		r.Address = "B"
		if res, err := e.Reserve(e.ctx, e.now, r, false, resend); err != nil || res.Code != seckill.Reserved ||
			res.Order != oid(2) {
			e.Errorf("to B without a key: %+v, %v", res, err)
		}
	}},
	{"the same key with another address is refused", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 1, 1)
		r := e.request(1, "1", 1)
		r.Address = "B"
		if res, err := e.Reserve(e.ctx, e.now, r, true, resend); err != nil || res.Code != seckill.ReserveReused ||
			res.Order != oid(1) {
			e.Errorf("to B: %+v, %v", res, err)
		}
	}},
	{"a keyed request is not taken for a repeat of another", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 1, 1)
		e.reserved(2, "1", 1, 2)
	}},
	{"the limit counts unpaid and queued ones, and names the newest", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 2, 1, 2)
		if res := e.refused(2, "1", 2, seckill.ReserveLimit); res.Order != oid(1) || res.Limit != e.item.Limit {
			e.Errorf("names %q", res.Order)
		}
		e.reserved(3, "1", 1, 3)
		must.Equal(e, oid(3), e.refused(4, "1", 1, seckill.ReserveLimit).Order, "names")
		e.level(2, 3, 2, 3)
	}},
	{"sold out and not enough differ, and change nothing", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 3, 1, 2, 3)
		e.refused(2, "2", 3, seckill.ReserveFew)
		e.reserved(3, "2", 2, 4, 5)
		e.refused(4, "3", 1, seckill.ReserveNone)
		e.level(0, 5, 2, 5)
		must.Equal(e, 2, len(e.users()), "users; a refused one must not count")
	}},
	{"with a refusal that holds for everybody it says who may have bought, unless the caller knows", func(e *stockEnv) {
		for _, user := range []string{"8", "7"} { // the second build takes over from the first
			token := "tok" + user
			must.OK(e, e.BuildStart(e.ctx, e.now, e.item.ID, token))
			rows := []seckill.UnitRow{{Unit: 1, Order: oid(7), User: user}}
			must.Get(e.BuildUnits(e.ctx, e.now, e.item.ID, token, rows))
			e.now = e.now.Add(time.Minute)
		}
		must.OK(e, e.Install(e.ctx, e.item, "tok7", 1, 1, 1, 0))
		e.reserved(1, "1", 3, 2, 3, 4)
		e.reserved(2, "2", 1, 5)
		said := e.refused(3, "3", 1, seckill.ReserveNone).Buyers
		for user, want := range map[string]bool{"1": true, "2": true, "3": false, "7": true, "8": false} {
			must.Equal(e, want, said.May(user), "user", user, "may have bought")
		}
		r := e.request(3, "3", 1)
		r.Known = said.Version
		must.Equal(e, seckill.Buyers{Version: said.Version}, must.Get(e.Reserve(e.ctx, e.now, r, true, resend)).Buyers)
		e.confirmed(2, "2", 5)
		must.OK(e, e.Return(e.ctx, e.item.ID, oid(2), "2", []int{5}))
		e.reserved(4, "4", 1, 5)
		if again := must.Get(e.Reserve(e.ctx, e.now, r, true, resend)).Buyers; again.Version == said.Version ||
			!again.May("4") || !again.May("2") {
			e.Errorf("after another purchase: version %q, as before: %q", again.Version, said.Version)
		}
		must.OK(e, e.Remove(e.ctx, e.item.ID), e.BuildStart(e.ctx, e.now, e.item.ID, "tok9"))
		must.Get(e.BuildUnits(e.ctx, e.now, e.item.ID, "tok9", []seckill.UnitRow{{Unit: 1, Order: oid(9), User: "9"}}))
		e.must(e.Install(e.ctx, e.item, "tok9", 1, 1, 1, 4))
		said = e.refused(3, "3", 1, seckill.ReserveHeld).Buyers
		must.Equal(e, []bool{true, false}, []bool{said.May("9"), said.May("7")}, "after a rebuild with as many buyers")
		must.Equal(e, "", e.refused(3, "3", 2, seckill.ReserveHeld).Buyers.Bits, "bits with what not all are refused")
	}},
	{"the window is open from start to before end", func(e *stockEnv) {
		e.install()
		for at, want := range map[time.Time]seckill.ReserveCode{
			stockStart.Add(-time.Millisecond):         seckill.ReserveEarly,
			stockStart:                                seckill.Reserved,
			e.item.End.Add(-time.Millisecond):         seckill.Reserved,
			e.item.End:                                seckill.ReserveLate,
			e.item.End.Add(24 * 365 * 10 * time.Hour): seckill.ReserveLate,
		} {
			e.now = at
			res := e.refused(int(at.UnixMilli()%1_000_000), at.Format("0504.000"), 1, want)
			if early := want == seckill.ReserveEarly; early != res.Start.Equal(stockStart) || early && res.Order != "" {
				e.Errorf("%s: start %s, order %q", at, res.Start, res.Order)
			}
		}
	}},
	{"stopped and resumed; an older version changes nothing", func(e *stockEnv) {
		e.install()
		e.item.Stopped, e.item.Version = true, 2
		e.must(e.Assert(e.ctx, e.item))
		e.refused(1, "1", 1, seckill.ReserveStopped)
		e.item.Stopped, e.item.Version = false, 1
		e.must(e.Assert(e.ctx, e.item))
		e.refused(1, "1", 1, seckill.ReserveStopped)
		e.item.Version = 3
		e.must(e.Assert(e.ctx, e.item))
		e.reserved(1, "1", 1, 1)
	}},
	{"a stopped sale still knows its requests", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 1, 1)
		e.item.Stopped, e.item.Version = true, 2
		e.must(e.Assert(e.ctx, e.item))
		e.refused(1, "1", 1, seckill.ReservedAgain)
	}},
	{"stock grows, never shrinks", func(e *stockEnv) {
		e.install()
		e.item.Stock, e.item.Version = 7, 2
		e.must(e.Assert(e.ctx, e.item))
		e.level(7, 0, 0, 0)
		e.item.Stock, e.item.Version = 3, 3
		e.must(e.Assert(e.ctx, e.item))
		e.level(7, 0, 0, 0)
		l, err := e.Level(e.ctx, e.item.ID)
		e.must(err)
		if l.Stock != 7 || l.Version != 3 {
			e.Errorf("stock %d version %d, want 7 and 3", l.Stock, l.Version)
		}
	}},
	{"queued finds the newest and a named one", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 1, 1)
		want := e.reserved(2, "1", 1, 2)
		for ask, order := range map[string]string{"": oid(2), oid(1): oid(1), oid(2): oid(2), oid(3): ""} {
			got, err := e.Queued(e.ctx, e.item.ID, "1", ask)
			e.must(err)
			if got.Order != order {
				e.Errorf("queued(%q) = %q, want %q", ask, got.Order, order)
			}
		}
		if got, _ := e.Queued(e.ctx, e.item.ID, "1", oid(2)); !reflect.DeepEqual(got, want) {
			e.Errorf("queued: %+v, want %+v", got, want)
		}
		if got, _ := e.Queued(e.ctx, e.item.ID, "2", oid(1)); got.Order != "" {
			e.Errorf("another user finds %q", got.Order)
		}
		e.confirmed(2, "1", 2)
		if got, _ := e.Queued(e.ctx, e.item.ID, "1", ""); got.Order != oid(1) {
			e.Errorf("after the newest was confirmed: %q", got.Order)
		}
	}},
	{"fifty shoppers at once for five units", func(e *stockEnv) {
		e.install()
		var mu sync.Mutex
		units, codes := map[int]bool{}, map[seckill.ReserveCode]int{}
		together(50, func(i int) {
			res, err := e.Reserve(e.ctx, e.now, e.request(i, string(rune('a'+i)), 1), true, resend)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				e.Error(err)
				return
			}
			codes[res.Code]++
			for _, n := range res.Reservation.Units {
				if units[n] {
					e.Errorf("number %d handed out twice", n)
				}
				units[n] = true
			}
		})
		if codes[seckill.Reserved] != 5 || codes[seckill.ReserveNone] != 45 || len(units) != 5 {
			e.Errorf("answers %v, units %v", codes, units)
		}
	}},
	{"items do not know each other", func(e *stockEnv) {
		e.install()
		e.reserved(1, "1", 3, 1, 2, 3)
		e.item.ID = "1002"
		e.install()
		e.level(5, 0, 0, 0)
		e.reserved(2, "1", 1, 1)
	}},
}
