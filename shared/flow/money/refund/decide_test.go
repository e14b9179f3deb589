package refund_test

import (
	"context"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/money/refund"
	"github.com/your-org/seckill/shared/seckill"
)

// office is a shop with paid orders of 100 fen for each unit.
type office struct {
	t *testing.T
	*refund.Flow
	ledger *ledger.Ledger
	clock  *memory.Clock
	made   int
}

func newOffice(t *testing.T, alone seckill.AloneLimit) *office {
	clock := memory.NewClock(time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC))
	l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock}))
	return &office{t: t, ledger: l, clock: clock,
		Flow: refund.New(refund.Deps{Ledger: l, Clock: clock, Meter: memory.Meter{},
			Orders: memory.NewQueue(clock, memory.QueueOptions{}), Alone: alone})}
}

func (d *office) paid(units int) string {
	d.t.Helper()
	d.made += units
	var all []int
	for i := range units {
		all = append(all, d.made-i)
	}
	o := drivertest.Order("1", "7", d.clock.Now(), all...)
	must.OK(d.t, drivertest.Place(context.Background(), d.ledger, o, seckill.Paid))
	return o.ID
}

// wants refunds an order, and checks what comes of it: "back", "waits beside" a person, "nothing", or an error's code.
func (d *office) wants(id, who string, restock bool, want string) {
	d.t.Helper()
	did, err := d.Order(context.Background(), id, who, "broken", restock)
	got := "nothing"
	switch {
	case err != nil:
		got = string(seckill.CodeOf(err))
	case did.Started:
		got = "back"
	case did.Waiting != nil:
		got = "waits beside " + did.Waiting.Who
	}
	o, err := d.ledger.Order(context.Background(), id)
	owed, wanted := o.State == seckill.RefundOwed, want == "back" || want == "nothing"
	if err != nil || got != want || owed != wanted {
		d.t.Errorf("%s refunds: %s, %s, %v; want %s", who, got, o.State, err, want)
	}
}

func TestARefundOfMuchWaitsForASecondPerson(t *testing.T) {
	t.Parallel()
	d := newOffice(t, seckill.AloneLimit{Amount: 200})
	d.wants(d.paid(2), "ann", true, "back") // as much as one may
	id := d.paid(3)
	d.wants(id, "assumed-role/Finance/ann", true, "waits beside assumed-role/Finance/ann")
	for _, same := range []string{"assumed-role/Finance/ann", "assumed-role/Admin/Ann", "user/ANN", "ann"} {
		d.wants(id, same, true, "waits beside assumed-role/Finance/ann")
	}
	d.wants(id, " ann", true, "invalid_request") // no name
	d.wants(id, "bob", false, "invalid_request") // not what ann wants
	open, err := d.Open(t.Context())
	if err != nil || len(open.Waiting) != 1 || open.Waiting[0].Order != id || open.Waiting[0].Amount != 300 {
		t.Errorf("waiting: %+v, %v", open.Waiting, err)
	}
	d.wants(id, "bob", true, "back")
	d.wants(id, "ann", true, "nothing")
	o, _ := d.ledger.Order(t.Context(), id)
	must.Equal(t, "refund by assumed-role/Finance/ann and bob: broken; broken", o.History[len(o.History)-1].Cause,
		"history")
	if open, err := d.Open(t.Context()); err != nil || len(open.Waiting) != 0 {
		t.Errorf("waiting afterwards: %+v, %v", open.Waiting, err)
	}
}

func TestOneMoreRefundADayWaitsForASecondPerson(t *testing.T) {
	t.Parallel()
	d := newOffice(t, seckill.AloneLimit{PerDay: 2})
	d.wants(d.paid(1), "ann", true, "back")
	d.wants(d.paid(1), "user/Ann", false, "back")
	third := d.paid(1)
	d.wants(third, "ann", false, "waits beside ann")
	d.wants(d.paid(1), "bob", false, "back") // bob's first
	d.wants(third, "bob", false, "back")     // approved: it counts for nobody
	d.wants(d.paid(1), "bob", false, "back") // bob's second
	d.wants(d.paid(1), "bob", false, "waits beside bob")
	d.clock.Advance(24 * time.Hour)
	d.wants(d.paid(1), "ann", true, "back")
}

