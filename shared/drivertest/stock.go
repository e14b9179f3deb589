package drivertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

type stockCase struct {
	name string
	run  func(e *stockEnv)
}

const resend = 30 * time.Second

var stockStart = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

func testItem() seckill.Item {
	return seckill.Item{ID: "1001", Commodity: seckill.Commodity{ID: "5", Title: "手机"}, Price: 8888, Start: stockStart,
		End: stockStart.Add(time.Hour), Stock: 5, Limit: 3, Buckets: 2, Version: 1}
}

// stockEnv is a stock under test, with short names for what the cases do.
type stockEnv struct {
	*testing.T
	seckill.Stock
	ctx  context.Context
	now  time.Time
	item seckill.Item
}

// oid returns a valid order id for each n.
func oid(n int) string { return seckill.KeyedOrderID("1001", "0", fmt.Sprint(n)) }

func (e *stockEnv) request(n int, user string, count int) seckill.Request {
	return seckill.Request{Order: oid(n), Item: e.item.ID, User: user, Count: count,
		Given: Given(), Created: e.now, Trace: "t"}
}

func (e *stockEnv) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

func (e *stockEnv) is(err, want error) {
	e.Helper()
	if !errors.Is(err, want) {
		e.Fatalf("error %v, want %v", err, want)
	}
}

// install makes the item live with these unit rows.
func (e *stockEnv) install(rows ...seckill.UnitRow) {
	e.Helper()
	e.must(e.BuildStart(e.ctx, e.now, e.item.ID, "tok"))
	users, err := e.BuildUnits(e.ctx, e.now, e.item.ID, "tok", rows)
	e.must(err)
	hw := 0
	for _, r := range rows {
		hw = max(hw, r.Unit)
	}
	e.must(e.BuildGaps(e.ctx, e.now, e.item.ID, "tok", 1, hw))
	e.must(e.Install(e.ctx, e.item, "tok", len(rows), users, hw, 0))
}

// held makes the item live without unit rows; its build holds units back.
func (e *stockEnv) held(back int) {
	e.Helper()
	e.must(e.BuildStart(e.ctx, e.now, e.item.ID, "tok"))
	e.must(e.Install(e.ctx, e.item, "tok", 0, 0, 0, back))
}

func (e *stockEnv) reserve(n int, user string, count int) seckill.ReserveResult {
	e.Helper()
	res, err := e.Reserve(e.ctx, e.now, e.request(n, user, count), true, resend)
	e.must(err)
	return res
}

// reserved reserves and checks that it gets these units.
func (e *stockEnv) reserved(n int, user string, count int, units ...int) seckill.Reservation {
	e.Helper()
	res := e.reserve(n, user, count)
	if res.Code != seckill.Reserved || !slices.Equal(res.Reservation.Units, units) {
		e.Fatalf("reserve %d for %s: %s %v, want reserved %v", count, user, res.Code, res.Reservation.Units, units)
	}
	return res.Reservation
}

func (e *stockEnv) refused(n int, user string, count int, want seckill.ReserveCode) seckill.ReserveResult {
	e.Helper()
	res := e.reserve(n, user, count)
	if res.Code != want {
		e.Fatalf("reserve %d for %s: %s, want %s", count, user, res.Code, want)
	}
	return res
}

func (e *stockEnv) confirmed(n int, user string, units ...int) {
	e.Helper()
	e.must(e.Confirm(e.ctx, seckill.Verdict{Item: e.item.ID, Order: oid(n), User: user, Units: units}))
}

// level checks the figures.
func (e *stockEnv) level(left, held, awaiting, hw int) {
	e.Helper()
	l, err := e.Level(e.ctx, e.item.ID)
	e.must(err)
	if got := [4]int{l.Left, l.Held, l.Awaiting, l.HighWater}; got != [4]int{left, held, awaiting, hw} {
		e.Fatalf("left, held, awaiting, high-water %v; want %v", got, [4]int{left, held, awaiting, hw})
	}
}

// records checks of how many orders the stock has a record.
func (e *stockEnv) records(want int, when string) {
	e.Helper()
	l, err := e.Level(e.ctx, e.item.ID)
	e.must(err)
	if l.Records != want {
		e.Errorf("%s: %d records, want %d", when, l.Records, want)
	}
}

