package linear

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/your-org/seckill/shared/seckill"
)

// The oracle implements the specification a second time, by brute force: it follows every possible world, with one
// concrete state per order, and tries every sequence that the times allow. It uses neither lots nor porcupine.
// It leaves out unanswered purchases without a key: the specification leaves open what they made, and when, until it is
// seen.

const orders = 4

// fate is the state of one order in one world.
type fate struct {
	state     seckill.State // "" while absent
	hidden    bool          // the stock has lost it
	forgotten bool          // it existed at a loss
	awaited   bool          // an unanswered purchase may still create it
}

type fates [orders]fate

// cast holds the orders of the oracle's histories: one with a key; three without, each with its own count or address.
var cast = [orders]struct {
	id, key string
	body    body
}{{"a", "k", body{1, "a"}}, {"n", "", body{1, "a"}}, {"m", "", body{2, "a"}}, {"l", "", body{1, "b"}}}

func castOf(id string) int {
	return slices.IndexFunc(cast[:], func(c struct {
		id, key string
		body    body
	}) bool {
		return c.id == id
	})
}

// later adds every world that may follow by itself.
func later(ws map[fates]bool) map[fates]bool {
	todo := make([]fates, 0, len(ws))
	for w := range ws {
		todo = append(todo, w)
	}
	for len(todo) > 0 {
		w := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for i, f := range w {
			var next []fate
			if f.state == "" && f.awaited {
				next = append(next, fate{state: seckill.Queued})
			}
			if f.hidden {
				next = append(next, fate{state: f.state, forgotten: f.forgotten})
			}
			for _, s := range seckill.States {
				if f.state != "" && f.state.CanBecome(s.State) {
					next = append(next, fate{state: s.State, forgotten: f.forgotten})
				}
			}
			for _, n := range next {
				v := w
				v[i] = n
				if !ws[v] {
					ws[v] = true
					todo = append(todo, v)
				}
			}
		}
	}
	return ws
}

// event is an operation, or a loss (op nil).
type event struct {
	op         *Op
	call, back int64
}

// after returns the worlds that an event may lead to; none if it cannot happen.
func (e event) after(w fates) []fates {
	if e.op == nil {
		for i := range w {
			if w[i].state != "" {
				w[i].forgotten = true
			}
		}
		worlds := []fates{w}
		for i := range w { // the stock may have kept some
			if w[i].state == seckill.Queued {
				for _, v := range worlds {
					v[i].hidden = true
					worlds = append(worlds, v)
				}
			}
		}
		return worlds
	}
	var ok bool
	switch o := e.op.Outcome; {
	case e.op.Kind == Buy:
		w, ok = buysIn(w, e.op)
	case e.op.Kind == Newest && o.Kind == Missing:
		ok = !slices.ContainsFunc(w[:], func(f fate) bool { return f.state != "" && !f.hidden })
	case o.Kind == Missing:
		f := w[castOf(e.op.Order)]
		ok = f.state == "" || f.hidden
	case o.Kind == Refused && o.Code == seckill.CodeStillQueued:
		f := w[castOf(e.op.Order)]
		ok = f.state == seckill.Queued && !f.hidden
	case o.Kind == Refused:
		ok = slices.Contains([]seckill.State{seckill.Paid, seckill.Confirmed, seckill.Shipped, seckill.Received,
			seckill.Completed, seckill.Expired,
			seckill.Rejected, seckill.RefundOwed, seckill.Refunded}, w[castOf(e.op.Order)].state)
	default:
		f := w[castOf(o.Seen[0].Order)]
		ok = f.state == o.Seen[0].State && !f.hidden
	}
	if !ok {
		return nil
	}
	return []fates{w}
}

func buysIn(w fates, op *Op) (fates, bool) {
	waits := func(except int, of body) bool { // an order with this body is queued and known to the stock
		for i, f := range w {
			if i != except && cast[i].body == of && f.state == seckill.Queued && !f.hidden {
				return true
			}
		}
		return false
	}
	if op.maybe() {
		if f := &w[0]; f.state == "" {
			f.awaited = true
		}
		return w, true
	}
	i := castOf(op.Outcome.Order)
	if op.Outcome.Kind == Accepted {
		f := &w[i]
		if f.state == "" {
			if op.Key == "" && waits(i, op.body()) {
				return w, false
			}
			*f = fate{state: seckill.Queued}
		}
		f.hidden = false
		return w, true
	}
	isOver := w[0].state != "" && w[0].state != seckill.Queued && w[0].state.MayHold(0, 1)
	if op.Key != "" && w[0].state != "" && !w[0].forgotten && (!isOver || i == 0) || op.Key == "" &&
		waits(-1, op.body()) {
		return w, false
	}
	return w, i < 0 || w[i].state != "" && !w[i].hidden
}

