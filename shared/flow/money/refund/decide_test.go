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
	for _, same := range []string{"assumed-role/Finance/ann", "assumed-role/Admin/Ann", "user/ANN", "ann", " ann"} {
		d.wants(id, same, true, "waits beside assumed-role/Finance/ann")
	}
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