// holders checks that exactly these units are held, by these orders.
func (e *stockEnv) holders(want map[int]string) {
	e.Helper()
	got := map[int]string{}
	for _, s := range e.seen() {
		if s.Holder != "" {
			got[s.Unit] = s.Holder
			if s.Free {
				e.Fatalf("number %d is held and free", s.Unit)
			}
		} else if !s.Free {
			e.Fatalf("number %d is in no list", s.Unit)
		}
	}
	if !maps.Equal(got, want) {
		e.Fatalf("holders %v, want %v", got, want)
	}
}

func (e *stockEnv) seen() []seckill.Seen {
	e.Helper()
	var out []seckill.Seen
	for b := range e.item.Buckets {
		s, err := e.Scan(e.ctx, e.item.ID, b, e.item.Buckets)
		e.must(err)
		for _, x := range s {
			if x.Unit%e.item.Buckets != b {
				e.Fatalf("scan of bucket %d gave number %d", b, x.Unit)
			}
		}
		out = append(out, s...)
	}
	slices.SortFunc(out, func(a, b seckill.Seen) int { return a.Unit - b.Unit })
	return out
}

func (e *stockEnv) users() map[string]seckill.UserEntries {
	e.Helper()
	out := map[string]seckill.UserEntries{}
	for cursor := uint64(0); ; {
		page, next, err := e.Users(e.ctx, e.item.ID, cursor)
		e.must(err)
		for _, u := range page {
			out[u.User] = u
		}
		if cursor = next; cursor == 0 {
			return out
		}
	}
}

// entries checks what counts against the user.
func (e *stockEnv) entries(user string, want map[string]int) {
	e.Helper()
	if got := e.users()[user].Orders; !maps.Equal(got, want) {
		e.Fatalf("entries of %s: %v, want %v", user, got, want)
	}
}

func (e *stockEnv) redraw(r seckill.Reservation, c seckill.Collision, want seckill.RedrawCode,
	units ...int) seckill.Reservation {
	e.Helper()
	code, got, err := e.Redraw(e.ctx, e.now, r, c, resend)
	e.must(err)
	if code != want || !slices.Equal(got.Units, units) {
		e.Fatalf("redraw of %v: %s %v, want %s %v", r.Units, code, got.Units, want, units)
	}
	return got
}

// pass runs an empty drift pass, as if everything had been compared.
func (e *stockEnv) pass(token string) {
	e.Helper()
	n, err := e.DriftBegin(e.ctx, e.item.ID, token)
	e.must(err)
	e.must(e.DriftEnd(e.ctx, e.item.ID, token, n))
}

// everyMethod calls each method that needs an installed item.
func (e *stockEnv) everyMethod() map[string]error {
	r := seckill.Reservation{Request: e.request(1, "7", 1), Units: []int{1}}
	id := e.item.ID
	_, reserve := e.Reserve(e.ctx, e.now, r.Request, true, resend)
	_, _, redraw := e.Redraw(e.ctx, e.now, r, seckill.Collision{}, resend)
	_, due := e.Due(e.ctx, e.now, id, 10, time.Minute)
	_, level := e.Level(e.ctx, id)
	_, queued := e.Queued(e.ctx, id, "7", "")
	_, begin := e.DriftBegin(e.ctx, id, "t")
	_, scan := e.Scan(e.ctx, id, 0, 2)
	_, correct := e.Correct(e.ctx, id, seckill.Correction{Unit: 1})
	_, _, users := e.Users(e.ctx, id, 0)
	_, _, copied := e.CopiedBlocks(e.ctx, id, 0)
	blocks := e.CopyBlocks(e.ctx, id, e.now, time.Time{}, []seckill.Block{{Subject: "user:7", Item: id}}, nil)
	_, user := e.CorrectUser(e.ctx, id, seckill.UserEntries{User: "7"}, nil)
	confirm := e.Confirm(e.ctx, seckill.Verdict{Item: id, Order: r.Order, User: "7"})
	return map[string]error{
		"Reserve": reserve, "Confirm": confirm, "Redraw": redraw,
		"Return": e.Return(e.ctx, id, r.Order, "7", []int{1}),
		"Due":    due, "Assert": e.Assert(e.ctx, e.item), "Level": level, "Queued": queued, "DriftBegin": begin,
		"Scan": scan, "Correct": correct,
		"CopyBlocks": blocks, "CopiedBlocks": copied,
		"Users": users, "CorrectUser": user, "DriftEnd": e.DriftEnd(e.ctx, id, "t", 1),
	}
}

// together calls f n times concurrently.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Add(1)
		go func() { defer wg.Done(); f(i) }()
	}
	wg.Wait()
}
