package consume_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/flow/sale/consume"
	"github.com/your-org/seckill/shared/seckill"
)

var (
	opened   = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	errFault = errors.New("no answer")

	order, another = seckill.KeyedOrderID("1", "9", "k"), seckill.KeyedOrderID("1", "9", "another")
)

// ports implements all ports of the step. Their answers come from given, and calls records what the step did.
type ports struct {
	seckill.Stock
	seckill.Ledger
	seckill.Items
	given
	now   time.Time
	calls []string

	placed seckill.Order // the last

	activity string // that every item is in
	unknown  error  // why that cannot be read
	asked    int    // how often it was
}

// given is the state before the message. The zero value: an item on sale, a fresh message, a ledger that accepts the
// order.
type given struct {
	item    error           // error of Items.Get
	stopped bool            // the item's sale is stopped
	ended   time.Duration   // time since the sale ended; 0 if it is open
	slow    time.Duration   // duration of a read of the item
	waited  time.Duration   // age of the reservation when the message is handled
	units   []int           // units in the message; nil means unit 7
	place   []error         // errors of successive calls of Place; then nil
	redraw  string          // the stock's answer: seckill.RedrawUnits with unit 8, and so on
	row     *seckill.Order  // the order's row in the ledger; nil if there is none
	confirm error           // error of Stock.Confirm
	closing error           // error of Closings.Send
	reject  error           // error of Ledger.Reject
	returns map[string]bool // orders with a return row
}

func (w *ports) did(format string, a ...any) { w.calls = append(w.calls, fmt.Sprintf(format, a...)) }

func (w *ports) Now() time.Time           { return w.now }
func (w *ports) Count(seckill.Event, int) {}
func (w *ports) Wake(_ context.Context, m seckill.Message) error {
	w.did("wake item %s", m.Item)
	return nil
}

func (w *ports) Get(context.Context, string) (seckill.Item, error) {
	w.now = w.now.Add(w.slow)
	end := opened.Add(time.Hour)
	if w.ended > 0 {
		end = w.now.Add(-w.ended)
	}
	return seckill.Item{ID: "1", Price: 100, Limit: 2, Buckets: 16, Stopped: w.stopped, Start: opened, End: end}, w.item
}

func (w *ports) ActivitiesOf(_ context.Context, items []string) (map[string]string, error) {
	w.asked++
	if w.activity == "" {
		return nil, w.unknown
	}
	return map[string]string{items[0]: w.activity}, w.unknown
}

func (w *ports) Place(_ context.Context, o seckill.Order, limit int) error {
	w.did("place units %v for %d fen, limit %d", o.Units, o.Amount, limit)
	w.placed = o
	if len(w.place) == 0 {
		return nil
	}
	err := w.place[0]
	w.place = w.place[1:]
	return err
}

func (w *ports) Order(context.Context, string) (seckill.Order, error) {
	if w.row == nil {
		return seckill.Order{}, seckill.ErrNoOrder
	}
	return *w.row, nil
}

func (w *ports) Reject(_ context.Context, o seckill.Order) error {
	w.did("reject: %s", o.Reason)
	return w.reject
}

func (w *ports) Confirm(_ context.Context, v seckill.Verdict) error {
	then := ""
	switch {
	case !v.Refused.IsZero() && !v.BlockedUntil.IsZero():
		then = ", the user is blocked"
	case !v.Refused.IsZero():
		then = ", the user is refused"
	}
	w.did("confirm units %v%s", v.Units, then)
	return w.confirm
}

func (w *ports) Redraw(
	_ context.Context, _ time.Time, r seckill.Reservation, c seckill.Collision, _ time.Duration,
) (seckill.RedrawCode, seckill.Reservation, error) {
	w.did("redraw, unit %d is %q's", c.Unit, c.Owner)
	if w.redraw == "" {
		return "", r, errFault
	}
	r.Units = []int{8}
	return seckill.RedrawCode(w.redraw), r, nil
}

