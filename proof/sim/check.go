package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// Check checks I1 to I10 for everything written since the last Check, using the rows themselves and the events in the
// world. If a script ran, it also checks the stock's keys.
func (w *World) Check() error {
	t := w.truth
	errs := t.found
	t.found = nil
	if len(t.changed) > 0 {
		for _, id := range slices.Sorted(maps.Keys(t.changed)) {
			errs = append(errs, w.checkOrder(id))
		}
		clear(t.changed)
	}
	if len(t.holders) > 0 {
		for h := range t.holders {
			errs = append(errs, w.checkHolder(h))
		}
		clear(t.holders)
	}
	if w.touched {
		w.touched = false
		for _, it := range w.allItems() {
			errs = append(errs, w.checkStock(it))
		}
	}
	return errors.Join(errs...)
}

// checkOrder checks a changed order: I1, I3 to I6, I8 to I10, and I7 for its payments.
func (w *World) checkOrder(id string) error {
	o := w.truth.orders[id]
	if o == nil {
		if n := w.truth.named[id]; n > 0 {
			return fmt.Errorf("I3 %d unit rows name order %s, which has no row", n, id)
		}
		return w.checkMoney(id, &orderRow{id: id})
	}
	if o.first {
		o.first = false
		if err := w.checkBirth(o); err != nil {
			return err
		}
	}
	if !o.state.MayHold(len(o.units), o.count) {
		return fmt.Errorf("I3 order %s in %s lists %v for a count of %d", id, o.state, o.units, o.count)
	}
	if n := w.truth.named[id]; n != len(o.units) {
		return fmt.Errorf("I3 order %s lists %v, %d unit rows name it", id, o.units, n)
	}
	stock := w.item(o.item).Stock
	for _, n := range o.units {
		if owner := w.truth.units[unitKey{o.item, n}]; owner != id {
			return fmt.Errorf("I3 order %s lists unit %d, whose row names %q", id, n, owner)
		}
		if n < 1 || n > stock {
			return fmt.Errorf("I3 unit %d of order %s outside 1..%d", n, id, stock)
		}
	}
	if o.gaveBack > 1 {
		return fmt.Errorf("I8 order %s gave its units back %d times", id, o.gaveBack)
	}
	return w.checkMoney(id, o)
}

// checkBirth checks an order's first row: I4, I9, I10.
func (w *World) checkBirth(o *orderRow) error {
	a := ask{o.user, o.item, o.count, o.address}
	if o.state == seckill.Rejected && o.address != "" {
		return fmt.Errorf("I9 order %s is rejected and keeps an address", o.id)
	}
	if o.state == seckill.Rejected && o.name != "" || o.state != seckill.Rejected && o.name != nameOf(o.user) {
		return fmt.Errorf("I9 order %s in %s has the name %q", o.id, o.state, o.name)
	}
	from := ""
	if w.networkKeep > 0 && o.state != seckill.Rejected {
		from = networkOf(o.user).String()
	}
	if o.network != from {
		return fmt.Errorf("I9 order %s in %s has the network address %q, want %q", o.id, o.state, o.network, from)
	}
	if asked, keyed := w.asked[o.id]; keyed {
		if !slices.ContainsFunc(asked, func(was ask) bool {
			return was == a || o.state == seckill.Rejected && was.anywhere() == a
		}) {
			return fmt.Errorf("I9 order %s is %v, asked for was %v", o.id, a, asked)
		}
	} else {
		for _, a := range slices.Compact([]ask{a, a.anywhere()}) {
			limit := w.keyless[a]
			if w.placed[a]++; w.placed[a] > limit {
				return fmt.Errorf("I4/I9 %d orders without a key of %v, asked for %d times", w.placed[a], a, limit)
			}
		}
	}
	if err := w.checkSession(o); err != nil {
		return err
	}
	if at := w.stoppedAt[o.item]; o.state != seckill.Rejected && !at.IsZero() &&
		w.Clock.Now().After(at.Add(2*time.Second)) {
		return fmt.Errorf("I10 order %s placed at %s, the stop was acknowledged at %s", o.id, w.Clock.Now(), at)
	}
	if err := w.checkKept(o); err != nil {
		return err
	}
	if o.reason == seckill.CodeSoldOut && !w.none[o.id] {
		return fmt.Errorf("L4 order %s is rejected as sold out, which the stock never said", o.id)
	}
	if o.reason == seckill.CodeUnavailable && !w.faultsEnded.IsZero() &&
		o.created.After(w.faultsEnded.Add(-seckill.MaxUnplaced/2)) {
		return fmt.Errorf("L4 order %s is rejected as unplaced for an hour, most of which nothing went wrong", o.id)
	}
	it := w.item(o.item)
	// An item on sale has not changed since before its sale: imports that change it then are refused.
	now, err := w.items.Get(context.Background(), o.item)
	if is := soldAs(now.Commodity.Title, now.Variant.Options.String(), now.Cover, int64(now.Price),
		int64(now.Commodity.Price)); err == nil && o.state != seckill.Rejected && o.sold != is {
		return fmt.Errorf("I9 order %s is %s; on sale is %s", o.id, o.sold, is)
	}
	if o.created.Before(it.Start.Add(-seckill.SkewBound)) || !o.created.Before(it.End.Add(seckill.SkewBound)) {
		return fmt.Errorf("I10 order %s reserved at %s, outside the window", o.id, o.created.UTC())
	}
	return nil
}

