package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"seckill/shared/adapter/ledger"
	"seckill/shared/seckill"
)

// truth is the ledger as it is, read from its rows without the code under test.
type truth struct {
	orders   map[string]ledger.Row
	units    map[int]ledger.Row // by number
	quotas   map[string]ledger.Row
	payments map[string][]ledger.Row // by order
	returns  map[string]ledger.Row   // by order
}

func (w *World) truth() (truth, error) {
	t := truth{map[string]ledger.Row{}, map[int]ledger.Row{}, map[string]ledger.Row{}, map[string][]ledger.Row{}, map[string]ledger.Row{}}
	for _, r := range w.Rows.Dump(ledger.TableOrders) {
		t.orders[text(r, "id")] = r
	}
	for _, r := range w.Rows.Dump(ledger.TableUnits) {
		n, err := strconv.Atoi(text(r, "unit"))
		if err != nil {
			return t, fmt.Errorf("unit row %v", r)
		}
		if _, twice := t.units[n]; twice {
			return t, fmt.Errorf("I1 unit %d has two rows", n)
		}
		t.units[n] = r
	}
	for _, r := range w.Rows.Dump(ledger.TableQuotas) {
		t.quotas[text(r, "user")] = r
	}
	for _, r := range w.Rows.Dump(ledger.TablePayments) {
		t.payments[text(r, "order")] = append(t.payments[text(r, "order")], r)
	}
	for _, r := range w.Rows.Dump(ledger.TableReturns) {
		t.returns[text(r, "order")] = r
	}
	return t, nil
}

func text(r ledger.Row, attr string) string {
	s, _ := r[attr].(string)
	return s
}

func number(r ledger.Row, attr string) int64 {
	n, _ := r[attr].(int64)
	return n
}

