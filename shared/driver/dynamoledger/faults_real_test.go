//go:build real

package dynamoledger_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/dynamotest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// Time limits for a server here, longer than it ever needs. A request that must end without an answer ends at once
// (wire.short).
const (
	tryTimeout  = time.Minute
	callTimeout = 5 * time.Minute
)

// maxPlays is how often a case is repeated, each time with another order, until the server executes it within half of
// PlaceTimeout. On a machine too busy for that, this test proves nothing; TestFaults covers it.
const maxPlays = 30

// unhurried waits for a server's answer, whatever the client's timeout, and reads it whole before the client sees any
// of it. Otherwise the SDK's repeat after a connection lost on a busy machine would count as the answer to the fault.
type unhurried struct{}

func (unhurried) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(answer))
	return resp, nil
}

// rowsOf holds all rows that the ledger has about one order.
type rowsOf struct {
	State   seckill.State
	Listed  []int
	Units   []seckill.UnitRow
	Quota   seckill.Quota
	Paid    int
	Returns []int
}

func readRows(t *testing.T, l *ledger.Ledger, o seckill.Order) (r rowsOf) {
	t.Helper()
	ok := func(err error) {
		t.Helper()
		must.OK(t, err)
	}
	got, err := l.Order(ctx, o.ID)
	ok(err)
	r.State, r.Listed = got.State, got.Units
	for b := range o.Buckets {
		rows, err := l.Units(ctx, o.Item, b)
		ok(err)
		r.Units = append(r.Units, rows...)
	}
	r.Quota, err = l.Quota(ctx, o.User, o.Item)
	ok(err)
	payments, err := l.Payments(ctx, o.ID)
	ok(err)
	r.Paid = len(payments)
	row, err := l.Return(ctx, o.ID)
	if !errors.Is(err, seckill.ErrNoReturn) {
		ok(err)
		r.Returns = row.Units
	}
	return r
}

// TestFaultsOnAServer plays the faults of TestFaults and checks the rows afterwards.
func TestFaultsOnAServer(t *testing.T) {
	prefix := dynamotest.Prefix()
	clean := dynamoledger.New(dynamotest.Config(t, nil), dynamoledger.Options{Prefix: prefix})
	must.OK(t, clean.CreateTables(ctx))
	t.Cleanup(func() { dynamotest.Drop(t, prefix) })
	l := ledger.New(clean)
	orders := 0
	for _, c := range faultCases {
		for _, op := range operations {
			t.Run(c.name+"/"+op.name, func(t *testing.T) {
				for play := 1; ; play++ {
					orders++
					o := sample(strconv.Itoa(orders))
					want := prepare(t, l, op, o)
					w := &wire{server: unhurried{}, script: c.script, short: true}
					troubled := ledger.New(dynamoledger.New(dynamotest.Config(t, w),
						dynamoledger.Options{Prefix: prefix, TryTimeout: tryTimeout, CallTimeout: callTimeout}))
					started := time.Now()
					err := op.run(troubled, o)
					if op.name == "Place" && time.Since(started) > seckill.PlaceTimeout/2 && play < maxPlays {
						continue
					}
					must.Equal(t, c.want, (result{op.outcome(err), w.calls(), c.want.commits}))
					if err := op.run(l, o); err != nil && !errors.Is(err, op.before) {
						t.Errorf("repeated: %v", err)
					}
					must.Equal(t, want, readRows(t, l, o), "rows")
					return
				}
			})
		}
	}
}

// prepare brings an order to the operation's starting state, and returns the rows expected after executing it once.
func prepare(t *testing.T, l *ledger.Ledger, op operation, o seckill.Order) rowsOf {
	t.Helper()
	want := rowsOf{State: seckill.PendingPayment, Listed: o.Units,
		Units: []seckill.UnitRow{{Unit: 1, Order: o.ID, User: "7"}, {Unit: 2, Order: o.ID, User: "7"}},
		Quota: seckill.Quota{Units: 2, Orders: map[string]int{o.ID: 2}, Newest: o.ID}}
	if op.name != "Place" {
		must.OK(t, l.Place(ctx, o, 5))
	}
	switch op.name {
	case "RecordPayment":
		want.State, want.Paid = seckill.Paid, 1
	case "GiveBack":
		must.OK(t, l.BeginClosing(ctx, o, o.CloseTo, begun, "c"))
		want = rowsOf{State: seckill.Expired, Quota: seckill.Quota{Newest: o.ID}, Returns: o.Units}
	}
	return want
}
