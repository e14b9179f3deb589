package audit_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/audit"
	"github.com/your-org/seckill/record/dump"
	"github.com/your-org/seckill/shared/adapter/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// corruption is one change of a good sale, and what has to be broken then: exactly these, the first of them naming a
// row.
type corruption struct {
	name   string
	change func(w *testSale) (row string) // what the first one has to name
	want   string
}

func ms(w *testSale, d time.Duration) int64 { return w.now + d.Milliseconds() }

func text(row ledger.Row, attr string) string { return row[attr].(string) }

func id(row ledger.Row) string { return "orders " + text(row, "id") }

// firstUnit is the first number that an order lists.
func firstUnit(order ledger.Row) string {
	n, _, _ := strings.Cut(text(order, "units"), ",")
	return n
}

// unitRow is an order's first unit row.
func (w *testSale) unitRow(order ledger.Row) ledger.Row {
	n, _ := strconv.Atoi(firstUnit(order))
	return w.row(ledger.TableUnits, 0, func(r ledger.Row) bool { return r["unit"] == fmt.Sprintf("%07d", n) })
}

func unitName(row ledger.Row) string { return "units " + text(row, "bucket") + "/" + text(row, "unit") }

var rowCorruptions = []corruption{
	{"a unit has a second row", func(w *testSale) string {
		a, b := w.order(seckill.Paid, 0), w.order(seckill.Paid, 1)
		row := copyRow(w.unitRow(a))
		row["bucket"], row["order"], row["user"] = item+"#99", b["id"], b["user"]
		w.tables[ledger.TableUnits] = append(w.tables[ledger.TableUnits], row)
		return unitName(row)
	}, "I1 I2 I3 I6 L3"},
	{"two orders list one unit", func(w *testSale) string {
		a, b := w.order(seckill.Paid, 0), w.order(seckill.Paid, 1)
		units := strings.Split(text(b, "units"), ",")
		units[0] = firstUnit(a)
		b["units"] = strings.Join(units, ",")
		return id(b)
	}, "I1 I3"},
	{"a user holds more than the limit", func(w *testSale) string {
		w.tables[dump.PartItems][0]["limit"], w.keys[key("item")]["limit"] = int64(1), "1"
		return "quotas " + text(w.row(ledger.TableOrders, 0, func(r ledger.Row) bool {
			return r["state"] == "paid" && r["count"] == int64(2)
		}), "user") + "/" + item
	}, "I2"},
	{"a quota row says more", func(w *testSale) string {
		q := w.quota(w.order(seckill.Expired, 0))
		q["units"] = int64(1)
		return "quotas " + text(q, "user")
	}, "I2"},
	{"a quota row is gone", func(w *testSale) string {
		q := w.quota(w.order(seckill.Paid, 0))
		w.remove(ledger.TableQuotas, q)
		return text(q, "user")
	}, "I2"},
	{"a quota row lists an order that gave back", func(w *testSale) string {
		o := w.order(seckill.Expired, 0)
		w.quota(o)["orders"] = ledger.Set{text(o, "id") + ":1"}
		return id(o)
	}, "I2"},
	{"a quota row lists another's order", func(w *testSale) string {
		a, b := w.order(seckill.Paid, 0), w.order(seckill.Expired, 0)
		w.quota(b)["orders"] = ledger.Set{text(a, "id") + ":1"}
		return "quotas " + text(b, "user")
	}, "I2"},
	{"a rejected order is gone", func(w *testSale) string {
		o := w.order(seckill.Rejected, 0)
		w.remove(ledger.TableOrders, o)
		return "quotas " + text(o, "user")
	}, "I2"},
	{"a quota row's newest order is another's", func(w *testSale) string {
		q := w.quota(w.order(seckill.Expired, 0))
		q["newest"] = w.order(seckill.Paid, 0)["id"]
		return "quotas " + text(q, "user")
	}, "I2"},
	{"a unit row is gone", func(w *testSale) string {
		o := w.order(seckill.Paid, 0)
		w.remove(ledger.TableUnits, w.unitRow(o))
		return id(o)
	}, "I3 I2 I6 L3"},
	{"a unit row names another user", func(w *testSale) string {
		r := w.unitRow(w.order(seckill.Paid, 0))
		r["user"] = "77"
		return unitName(r)
	}, "I3 I2"},
	{"a unit row names another order", func(w *testSale) string {
		a, b := w.order(seckill.Paid, 0), w.order(seckill.Paid, 4)
		r := w.unitRow(a)
		r["order"], r["user"] = b["id"], b["user"]
		return unitName(r)
	}, "I3 I2 I6 L3"},
	{"a unit row names an order that does not exist", func(w *testSale) string {
		r := w.unitRow(w.order(seckill.Paid, 0))
		r["order"] = "onone"
		return unitName(r)
	}, "I3 I2 I6 L3"},
	{"a unit beyond the stock", func(w *testSale) string {
		o := w.order(seckill.Paid, 0)
		r := w.unitRow(o)
		r["unit"] = fmt.Sprintf("%07d", stock+1)
		return unitName(r)
	}, "I3 L3"},
	{"a unit row in another bucket", func(w *testSale) string {
		r := w.unitRow(w.order(seckill.Paid, 0))
		r["bucket"] = item + "#99"
		return unitName(r)
	}, "I3"},
	{"an order lists a unit of nobody", func(w *testSale) string {
		o := w.order(seckill.Expired, 0)
		o["units"] = "1"
		return id(o)
	}, "I3"},
	{"an order lists less than it asked for", func(w *testSale) string {
		o := w.row(ledger.TableOrders, 0, func(r ledger.Row) bool {
			return r["state"] == "paid" && r["count"] == int64(2)
		})
		o["units"] = firstUnit(o)
		return id(o)
	}, "I3"},
	{"an attribute is missing", func(w *testSale) string {
		o := w.order(seckill.Paid, 0)
		delete(o, "title")
		return id(o)
	}, "I3"},
	{"an order's units lie elsewhere", func(w *testSale) string {
		o := w.order(seckill.Paid, 0)
		o["buckets"] = int64(17)
		return id(o)
	}, "I3"},
	{"an order of no item", func(w *testSale) string {
		o := copyRow(w.order(seckill.Expired, 0))
		o["id"] = "onew"
		delete(o, "item")
		w.tables[ledger.TableOrders] = append(w.tables[ledger.TableOrders], o)
		return "orders onew"
	}, "I3"},
	{"an order row stands there twice", func(w *testSale) string {
		o := w.order(seckill.Paid, 0)
		w.tables[ledger.TableOrders] = append(w.tables[ledger.TableOrders], copyRow(o))
		return id(o)
	}, "I4"},
	{"an order went a way that is none", func(w *testSale) string {
		o := w.order(seckill.Expired, 0)
		h := o["history"].([]string)
		o["history"] = []string{h[0], h[2]}
		return id(o)
	}, "I5"},
	{"a history goes back in time", func(w *testSale) string {
		o := w.order(seckill.Paid, 0)
		h := o["history"].([]string)
		h[1] = "2020-01-01T00:00:00.000Z paid notify"
		return id(o)
	}, "I5"},
	{"a history ends in another state", func(w *testSale) string {
		o := w.order(seckill.Paid, 0)
		o["state"] = string(seckill.Confirmed)
		return id(o)
	}, "I5"},
	{"an order has no history", func(w *testSale) string {
		o := w.order(seckill.Paid, 0)
		delete(o, "history")
		return id(o)
	}, "I5"},
	{"a history that cannot be read", func(w *testSale) string {
		o := w.order(seckill.Paid, 0)
		o["history"] = []string{"yesterday paid"}
		return id(o)
	}, "I5"},
	{"a paid order's payment row is gone", func(w *testSale) string {
		o := w.order(seckill.Paid, 0)
		w.remove(ledger.TablePayments, w.of(ledger.TablePayments, o))
		return text(o, "id")
	}, "I6"},
	{"kept money counts as going back", func(w *testSale) string {
		o := w.order(seckill.Paid, 0)
		p := w.of(ledger.TablePayments, o)
		p["state"], p["refund_shard"], p["refund_at"] = string(seckill.RefundDue), "01", "1"
		return id(o)
	}, "I6"},
	{"money due back that no sweep finds", func(w *testSale) string {
		o := w.order(seckill.Paid, 0)
		o["state"] = string(seckill.Paid)
		p := copyRow(w.of(ledger.TablePayments, o))
		p["state"] = string(seckill.RefundDue)
		w.tables[ledger.TablePayments] = append(w.tables[ledger.TablePayments], p)
		return "payments " + text(o, "id")
	}, "I6"},
	{"an expired order keeps money", func(w *testSale) string {
		o, paid := w.order(seckill.Expired, 0), w.order(seckill.Paid, 0)
		p, tr := copyRow(w.of(ledger.TablePayments, paid)), copyRow(w.trade(paid))
		p["order"], p["amount"], tr["out_trade_no"], tr["amount"] = o["id"], o["amount"], o["id"], o["amount"]
		w.tables[ledger.TablePayments] = append(w.tables[ledger.TablePayments], p)
		w.tables[dump.PartTrades] = append(w.tables[dump.PartTrades], tr)
		return id(o)
	}, "I6"},
	{"a refund is owed and none is due", func(w *testSale) string {
		o := w.order(seckill.Expired, 0)
		o["state"] = string(seckill.RefundOwed)
		o["history"] = append(o["history"].([]string), time.UnixMilli(w.now).UTC().Format("2006-01-02T15:04:05.000Z")+
			" refund_due notify")
		return id(o)
	}, "I6"},
	{"the provider has money that the ledger does not know", func(w *testSale) string {
		o := w.order(seckill.Expired, 0)
		tr := copyRow(w.trade(w.order(seckill.Paid, 0)))
		tr["out_trade_no"] = o["id"]
		w.tables[dump.PartTrades] = append(w.tables[dump.PartTrades], tr)
		return "gateway_trades " + text(o, "id")
	}, "I6"},
	{"a payment in no state", func(w *testSale) string {
		p := w.tables[ledger.TablePayments][0]
		p["state"] = "gone"
		return "payments " + text(p, "order")
	}, "I6"},
	{"a payment of another amount", func(w *testSale) string {
		p := w.tables[ledger.TablePayments][0]
		p["amount"] = int64(1)
		return "payments " + text(p, "order")
	}, "I7 I6"},
	{"an order that asks for another amount", func(w *testSale) string {
		o := w.order(seckill.Expired, 0)
		o["amount"] = int64(1)
		return id(o)
	}, "I7"},
	{"a payment without a trade", func(w *testSale) string {
		o := w.order(seckill.Paid, 0)
		w.remove(dump.PartTrades, w.trade(o))
		return "payments " + text(o, "id")
	}, "I7"},
	{"a payment of a trade that nobody paid", func(w *testSale) string {
		o := w.order(seckill.Paid, 0)
		w.trade(o)["status"] = "WAIT_BUYER_PAY"
		delete(w.trade(o), "paid")
		return "payments " + text(o, "id")
	}, "I7"},
	{"a payment of another trade", func(w *testSale) string {
		o := w.order(seckill.Paid, 0)
		w.of(ledger.TablePayments, o)["trade_no"] = "1"
		return "payments " + text(o, "id") + "/1"
	}, "I7 I6"},
	{"a payment of no order", func(w *testSale) string {
		o := w.order(seckill.Paid, 0)
		p, tr := copyRow(w.of(ledger.TablePayments, o)), copyRow(w.trade(o))
		p["order"], tr["out_trade_no"] = "onone", "onone"
		w.tables[ledger.TablePayments] = append(w.tables[ledger.TablePayments], p)
		w.tables[dump.PartTrades] = append(w.tables[dump.PartTrades], tr)
		return "payments onone"
	}, "I7"},
	{"units given back twice", func(w *testSale) string {
		o := w.order(seckill.Expired, 0)
		h := o["history"].([]string)
		o["history"] = append(h, h[1], h[2])
		return id(o)
	}, "I8 I5"},
	{"a unit row that outlived its order", func(w *testSale) string {
		o, n := w.order(seckill.Expired, 0), w.freeUnit()
		w.tables[ledger.TableUnits] = append(w.tables[ledger.TableUnits],
			ledger.Row{"v": int64(1), "bucket": fmt.Sprintf("%s#%d", item, n%16),
				"unit": fmt.Sprintf("%07d", n), "order": o["id"], "user": o["user"]})
		return id(o)
	}, "I8 I2 I3 L3"},
	{"a paid order gives back", func(w *testSale) string {
		return w.giveBack(w.order(seckill.Paid, 0))
	}, "I8"},
	{"a return row of another user", func(w *testSale) string {
		w.now = w.release(w.order(seckill.Expired, 0))
		row := w.giveBack(w.order(seckill.Expired, 0))
		w.tables[ledger.TableReturns][0]["user"] = "77"
		return row
	}, "I8"},
	{"a return row twice", func(w *testSale) string {
		w.now = w.release(w.order(seckill.Expired, 0))
		row := w.giveBack(w.order(seckill.Expired, 0))
		w.giveBack(w.order(seckill.Expired, 0))
		w.tables[ledger.TableReturns][1]["shard"] = "15"
		return row
	}, "I8"},
	{"an order from before the sale", func(w *testSale) string {
		o := w.order(seckill.Paid, 0)
		o["created"] = w.tables[dump.PartItems][0]["start"].(int64) - 2001
		return id(o)
	}, "I10"},
	{"an order from after the sale", func(w *testSale) string {
		o := w.order(seckill.Paid, 0)
		o["created"] = w.tables[dump.PartItems][0]["end"].(int64) + 2000
		return id(o)
	}, "I10"},
}

