package linear

import (
	"fmt"
	"slices"

	"github.com/your-org/seckill/shared/seckill"
)

// shop is a tiny seckill system in which each operation happens at one moment: a stock that stores reservations, a
// ledger of rows, messages that wait for their placement. Its histories are legal by construction, so the check must
// accept all of them.
type shop struct {
	pick     func(n int) int // returns a random number in 0..n-1
	rec      Recorder
	now      int64
	truth    Truth
	losses   []int64
	stock    int
	minted   int
	orders   []*made
	late     []func() // pending effects of unanswered purchases
	shoppers []string
	lossy    bool
}

// made is an order, wherever it is stored.
type made struct {
	id, shopper string
	count       int
	address     string
	state       seckill.State
	closeTo     seckill.State
	units       []int // while placed
	record      byte  // the stock's record: 'q' queued, 'c' confirmed, 0 none
	charged     bool  // the stock counts it against the shopper
	lost        bool  // no message and no record: it will never be placed
}

const limit = 2

func newShop(pick func(int) int, lossy bool) *shop {
	s := &shop{pick: pick, stock: 4, shoppers: []string{"7", "8"}, lossy: lossy, now: 100}
	s.truth = Truth{Limit: limit, Closes: forever}
	s.note()
	return s
}

func (s *shop) options() Options {
	return Options{Losses: s.losses, Truth: map[string]*Truth{"1001": &s.truth}, Stale: 1}
}

func (s *shop) left() int {
	left := s.stock
	for _, o := range s.orders {
		if o.charged {
			left -= o.count
		}
	}
	return left
}

func (s *shop) note() { s.truth.Note(Moment{At: s.now, Installed: true, Left: s.left()}) }

// play makes n operations, each at its own moment.
func (s *shop) play(n int) {
	for range n {
		s.now += 10
		switch s.pick(8) {
		case 0, 1:
			s.buy()
		case 2, 3:
			s.look()
		case 4:
			s.cancel()
		default:
			s.background()
		}
		s.note()
	}
}

// asks records an operation that takes effect now, called up to 40 earlier and answered up to 40 later.
func (s *shop) asks(op Op, o Outcome) {
	op.Item, op.Call = "1001", s.now-int64(s.pick(5))*10-1
	h := s.rec.Begin(op)
	s.rec.End(h, s.now+int64(s.pick(5))*10+1, o)
}

func (s *shop) buy() {
	op := Op{Kind: Buy, Shopper: s.shoppers[s.pick(2)], Count: 1 + s.pick(2), Address: []string{"a", "b"}[s.pick(2)]}
	if s.pick(2) == 0 {
		op.Key = "k" + fmt.Sprint(s.pick(2))
	}
	switch s.pick(6) {
	case 0: // no answer; the effect comes now, later or never
		s.asks(op, Outcome{})
		s.late = append(s.late, func() { s.reserve(op) })
	case 1:
		o := s.reserve(op)
		if o.Kind == Accepted {
			o = Outcome{Kind: Refused, Code: seckill.CodeUnconfirmed, Order: o.Order}
		}
		s.asks(op, o)
	default:
		s.asks(op, s.reserve(op))
	}
}

// reserve behaves like reserve.lua.
func (s *shop) reserve(op Op) Outcome {
	id := seckill.KeyedOrderID("1001", op.Shopper, op.Key)
	if op.Key == "" {
		s.minted++
		id = fmt.Sprint("n", s.minted)
	}
	var existing, newest *made
	charged := 0
	for _, o := range s.orders {
		if o.id == id {
			existing = o
		}
		if o.shopper == op.Shopper && o.charged {
			charged, newest = charged+o.count, o
		}
	}
	if existing != nil && existing.record != 0 {
		if existing.count != op.Count || existing.address != op.Address {
			return Outcome{Kind: Refused, Code: seckill.CodeKeyReused, Order: id}
		}
		return accepted(id)
	}
	if existing != nil && existing.charged {
		return accepted(id)
	}
	if op.Key == "" {
		for _, o := range slices.Backward(s.orders) {
			if o.shopper == op.Shopper && o.charged && o.record == 'q' && o.count == op.Count &&
				o.address == op.Address {
				return accepted(o.id)
			}
		}
	}
	switch left := s.left(); {
	case charged+op.Count > limit:
		return Outcome{Kind: Refused, Code: seckill.CodeLimitReached, Order: newest.id}
	case left <= 0:
		return Outcome{Kind: Refused, Code: seckill.CodeSoldOut}
	case left < op.Count:
		return Outcome{Kind: Refused, Code: seckill.CodeNotEnough}
	}
	if existing != nil { // lost, or over: reserved again
		existing.record, existing.charged, existing.lost = 'q', true, false
		return accepted(id)
	}
	s.orders = append(s.orders, &made{id: id, shopper: op.Shopper, count: op.Count, address: op.Address,
		state: seckill.Queued, record: 'q', charged: true})
	return accepted(id)
}

func (s *shop) show(o *made) Seen {
	return Seen{Order: o.id, State: o.state, Count: o.count, Address: o.address, Units: slices.Clone(o.units)}
}

// known reports whether a reader finds the order.
func (o *made) known() bool { return o.state != seckill.Queued || o.record == 'q' && o.charged }