func unitsOf(r ledger.Row) []int {
	var out []int
	for part := range strings.SplitSeq(text(r, "units"), ",") {
		if n, err := strconv.Atoi(part); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// Check judges the safety guarantees I1 to I10 on what the ledger holds now, against what happened in the world.
func (w *World) Check() error {
	t, err := w.truth()
	if err != nil {
		return err
	}
	errs := []error{w.checkUnits(t), w.checkOrders(t), w.checkMoney(t), w.checkStock(t)}
	return errors.Join(errs...)
}

// checkUnits: I1, I2, I3.
func (w *World) checkUnits(t truth) error {
	held := map[string]int{}
	listed := 0
	for id, o := range t.orders {
		units := unitsOf(o)
		listed += len(units)
		state := seckill.State(text(o, "state"))
		if holds := state.Info().Holds; holds && len(units) != int(number(o, "count")) || !holds && len(units) != 0 {
			return fmt.Errorf("I3 order %s in %s lists %v for a count of %d", id, state, units, number(o, "count"))
		}
		for _, n := range units {
			if text(t.units[n], "order") != id {
				return fmt.Errorf("I1/I3 order %s lists unit %d, whose row names %q", id, n, text(t.units[n], "order"))
			}
			if n < 1 || n > w.Item.Stock {
				return fmt.Errorf("I3 unit %d outside 1..%d", n, w.Item.Stock)
			}
		}
		held[text(o, "user")] += len(units)
	}
	if listed != len(t.units) {
		return fmt.Errorf("I3 %d unit rows, %d listed by orders", len(t.units), listed)
	}
	for user, n := range held {
		if n > w.Item.Limit {
			return fmt.Errorf("I2 user %s holds %d, the limit is %d", user, n, w.Item.Limit)
		}
		if got := int(number(t.quotas[user], "units")); got != n {
			return fmt.Errorf("I2 user %s holds %d, the quota row says %d", user, n, got)
		}
	}
	return nil
}

// checkOrders: I4, I5, I8, I9, I10.
func (w *World) checkOrders(t truth) error {
	keyless := map[string]int{}
	for id, o := range t.orders {
		user, count, state := text(o, "user"), int(number(o, "count")), seckill.State(text(o, "state"))
		if r, ok := w.asked[id]; ok {
			if r.User != user {
				return fmt.Errorf("I9 order %s is %s's, who did not ask for it", id, user)
			}
		} else {
			k := fmt.Sprint(user, "/", count)
			if keyless[k]++; keyless[k] > w.keys[k] {
				return fmt.Errorf("I4/I9 %d orders of %s, asked for %d times", keyless[k], k, w.keys[k])
			}
		}
		was, known := w.states[id]
		if !known {
			was = seckill.Queued
			placed := time.UnixMilli(number(o, "placed"))
			if w.exact {
				placed = w.Clock.Now() // by no skewed clock
			}
			if state != seckill.Rejected && !w.stoppedAt.IsZero() && placed.After(w.stoppedAt.Add(2*time.Second)) {
				return fmt.Errorf("I10 order %s placed at %s, the stop was acknowledged at %s", id, placed.UTC(), w.stoppedAt)
			}
			if created := time.UnixMilli(number(o, "created")); created.Before(w.Item.Start.Add(-seckill.SkewBound)) || !created.Before(w.Item.End.Add(seckill.SkewBound)) {
				return fmt.Errorf("I10 order %s reserved at %s, outside the window", id, created.UTC())
			}
		}
		if !reachable(was, state) {
			return fmt.Errorf("I5 order %s went from %s to %s", id, was, state)
		}
		w.states[id] = state
		gave := 0
		history, _ := o["history"].([]string)
		for _, h := range history {
			if f := strings.Fields(h); f[1] == string(seckill.Expired) || f[1] == string(seckill.Cancelled) {
				gave++
			}
		}
		if gave > 1 {
			return fmt.Errorf("I8 order %s gave its units back %d times: %v", id, gave, history)
		}
	}
	for id := range w.states {
		if _, ok := t.orders[id]; !ok {
			return fmt.Errorf("I5 order %s vanished", id)
		}
	}
	return nil
}

// reachable says whether the table leads from one state to another in any number of changes.
func reachable(from, to seckill.State) bool {
	seen := map[seckill.State]bool{from: true}
	for todo := []seckill.State{from}; len(todo) > 0; todo = todo[1:] {
		for _, tr := range seckill.Transitions {
			if tr.From == todo[0] && !seen[tr.To] {
				seen[tr.To] = true
				todo = append(todo, tr.To)
			}
		}
	}
	return seen[to]
}

// checkMoney: I6 and I7. A payment row is money that the provider has; an order's money is kept at most once, and only by an order
// that holds units; an order is not given back while the provider has money of it in time.
func (w *World) checkMoney(t truth) error {
	for id, rows := range t.payments {
		o, kept := t.orders[id], 0
		for _, p := range rows {
			tr, ok := w.Provider.trade(id, text(p, "trade_no"))
			if !ok || tr.State != seckill.TradePaid || int64(tr.Amount) != number(p, "amount") {
				return fmt.Errorf("I7 payment %s of order %s: the provider says %+v", text(p, "trade_no"), id, tr)
			}
			if text(p, "state") == string(seckill.Captured) {
				kept++
			}
		}
		state := seckill.State(text(o, "state"))
		if kept > 1 || kept == 1 && state != seckill.Paid {
			return fmt.Errorf("I6 order %s in %s keeps %d payments", id, state, kept)
		}
	}
	for id, o := range t.orders {
		state := seckill.State(text(o, "state"))
		paid := 0
		for _, p := range t.payments[id] {
			if text(p, "state") == string(seckill.Captured) {
				paid++
			}
		}
		if state == seckill.Paid && paid != 1 {
			return fmt.Errorf("I6 order %s is paid by %d payments", id, paid)
		}
		if state == seckill.Expired && len(w.Provider.captured(id)) > 0 {
			return fmt.Errorf("I6 order %s is expired, yet was paid in time", id)
		}
	}
	return nil
}

func (p *Provider) trade(order, no string) (seckill.Trade, bool) {
	if o := p.orders[order]; o != nil {
		for _, t := range o.trades {
			if t.TradeNo == no {
				return t, true
			}
		}
	}
	return seckill.Trade{}, false
}

// captured lists the trades of an order that are paid.
func (p *Provider) captured(order string) (nos []string) {
	if o := p.orders[order]; o != nil {
		for _, t := range o.trades {
			if t.State == seckill.TradePaid {
				nos = append(nos, t.TradeNo)
			}
		}
	}
	return nos
}

// checkStock: no number is held and free at once, or beyond high-water; and a stock that never forgot anything knows
// the holder of every sold unit.
func (w *World) checkStock(t truth) error {
	s, err := w.numbers()
	if err != nil || s == nil {
		return err
	}
	for n, r := range t.units {
		if order := text(r, "order"); !w.forgot && s.held[n] != order {
			return fmt.Errorf("L3 unit %d is order %s's, the stock, which forgot nothing, says %q", n, order, s.held[n])
		}
	}
	for n := range s.held {
		if s.free[n] {
			return fmt.Errorf("L3 number %d is held and free", n)
		}
		if n > s.highWater {
			return fmt.Errorf("L3 number %d is held, high-water is %d", n, s.highWater)
		}
	}
	for n := range s.free {
		if n > s.highWater {
			return fmt.Errorf("L3 number %d is free, high-water is %d", n, s.highWater)
		}
	}
	return nil
}

// numbers is the stock as it is, read from its keys; nil when the item is not installed.
type numbers struct {
	held      map[int]string
	free      map[int]bool
	highWater int
	awaiting  int
	users     map[string]string
}

func (w *World) numbers() (*numbers, error) {
	key := func(name string) string { return "{" + w.Item.ID + "}:" + name }
	hw, err := w.Redis.Do("HGET", key("item"), "hw")
	if err != nil || hw == nil {
		return nil, err
	}
	s := &numbers{held: map[int]string{}, free: map[int]bool{}, users: map[string]string{}}
	if s.highWater, err = strconv.Atoi(hw.(string)); err != nil {
		return nil, err
	}
	held, err := w.Redis.Do("HGETALL", key("held"))
	if err != nil {
		return nil, err
	}
	for pair := range slices.Chunk(held.([]any), 2) {
		n, _ := strconv.Atoi(pair[0].(string))
		s.held[n] = pair[1].(string)
	}
	free, err := w.Redis.Do("ZRANGE", key("free"), "0", "-1")
	if err != nil {
		return nil, err
	}
	for _, f := range free.([]any) {
		n, _ := strconv.Atoi(f.(string))
		s.free[n] = true
	}
	users, err := w.Redis.Do("HGETALL", key("users"))
	if err != nil {
		return nil, err
	}
	for pair := range slices.Chunk(users.([]any), 2) {
		s.users[pair[0].(string)] = pair[1].(string)
	}
	awaiting, err := w.Redis.Do("ZCARD", key("awaiting"))
	if err != nil {
		return nil, err
	}
	s.awaiting = int(awaiting.(int64))
	return s, nil
}

// quiet says what is still under way: nil when nothing is.
func (w *World) quiet() error {
	t, err := w.truth()
	if err != nil {
		return err
	}
	var errs []error
	for id, o := range t.orders {
		if s := seckill.State(text(o, "state")); s == seckill.PendingPayment || s == seckill.Closing {
			errs = append(errs, fmt.Errorf("L1 order %s stays %s", id, s))
		}
	}
	for id := range t.returns {
		errs = append(errs, fmt.Errorf("L2 the return row of order %s stays", id))
	}
	s, err := w.numbers()
	switch {
	case err != nil:
		return err
	case s == nil:
		errs = append(errs, errors.New("L3 the item is not installed"))
	case s.awaiting > 0:
		errs = append(errs, fmt.Errorf("L2 %d reservations stay awaiting", s.awaiting))
	}
	for name, q := range map[string]seckill.Queue{"orders": w.Orders, "closings": w.Closings} {
		if d, err := q.Depth(context.Background()); err != nil || d.Visible+d.InFlight+d.Delayed > 0 {
			errs = append(errs, fmt.Errorf("L1 the %s queue holds %+v (%w)", name, d, err))
		}
	}
	if n := len(w.Provider.Notices); n > 0 {
		errs = append(errs, fmt.Errorf("L1 %d notices stay unanswered", n))
	}
	return errors.Join(errs...)
}

// Converged judges I11 and L3, and that all money is accounted for, when everything is quiet.
func (w *World) Converged() error {
	t, err := w.truth()
	if err != nil {
		return err
	}
	for id := range w.acked {
		if _, ok := t.orders[id]; !ok {
			return fmt.Errorf("I11 order %s was acknowledged and has no row", id)
		}
	}
	for id := range w.Provider.orders {
		var rows []string
		for _, p := range t.payments[id] {
			rows = append(rows, text(p, "trade_no"))
		}
		got := w.Provider.captured(id)
		slices.Sort(rows)
		if slices.Sort(got); !slices.Equal(rows, got) {
			return fmt.Errorf("I6 order %s: the provider captured %v, the ledger knows %v", id, got, rows)
		}
	}
	s, err := w.numbers()
	if err != nil || s == nil {
		return fmt.Errorf("L3 not installed (%w)", err)
	}
	owners := map[int]string{}
	for n, r := range t.units {
		owners[n] = text(r, "order")
	}
	if !maps.Equal(owners, s.held) {
		return fmt.Errorf("L3 held %v, the ledger's units %v", s.held, owners)
	}
	for n := 1; n <= s.highWater; n++ {
		if s.held[n] == "" && !s.free[n] {
			return fmt.Errorf("L3 number %d is in no list", n)
		}
	}
	want := map[string]string{}
	for user, q := range t.quotas {
		if set, _ := q["orders"].(ledger.Set); len(set) > 0 {
			want[user] = sorted(strings.Join(set, ","))
		}
	}
	got := map[string]string{}
	for user, entries := range s.users {
		got[user] = sorted(entries)
	}
	if !maps.Equal(got, want) {
		return fmt.Errorf("L3 users' entries %v, the ledger's quotas %v", got, want)
	}
	return nil
}

func sorted(list string) string {
	parts := strings.Split(list, ",")
	slices.Sort(parts)
	return strings.Join(parts, ",")
}