// freeUnit is a number that nobody has.
func (w *testSale) freeUnit() int {
	n, err := strconv.Atoi(slices.Sorted(maps.Keys(w.keys[key("free")]))[0])
	if err != nil {
		panic(err)
	}
	return n
}

// giveBack puts a return row.
func (w *testSale) giveBack(o ledger.Row) string {
	units := "1,2"[:2*o["count"].(int64)-1]
	w.tables[ledger.TableReturns] = append(w.tables[ledger.TableReturns], ledger.Row{"v": int64(1), "shard": "01",
		"order": o["id"], "item": item, "user": o["user"], "units": units})
	return "returns " + text(o, "id")
}

// release is when an order gave its units back.
func (w *testSale) release(o ledger.Row) int64 {
	h := o["history"].([]string)
	at, _, _ := strings.Cut(h[len(h)-1], " ")
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		panic(err)
	}
	return t.UnixMilli()
}

var keyCorruptions = []corruption{
	{"a reservation that should have been sent again", func(w *testSale) string {
		w.await("onew", -10*time.Minute, -11*time.Minute)
		return key("awaiting") + " onew"
	}, "L2"},
	{"a reservation of yesterday", func(w *testSale) string {
		w.await("onew", time.Minute, -24*time.Hour)
		return key("awaiting") + " onew"
	}, "L2"},
	{"a reservation that nothing sends", func(w *testSale) string {
		w.await("onew", time.Minute, -time.Minute)
		delete(w.keys[key("awaiting")], "onew")
		return key("res") + " onew"
	}, "L2"},
	{"an order to send that is not stored", func(w *testSale) string {
		w.await("onew", time.Minute, -time.Minute)
		delete(w.keys[key("res")], "onew")
		return key("awaiting") + " onew"
	}, "L2"},
	{"units that never reach the stock", func(w *testSale) string {
		o := w.order(seckill.Expired, 0)
		row := w.giveBack(o)
		w.now = w.release(o) + (3 * time.Minute).Milliseconds()
		return row
	}, "L2"},
	{"a held number of another order", func(w *testSale) string {
		n := firstUnit(w.order(seckill.Paid, 0))
		w.keys[key("held")][n] = text(w.order(seckill.Paid, 1), "id")
		return key("held") + " " + n
	}, "L3"},
	{"a sold number that is not held", func(w *testSale) string {
		n := firstUnit(w.order(seckill.Paid, 0))
		delete(w.keys[key("held")], n)
		return key("held") + " " + n
	}, "L3"},
	{"a sold number that is free", func(w *testSale) string {
		n := firstUnit(w.order(seckill.Paid, 0))
		w.keys[key("free")][n] = n
		return key("held") + " " + n
	}, "L3"},
	{"a number in no list", func(w *testSale) string {
		n := strconv.Itoa(w.freeUnit())
		delete(w.keys[key("free")], n)
		return key("held") + " " + n
	}, "L3"},
	{"a held number of nobody", func(w *testSale) string {
		n := strconv.Itoa(w.freeUnit())
		delete(w.keys[key("free")], n)
		w.keys[key("held")][n] = "onone"
		return key("held") + " " + n
	}, "L3"},
	{"a number beyond the stock", func(w *testSale) string {
		w.keys[key("free")]["41"] = "41"
		return key("held") + " 41"
	}, "L3"},
	{"a member that is no number", func(w *testSale) string {
		w.keys[key("free")]["07"] = "7"
		return key("free") + " 07"
	}, "L3"},
	{"a high-water that fell", func(w *testSale) string {
		w.keys[key("item")]["hw"] = "39"
		return key("held") + " 40"
	}, "L3"},
	{"a high-water beyond the stock", func(w *testSale) string {
		w.keys[key("item")]["hw"] = "41"
		return key("item") + " hw"
	}, "L3"},
	{"an entry that counts less", func(w *testSale) string {
		o := w.row(ledger.TableOrders, 0, func(r ledger.Row) bool {
			return r["state"] == "paid" && r["count"] == int64(2)
		})
		w.keys[key("users")][text(o, "user")] = text(o, "id") + ":1"
		return key("users") + " " + text(o, "user")
	}, "L3"},
	{"an entry that is gone", func(w *testSale) string {
		o := w.order(seckill.Paid, 0)
		delete(w.keys[key("users")], text(o, "user"))
		return key("users") + " " + text(o, "user")
	}, "L3"},
	{"an entry of an order that gave back", func(w *testSale) string {
		o := w.order(seckill.Expired, 0)
		w.keys[key("users")][text(o, "user")] = text(o, "id") + ":1"
		return key("users") + " " + text(o, "user")
	}, "L3"},
	{"an entry of another's order", func(w *testSale) string {
		w.keys[key("users")]["77"] = text(w.order(seckill.Paid, 0), "id") + ":1"
		return key("users") + " 77"
	}, "L3"},
	{"a stock that was never told of more", func(w *testSale) string {
		w.keys[key("item")]["stock"] = "39"
		return key("item") + " stock"
	}, "L3"},
	{"a stop that did not reach the stock", func(w *testSale) string {
		w.tables[dump.PartItems][0]["stopped"] = int64(1)
		return key("item") + " stopped"
	}, "L3"},
	{"an item that is not installed", func(w *testSale) string {
		w.keys = map[string]map[string]string{}
		return key("item")
	}, "L3"},
	{"an item that stays for ever", func(w *testSale) string {
		w.now = w.tables[dump.PartItems][0]["end"].(int64) + seckill.KeepLoaded.Milliseconds()
		return key("item")
	}, "L3"},
}