func (s *shop) look() {
	who := s.shoppers[s.pick(2)]
	if s.pick(3) == 0 {
		s.asks(Op{Kind: Newest, Shopper: who}, s.newest(who))
		return
	}
	if s.pick(4) == 0 {
		list := Outcome{Kind: Shown}
		for _, o := range s.orders {
			if o.shopper == who && o.state != seckill.Queued {
				list.Seen = append(list.Seen, s.show(o))
			}
		}
		s.asks(Op{Kind: List, Shopper: who}, list)
		return
	}
	if len(s.orders) == 0 {
		s.asks(Op{Kind: Read, Shopper: who, Order: "n99"}, Outcome{Kind: Missing})
		return
	}
	o := s.orders[s.pick(len(s.orders))]
	out := Outcome{Kind: Missing}
	if o.shopper == who && o.known() {
		out = Outcome{Kind: Shown, Seen: []Seen{s.show(o)}}
	}
	s.asks(Op{Kind: Read, Shopper: who, Order: o.id}, out)
}

func (s *shop) newest(who string) Outcome {
	for _, queuedToo := range []bool{true, false} {
		for _, o := range slices.Backward(s.orders) {
			if o.shopper == who && o.known() && (o.record == 'q') == queuedToo {
				return shown(o.id, o.state)
			}
		}
	}
	return Outcome{Kind: Missing}
}

func (s *shop) cancel() {
	if len(s.orders) == 0 {
		return
	}
	o := s.orders[s.pick(len(s.orders))]
	op := Op{Kind: Cancel, Shopper: o.shopper, Order: o.id}
	if s.pick(5) == 0 {
		s.asks(op, Outcome{})
		s.late = append(s.late, func() { s.close(o) })
		return
	}
	s.asks(op, s.close(o))
}

func (s *shop) close(o *made) Outcome {
	switch {
	case !o.known():
		return Outcome{Kind: Missing}
	case o.state == seckill.Queued:
		return Outcome{Kind: Refused, Code: seckill.CodeStillQueued, Order: o.id}
	case o.state == seckill.PendingPayment:
		o.state, o.closeTo = seckill.Closing, seckill.Cancelled
		return shown(o.id, o.state)
	case o.state == seckill.Closing || o.state == seckill.Cancelled:
		return shown(o.id, o.state)
	}
	return Outcome{Kind: Refused, Code: seckill.CodeNotCancelable, Order: o.id}
}

// background makes something happen that no shopper causes.
func (s *shop) background() {
	if len(s.late) > 0 && s.pick(3) == 0 {
		i := s.pick(len(s.late))
		s.late[i]()
		s.late = slices.Delete(s.late, i, i+1)
		return
	}
	if s.lossy && s.pick(8) == 0 {
		s.lose()
		return
	}
	if len(s.orders) == 0 {
		return
	}
	o := s.orders[s.pick(len(s.orders))]
	switch o.state {
	case seckill.Queued:
		s.place(o)
	case seckill.PendingPayment:
		if s.pick(2) == 0 {
			o.state = seckill.Paid
		} else {
			o.state, o.closeTo = seckill.Closing, seckill.Expired
		}
	case seckill.Closing:
		if s.pick(3) == 0 {
			o.state = seckill.Paid
		} else {
			o.state, o.units = o.closeTo, nil
		}
	case seckill.Expired, seckill.Cancelled:
		if s.pick(3) == 0 {
			o.state = seckill.RefundOwed
		}
	case seckill.Paid: // an operator refunds it
		if s.pick(4) == 0 {
			if o.state = seckill.RefundOwed; s.pick(2) == 0 {
				o.units = nil
			}
		}
	case seckill.RefundOwed:
		o.state = seckill.Refunded
	}
	// The stock learns the ledger's decision some time later.
	if o.state != seckill.Queued && s.pick(2) == 0 {
		holds := o.state.Info().Holds || len(o.units) > 0
		switch {
		case o.record != 0 && holds:
			o.record = 'c'
		case o.record != 0: // the order is over, and the stock drops its record
			o.record = 0
		}
		o.charged = o.charged && holds
	}
}

// place behaves like consume with a message, including lost records.
func (s *shop) place(o *made) {
	if o.lost {
		return
	}
	if o.record == 0 && s.pick(2) == 0 { // restored from the message
		o.record, o.charged = 'q', true
		return
	}
	holds, used := 0, map[int]bool{}
	for _, other := range s.orders {
		for _, u := range other.units {
			used[u] = true
		}
		if other.shopper == o.shopper {
			holds += len(other.units)
		}
	}
	var free []int
	for u := 1; u <= s.stock && len(free) < o.count; u++ {
		if !used[u] {
			free = append(free, u)
		}
	}
	if holds+o.count > limit || len(free) < o.count {
		o.state = seckill.Rejected
		return
	}
	o.state, o.units = seckill.PendingPayment, free
}

// lose makes the stock lose everything; it is rebuilt from the ledger at once. Some reservations have no message yet.
func (s *shop) lose() {
	s.losses = append(s.losses, s.now)
	for _, o := range s.orders {
		o.record, o.charged = 0, len(o.units) > 0
		o.lost = o.state == seckill.Queued && s.pick(4) == 0
	}
}