// checkSession checks I13 for a new order of a session.
func (w *World) checkSession(o *orderRow) error {
	told, asked := w.signedOut[o.user]
	switch over := w.Clock.Now().Sub(told); {
	case o.reason == seckill.CodeToken && !asked:
		return fmt.Errorf("I13 order %s of user %s, who did not sign out, is rejected", o.id, o.user)
	case o.session != "" && !told.IsZero() && over > 2*time.Second:
		return fmt.Errorf("I13 order %s is placed %s after its user signed out", o.id, over)
	}
	return nil
}

// checkStops checks an item's recorded stops, by which an audit checks I10.
func (w *World) checkStops(row *seckill.Item) error {
	n := len(row.Stops)
	if row.Stopped != (n > 0 && row.Stops[n-1].To.IsZero()) {
		return fmt.Errorf("I10 item %s has stopped=%v, which its stops do not say: %v", row.ID, row.Stopped, row.Stops)
	}
	at := w.stoppedAt[row.ID]
	if row.Stopped && !at.IsZero() && row.Stops[n-1].From.After(at.Add(seckill.SkewBound)) {
		return fmt.Errorf("I10 item %s keeps a stop from %s, acknowledged at %s", row.ID, row.Stops[n-1].From, at)
	}
	return nil
}

// checkMoney checks I6 and I7. Each payment row is money that the provider has; an order keeps at most one payment,
// and only while it holds units; no order is given back while the provider has money that arrived in time.
func (w *World) checkMoney(id string, o *orderRow) error {
	kept := 0
	for _, p := range w.truth.payments[id] {
		tr, ok := w.Provider.trade(id, p.tradeNo)
		if !ok || tr.State != seckill.TradePaid || int64(tr.Amount) != p.amount {
			return fmt.Errorf("I7 payment %s of order %s over %d fen: the provider says %+v", p.tradeNo, id, p.amount,
				tr)
		}
		if p.state == seckill.Captured {
			kept++
		}
	}
	switch {
	case kept > 1 || kept == 1 && !paidFor(o.state):
		return fmt.Errorf("I6 order %s in %q keeps %d payments", id, o.state, kept)
	case paidFor(o.state) && kept != 1:
		return fmt.Errorf("I6 order %s in %s is paid by %d payments", id, o.state, kept)
	case o.state == seckill.Expired && w.Provider.keeps(id):
		return fmt.Errorf("I6 order %s is expired, yet was paid in time", id)
	case (o.state == seckill.Expired || o.state == seckill.Cancelled) && w.Provider.closedPaid(id):
		return fmt.Errorf("I6 order %s is %s, yet one of its trades was paid when the other was closed", id, o.state)
	}
	return w.checkRefunds(id, o)
}