// await puts a reservation: sent again in next, made since.
func (w *testSale) await(id string, next, since time.Duration) {
	for _, name := range []string{"awaiting", "res"} {
		if w.keys[key(name)] == nil {
			w.keys[key(name)] = map[string]string{}
		}
	}
	w.keys[key("awaiting")][id] = strconv.FormatInt(ms(w, next), 10)
	w.keys[key("res")][id] = fmt.Sprintf("q|1|||30000|%d|77|hash|{}", ms(w, since))
}

func TestEachCorruptionBreaksItsGuarantee(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range slices.Concat(rowCorruptions, moneyCorruptions, keyCorruptions, toldCorruptions) {
		w := atRest()
		row := c.change(w)
		check(t, c.name, w, c.want, row)
		first, _, _ := strings.Cut(c.want, " ")
		seen[first] = true
	}
	for _, j := range atRest().audit(t).Results {
		if !seen[j.ID] && j.ID != "L1" { // L1: TestOpenOrders
			t.Errorf("no corruption breaks %s first", j.ID)
		}
	}
}

// check audits and wants exactly these guarantees broken, the first of them by a finding that names row.
func check(t *testing.T, name string, w *testSale, want, row string) {
	t.Helper()
	r := w.audit(t)
	var got []string
	for _, j := range r.Results {
		if j.Verdict == audit.Broken {
			got = append(got, j.ID)
		}
	}
	ids := strings.Fields(want)
	first := ""
	if len(ids) > 0 {
		first = ids[0]
	}
	slices.Sort(ids)
	slices.Sort(got)
	if !slices.Equal(got, ids) || !r.Broken() && len(ids) > 0 {
		t.Errorf("%s: %v broken, want %v\n%s", name, got, ids, show(t, r))
		return
	}
	if first != "" && !slices.ContainsFunc(r.Of(first).Findings, func(f audit.Finding) bool {
		return strings.Contains(f.Row, row)
	}) {
		t.Errorf("%s: %s names %v, not %s", name, first, r.Of(first).Findings, row)
	}
}
