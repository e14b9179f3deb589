package redisconn

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/fake/redistest"
	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/flow/sale/consume"
	"github.com/your-org/seckill/shared/flow/sale/repair"
	"github.com/your-org/seckill/shared/seckill"
)

// shop is buy, consume and repair with a stock on a Runner, and everything else embedded.
type shop struct {
	*testing.T
	ctx    context.Context
	faults *redistest.Faults
	clock  *memory.Clock
	orders *memory.Queue
	ledger seckill.Ledger
	stock  *redisstock.Stock
	item   seckill.Item
	buy    *buy.Flow
	work   *consume.Flow
	repair *repair.Flow

	point int // the flows' script calls so far
	at    int // which of them gets the fault, counted from 1
	spoil []redistest.Fault
}

type noMeter struct{}

func (noMeter) Count(seckill.Event, int) {}

func newShop(t *testing.T, r *Runner, f *redistest.Faults, at int, spoil []redistest.Fault) *shop {
	t.Helper()
	start := time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	s := &shop{T: t, ctx: context.Background(), faults: f, clock: memory.NewClock(start.Add(time.Minute)), at: at,
		spoil: spoil}
	s.item = seckill.Item{ID: "1001", Commodity: seckill.Commodity{ID: "5", Title: "手机"}, Price: 8888, Start: start,
		End:        start.Add(time.Hour),
		CreateTime: start, Stock: 4, Limit: 2, Buckets: 2, Version: 1}
	s.stock = redisstock.New(r)
	s.ledger = ledger.New(memory.NewRows(memory.RowsOptions{Clock: s.clock}))
	s.orders = memory.NewQueue(s.clock, memory.QueueOptions{})
	items, ids := memory.NewItems(), system.NewIDs(nil)
	st := spoilt{s.stock, s}
	s.repair = repair.New(repair.Deps{Stock: st, Ledger: s.ledger, Items: items, Orders: s.orders, Clock: s.clock,
		IDs: ids, Meter: noMeter{}})
	s.buy = buy.New(buy.Deps{Stock: st, Orders: s.orders, Items: items, Clock: s.clock, IDs: ids, Meter: noMeter{}})
	s.work = consume.New(consume.Deps{Stock: st, Ledger: s.ledger, Items: items, Orders: s.orders,
		Closings: memory.NewQueue(s.clock, memory.QueueOptions{}),
		Clock:    s.clock, Meter: noMeter{}, Repair: s.repair, Hold: time.Hour})
	s.must(items.Put(s.ctx, s.item, nil))
	s.must(s.stock.BuildStart(s.ctx, start, s.item.ID, "t"))
	s.must(s.stock.Install(s.ctx, s.item, "t", 0, 0, 0))
	s.warm()
	return s
}

// warm loads the scripts into the server, so that each of the flows' calls is one EVALSHA.
func (s *shop) warm() {
	r := seckill.Reservation{Request: seckill.Request{Order: seckill.KeyedOrderID("1001", "0", "0"), Item: "1001",
		User: "0", Count: 1}}
	_, err := s.stock.Reserve(s.ctx, s.item.Start.Add(-time.Second), r.Request, true, 0)
	s.must(err)
	s.must(s.stock.Confirm(s.ctx, "1001", r.Order, "0", nil))
	s.must(s.stock.Return(s.ctx, "1001", r.Order, "0", nil))
	r.Units, r.Created = []int{1}, s.item.Start
	// An order that the stock has lost is restored, and given back.
	_, got, err := s.stock.Redraw(s.ctx, s.item.Start, r, seckill.Collision{}, time.Second)
	s.must(err)
	s.must(s.stock.Confirm(s.ctx, "1001", r.Order, "0", nil))
	s.must(s.stock.Return(s.ctx, "1001", r.Order, "0", got.Units))
}

func (s *shop) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// spoilt arms the faults before the chosen call.
type spoilt struct {
	*redisstock.Stock
	shop *shop
}

func (p spoilt) next() {
	if p.shop.point++; p.shop.point == p.shop.at {
		p.shop.faults.Arm(p.shop.spoil...)
	}
}

func (p spoilt) Reserve(ctx context.Context, now time.Time, r seckill.Request, keyed bool,
	resend time.Duration) (seckill.ReserveResult, error) {
	p.next()
	return p.Stock.Reserve(ctx, now, r, keyed, resend)
}

func (p spoilt) Confirm(ctx context.Context, item, order, user string, units []int) error {
	p.next()
	return p.Stock.Confirm(ctx, item, order, user, units)
}

