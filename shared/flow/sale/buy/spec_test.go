package buy_test

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

// ports implements the ports of the step. Their answers come from the table, and calls records what the step did.
type ports struct {
	seckill.Queue
	seckill.Items
	stock  seckill.ReserveCode // answer of Reserve
	faults map[string]error    // by call
	calls  []string
	asked  seckill.Request // the last of Reserve
}

func (p *ports) call(name string) error {
	p.calls = append(p.calls, name)
	return p.faults[name]
}

func (p *ports) Reserve(_ context.Context, _ time.Time, r seckill.Request, _ bool, _ time.Duration) (
	seckill.ReserveResult, error) {
	p.asked = r
	res := seckill.ReserveResult{Code: p.stock, Start: opening, Limit: 2}
	res.Order = r.Order
	return res, p.call("reserve")
}

func (p *ports) Send(_ context.Context, m seckill.Message, _ time.Duration) error {
	return p.call("send " + string(m.Kind))
}

func (p *ports) Get(_ context.Context, id string) (seckill.Item, error) {
	return seckill.Item{ID: id, Start: opening, End: opening.Add(time.Hour), Limit: 2}, p.call("item")
}

func (*ports) OrderID(string) string { return "o-new" }
func (*ports) Token() string         { return "t" }

var opening = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

// slowQueue takes a while for each message.
type slowQueue struct {
	*ports
	clock *memory.Clock
	takes time.Duration
}

func (q slowQueue) Send(ctx context.Context, m seckill.Message, wait time.Duration) error {
	q.clock.Advance(q.takes)
	return q.ports.Send(ctx, m, wait)
}

// TestNothingIsAcknowledgedLate: a rebuild counts on it that a message is sent within AckWithin of the reservation.
func TestNothingIsAcknowledgedLate(t *testing.T) {
	t.Parallel()
	for takes, want := range map[time.Duration]seckill.Code{
		seckill.AckWithin: "", seckill.AckWithin + time.Millisecond: seckill.CodeUnconfirmed} {
		p, clock := &ports{stock: seckill.Reserved}, memory.NewClock(opening)
		f := buy.New(buy.Deps{Stock: p, Orders: slowQueue{p, clock, takes}, Items: p, Clock: clock, IDs: p,
			Meter: memory.Meter{}})
		_, err := f.Buy(t.Context(), buy.Purchase{Item: "1001", User: "9", Count: 1,
			Given: seckill.Given{Address: "a"}})
		if got := seckill.CodeOf(err); err == nil && want != "" || err != nil && got != want {
			t.Errorf("a message that takes %s: %v, want %q", takes, err, want)
		}
	}
}

// TestBuy is the specification of the step: the shopper's answer, and the calls that it makes, in order.
func TestBuy(t *testing.T) {
	t.Parallel()
	missing := map[string]error{"reserve": seckill.ErrNotInstalled}
	gone := func(err error) map[string]error {
		return map[string]error{"reserve": seckill.ErrNotInstalled, "item": err}
	}
	for _, c := range []struct {
		name  string
		at    time.Duration // time of the purchase after the start of the sale
		count int
		stock seckill.ReserveCode
		fault map[string]error
		code  seckill.Code // of the refusal; "" if the order id is returned
		calls string       // joined with "; "
	}{
		{"a free unit", 0, 1, seckill.Reserved, nil, "", "reserve; send order"},
		{"a repetition that waits", 0, 1, seckill.ReservedAgain, nil, "", "reserve; send order"},
		{"a repetition that was placed", 0, 1, seckill.ReservedBefore, nil, "", "reserve"},
		{"the queue does not answer", 0, 1, seckill.Reserved, map[string]error{"send order": context.DeadlineExceeded},
			seckill.CodeUnconfirmed, "reserve; send order"},
		{"a key with another body", 0, 1, seckill.ReserveReused, nil, seckill.CodeKeyReused, "reserve"},
		{"over the limit together with other orders", 0, 1, seckill.ReserveLimit, nil, seckill.CodeLimitReached,
			"reserve"},
		{"over the limit alone", 0, 3, seckill.ReserveLimit, nil, seckill.CodeInvalid, "reserve"},
		{"no unit left", 0, 1, seckill.ReserveNone, nil, seckill.CodeSoldOut, "reserve"},
		{"too few left", 0, 2, seckill.ReserveFew, nil, seckill.CodeNotEnough, "reserve"},
		{"the units left are held back", 0, 1, seckill.ReserveHeld, nil, seckill.CodeNotReady, "reserve"},
		{"before the start", -time.Minute, 1, seckill.ReserveEarly, nil, seckill.CodeNotStarted, "reserve"},
		{"after the end", time.Hour, 1, seckill.ReserveLate, nil, seckill.CodeEnded, "reserve"},
		{"a stopped item", 0, 1, seckill.ReserveStopped, nil, seckill.CodeStopped, "reserve"},
		{"the stock does not answer", 0, 1, "", map[string]error{"reserve": context.DeadlineExceeded},
			seckill.CodeUnavailable, "reserve"},
		{"no count", 0, 0, "", nil, seckill.CodeInvalid, ""},
		{"not installed, on sale", 0, 1, "", missing, seckill.CodeNotReady, "reserve; item"},
		{"not installed, over the limit", 0, 3, "", missing, seckill.CodeInvalid, "reserve; item"},
		{"not installed, long before the start", -time.Minute, 1, "", missing, seckill.CodeNotStarted, "reserve; item"},
		{"not installed, long after the end", 2 * time.Hour, 1, "", missing, seckill.CodeEnded, "reserve; item"},
		{"not installed, no such item", 0, 1, "", gone(seckill.Refuse(seckill.CodeItemUnknown)),
			seckill.CodeItemUnknown, "reserve; item"},
		{"not installed, the table does not answer", 0, 1, "", gone(context.DeadlineExceeded), seckill.CodeUnavailable,
			"reserve; item"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := &ports{stock: c.stock, faults: c.fault}
			f := buy.New(buy.Deps{Stock: p, Orders: p, Items: p, Clock: memory.NewClock(opening.Add(c.at)), IDs: p,
				Meter: memory.Meter{}})
			id, err := f.Buy(t.Context(), buy.Purchase{Item: "1001", User: "9", Count: c.count,
				Given: seckill.Given{Address: "a"}})
			if c.code == "" && (err != nil || id != "o-new") || c.code != "" &&
				(err == nil || seckill.CodeOf(err) != c.code) {
				t.Errorf("got %q, %v; want code %q", id, err, c.code)
			}
			if want := strings.Split(c.calls, "; "); !slices.Equal(p.calls, want) && (c.calls != "" || p.calls != nil) {
				t.Errorf("calls %q, want %q", p.calls, want)
			}
		})
	}
}

// TestNetworksUnasked: only a shop that keeps network addresses reserves with one.
func TestNetworksUnasked(t *testing.T) {
	t.Parallel()
	from := netip.MustParseAddr("192.0.2.1")
	for keep, want := range map[bool]netip.Addr{true: from, false: {}} {
		p := &ports{stock: seckill.Reserved}
		f := buy.New(buy.Deps{Stock: p, Orders: p, Items: p, Clock: memory.NewClock(opening), IDs: p,
			Meter: memory.Meter{}, KeepNetworks: keep})
		_, err := f.Buy(t.Context(), buy.Purchase{Item: "1", User: "9", Count: 1, Given: seckill.Given{Address: "a",
			Network: from}})
		if err != nil || p.asked.Network != want {
			t.Errorf("keeps %t: %v, reserved from %q", keep, err, p.asked.Network)
		}
	}
}
