package audit_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// refund returns an entry of a trade's refunds.
func refund(fen int64) string {
	return fmt.Sprintf(`{"request_no":"r%d","amount":%d,"at":1,"notify_id":"n","attempts":1}`, fen, fen)
}

// owed changes the row of a refunded order back to refund_due.
func (w *testSale) owed() ledger.Row {
	o := w.refunded()
	h := o["history"].([]string)
	o["state"], o["history"] = string(seckill.RefundOwed), h[:len(h)-1]
	return o
}

// second gives a paid order a second, refunded trade.
func (w *testSale) second(o ledger.Row) (trade, payment ledger.Row) {
	first, row := w.trade(o), w.of(ledger.TablePayments, o)
	trade, payment = maps.Clone(first), maps.Clone(row)
	trade["out_trade_no"], trade["trade_no"], trade["status"] = text(o, "id")+"#2", text(first, "trade_no")+"2",
		"TRADE_CLOSED"
	trade["refunds"] = []string{refund(o["amount"].(int64))}
	payment["trade_no"], payment["state"], payment["back"] = trade["trade_no"], string(seckill.RefundDone), w.now
	w.add(record.PartTrades, trade)
	w.add(ledger.TablePayments, payment)
	return trade, payment
}

var moneyCorruptions = []corruption{
	{"a refund that the provider lacks", func(w *testSale) string {
		o := w.refunded()
		tr := w.trade(o)
		tr["status"] = "TRADE_SUCCESS"
		delete(tr, "refunds")
		return payments(o)
	}, "I6"},
	{"a refund that the provider made only partly", func(w *testSale) string {
		o := w.refunded()
		tr := w.trade(o)
		tr["status"], tr["refunds"] = "TRADE_SUCCESS", []string{refund(5000), refund(1)}
		return payments(o)
	}, "I6"},
	{"kept money that was refunded", func(w *testSale) string {
		o := w.paid()
		tr := w.trade(o)
		tr["status"], tr["refunds"] = "TRADE_CLOSED", []string{refund(tr["amount"].(int64))}
		return payments(o)
	}, "I6"},
	{"kept money that was refunded partly", func(w *testSale) string {
		o := w.paid()
		w.trade(o)["refunds"] = []string{refund(1)}
		return payments(o)
	}, "I6"},
	{"more refunded than captured", func(w *testSale) string {
		o := w.refunded()
		tr := w.trade(o)
		tr["refunds"] = append(tr["refunds"].([]string), refund(1))
		return trades(o)
	}, "I6"},
	{"a refund of an unpaid trade", func(w *testSale) string {
		o := w.expired()
		tr := copyRow(w.trade(w.refunded()))
		delete(tr, "paid")
		tr["out_trade_no"] = o["id"]
		w.add(record.PartTrades, tr)
		return trades(o)
	}, "I6"},
	{"an unreadable refund", func(w *testSale) string {
		o := w.refunded()
		w.trade(o)["refunds"] = []string{"all"}
		return trades(o)
	}, "I7 I6"},
	{"an order owes a refund that was made", func(w *testSale) string {
		return id(w.owed())
	}, "I6"},
	{"a captured trade without a time of payment", func(w *testSale) string {
		o := w.paid()
		delete(w.trade(o), "paid")
		return trades(o)
	}, "I7"},
	{"a trade exists twice", func(w *testSale) string {
		tr := w.trade(w.paid())
		w.add(record.PartTrades, copyRow(tr))
		return "gateway_trades " + text(tr, "out_trade_no")
	}, "I7"},
	{"a second trade that the ledger lacks", func(w *testSale) string {
		o := w.paid()
		_, payment := w.second(o)
		w.remove(ledger.TablePayments, payment)
		return trades(o)
	}, "I6"},
	{"kept money of two trades", func(w *testSale) string {
		o := w.paid()
		trade, payment := w.second(o)
		trade["status"], payment["state"] = "TRADE_SUCCESS", string(seckill.Captured)
		delete(trade, "refunds")
		return id(o)
	}, "I6"},
	{"a second trade with another amount", func(w *testSale) string {
		trade, payment := w.second(w.paid())
		trade["amount"] = trade["amount"].(int64) - 1
		return "payments " + text(payment, "order") + "/" + text(payment, "trade_no")
	}, "I7 I6"},
}