// TestAllWentBackSaysAPerson checks how an order ends of which all went back by a notification, and no query says so:
// on the word of finance, of two people above what one may decide; its units go back on sale once, unless they left.
func TestAllWentBackSaysAPerson(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	d := newOffice(t, seckill.AloneLimit{Amount: 200})
	trade := &scripted{}
	d.Trades = trade
	gone := func(units int) string {
		id := d.paid(units)
		d.wentBack(id, seckill.Fen(100*units))
		return id
	}
	said := func(id, who string, restock bool, started, waits bool, state seckill.State, units int) {
		t.Helper()
		did, err := d.Gone(ctx, id, who, "a chargeback", restock)
		o := must.Get(d.ledger.Order(ctx, id))
		if err != nil || did.Started != started || (did.Waiting != nil) != waits || o.State != state ||
			len(o.Units) != units {
			t.Errorf("%s says: %+v, %v; %s, %v", who, did, err, o.State, o.Units)
		}
	}
	one, three := gone(1), gone(3)
	if _, err := d.Order(ctx, one, "ann", "broken", true); seckill.CodeOf(err) != seckill.CodeInvalid {
		t.Errorf("a refund of what went back: %v", err)
	}
	said(one, "ann", false, true, false, seckill.Refunded, 1)
	said(one, "ann", false, false, false, seckill.Refunded, 1)
	d.again(one, true, true)
	d.again(one, true, false)
	said(three, "ann", true, false, true, seckill.Paid, 3)
	said(three, "bob", true, true, false, seckill.Refunded, 0)
	if _, err := d.Gone(ctx, d.paid(1), "ann", "x", false); seckill.CodeOf(err) != seckill.CodeInvalid {
		t.Errorf("nothing went back: %v", err)
	}

	less := gone(2)
	part := seckill.Fen(50)
	accept := func(answer string, back *seckill.Fen, want seckill.Code) {
		t.Helper()
		trade.answers, trade.asked = []string{answer}, nil
		if is, err := d.Accept(ctx, less, "ann", "one line was billed twice", back); is != (want == "") ||
			err != nil && seckill.CodeOf(err) != want {
			t.Errorf("the trade is %s: %v, %v; want %s", answer, is, err, want)
		}
	}
	whole, more := seckill.Fen(200), seckill.Fen(201)
	for _, back := range []*seckill.Fen{nil, &whole, &more} {
		accept("paid", back, seckill.CodeInvalid)
	}
	accept("closed", &part, seckill.CodeInvalid)
	accept("fault", &part, seckill.CodeUnavailable)
	accept("paid", &part, "")
	o := must.Get(d.ledger.Order(ctx, less))
	must.Equal(t, []any{seckill.Paid, part, false}, []any{o.State, o.Outside, o.Undecided}, "accepted")
	d.wants(less, "ann", true, "back")
	must.Equal(t, 150, must.Get(d.ledger.Payments(ctx, less))[0].Refund().Amount, "the rest")
}

// wentBack records what went back of an order outside the shop.
func (d *office) wentBack(id string, sum seckill.Fen) {
	d.t.Helper()
	o, p := must.Get(d.ledger.Order(context.Background(), id)), must.Get(d.ledger.Payments(context.Background(), id))[0]
	p.Outside = sum
	must.OK(d.t, d.ledger.WentBack(context.Background(), o, p, 0, d.clock.Now(), "a notification"))
}

// again refunds a refunded order again, and checks whether that changes it.
func (d *office) again(id string, restock, want bool) {
	d.t.Helper()
	did, err := d.Order(context.Background(), id, "ann", "it never left", restock)
	o := must.Get(d.ledger.Order(context.Background(), id))
	if err != nil || did.Started != want || o.State != seckill.Refunded || len(o.Units) > 0 {
		d.t.Errorf("restocked: %+v, %v; %v", did, err, o.Units)
	}
}

// TestTheGoodsHaveLeft checks that nobody restocks what was shipped, whatever became of the order.
func TestTheGoodsHaveLeft(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	d := newOffice(t, seckill.AloneLimit{})
	id := d.paid(1)
	for _, to := range []seckill.State{seckill.Confirmed, seckill.Shipped, seckill.Received, seckill.Completed} {
		o := must.Get(d.ledger.Order(ctx, id))
		o.Carrier, o.Number = "SF", "1"
		must.OK(t, d.ledger.Fulfil(ctx, o, to, d.clock.Now(), d.clock.Now(), "c"))
	}
	d.wentBack(id, 100)
	for n, restock := range []bool{true, false, true} {
		_, err := d.Gone(ctx, id, "ann", "a chargeback", restock)
		if (err != nil) != restock {
			t.Errorf("%d: %v", n, err)
		}
	}
	o := must.Get(d.ledger.Order(ctx, id))
	must.Equal(t, []any{seckill.Refunded, 1}, []any{o.State, len(o.Units)}, "the order")
}

func TestAWithdrawnRefund(t *testing.T) {
	t.Parallel()
	d := newOffice(t, seckill.AloneLimit{Amount: 50})
	id := d.paid(1)
	withdraw := func(id, who, why string, want bool, code seckill.Code) {
		t.Helper()
		is, err := d.Withdraw(t.Context(), id, who, why)
		if is != want || (err != nil) != (code != "") || err != nil && seckill.CodeOf(err) != code {
			t.Errorf("withdrawn: %t, %v; want %t, %s", is, err, want, code)
		}
	}
	withdraw(id, "bob", "no", false, "")
	d.wants(id, "ann", true, "waits beside ann")
	withdraw(id, "", "no", false, seckill.CodeInvalid)
	withdraw(seckill.KeyedOrderID("1", "7", "none"), "bob", "no", false, seckill.CodeOrderUnknown)
	withdraw(id, "ann", "no", true, "")
	d.wants(id, "bob", false, "waits beside bob")
	d.wants(id, "ann", false, "back")
}
