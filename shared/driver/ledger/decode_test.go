package ledger_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

func TestARowThatIsNotUnderstoodIsAnErrorThatNamesIt(t *testing.T) {
	byUser := func(l seckill.Ledger) error { return second(l.OrdersByUser(ctx, "7", "", 9)) }
	order := func(l seckill.Ledger) error { return second(l.Order(ctx, "b")) }
	quota := func(l seckill.Ledger) error { return second(l.Quota(ctx, "7", "1")) }
	quotas := func(l seckill.Ledger) error { return second(l.Quotas(ctx, "1", []string{"7"})) }
	units := func(l seckill.Ledger) error { return second(l.Units(ctx, "1", 0)) }
	payments := func(l seckill.Ledger) error { return second(l.Payments(ctx, "b")) }
	refunds := func(l seckill.Ledger) error {
		page, err := l.RefundsDue(ctx, 5, start, "", 9)
		return errors.Join(append(page.Unreadable, err)...)
	}
	returned := func(l seckill.Ledger) error { return second(l.Return(ctx, "a")) }
	returns := func(l seckill.Ledger) error {
		page, err := l.Returns(ctx, 12, "", 9)
		return errors.Join(append(page.Unreadable, err)...)
	}
	collide := func(l seckill.Ledger) error {
		o := seckill.Order{ID: "d", Item: "1", User: "8", Count: 1, Units: []int{3}, Buckets: 1, Created: start,
			Placed: start, PayBy: start}
		return l.Place(ctx, o, 9)
	}
	b := ledger.Key{Table: ledger.TableOrders, PK: "b"}
	unit := ledger.Key{Table: ledger.TableUnits, PK: "1#0", SK: "0000003"}
	user := ledger.Key{Table: ledger.TableQuotas, PK: "7", SK: "1"}
	trade := ledger.Key{Table: ledger.TablePayments, PK: "b", SK: "t2"}
	ret := ledger.Key{Table: ledger.TableReturns, PK: "12", SK: "a"}

	for _, c := range []struct {
		key    ledger.Key
		attr   string
		value  any // nil if the attribute is missing
		read   func(l seckill.Ledger) error
		reason string
	}{
		{b, "v", int64(3), order, "orders row b has version v=3, this code reads 1 to 2"},
		{b, "v", int64(0), order, "orders row b has version v=0, this code reads 1 to 2"},
		{b, "v", nil, order, "orders row b has version v=<nil>"},
		{b, "v", "1", byUser, "orders row b has version v=1, this code"},
		{unit, "v", int64(3), units, "units row 1#0/0000003 has version v=3"},
		{unit, "v", int64(3), collide, "units row 1#0/0000003 has version v=3"},
		{user, "v", int64(2), quota, "quotas row 7/1 has version v=2"},
		{user, "v", int64(2), quotas, "quotas row 7/1 has version v=2"},
		{trade, "v", int64(2), payments, "payments row b/t2 has version v=2"},
		{trade, "v", int64(2), refunds, "payments row b/t2 has version v=2"},
		{ret, "v", int64(2), returned, "returns row 12/a has version v=2"},
		{ret, "v", int64(2), returns, "returns row 12/a has version v=2"},
		{b, "user", nil, order, "orders row b: attribute user is not a text"},
		{b, "address", []string{"secret street"}, order, "attribute address is not a text"},
		{b, "address", nil, order, "orders row b: attribute address is not a text"},
		{b, "erased", "once", order, "attribute erased is not a number"},
		{b, "count", "1", order, "attribute count is not a number"},
		{b, "pay_by", "soon", order, "attribute pay_by is not a number"},
		{b, "close_to", int64(1), order, "attribute close_to is not a text"},
		{b, "state", "lost", order, "attribute state is not a known state"},
		{b, "units", "1,x", order, "attribute units is not a list of numbers"},
		{b, "history", "2026", order, "attribute history is not a list"},
		{b, "history", []string{"yesterday paid"}, order, "attribute history is not a list of changes"},
		{b, "history", []string{"2026-07-01T12:00:00.000Z"}, order, "attribute history is not a list of changes"},
		{user, "orders", ledger.Set{"b"}, quota, "attribute orders is not order:count"},
		{user, "orders", "b:1", quota, "attribute orders is not a set"},
		{trade, "at", nil, payments, "attribute at is not a number"},
		{unit, "order", nil, units, "attribute order is not a text"},
		{ret, "units", "1;2", returned, "attribute units is not a list of numbers"},
	} {
		t.Run(fmt.Sprintf("%s %s %v", c.key.Table, c.attr, c.value), func(t *testing.T) {
			l, rows := written(t)
			w := ledger.Write{Key: c.key, Op: ledger.OpUpdate, Set: ledger.Row{c.attr: c.value}}
			if c.value == nil {
				w.Set, w.Remove = nil, []string{c.attr}
			}
			if err := c.read(l); err != nil && !strings.Contains(err.Error(), "belongs to") {
				t.Fatalf("before it was spoilt: %v", err)
			}
			must.OK(t, rows.Transact(ctx, []ledger.Write{w}))
			err := c.read(l)
			if err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("got error %v, want one with %q", err, c.reason)
			}
			must.Is(t, seckill.ErrUnreadable, err)
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows an address: %v", err)
			}
		})
	}
}

