// The tests here compare two Redis implementations with the stock's scripts: they run random histories of all scripts
// on the embedded Redis and replay them on another one, which must give the same answers and the same final keys. The
// first differing history is shrunk.

package redisstock_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// Few ids, so that everything collides with everything: units 1..5, users, orders.
const (
	item    = "1001"
	numbers = 5
	users   = 4
	orders  = 6
	// maxSteps is the largest length of a history.
	maxSteps = 24
)

var start = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

// op is one call of a method of the stock.
type op int

const (
	opReserve op = iota
	opConfirm
	opRedraw
	opReturn
	opDue
	opAssert
	opLevel
	opQueued
	opDriftBegin
	opDriftEnd
	opScan
	opCorrect
	opUsers
	opCorrectUser
	opBuildStart
	opBuildUnits
	opBuildGaps
	opInstall
	opRemove
	opCopy
	opCopied
	opHoldBack
	ops
)

var opNames = [ops]string{"Reserve", "Confirm", "Redraw", "Return", "Due", "Assert", "Level", "Queued", "DriftBegin",
	"DriftEnd", "Scan", "Correct", "Users", "CorrectUser", "BuildStart", "BuildUnits", "BuildGaps", "Install", "Remove",
	"CopyBlocks", "CopiedBlocks", "HoldBack"}

// weights says how often each step occurs: mostly purchases and confirms, and builds and losses rarely enough that a
// sale develops.
var weights = [ops]int{opReserve: 30, opConfirm: 14, opRedraw: 14, opReturn: 8, opDue: 5, opAssert: 3, opLevel: 3,
	opQueued: 4, opDriftBegin: 3,
	opDriftEnd: 3, opScan: 4, opCorrect: 8, opUsers: 3, opCorrectUser: 5, opBuildStart: 2, opBuildUnits: 3,
	opBuildGaps: 2, opInstall: 2, opRemove: 1, opCopy: 2, opCopied: 1, opHoldBack: 2}

// Step is one call with all its arguments, so that removing any step leaves a valid history.
type Step struct {
	op    op
	order int // 0..orders-1
	user  int
	other int // another order
	count int
	unit  int // 0..numbers+1
	units []int
	at    time.Duration // since the start of the sale
	flag  bool
}

func (s Step) String() string {
	return fmt.Sprintf("%s order=%d user=%d other=%d count=%d unit=%d units=%v at=%s flag=%t", opNames[s.op], s.order,
		s.user, s.other, s.count, s.unit, s.units, s.at, s.flag)
}

// History returns the history of a seed. Most begin with an installed item.
func History(seed uint64) []Step {
	r := rand.New(rand.NewPCG(seed, 0x5ec1))
	var h []Step
	if r.IntN(10) > 0 {
		h = append(h, Step{op: opBuildStart}, Step{op: opInstall, unit: 1 + r.IntN(numbers), count: 1 + r.IntN(3)})
	}
	total := 0
	for _, w := range weights {
		total += w
	}
	at := time.Duration(0)
	for n := 1 + r.IntN(maxSteps-2); n > 0; n-- {
		at += time.Duration(r.IntN(40)*r.IntN(2)) * time.Second // half of the steps follow without delay
		s := Step{order: r.IntN(orders), user: r.IntN(users), other: r.IntN(orders), count: 1 + r.IntN(3),
			unit: r.IntN(numbers + 2), at: at, flag: r.IntN(2) == 0}
		if r.IntN(20) == 0 {
			s.at += []time.Duration{-time.Hour, time.Hour}[r.IntN(2)] // outside the window; the clock also goes back
		}
		for u := 1; u <= numbers; u++ {
			if r.IntN(3) == 0 {
				s.units = append(s.units, u)
			}
		}
		for w := r.IntN(total); w >= weights[s.op]; s.op++ {
			w -= weights[s.op]
		}
		switch {
		case s.op == opBuildStart && s.flag:
			h = append(h, wholeBuild(s)...)
		case s.op == opBuildStart: // another builder at the same time
			h = append(h, s)
			s.flag = true
			h = append(h, s)
		case s.op == opDriftBegin && s.flag: // a pass without changes in between; redraw's "none" needs such a pass
			h = append(h, s)
			s.op = opDriftEnd
			h = append(h, s)
		default:
			h = append(h, s)
		}
	}
	return h
}

// wholeBuild returns the steps of an installable build: random steps rarely agree on token and counts.
func wholeBuild(s Step) []Step {
	with := func(o op, unit int) Step {
		s.op, s.unit = o, unit
		return s
	}
	return []Step{with(opRemove, 0), with(opBuildStart, 0), with(opBuildUnits, 0), with(opBuildGaps, highest(s.units)),
		with(opInstall, numbers)}
}

func highest(units []int) int {
	if len(units) == 0 {
		return 0
	}
	return units[len(units)-1]
}

// Call is one script call and its reply.
type Call struct {
	Script     *redisstock.Script
	Keys, Args []string
	Reply      any
	Err        error
}

// recorder records a stock's script calls.
type recorder struct {
	redis *memory.Redis
	calls []Call
}

func (r *recorder) Run(ctx context.Context, s *redisstock.Script, keys, args []string) (any, error) {
	v, err := r.redis.Run(ctx, s, keys, args)
	r.calls = append(r.calls, Call{s, keys, args, v, err})
	return v, err
}

// player runs a history and keeps the parts of earlier replies that later steps need.
type player struct {
	ctx     context.Context
	stock   *redisstock.Stock
	pass    int64
	entries map[string]seckill.UserEntries
	built   int // the result of the last build_units
}