// checkHolder checks I2.
func (w *World) checkHolder(h holder) error {
	n := w.truth.held[h]
	if limit := w.limitOf(h); n > limit {
		return fmt.Errorf("I2 user %s holds %d of item %s, the limit is %d", h.user, n, h.item, limit)
	}
	if n, got := w.truth.cancels[h], w.truth.quotas[h].cancels; n > seckill.MaxCancels || got != n {
		return fmt.Errorf("I2 user %s cancelled %d orders of item %s, the limit is %d, the quota row says %d", h.user,
			n, h.item, seckill.MaxCancels, got)
	}
	if got := w.truth.quotas[h].units; got != n {
		return fmt.Errorf("I2 user %s holds %d of item %s, the quota row says %d", h.user, n, h.item, got)
	}
	return w.checkSpan(h)
}

// closedPaid reports whether a close that found an open trade came when another trade was paid; then a query after
// the close shows the payment. An earlier close that found no trade may also close an order.
func (p *Provider) closedPaid(order string) bool {
	o := p.orders[order]
	return o != nil && o.kept && !o.missing && p.keeps(order)
}

// checkStock checks that every unit up to high-water is either held or free, and that no unit above it is; and that a
// stock that never lost data knows the holder of every sold unit.
func (w *World) checkStock(it *seckill.Item) error {
	s, err := w.numbersOf(it.ID)
	if err != nil || s == nil {
		return err
	}
	if w.stopHolds(it.ID) && !s.stopped && w.Clock.Now().Before(it.End) {
		return fmt.Errorf("I10 the stock, which forgot nothing since, sells after an acknowledged stop of item %s",
			it.ID)
	}
	if !w.forgot {
		for n := 1; n <= it.Stock; n++ {
			if order := w.truth.units[unitKey{it.ID, n}]; order != "" && s.held[n] != order {
				return fmt.Errorf("L3 unit %d is order %s's, the stock, which forgot nothing, says %q", n, order,
					s.held[n])
			}
		}
	}
	known := maps.Clone(s.awaiting)
	for _, order := range s.held {
		known[order] = true
	}
	for _, entries := range s.users {
		for entry := range strings.SplitSeq(entries, ",") {
			order, _, _ := strings.Cut(entry, ":")
			known[order] = true
		}
	}
	for _, order := range s.records {
		if !known[order] {
			return fmt.Errorf("L3 the stock keeps a record of order %s, which is not awaited, holds no number and "+
				"counts against nobody", order)
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
	for n := 1; n <= s.highWater; n++ {
		if s.held[n] == "" && !s.free[n] {
			return fmt.Errorf("L3 number %d is in no list", n)
		}
	}
	return nil
}

// quiet returns an error that names what is still under way, or nil.
func (w *World) quiet() error {
	var errs []error
	for id, o := range w.truth.orders {
		if o.state == seckill.PendingPayment || o.state == seckill.Closing {
			errs = append(errs, fmt.Errorf("L1 order %s stays %s", id, o.state))
		}
	}
	errs = append(errs, w.truth.owed(w.owesCharged)...)
	for id := range w.truth.returns {
		errs = append(errs, fmt.Errorf("L2 the return row of order %s stays", id))
	}
	for _, it := range w.allItems() {
		s, err := w.numbersOf(it.ID)
		switch {
		case err != nil:
			return err
		case it.Retired(w.Clock.Now()):
			if s != nil {
				errs = append(errs, fmt.Errorf("L3 the stock keeps item %s two days after its end", it.ID))
			}
		case s == nil && it.Loadable(w.Clock.Now()):
			errs = append(errs, fmt.Errorf("L3 item %s is not installed", it.ID))
		case s == nil:
		case len(s.awaiting) > 0:
			errs = append(errs, fmt.Errorf("L2 %d reservations of item %s stay awaiting", len(s.awaiting), it.ID))
		case s.holdsBack:
			errs = append(errs, fmt.Errorf("L4 units of item %s are held back", it.ID))
		}
	}
	for _, q := range []struct {
		name string
		seckill.Queue
	}{{"orders", w.Orders}, {"closings", w.Closings}} {
		if d, err := q.Depth(context.Background()); err != nil || d.Visible+d.InFlight+d.Delayed > 0 {
			errs = append(errs, fmt.Errorf("L1 the %s queue holds %+v (%w)", q.name, d, err))
		}
	}
	if w.parked() {
		errs = append(errs, errors.New("L5 a message that can be read stays parked"))
	}
	if n := len(w.Provider.Notifications); n > 0 {
		errs = append(errs, fmt.Errorf("L1 %d notifications stay unanswered", n))
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// Converged checks I11, I14, I15, L3 and the balance of all money once everything is quiet. It also compares the rows
// that the checks saw with the tables themselves.
func (w *World) Converged() error {
	t := w.truth
	if n := len(w.Rows.Dump(ledger.TableUnits)); n != len(t.units) {
		return fmt.Errorf("I3 %d unit rows, %d were seen written", n, len(t.units))
	}
	for _, id := range slices.Sorted(maps.Keys(w.acked)) {
		if t.orders[id] == nil {
			return fmt.Errorf("I11 order %s was acknowledged and has no row", id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.Provider.orders)) {
		var rows []string
		for _, p := range t.payments[id] {
			rows = append(rows, p.tradeNo)
			if outside := w.Provider.orders[id].console[p.tradeNo]; p.outside != outside &&
				!w.owesCharged(id, p.tradeNo) {
				return fmt.Errorf("I6 of payment %s of order %s %d fen went back outside, the ledger has %d", p.tradeNo,
					id, outside, p.outside)
			}
		}
		if o := t.orders[id]; len(rows) == 1 && o.state != seckill.Rejected &&
			o.outside != int64(t.payments[id][0].outside) {
			return fmt.Errorf("I6 of order %s %d fen went back outside, of its payment %d", id, o.outside,
				t.payments[id][0].outside)
		}
		got := slices.DeleteFunc(w.Provider.captured(id), func(no string) bool { return w.unheard(id, no) })
		slices.Sort(rows)
		if slices.Sort(got); !slices.Equal(rows, got) {
			return fmt.Errorf("I6 order %s: the provider captured %v, the ledger knows %v", id, got, rows)
		}
	}
	for _, it := range w.allItems() {
		if !it.Loadable(w.Clock.Now()) {
			continue
		}
		if err := w.converged(it); err != nil {
			return err
		}
	}
	for _, row := range w.Rows.Dump(ledger.TableProposals) {
		if o := t.orders[text(row, "order")]; o != nil && !paidFor(o.state) {
			return fmt.Errorf("I17 a refund of order %s, which is %s, waits for a second person", o.id, o.state)
		}
	}
	if err := errors.Join(w.checkListed(), w.checkErased(), w.checkTold(), w.checkPosted(),
		w.checkCounts()); err != nil {
		return err
	}
	return w.reconciled()
}

// converged checks L3 for one item.
func (w *World) converged(it *seckill.Item) error {
	s, err := w.numbersOf(it.ID)
	if err != nil || s == nil {
		return fmt.Errorf("L3 item %s is not installed (%w)", it.ID, err)
	}
	owners := map[int]string{}
	for k, order := range w.truth.units {
		if k.item == it.ID {
			owners[k.n] = order
		}
	}
	if !maps.Equal(owners, s.held) {
		return fmt.Errorf("L3 held %v, the ledger's units %v", s.held, owners)
	}
	if s.stock != it.Stock {
		return fmt.Errorf("L3 the stock says %d units, the items table %d", s.stock, it.Stock)
	}
	want, got := map[string]string{}, map[string]string{}
	for h, q := range w.truth.quotas {
		if h.item == it.ID && len(q.orders) > 0 {
			want[h.user] = sorted(strings.Join(q.orders, ","))
		}
	}
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

// look compares each unit of each item with what the stock offers now.
func (o *outOfSale) look(s *Sim) {
	if !o.On {
		return
	}
	if o.since == nil {
		o.since = map[unitKey]time.Time{}
	}
	now := s.Clock.Now()
	for _, it := range s.allItems() {
		num, err := s.numbersOf(it.ID)
		if err != nil {
			continue
		}
		for n := 1; n <= it.Stock; n++ {
			k := unitKey{it.ID, n}
			out := it.StateAt(now) == seckill.ItemOnline && s.truth.units[k] == "" &&
				(num == nil || !num.offers(s, it.ID, n))
			since, was := o.since[k]
			switch {
			case out && !was:
				o.since[k] = now
			case !out && was:
				o.Spans = append(o.Spans, now.Sub(since))
				delete(o.since, k)
			}
		}
	}
}

func (o *outOfSale) end(s *Sim) {
	o.look(s)
	o.Open = len(o.since)
}
