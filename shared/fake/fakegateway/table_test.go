package fakegateway_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/fake/memory"
)

// embedded returns rows that behave like DynamoDB's.
func embedded() *memory.Rows {
	return memory.NewRows(memory.RowsOptions{Clock: memory.NewClock(start), Tables: []ledger.Table{fakegateway.Table}})
}

func TestStoreConforms(t *testing.T) {
	testStore(t, func(*testing.T) fakegateway.Store { return fakegateway.NewTable(embedded()) })
}

func TestARowThatIsNotAsItShouldBeIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		set  ledger.Row
		want string
	}{
		"another version": {ledger.Row{"v": int64(2)}, "version v=2"},
		"another type":    {ledger.Row{"amount": "1"}, "attribute amount"},
		"no time":         {ledger.Row{"notify_at": "soon"}, "attribute notify_at"},
		"no refund":       {ledger.Row{"refunds": []string{"{"}}, "attribute refunds"},
	} {
		rows := embedded()
		s := fakegateway.NewTable(rows)
		must.OK(t, s.Save(t.Context(), paidRecord("a", start)))
		key := ledger.Key{Table: fakegateway.TableTrades, PK: "a"}
		must.OK(t, rows.Transact(t.Context(), []ledger.Write{{Key: key, Op: ledger.OpUpdate, Set: c.set}}))
		if _, found, err := s.Load(t.Context(), fakegateway.Key{OutTradeNo: "a", N: 1}); found || err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, %v; want an error with %q", name, found, err, c.want)
		}
	}
}

// TestRowIsPartOfWhatIsWritten checks, at each point of a trade's life, that Save writes what Row returns; only a
// refund's entry also has its notification.
func TestRowIsPartOfWhatIsWritten(t *testing.T) {
	waits, refunded := paidRecord("a", start), paidRecord("a", start)
	waits.OutTradeNo, waits.Status, waits.Paid, waits.Notifications = "b", fakegateway.StatusWait, time.Time{}, nil
	refunded.N, refunded.TradeNo = 2, "2"
	refunded.Refunds = []fakegateway.Refund{{RequestNo: "r\"1", Amount: 80, At: start.Add(time.Second)},
		{RequestNo: "r2", Amount: 8800, At: start.Add(time.Minute)}}
	refunded.Notifications = append(refunded.Notifications, fakegateway.Notification{ID: "m1"},
		fakegateway.Notification{ID: "m2", Attempts: 3, Next: start})
	for name, r := range map[string]fakegateway.Record{"b": waits, "a": paidRecord("a", start), "a#2": refunded} {
		rows := embedded()
		must.OK(t, fakegateway.NewTable(rows).Save(t.Context(), r))
		written, found, err := rows.Get(t.Context(), ledger.Key{Table: fakegateway.TableTrades,
			PK: fakegateway.RowName(r.Key())})
		if err != nil || !found || written[fakegateway.Table.PK] != name {
			t.Fatalf("%s: written %v, %v", name, written, err)
		}
		row := fakegateway.TradeRow(&r.Trade)
		short, _ := row["refunds"].([]string)
		long, _ := written["refunds"].([]string)
		if len(short) != len(r.Refunds) || len(long) != len(short) {
			t.Errorf("%s: refunds %q, written %q, want %d", name, short, long, len(r.Refunds))
			continue
		}
		for i := range short {
			if !strings.HasPrefix(long[i], strings.TrimSuffix(short[i], "}")+`,"notify_id":`) {
				t.Errorf("%s: refund %s, written %s", name, short[i], long[i])
			}
		}
		for attr, v := range row {
			if attr != "refunds" && written[attr] != v {
				t.Errorf("%s: %s is %v, written %v", name, attr, v, written[attr])
			}
		}
		if (row["paid"] != nil) == r.Paid.IsZero() {
			t.Errorf("%s: paid %v", name, row["paid"])
		}
	}
}

// TestARowWithoutRefundsIsReadAsBefore covers rows from before refunds existed, which have the payment's notification
// only in notify_at.
func TestARowWithoutRefundsIsReadAsBefore(t *testing.T) {
	rows := embedded()
	old := ledger.Row{"v": int64(1), "version": int64(3), "trade_no": "t", "subject": "s", "amount": int64(1),
		"status": "TRADE_SUCCESS", "created": start.UnixMilli(),
		"expires": start.UnixMilli(), "lapses": start.UnixMilli(), "paid": start.UnixMilli(), "token": "x",
		"notify_url": "u", "notify_id": "n", "notify_attempts": int64(1),
		"notify_state": "due", "notify_at": fmt.Sprintf("%015d", start.Add(time.Minute).UnixMilli())}
	must.OK(t, rows.Transact(t.Context(), []ledger.Write{{Key: ledger.Key{Table: fakegateway.TableTrades, PK: "a"},
		Op: ledger.OpPut, Row: old}}))
	k := fakegateway.Key{OutTradeNo: "a", N: 1}
	r, found, err := fakegateway.NewTable(rows).Load(t.Context(), k)
	if want := []fakegateway.Notification{{ID: "n", Attempts: 1, Next: start.Add(time.Minute)}}; err != nil || !found ||
		!cmp.Equal(want, r.Notifications) || r.Key() != k {
		t.Errorf("%+v, found %v, %v; want notifications %+v", r, found, err, want)
	}
}
