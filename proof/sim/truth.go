package sim

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// truth is the ledger's true state. It receives every written row, below the code under test, and records the changes
// since the last Check.
type truth struct {
	limit seckill.AloneLimit // what one person may refund
	alone map[string]int     // refunds by day and person

	orders        map[string]*orderRow
	list          []string           // order ids, oldest row first
	units         map[unitKey]string // the order in each unit row
	quotas        map[holder]quotaRow
	payments      map[string][]paymentRow // by order
	returns       map[string]returnRow    // by order
	notifications map[string]bool         // by order/id
	named         map[string]int          // by order, the number of unit rows that name it
	held          map[holder]int          // units, by the orders that list them
	spanned       map[holder][]int        // what held was over a span, after each change
	cancels       map[holder]int          // orders that their user began to cancel

	minutes map[minute]seckill.Count // what happened to units
	totals  map[string]seckill.Count // by item

	changed map[string]bool // orders to check
	holders map[holder]bool
	found   []error // violations found at the moment of a write
	say     func(format string, args ...any)
	placed  func(*orderRow) // checks an order's first row
	blocked func(was, is ledger.Row)
	sent    func(old, o *orderRow, is ledger.Row) // checks what becomes of an order after it is paid
	owes    func(old, o *orderRow)                // checks whose refund it is
	said    map[string]seckill.Fen                // by order and trade: what a person says went back of it outside
	span    func(item string) string              // the family's quota that also counts an item's units, or ""
	over    func(item string) bool                // reports whether the retention of addresses of an item is over

	networkOver func(item string) bool // the same of network addresses
}

type orderRow struct {
	id, item, user string
	count          int
	address, name  string
	network        string // network address
	session        string
	amount         int64
	units          []int
	state          seckill.State
	reason         seckill.Code
	created        time.Time
	placed         time.Time
	sold           string // what it keeps of its item
	history        []string
	gaveBack       int  // how often its history says so
	cancelled      bool // its user began to cancel it
	left           bool // it was shipped
	parcel         string
	hidden         bool
	outside        int64
	accepted       int64 // of outside, what a person decided about
	first          bool
}

// Keys of the ledger's data.
type (
	unitKey struct {
		item string
		n    int
	}
	holder struct{ user, item string }
)

// refusedUser is what the stock was told about a user and an item since it last lost data.
type refusedUser struct {
	losses, orders int
	ever           int       // orders, whatever the stock lost: a snapshot may bring them back
	last           time.Time // when one of them was rejected last
	blocked        time.Time // the same of one that told of a block
}

type quotaRow struct {
	units   int
	cancels int
	orders  []string
}

type paymentRow struct {
	tradeNo string
	amount  int64
	state   seckill.PaymentState
	outside seckill.Fen
}

type returnRow struct {
	item  string
	units []int
}

func newTruth() *truth {
	return &truth{orders: map[string]*orderRow{}, units: map[unitKey]string{}, quotas: map[holder]quotaRow{},
		payments: map[string][]paymentRow{},
		returns:  map[string]returnRow{}, notifications: map[string]bool{}, named: map[string]int{},
		held: map[holder]int{}, spanned: map[holder][]int{}, cancels: map[holder]int{}, changed: map[string]bool{},
		holders: map[holder]bool{},
		minutes: map[minute]seckill.Count{}, totals: map[string]seckill.Count{},
		said: map[string]seckill.Fen{}, alone: map[string]int{}, say: func(string, ...any) {},
		span: func(string) string { return "" }}
}

func text(r ledger.Row, attr string) string {
	s, _ := r[attr].(string)
	return s
}

func number(r ledger.Row, attr string) int64 {
	n, _ := r[attr].(int64)
	return n
}

func soldAs(title, options, cover string, price, list int64) string {
	return fmt.Sprintf("%s %s, %s, at %d fen instead of %d", title, options, cover, price, list)
}