func (w *ports) Return(_ context.Context, order string) (seckill.ReturnRow, error) {
	if !w.returns[order] {
		return seckill.ReturnRow{}, seckill.ErrNoReturn
	}
	return seckill.ReturnRow{Order: order, Units: []int{7}}, nil
}

// ledger exists because the ports of ledger and stock share a method name, so one type cannot implement both.
type ledger struct{ *ports }

func (l ledger) RecordPayment(context.Context, seckill.Payment, seckill.State, seckill.State) error {
	return errFault
}
func (l ledger) Return(ctx context.Context, order string) (seckill.ReturnRow, error) {
	return l.ports.Return(ctx, order)
}

func (l ledger) DeleteReturn(context.Context, seckill.ReturnRow) error {
	l.did("delete the return row")
	return nil
}

type stock struct{ *ports }

func (s stock) Return(_ context.Context, _, order, _ string, units []int) error {
	s.did("return units %v of %s", units, order)
	return nil
}

// queue is the orders or the closings queue.
type queue struct {
	seckill.Queue
	*ports
	name string
}

func (q queue) Send(_ context.Context, m seckill.Message, delay time.Duration) error {
	q.did("send %s to %s in %v", m.Kind, q.name, delay)
	return q.closing
}

func (q queue) Delay(_ context.Context, _ seckill.Delivery, d time.Duration) error {
	q.did("again in %v", d.Truncate(time.Second) > 0)
	return nil
}

func (q queue) Park(_ context.Context, _ seckill.Delivery, why string) error {
	q.did("park: %s", why)
	return nil
}