func TestACancellationShowsNoAddress(t *testing.T) {
	err := &ledger.Canceled{Reasons: []ledger.Reason{{Code: ledger.ReasonNone},
		{Code: ledger.ReasonCondition, Old: ledger.Row{"address": "secret street"}}}}
	if got, want := err.Error(), "ledger: transaction cancelled [None ConditionalCheckFailed]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAnOrderComesBackAsItWasWritten(t *testing.T) {
	text := rapid.StringN(0, 40, -1)
	id := rapid.StringMatching(`o[a-z2-7]{26}([a-z2-7]{5})?`)
	at := rapid.Custom(func(t *rapid.T) time.Time {
		return time.UnixMilli(rapid.Int64Range(1, 253402300799999).Draw(t, "ms")).UTC() // until the end of year 9999
	})
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.SliceOfNDistinct(rapid.IntRange(1, seckill.MaxStock), 1, seckill.MaxCount, rapid.ID[int]).Draw(t,
			"units")
		o := seckill.Order{
			ID: id.Draw(t, "id"), Item: "1", User: "7", Count: len(units), Units: units,
			Price: seckill.Fen(rapid.Int64Range(0, int64(seckill.MaxFen)).Draw(t, "price")), Amount: seckill.MaxFen,
			Given: seckill.Given{Address: text.Draw(t, "address"), Name: text.Draw(t, "name"),
				Network: netip.AddrFrom16([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "network")))},
			Title: text.Draw(t, "title"), State: seckill.PendingPayment,
			Created: at.Draw(t, "created"), Placed: at.Draw(t, "placed"), PayBy: at.Draw(t, "pay by"),

			Cover: text.Draw(t, "cover"), ItemVersion: rapid.Int64Range(0, 1<<40).Draw(t, "version"),
			Buckets: rapid.IntRange(1, 2000).Draw(t, "buckets"),
			History: []seckill.Change{{State: seckill.PendingPayment, At: at.Draw(t, "at"),
				Cause: text.Draw(t, "cause")}},
		}
		if rapid.Bool().Draw(t, "variant") {
			o.Options = seckill.Options{{Name: "颜色", Value: "黑"}}
		}
		if o.ItemVersion > 0 {
			o.ListPrice = seckill.Fen(rapid.Int64Range(0, int64(seckill.MaxFen)).Draw(t, "list price"))
		}
		l := ledger.New(newRows())
		must.OK(t, l.Place(ctx, o, seckill.MaxLimit))
		got, err := l.Order(ctx, o.ID)
		if diff := cmp.Diff(o, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" || err != nil {
			t.Fatalf("error %v, got (+), want (-):\n%s", err, diff)
		}
	})
}

func TestABucketOfManyPagesIsReadWhole(t *testing.T) {
	l, rows := ledger.New(newRows()), 0
	for _, n := range []int{999, 1000, 1001, 2500} {
		for ; rows < n; rows++ {
			o := seckill.Order{ID: fmt.Sprint("o", rows), Item: "1", User: fmt.Sprint(rows), Count: 1,
				Units: []int{rows + 1}, Buckets: 1, Created: start, Placed: start, PayBy: start}
			must.OK(t, l.Place(ctx, o, 1))
		}
		got, err := l.Units(ctx, "1", 0)
		if err != nil || len(got) != n {
			t.Fatalf("got %d unit rows and error %v, want %d", len(got), err, n)
		}
		for i, r := range got {
			if r.Unit != i+1 || r.Order != fmt.Sprint("o", i) {
				t.Fatalf("row %d: got %+v", i, r)
			}
		}
	}
}