// explained tries every sequence of the events that their times allow.
func explained(worlds map[fates]bool, events []event) bool {
	if len(events) == 0 {
		return true
	}
	worlds = later(worlds)
	for i, e := range events {
		if slices.ContainsFunc(events, func(o event) bool { return o.back < e.call }) {
			continue
		}
		next := map[fates]bool{}
		for w := range worlds {
			for _, v := range e.after(w) {
				next[v] = true
			}
		}
		if len(next) > 0 && explained(next, slices.Delete(slices.Clone(events), i, i+1)) {
			return true
		}
	}
	return false
}

// anything draws an operation about the cast, legal or not.
func anything(t *rapid.T, states []seckill.State) Op {
	c := cast[rapid.IntRange(0, orders-1).Draw(t, "order")]
	about := Op{Kind: Read, Order: c.id}
	switch rapid.IntRange(0, 10).Draw(t, "operation") {
	case 0, 1, 2:
		about = buys(c.key, c.body.count)
		about.Address = c.body.address
		about.Outcome = accepted(c.id)
	case 3:
		about = buys("k", 1)
	case 4:
		about = buys(c.key, c.body.count)
		about.Address = c.body.address
		about.Outcome = Outcome{Kind: Refused, Code: seckill.CodeNotEnough}
		if rapid.Bool().Draw(t, "limit") {
			about.Outcome = Outcome{Kind: Refused, Code: seckill.CodeLimitReached,
				Order: cast[rapid.IntRange(0, orders-1).Draw(t, "newest")].id}
		}
	case 5:
		about.Outcome = Outcome{Kind: Missing}
	case 6:
		about = Op{Kind: Newest, Outcome: Outcome{Kind: Missing}}
	case 7:
		about.Kind = Cancel
		about.Outcome = Outcome{Kind: Refused, Order: c.id,
			Code: rapid.SampledFrom([]seckill.Code{seckill.CodeStillQueued, seckill.CodeNotCancelable}).Draw(t, "code")}
	default:
		about.Outcome = shown(c.id, rapid.SampledFrom(states).Draw(t, "state"))
	}
	about.Shopper, about.Item = "7", "1001"
	return about
}

// TestVerdictIsBruteForces compares three searches of the same small histories: the oracle's, porcupine's with our
// model, and the latter with shortcuts.
func TestVerdictIsBruteForces(t *testing.T) {
	states := []seckill.State{seckill.Queued, seckill.PendingPayment, seckill.Closing, seckill.Paid, seckill.Cancelled}
	verdicts := map[verdict]int{}
	rapid.Check(t, func(t *rapid.T) {
		var ops []Op
		var losses []int64
		events := []event{}
		for range rapid.IntRange(1, 6).Draw(t, "operations") {
			op := anything(t, states)
			op.Call = int64(rapid.IntRange(0, 20).Draw(t, "call"))
			op.Return = op.Call + int64(rapid.IntRange(0, 6).Draw(t, "takes"))
			if op.maybe() {
				op.Return = forever
			}
			ops = append(ops, op)
		}
		if rapid.IntRange(0, 2).Draw(t, "loss") == 0 {
			losses = append(losses, int64(rapid.IntRange(0, 20).Draw(t, "at")))
			events = append(events, event{nil, losses[0], losses[0]})
		}
		for i := range ops {
			events = append(events, event{&ops[i], ops[i].Call, ops[i].Return})
		}
		parts, err := split(ops)
		if err != nil {
			t.Fatal(err)
		}
		p := parts[0]
		p.keys = []keyed{{key: "k", order: "a"}}
		p.plan(&Options{Losses: losses})
		want := no
		if explained(map[fates]bool{{}: true}, events) {
			want = yes
		}
		got := search(p.slots, p.steps, DefaultSteps)
		verdicts[got]++
		if got != want {
			t.Fatalf("got verdict %d, brute force says %d, losses %v:\n%s", got, want, losses, lines(ops))
		}
		if v, _ := decide(p.slots, p.steps, DefaultSteps); v != want {
			t.Fatalf("got verdict %d by the shortcuts, brute force says %d, losses %v:\n%s", v, want, losses,
				lines(ops))
		}
	})
	if verdicts[yes] < 10 || verdicts[no] < 10 {
		t.Fatalf("verdicts %v: the histories are all alike", verdicts)
	}
}