// TestConsume is the specification of the step: its calls in order, and whether it finishes the message.
func TestConsume(t *testing.T) {
	const (
		place, again      = "place units [7] for 100 fen, limit 2", "place units [8] for 100 fen, limit 2"
		confirm           = "confirm units [7]"
		closing, collides = "send close to closings in 15m0s", "redraw, unit 7 is \"other\"'s"
	)
	due := opened.Add(15 * time.Minute)
	pending := &seckill.Order{ID: order, State: seckill.PendingPayment, Units: []int{7}, PayBy: due}
	paid := &seckill.Order{ID: order, State: seckill.Paid, Units: []int{7}}
	refused := &seckill.Order{ID: order, State: seckill.Rejected, Reason: seckill.CodeBlocked, Placed: opened}
	taken := &seckill.Collision{Unit: 7, Owner: "other"}
	for _, c := range []struct {
		name  string
		given given
		then  string // calls, joined with "; "
		comes bool   // the message is delivered again
	}{
		{"an order is placed, its closing message sent, the stock told",
			given{}, place + "; " + closing + "; " + confirm, false},
		{"no answer of the ledger: once more", given{place: []error{errFault}}, place, true},
		{"no answer of the queue of closings: once more, before the stock is told",
			given{closing: errFault}, place + "; " + closing, true},
		{"no answer of the stock: once more", given{confirm: errFault}, place + "; " + closing + "; " + confirm, true},
		{"the stock has forgotten the item: once more",
			given{confirm: seckill.ErrNotInstalled}, place + "; " + closing + "; " + confirm, true},
		{"the stock has forgotten an item that is two days over: done",
			given{confirm: seckill.ErrNotInstalled, ended: seckill.KeepLoaded},
			place + "; " + closing + "; " + confirm, false},

		{"a message that was handled before: what is missing is done again",
			given{place: []error{seckill.ErrOrderExists}, row: pending},
			place + "; " + closing + "; " + confirm, false},
		{"of an order that is paid meanwhile: no closing message",
			given{place: []error{seckill.ErrOrderExists}, row: paid}, place + "; " + confirm, false},

		{"its unit is another's: another is drawn", given{place: []error{taken}, redraw: string(seckill.RedrawUnits)},
			place + "; " + collides + "; " + again + "; " + closing + "; confirm units [8]", false},
		{"its unit is another's, and none is left: rejected",
			given{place: []error{taken}, redraw: string(seckill.RedrawNone)},
			place + "; " + collides + "; reject: sold_out; confirm units []", false},
		{"none is left, and that is not believed yet: once more",
			given{place: []error{taken}, redraw: string(seckill.RedrawWait)}, place + "; " + collides, true},
		{"its unit is another's, and it is confirmed meanwhile: as its row says",
			given{place: []error{taken}, redraw: string(seckill.RedrawConfirmed), row: paid},
			place + "; " + collides + "; " + confirm, false},
		{"no answer to the redraw: once more", given{place: []error{taken}}, place + "; " + collides, true},
		{"a message without units: they are drawn first", given{units: []int{}, redraw: string(seckill.RedrawUnits)},
			"redraw, unit 0 is \"\"'s; " + again + "; " + closing + "; confirm units [8]", false},
		{"every unit collides: once more after 20",
			given{place: slices.Repeat([]error{taken}, 20), redraw: string(seckill.RedrawUnits)},
			place + "; " + collides + strings.Repeat("; "+again+"; "+collides, 19), true},

		{"over the user's limit: rejected",
			given{place: []error{seckill.ErrQuota}},
			place + "; reject: limit_reached; confirm units [], the user is refused", false},
		{"its shopper is blocked: rejected",
			given{place: []error{seckill.ErrBlocked}},
			place + "; reject: blocked; confirm units [], the user is blocked", false},
		{"its session has ended: rejected",
			given{place: []error{seckill.ErrNoSession}},
			place + "; reject: invalid_token; confirm units [], the user is refused", false},
		{"the sale is stopped: rejected", given{stopped: true}, "reject: stopped; confirm units []", false},
		{"an hour old: rejected", given{waited: seckill.MaxUnplaced}, "reject: unavailable; confirm units []", false},
		{"almost an hour old: placed",
			given{waited: seckill.MaxUnplaced - time.Second}, place + "; " + closing + "; " + confirm, false},
		{"rejected, and placed by another delivery before: as its row says",
			given{stopped: true, reject: seckill.ErrOrderExists, row: paid}, "reject: stopped; " + confirm, false},
		{"rejected by another delivery before: the stock is told why",
			given{place: []error{seckill.ErrOrderExists}, row: refused},
			place + "; confirm units [], the user is blocked", false},
		{"no answer to the rejection: once more", given{stopped: true, reject: errFault}, "reject: stopped", true},

		{"an unknown item: parked",
			given{item: seckill.Refuse(seckill.CodeItemUnknown)}, "park: order for an unknown item", false},
		{"the item cannot be read: once more", given{item: errFault}, "", true},
		{"each read of the item takes a second, so that nothing may be placed on it: once more",
			given{slow: time.Second}, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &ports{given: c.given, now: opened}
			units := []int{7}
			if c.given.units != nil {
				units = c.given.units
			}
			m := seckill.Message{Kind: seckill.MessageOrder, Reservation: seckill.Reservation{
				Request: drivertest.Request("1", "9", opened.Add(-c.given.waited)), Units: units}}
			w.check(t, m.Encode(), c.then, c.comes)
		})
	}
}

// TestConsumeTheRest covers messages that do not concern a reservation.
func TestConsumeTheRest(t *testing.T) {
	for _, c := range []struct {
		name string
		m    seckill.Message
		then string
	}{
		{"a return", seckill.Message{Kind: seckill.MessageReturn, Order: order},
			"return units [7] of " + order + "; delete the return row"},
		{"a return that is finished", seckill.Message{Kind: seckill.MessageReturn, Order: another}, ""},
		{"a wake", seckill.Message{Kind: seckill.MessageWake, Item: "1"}, "wake item 1"},
		{"a message of the other queue", seckill.Message{Kind: seckill.MessageClose, Order: order},
			"park: a close message on the orders queue"},
		{"what is not a message", seckill.Message{Kind: "what"}, "park: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &ports{given: given{returns: map[string]bool{order: true}}, now: opened}
			w.check(t, c.m.Encode(), c.then, false)
		})
	}
}