func (p spoilt) Redraw(ctx context.Context, now time.Time, r seckill.Reservation, c seckill.Collision,
	resend time.Duration) (seckill.RedrawCode, seckill.Reservation, error) {
	p.next()
	return p.Stock.Redraw(ctx, now, r, c, resend)
}

func (p spoilt) Return(ctx context.Context, item, order, user string, units []int) error {
	p.next()
	return p.Stock.Return(ctx, item, order, user, units)
}

// purchase buys like a shopper who retries until an order id arrives, and returns how many 503s came first.
func (s *shop) purchase(user, key string) (id string, refused int) {
	s.Helper()
	for {
		begin := time.Now()
		id, err := s.buy.Buy(s.ctx, buy.Purchase{Item: "1001", User: user, Count: 1,
			Given: seckill.Given{Address: "杭州市西湖区1号"}, Key: key})
		if err == nil {
			return id, refused
		}
		var e *seckill.Error
		if !errors.As(err, &e) || e.Code != seckill.CodeUnavailable || httpapi.Status(e.Code) != 503 ||
			e.RetryAfter <= 0 ||
			time.Since(begin) > patience/2 {
			s.Fatalf("buy: %v after %s, want 503 with Retry-After, and not after the Runner's %s", err,
				time.Since(begin), patience)
		}
		if refused++; refused > 1 {
			s.Fatalf("buy: refused again, without a fault: %v", err)
		}
	}
}

// drain handles messages until none is left, and returns how many failed and were delivered again.
func (s *shop) drain() (back int) {
	s.Helper()
	for range 20 {
		batch, err := s.orders.Receive(s.ctx, seckill.MaxBatch)
		s.must(err)
		for _, d := range batch {
			if err := s.work.Handle(s.ctx, d); err != nil {
				back++
				continue
			}
			s.must(s.orders.Delete(s.ctx, d))
		}
		if d, err := s.orders.Depth(s.ctx); err != nil || d.Parked > 0 {
			s.Fatalf("queue: %+v, %v", d, err)
		} else if d == (seckill.Depth{}) {
			return back
		}
		s.clock.Advance(seckill.DefaultVisible)
	}
	s.Fatal("messages never end")
	return back
}

// points lists the flows' script calls in story, in order, and the flow that sees the fault.
var points = []struct{ name, seen string }{
	{"reserve", "buy"}, {"reserve again", "buy"}, {"confirm", "consume"}, {"confirm again", "consume"},
	{"reserve the second", "buy"}, {"redraw", "consume"}, {"confirm the second", "consume"},
	{"return", "consume"}, {"reserve the third", "buy"}, {"confirm the third", "consume"},
}

// story: one order, requested twice; a second one whose unit turns out to be sold; the first is given back; a third
// takes its unit.
func (s *shop) story() (refused, back int) {
	s.Helper()
	purchase := func(user, key string) string {
		s.Helper()
		id, r := s.purchase(user, key)
		refused += r
		s.late()
		return id
	}
	drain := func() {
		s.Helper()
		back += s.drain()
	}
	first := purchase("7", "a")
	if again := purchase("7", "a"); again != first {
		s.Errorf("a repeat answers %s, want %s", again, first)
	}
	drain()
	s.late()

	// The stock has lost the fact that unit 2 is sold.
	foreign := seckill.KeyedOrderID("1001", "99", "z")
	s.must(s.ledger.Place(s.ctx, s.order(foreign, "99", []int{2}), 2))
	second := purchase("8", "b")
	drain()
	s.late()

	o, err := s.ledger.Order(s.ctx, first)
	s.must(err)
	s.must(s.ledger.BeginClosing(s.ctx, o, seckill.Cancelled, s.clock.Now(), "test"))
	o, err = s.ledger.Order(s.ctx, first)
	s.must(err)
	s.must(s.ledger.GiveBack(s.ctx, o, s.clock.Now(), "test"))
	s.must(s.orders.Send(s.ctx, seckill.Message{Kind: seckill.MessageReturn, Order: first}, 0))
	drain()

	third := purchase("9", "c") // the late return below finds its unit taken by someone else
	drain()
	s.late()
	s.compare(map[int]string{1: third, 2: foreign, 3: second})
	return refused, back
}

func (s *shop) late() { s.must(s.faults.RunLate()) }

func (s *shop) order(id, user string, units []int) seckill.Order {
	now := s.clock.Now()
	return seckill.Order{ID: id, Item: "1001", User: user, Count: len(units), Units: units, Price: 8888,
		Amount: 8888 * seckill.Fen(len(units)),
		Given:  seckill.Given{Address: "a"}, State: seckill.PendingPayment, Created: now, Placed: now,
		PayBy: now.Add(time.Hour), Title: "手机", Buckets: 2,
		History: []seckill.Change{{State: seckill.PendingPayment, At: now, Cause: "placed"}}}
}