// Play empties this embedded Redis (making one costs more than a history) and runs a history on it. It returns the
// stock's script calls and the final keys.
func Play(m *memory.Redis, h []Step) ([]Call, map[string]any) {
	m.Flush()
	r := &recorder{redis: m}
	p := &player{ctx: context.Background(), stock: redisstock.New(r), entries: map[string]seckill.UserEntries{}}
	for _, s := range h {
		p.step(s)
	}
	return r.calls, r.redis.Dump()
}

func orderID(n int) string { return seckill.KeyedOrderID(item, "0", fmt.Sprint(n)) }

func userID(n int) string { return fmt.Sprint(70 + n) }

func token(flag bool) string {
	if flag {
		return "tokA"
	}
	return "tokB"
}

// step makes one call; the recorder has its reply, refusals included.
func (p *player) step(s Step) {
	now := start.Add(s.at)
	order, user := orderID(s.order), userID(s.user)
	r := seckill.Reservation{Units: s.units, Request: seckill.Request{Order: order, Item: item, User: user,
		Count: s.count, Created: now,
		Given: seckill.Given{Address: "杭州|西湖\"1号\\" + strings.Repeat("é", s.count) + strings.Repeat("乙", s.other%2)},
		Trace: "t"}}
	it := seckill.Item{ID: item, Price: 8888, Start: start, End: start.Add(time.Hour), Stock: max(s.unit, 1),
		Limit: s.count, Buckets: 2, Version: int64(s.user), Stopped: s.flag && s.other == 0}
	switch s.op {
	case opReserve:
		_, _ = p.stock.Reserve(p.ctx, now, r.Request, s.flag, 30*time.Second)
	case opConfirm:
		_ = p.stock.Confirm(p.ctx, seckill.Verdict{Item: item, Order: order, User: user, Units: s.units})
	case opRedraw:
		c := seckill.Collision{Unit: s.unit, Owner: orderID(s.other), User: userID((s.user + 1) % users)}
		if s.unit == 0 {
			c = seckill.Collision{}
		}
		_, _, _ = p.stock.Redraw(p.ctx, now, r, c, 30*time.Second)
	case opReturn:
		_ = p.stock.Return(p.ctx, item, order, user, s.units)
	case opDue:
		_, _ = p.stock.Due(p.ctx, now, item, s.count, time.Minute)
	case opAssert:
		_ = p.stock.Assert(p.ctx, it)
	case opLevel:
		_, _ = p.stock.Level(p.ctx, item)
	case opQueued:
		if s.flag {
			order = ""
		}
		_, _ = p.stock.Queued(p.ctx, item, user, order)
	case opDriftBegin:
		p.pass, _ = p.stock.DriftBegin(p.ctx, item, token(s.flag))
	case opDriftEnd:
		_ = p.stock.DriftEnd(p.ctx, item, token(s.flag), p.pass)
	case opScan:
		_, _ = p.stock.Scan(p.ctx, item, s.unit%s.count, s.count)
	case opCorrect:
		c := seckill.Correction{Unit: max(s.unit, 1), Holder: orderID(s.other), Owner: order, User: user}
		if s.flag {
			c.Holder = ""
		}
		if s.count == 1 {
			c.Owner, c.User = "", ""
		}
		_, _ = p.stock.Correct(p.ctx, item, c)
	case opUsers:
		page, _, _ := p.stock.Users(p.ctx, item, 0)
		for _, u := range page {
			p.entries[u.User] = u
		}
	case opCorrectUser:
		seen := p.entries[user]
		seen.User = user
		want := map[string]int{order: s.count - 1}
		if s.flag {
			want[orderID(s.other)] = 1
		}
		_, _ = p.stock.CorrectUser(p.ctx, item, seen, want)
	case opCopy:
		p.copyBlocks(s, now)
	case opCopied:
		_, _, _ = p.stock.CopiedBlocks(p.ctx, item, 0)
	case opHoldBack:
		_, _ = p.stock.HoldBack(p.ctx, item, seckill.HeldBack{Build: token(s.flag), Looks: s.count, Units: s.unit})
	default:
		p.build(s, now, it)
	}
}

func (p *player) copyBlocks(s Step, now time.Time) {
	b := seckill.Block{Subject: seckill.UserSubject(userID(s.user)),
		Item: []string{item, seckill.Everywhere}[s.other%2]}
	if s.count > 1 {
		b.Until = now.Add(time.Duration(s.unit) * time.Second)
	}
	var listed time.Time
	if s.flag {
		listed = now.Add(time.Duration(s.order) * seckill.BlocksLag / 2)
	}
	if s.unit%2 == 0 {
		_ = p.stock.CopyBlocks(p.ctx, item, now, listed, nil, []seckill.Block{b})
		return
	}
	_ = p.stock.CopyBlocks(p.ctx, item, now, listed, []seckill.Block{b}, nil)
}

func (p *player) build(s Step, now time.Time, it seckill.Item) {
	switch s.op {
	case opBuildStart:
		_ = p.stock.BuildStart(p.ctx, now, item, token(s.flag))
	case opBuildUnits:
		var rows []seckill.UnitRow
		for i, n := range s.units {
			rows = append(rows, seckill.UnitRow{Unit: n, Order: orderID((s.order + i/2) % orders),
				User: userID((s.user + i/2) % users)})
		}
		p.built, _ = p.stock.BuildUnits(p.ctx, now, item, token(s.flag), rows)
	case opBuildGaps:
		_ = p.stock.BuildGaps(p.ctx, now, item, token(s.flag), 1, s.unit)
	case opInstall:
		_ = p.stock.Install(p.ctx, it, token(s.flag), len(s.units), p.built, highest(s.units),
			max(0, s.count*(s.order-1)%4))
	case opRemove:
		_ = p.stock.Remove(p.ctx, item)
	}
}