// TestASecondTradeMayGoBack: an order with two trades keeps the money of one. Index rows are not trades.
func TestASecondTradeMayGoBack(t *testing.T) {
	t.Parallel()
	w := atRest()
	before := w.audit(t).Statement.Money
	trade, payment := w.second(w.paid())
	for _, key := range []string{"#number#" + text(trade, "trade_no"), "#moved#2026-11-21#" +
		text(trade, "out_trade_no")} {
		w.add(record.PartTrades, ledger.Row{"v": int64(1), "out_trade_no": key,
			"trade":        trade["out_trade_no"],
			"notify_state": "#moved#2026-11-21", "notify_at": "1"})
	}
	r := w.audit(t)
	if m, more := r.Statement.Money, payment["amount"].(int64); len(verdicts(r, audit.Holds)) != len(r.Results) ||
		m.Captured.Fen != before.Captured.Fen+more ||
		m.Refunded.Fen != before.Refunded.Fen+more || m.Kept != before.Kept || !m.Provider.Balanced {
		t.Errorf("%+v, before %+v\n%s", m, before, show(t, r))
	}
	payment["amount"] = int64(1)
	if r := w.audit(t); r.Statement.Money.Provider.Balanced {
		t.Error(show(t, r))
	}
}

// TestTheGatewaysTable: trades in a sandbox's table give the same results as those of a `seckill run`.
func TestTheGatewaysTable(t *testing.T) {
	t.Parallel()
	w := atRest()
	rows := memory.NewRows(memory.RowsOptions{Clock: memory.NewRealClock(), Tables: []ledger.Table{fakegateway.Table}})
	store := fakegateway.NewTable(rows)
	w.second(w.paid())
	before := w.audit(t)
	for _, row := range w.tables[record.PartTrades] {
		must.OK(t, store.Save(t.Context(), tradeOf(t, row)))
	}
	w.tables[record.PartTrades] = rows.Dump(fakegateway.TableTrades)
	if len(w.tables[record.PartTrades]) < 3*before.Read[record.PartTrades] {
		t.Fatalf("%d rows of %d trades: want index rows too", len(w.tables[record.PartTrades]),
			before.Read[record.PartTrades])
	}
	r := w.audit(t)
	if len(verdicts(r, audit.Holds)) != len(r.Results) ||
		*r.Statement.Money.Provider != *before.Statement.Money.Provider ||
		r.Read[record.PartTrades] != before.Read[record.PartTrades] {
		t.Errorf("%s\nbefore\n%s", show(t, r), show(t, before))
	}
}

// tradeOf converts a row to a trade.
func tradeOf(t *testing.T, row ledger.Row) fakegateway.Record {
	t.Helper()
	order, number, second := strings.Cut(text(row, "out_trade_no"), "#")
	r := fakegateway.Record{N: 1, Notifications: []fakegateway.Notification{{ID: "n"}},
		Trade: fakegateway.Trade{TradeNo: text(row, "trade_no"), OutTradeNo: order,
			Amount: seckill.Fen(row["amount"].(int64)), Status: fakegateway.Status(text(row, "status")),
			Paid: time.UnixMilli(row["paid"].(int64)).UTC()}}
	if second {
		n, err := strconv.Atoi(number)
		must.OK(t, err)
		r.N = n
	}
	refunds, _ := row["refunds"].([]string)
	for _, entry := range refunds {
		var back struct {
			Request string `json:"request_no"`
			Amount  int64  `json:"amount"`
			At      int64  `json:"at"`
		}
		must.OK(t, json.Unmarshal([]byte(entry), &back))
		r.Refunds = append(r.Refunds, fakegateway.Refund{RequestNo: back.Request, Amount: seckill.Fen(back.Amount),
			At: time.UnixMilli(back.At).UTC()})
		r.Notifications = append(r.Notifications, fakegateway.Notification{ID: "n"})
	}
	return r
}