// check handles a message and compares the calls.
func (w *ports) check(t *testing.T, body []byte, then string, comes bool) {
	t.Helper()
	f := consume.New(consume.Deps{Stock: stock{w}, Ledger: ledger{w}, Items: w, Grouping: w,
		Orders: queue{ports: w, name: "orders"}, Closings: queue{ports: w, name: "closings"}, Clock: w, Meter: w,
		Repair: w, Hold: 14 * time.Minute})
	err := f.Handle(t.Context(), seckill.Delivery{ID: "m", Body: body, Receives: 1})
	if (err != nil) != comes {
		t.Errorf("error %v, want that the message comes back: %v", err, comes)
	}
	got := strings.Join(w.calls, "; ")
	if comes {
		got = strings.TrimPrefix(strings.TrimSuffix(got, "again in true"), "; ")
		got = strings.TrimSuffix(got, "; ")
	}
	if got != then && (then != "park: " || !strings.HasPrefix(got, then)) {
		t.Errorf("did  %s\nwant %s", got, then)
	}
}

// TestNetworksUnderWay: a message from before the setting went back to 0 carries a network address, and the order has
// none.
func TestNetworksUnderWay(t *testing.T) {
	from := netip.MustParseAddr("192.0.2.1")
	m := seckill.Message{Kind: seckill.MessageOrder, Reservation: seckill.Reservation{
		Request: drivertest.Request("1", "9", opened), Units: []int{7}}}
	m.Reservation.Network = from
	for keep, want := range map[bool]netip.Addr{true: from, false: {}} {
		w := &ports{now: opened}
		f := consume.New(consume.Deps{Stock: stock{w}, Ledger: ledger{w}, Items: w, Grouping: w,
			Orders: queue{ports: w, name: "orders"}, Closings: queue{ports: w, name: "closings"}, Clock: w, Meter: w,
			Repair: w, Hold: 14 * time.Minute, KeepNetworks: keep})
		err := f.Handle(t.Context(), seckill.Delivery{ID: "m", Body: m.Encode(), Receives: 1})
		if err != nil || w.placed.Address != m.Reservation.Address || w.placed.Network != want {
			t.Errorf("keeps %t: %v, placed from %q at %q", keep, err, w.placed.Network, w.placed.Address)
		}
	}
}

// TestActivity: an order keeps the activity that its item is in when it is placed, as it was some seconds before at
// most. That it cannot be read stops no order.
func TestActivity(t *testing.T) {
	w := &ports{now: opened, activity: "12"}
	f := consume.New(consume.Deps{Stock: stock{w}, Ledger: ledger{w}, Items: w, Grouping: w,
		Orders: queue{ports: w, name: "orders"}, Closings: queue{ports: w, name: "closings"}, Clock: w, Meter: w,
		Repair: w, Hold: 14 * time.Minute})
	m := seckill.Message{Kind: seckill.MessageOrder, Reservation: seckill.Reservation{
		Request: drivertest.Request("1", "9", opened), Units: []int{7}}}
	for _, c := range []struct {
		after   time.Duration
		in      string
		unknown error
		want    string
		asked   int
	}{
		{0, "12", nil, "12", 1},
		{9 * time.Second, "", nil, "12", 1},
		{time.Second, "", errFault, "12", 2},
		{9 * time.Second, "13", nil, "12", 2},
		{time.Second, "13", nil, "13", 3},
		{10 * time.Second, "", nil, "", 4},
	} {
		w.now, w.activity, w.unknown = w.now.Add(c.after), c.in, c.unknown
		err := f.Handle(t.Context(), seckill.Delivery{ID: "m", Body: m.Encode(), Receives: 1})
		if err != nil || w.placed.Activity != c.want || w.asked != c.asked {
			t.Errorf("in %q, %v: %v, placed in activity %q after %d reads, want %+v", c.in, c.unknown, err,
				w.placed.Activity, w.asked, c)
		}
	}
}