func unitsOf(r ledger.Row) []int {
	list := text(r, "units")
	if list == "" {
		return nil
	}
	var out []int
	for part := range strings.SplitSeq(list, ",") {
		if n, err := strconv.Atoi(part); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// wrote records one replaced row.
func (t *truth) wrote(table string, was, is ledger.Row) {
	if number(is, "v") > ledger.SpanVersion {
		return // not a row of an order
	}
	some := is
	if some == nil {
		some = was
	}
	if some == nil {
		return
	}
	switch table {
	case ledger.TableOrders:
		t.wroteAddress(was, is)
		t.wroteOrder(text(some, "id"), is)
	case ledger.TableUnits:
		item, _, _ := strings.Cut(text(some, "bucket"), "#")
		n, _ := strconv.Atoi(text(some, "unit"))
		t.wroteUnit(unitKey{item, n}, text(was, "order"), text(is, "order"))
	case ledger.TableQuotas:
		h := holder{text(some, "user"), text(some, "item")}
		set, _ := is["orders"].(ledger.Set)
		t.quotas[h] = quotaRow{int(number(is, "units")), int(number(is, "cancels")), set}
		t.holders[h] = true
	case ledger.TablePayments:
		id := text(some, "order")
		t.wrotePayment(id, text(some, "trade_no"), is)
		t.changed[id] = true
	case ledger.TableReturns:
		if is == nil {
			delete(t.returns, text(some, "order"))
			return
		}
		t.returns[text(is, "order")] = returnRow{text(is, "item"), unitsOf(is)}
	case ledger.TableBlocks:
		t.blocked(was, is)
	case ledger.TableIdentities:
		t.wroteIdentity(was, is)
	case ledger.TableCounts:
		t.wroteCounts(is)
	case ledger.TableNotifications:
		t.notifications[text(is, "order")+"/"+text(is, "id")] = true
	}
}

// answered checks I7 for a notification that was answered with success: it is kept.
func (t *truth) answered(form url.Values) {
	if order, id := form.Get("order"), form.Get("id"); !t.notifications[order+"/"+id] {
		t.fail("I7 notification %s of order %s is answered with success, and not kept", id, order)
	}
}

func (t *truth) fail(format string, args ...any) {
	t.found = append(t.found, fmt.Errorf(format, args...))
}

func (t *truth) wroteOrder(id string, is ledger.Row) {
	old := t.orders[id]
	if old != nil {
		t.counts(old, -1)
	}
	if is == nil {
		t.fail("I5 order %s vanished", id)
		delete(t.orders, id)
		return
	}
	o := &orderRow{id: id, item: text(is, "item"), user: text(is, "user"), count: int(number(is, "count")),
		address: text(is, "address"), name: text(is, "shopper_name"),
		network: text(is, "network_address"), session: text(is, "session"),
		amount: number(is, "amount"), units: unitsOf(is),
		state: seckill.State(text(is, "state")), reason: seckill.Code(text(is, "reason")),
		created: time.UnixMilli(number(is, "created")), placed: time.UnixMilli(number(is, "placed")), first: old == nil,
		sold: soldAs(text(is, "title"), text(is, "options"), text(is, "cover"), number(is, "price"),
			number(is, "list_price"))}
	if old != nil && o.sold != old.sold {
		t.fail("I9 order %s was %s, and is %s now", id, old.sold, o.sold)
	}
	from := seckill.Queued
	if old != nil {
		from = old.state
		o.first = old.first
	}
	if !from.CanBecome(o.state) && (old == nil || from != o.state) {
		t.fail("I5 order %s went from %s to %s", id, from, o.state)
	}
	t.say("  order %s of shopper %s is %s, units %v", id, o.user, o.state, o.units)
	o.history, _ = is["history"].([]string)
	t.moved(old, o)
	t.sent(old, o, is)
	t.owes(old, o)
	before := ""
	for _, h := range o.history {
		f := strings.Fields(h)
		if len(f) > 1 && f[1] != before && (f[1] == string(seckill.Expired) || f[1] == string(seckill.Cancelled)) {
			o.gaveBack++
		}
		if len(f) > 1 {
			before = f[1] // an entry in the same state is a note
		}
	}
	if t.orders[id] = o; old == nil {
		t.list = append(t.list, id)
		t.placed(o)
	}
	wasCancelled := old != nil && old.cancelled
	o.cancelled = wasCancelled || text(is, "close_to") == string(seckill.Cancelled)
	if o.cancelled && !wasCancelled {
		t.cancels[holder{o.user, o.item}]++
	}
	t.counts(o, 1)
	t.changed[id] = true
}

func (t *truth) wroteUnit(k unitKey, was, is string) {
	if was != "" && is != "" && was != is {
		t.fail("I1 unit %d of item %s was sold to order %s, and again to order %s", k.n, k.item, was, is)
	}
	delete(t.units, k)
	if was != "" {
		t.named[was]--
		t.changed[was] = true
	}
	if is != "" {
		t.units[k] = is
		t.named[is]++
		t.changed[is] = true
	}
}

// wroteIdentity checks I13 for a row of the identities: it is written once.
func (t *truth) wroteIdentity(was, is ledger.Row) {
	if was != nil {
		t.fail("I13 an identity's row went from %v to %v", was, is)
	}
}

func (t *truth) wrotePayment(order, tradeNo string, is ledger.Row) {
	t.say("  payment %s of order %s is %s", tradeNo, order, text(is, "state"))
	rows := t.payments[order]
	for i := range rows {
		if rows[i].tradeNo != tradeNo {
			continue
		}
		if is == nil {
			t.fail("I6 payment %s of order %s vanished", tradeNo, order)
			return
		}
		rows[i].state = seckill.PaymentState(text(is, "state"))
		outside := seckill.Fen(number(is, "outside"))
		if said, is := t.said[order+"/"+tradeNo]; outside < rows[i].outside && (!is || said != outside) {
			t.fail("I6 of payment %s of order %s %d fen went back outside, then %d", tradeNo, order, rows[i].outside,
				outside)
		}
		rows[i].outside = outside
		return
	}
	t.payments[order] = append(rows, paymentRow{tradeNo, number(is, "amount"), seckill.PaymentState(text(is, "state")),
		seckill.Fen(number(is, "outside"))})
}

// givenAttrs lists the attributes that are erased with the address.
var givenAttrs = ledger.Given()

// needAddress lists the states of an order that may still be shipped.
var needAddress = []seckill.State{seckill.PendingPayment, seckill.Closing, seckill.Paid, seckill.Confirmed}

// wroteAddress checks I9 for an order's address. It may be erased only from an order that does not need it, or whose
// goods were shipped long ago; it never changes otherwise, and nothing else changes with it. The network address goes
// with it, or before it once its own time is over.
func (t *truth) wroteAddress(was, is ledger.Row) {
	if was == nil || is == nil {
		return
	}
	whole, left, changed := false, false, false
	for _, attr := range givenAttrs {
		same := text(was, attr) == text(is, attr)
		changed = changed || !same
		whole = whole || !same && attr != "network_address"
		left = left || text(is, attr) != ""
	}
	if !changed {
		return
	}
	id, state := text(is, "id"), seckill.State(text(was, "state"))
	if text(is, "network_address") != "" || !whole && !t.networkOver(text(was, "item")) {
		t.fail("I9 order %s went from network address %q to %q", id, text(was, "network_address"),
			text(is, "network_address"))
	}
	if whole && (left || number(is, "erased") == 0) {
		t.fail("I9 order %s went from address %q to %q", id, text(was, "address"), text(is, "address"))
	}
	late := t.over(text(was, "item")) && (state == seckill.Paid || state == seckill.Confirmed)
	if whole && slices.Contains(needAddress, state) && !late {
		t.fail("I9 order %s in %s has lost its address", id, state)
	}
	gone := []string{"network_address"}
	if whole {
		gone = append(ledger.Personal(), "erased")
	}
	a, b := maps.Clone(was), maps.Clone(is)
	for _, attr := range gone {
		delete(a, attr)
		delete(b, attr)
	}
	if !reflect.DeepEqual(a, b) {
		t.fail("I9 order %s changed when its address was erased, from %v to %v", id, a, b)
	}
}

// minute is an item's minute, by its number since 1970.
type minute struct {
	item string
	n    int64
}

// moved counts, from the rows before and after a write, what it did to the units of an order.
func (t *truth) moved(old, o *orderRow) {
	var c seckill.Count
	switch {
	case len(o.history) == 0:
		return
	case old == nil && o.state == seckill.PendingPayment:
		c.Placed = o.count
	case old == nil:
		return
	case old.state != seckill.Paid && o.state == seckill.Paid:
		c.Paid = o.count
	case len(old.units) > 0 && len(o.units) == 0:
		c.GivenBack = o.count
	default:
		return
	}
	written, _, _ := strings.Cut(o.history[len(o.history)-1], " ")
	at, err := time.Parse(time.RFC3339, written)
	if err != nil {
		t.fail("I5 order %s has a history without a time: %v", o.id, err)
	}
	m := minute{o.item, at.Unix() / 60}
	t.minutes[m] = t.minutes[m].Plus(c)
	t.totals[o.item] = t.totals[o.item].Plus(c)
}

// wroteCounts checks I15 for a write of an item's counts: they never exceed what happened.
func (t *truth) wroteCounts(is ledger.Row) {
	item := text(is, "item")
	got := seckill.Count{Placed: int(number(is, "placed")), Paid: int(number(is, "paid")),
		GivenBack: int(number(is, "back"))}
	if most := t.totals[item]; got.Placed > most.Placed || got.Paid > most.Paid || got.GivenBack > most.GivenBack {
		t.fail("I15 item %s counts %+v, what happened is %+v", item, got, most)
	}
}

// paidFor reports whether an order in this state keeps a payment.
func paidFor(s seckill.State) bool { return s == seckill.Paid || s == seckill.Confirmed || s.Left() }

// counts adds an order's units to what its user holds, of the item and over the span of its limit.
func (t *truth) counts(o *orderRow, by int) {
	for _, item := range []string{o.item, t.span(o.item)} {
		if item == "" {
			continue
		}
		h := holder{o.user, item}
		t.held[h] += by * len(o.units)
		if item != o.item {
			t.spanned[h] = append(t.spanned[h], t.held[h])
		}
		t.holders[h] = true
	}
}
