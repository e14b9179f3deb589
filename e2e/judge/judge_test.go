package judge_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/your-org/seckill/e2e/judge"
	"github.com/your-org/seckill/shared/adapter/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

const waits, pays = "2026-11-11T00:00:00.000Z pending_payment placed", "2026-11-11T00:00:01.000Z paid notify"

var goods = map[string]seckill.Item{"5": {ID: "5", Stock: 3, Limit: 2}}

// sound is an order of units 1 and 2 that is paid, and one that expired.
func sound() judge.Rows {
	return judge.Rows{
		ledger.TableUnits: {
			{"bucket": "5#1", "unit": "0000001", "order": "oa", "user": "7"},
			{"bucket": "5#2", "unit": "0000002", "order": "oa", "user": "7"}},
		ledger.TableOrders: {
			{"id": "oa", "item": "5", "user": "7", "state": "paid", "count": int64(2), "units": "1,2",
				"price": int64(100), "amount": int64(200), "history": []string{waits, pays}},
			{"id": "ob", "item": "5", "user": "8", "state": "expired", "count": int64(1), "price": int64(100),
				"amount":  int64(100),
				"history": []string{waits, "t closing not paid in time", "t expired trade closed"}}},
		ledger.TableQuotas: {
			{"user": "7", "item": "5", "units": int64(2), "orders": ledger.Set{"oa:2"}},
			{"user": "8", "item": "5", "units": int64(0)}},
		ledger.TablePayments: {{"order": "oa", "trade_no": "t1", "amount": int64(200), "state": "captured"}},
		ledger.TableReturns:  {{"shard": "01", "order": "ob", "item": "5", "user": "8", "units": "3"}},
	}
}

func TestSoundRowsAreAccepted(t *testing.T) {
	t.Parallel()
	if bad := judge.Broken(sound(), goods); len(bad) > 0 {
		t.Errorf("got %q", bad)
	}
}

func TestEachBreachIsNamed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		behaviour, want string
		change          func(r judge.Rows)
	}{
		{"a unit in two buckets", "I1", func(r judge.Rows) {
			r[ledger.TableUnits] = append(r[ledger.TableUnits], ledger.Row{"bucket": "5#9", "unit": "0000002",
				"order": "ob", "user": "8"})
		}},
		{"more units than the limit", "I2", func(r judge.Rows) {
			r[ledger.TableUnits] = append(r[ledger.TableUnits], ledger.Row{"bucket": "5#3", "unit": "0000003",
				"order": "oa", "user": "7"})
		}},
		{"a unit beyond the stock", "I3", func(r judge.Rows) { r[ledger.TableUnits][1]["unit"] = "0000004" }},
		{"a unit of no order", "I3", func(r judge.Rows) { r[ledger.TableUnits][0]["order"] = "oc" }},
		{"a unit of another user", "I3", func(r judge.Rows) { r[ledger.TableUnits][0]["user"] = "9" }},
		{"an order without its unit rows", "I3", func(r judge.Rows) {
			r[ledger.TableUnits] = r[ledger.TableUnits][:1]
		}},
		{"an expired order that lists units", "I3", func(r judge.Rows) { r[ledger.TableOrders][1]["units"] = "3" }},
		{"a quota that says more", "I3", func(r judge.Rows) { r[ledger.TableQuotas][1]["units"] = int64(1) }},
		{"a quota whose orders say less", "I3", func(r judge.Rows) { delete(r[ledger.TableQuotas][0], "orders") }},
		{"units without a quota", "I3", func(r judge.Rows) { r[ledger.TableQuotas] = r[ledger.TableQuotas][1:] }},
		{"a step that the table does not have", "I5", func(r judge.Rows) {
			r[ledger.TableOrders][0]["history"] = []string{pays}
		}},
		{"a history of another state", "I5", func(r judge.Rows) {
			r[ledger.TableOrders][0]["history"] = []string{waits}
		}},
		{"an order without a history", "I5", func(r judge.Rows) { delete(r[ledger.TableOrders][0], "history") }},
		{"a paid order without money", "I6", func(r judge.Rows) { delete(r, ledger.TablePayments) }},
		{"an expired order that keeps money", "I6", func(r judge.Rows) {
			r[ledger.TablePayments] = append(r[ledger.TablePayments], ledger.Row{"order": "ob", "trade_no": "t2",
				"amount": int64(100), "state": "captured"})
		}},
		{"a payment of another amount", "I7", func(r judge.Rows) { r[ledger.TablePayments][0]["amount"] = int64(199) }},
		{"a payment of no order", "I7", func(r judge.Rows) { r[ledger.TablePayments][0]["order"] = "oc" }},
		{"an amount that is not price by count", "I7", func(r judge.Rows) {
			r[ledger.TableOrders][1]["amount"] = int64(99)
		}},
		{"units given back twice", "I8", func(r judge.Rows) {
			r[ledger.TableOrders][1]["history"] = []string{waits, "t closing a", "t expired b", "t closing c",
				"t expired d"}
		}},
		{"units given back by an order that has them", "I8", func(r judge.Rows) {
			r[ledger.TableReturns][0]["order"] = "oa"
		}},
	} {
		rows := sound()
		tt.change(rows)
		bad := judge.Broken(rows, goods)
		if !slices.ContainsFunc(bad, func(b string) bool { return strings.HasPrefix(b, tt.want+" ") }) {
			t.Errorf("%s: got %q, want a breach of %s", tt.behaviour, bad, tt.want)
		}
	}
}