// compare checks that the ledger's unit rows and the stock's holders are these, every other unit is free, no order
// waits, and one unit counts against each shopper who has one. (The foreign order's user counts 0 until a drift
// pass.)
func (s *shop) compare(want map[int]string) {
	s.Helper()
	rows, held, users := map[int]string{}, map[int]string{}, map[string]int{}
	for b := range s.item.Buckets {
		units, err := s.ledger.Units(s.ctx, "1001", b)
		s.must(err)
		for _, u := range units {
			rows[u.Unit] = u.Order
		}
		seen, err := s.stock.Scan(s.ctx, "1001", b, s.item.Buckets)
		s.must(err)
		for _, x := range seen {
			switch {
			case x.Awaiting || x.Free == (x.Holder != ""):
				s.Errorf("number %d: %+v", x.Unit, x)
			case x.Holder != "":
				held[x.Unit] = x.Holder
			}
		}
	}
	if !maps.Equal(rows, want) || !maps.Equal(held, want) {
		s.Errorf("unit rows %v, held %v; want %v", rows, held, want)
	}
	page, _, err := s.stock.Users(s.ctx, "1001", 0)
	s.must(err)
	for _, u := range page {
		for order, n := range u.Orders {
			if n > 0 {
				users[u.User+" "+order] = n
			}
		}
	}
	if w := map[string]int{"9 " + want[1]: 1, "8 " + want[3]: 1}; !maps.Equal(users, w) {
		s.Errorf("counted against users: %v, want %v", users, w)
	}
	l, err := s.stock.Level(s.ctx, "1001")
	s.must(err)
	if l.Left != s.item.Stock-len(want) || l.Awaiting != 0 {
		s.Errorf("level %+v, want %d left and none awaiting", l, s.item.Stock-len(want))
	}
}

// hurtFlows plays the story with each fault at each of the flows' script calls: buy answers 503 once and the retry
// gets the order; consume's message is delivered again once; nothing is lost or done twice.
func hurtFlows(t *testing.T, faults map[string][]redistest.Fault, hidden bool, connected func(t *testing.T) (*Runner,
	*redistest.Faults)) {
	t.Helper()
	for name, fault := range faults {
		for i, p := range points {
			t.Run(fmt.Sprintf("%s/%s", name, p.name), func(t *testing.T) {
				r, f := connected(t)
				s := newShop(t, r, f, i+1, fault)
				refused, back := s.story()
				want := [2]int{}
				if !hidden {
					want = map[string][2]int{"buy": {1, 0}, "consume": {0, 1}}[p.seen]
				}
				if got := [2]int{refused, back}; got != want {
					t.Errorf("503 %d times, messages back %d; want %v", refused, back, want)
				}
				if f.Armed() || s.point < len(points) {
					t.Errorf("%d script calls, the fault still waits: %t", s.point, f.Armed())
				}
			})
		}
	}
}

func failing() map[string][]redistest.Fault {
	out := map[string][]redistest.Fault{}
	for _, f := range append(redistest.WireFaults(), redistest.Refusals()...) {
		out[f.Name] = []redistest.Fault{f}
	}
	return out
}

func TestFlowsUnderFaults(t *testing.T) {
	for _, cluster := range []bool{false, true} {
		t.Run(fmt.Sprintf("cluster=%t", cluster), func(t *testing.T) {
			hurtFlows(t, failing(), false, func(t *testing.T) (*Runner, *redistest.Faults) {
				s := redistest.NewFake(t, memory.NewRedis())
				s.Owner(s.Addr)
				r, f := connect(t, Options{Addrs: []string{s.Addr}, Cluster: cluster, Timeout: patience})
				f.Instant = true
				return r, f
			})
		})
	}
}

// TestFlowsUnderRedirects checks that the flows never notice a redirect that the client follows.
func TestFlowsUnderRedirects(t *testing.T) {
	m := memory.NewRedis()
	a, b := redistest.NewFake(t, m), redistest.NewFake(t, m)
	a.Owner(a.Addr)
	b.Owner(a.Addr)
	hurtFlows(t, map[string][]redistest.Fault{
		"MOVED":    {{Answer: "MOVED 1 " + b.Addr}},
		"ASK":      {{Answer: "ASK 1 " + b.Addr}},
		"NOSCRIPT": {{Answer: "NOSCRIPT No matching script. Please use EVAL."}},
	}, true, func(t *testing.T) (*Runner, *redistest.Faults) {
		m.Flush()
		return connect(t, Options{Addrs: []string{a.Addr}, Cluster: true, Timeout: patience})
	})
}
