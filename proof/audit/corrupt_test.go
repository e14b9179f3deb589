package audit_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// corruption is a change of a good sale that breaks exactly the guarantees in want. A finding of the first one names
// row.
type corruption struct {
	name   string
	change func(w *testSale) (row string)
	want   string
}

func ms(w *testSale, d time.Duration) int64 { return w.now + d.Milliseconds() }

func text(row ledger.Row, attr string) string { return row[attr].(string) }

func id(order ledger.Row) string { return "orders " + text(order, "id") }

func payments(order ledger.Row) string { return "payments " + text(order, "id") }

func trades(order ledger.Row) string { return "gateway_trades " + text(order, "id") }

// firstUnit returns the first unit that an order lists.
func firstUnit(order ledger.Row) string {
	n, _, _ := strings.Cut(text(order, "units"), ",")
	return n
}

// unitRow returns an order's first unit row.
func (w *testSale) unitRow(order ledger.Row) ledger.Row {
	n, _ := strconv.Atoi(firstUnit(order))
	return w.row(ledger.TableUnits, 0, func(r ledger.Row) bool { return r["unit"] == fmt.Sprintf("%07d", n) })
}

func unitName(row ledger.Row) string { return "units " + text(row, "bucket") + "/" + text(row, "unit") }

// changed returns a function that makes corruptions of the row of an order, which a finding has to name.
func changed(order func(*testSale) ledger.Row) func(name, want string, change func(o ledger.Row)) corruption {
	return func(name, want string, change func(o ledger.Row)) corruption {
		return corruption{name, func(w *testSale) string {
			o := order(w)
			change(o)
			return id(o)
		}, want}
	}
}

var paid, expired = changed((*testSale).paid), changed((*testSale).expired)

var rowCorruptions = []corruption{
	{"a unit has a second row", func(w *testSale) string {
		a, b := w.paid(), w.order(seckill.Paid, 1)
		row := copyRow(w.unitRow(a))
		row["bucket"], row["order"], row["user"] = item+"#99", b["id"], b["user"]
		w.add(ledger.TableUnits, row)
		return unitName(row)
	}, "I1 I2 I3 I6 L3"},
	{"two orders list one unit", func(w *testSale) string {
		a, b := w.paid(), w.order(seckill.Paid, 1)
		units := strings.Split(text(b, "units"), ",")
		units[0] = firstUnit(a)
		b["units"] = strings.Join(units, ",")
		return id(b)
	}, "I1 I3"},
	{"a user holds more than the limit", func(w *testSale) string {
		w.tables[record.PartItems][0]["limit"], w.fields("item")["limit"] = int64(1), "1"
		return "quotas " + text(w.row(ledger.TableOrders, 0, func(r ledger.Row) bool {
			return r["state"] == "paid" && r["count"] == int64(2)
		}), "user") + "/" + item
	}, "I2"},
	{"a quota row counts too many units", func(w *testSale) string {
		q := w.quota(w.expired())
		q["units"] = int64(1)
		return "quotas " + text(q, "user")
	}, "I2"},
	{"a missing quota row", func(w *testSale) string {
		q := w.quota(w.paid())
		w.remove(ledger.TableQuotas, q)
		return text(q, "user")
	}, "I2"},
	{"a quota row lists a closed order", func(w *testSale) string {
		o := w.expired()
		w.quota(o)["orders"] = ledger.Set{text(o, "id") + ":1"}
		return id(o)
	}, "I2"},
	{"a quota row lists no order", func(w *testSale) string {
		o := w.paid()
		delete(w.quota(o), "orders")
		return id(o)
	}, "I2"},
	{"a quota row lists another user's order", func(w *testSale) string {
		a, b := w.paid(), w.expired()
		w.quota(b)["orders"] = ledger.Set{text(a, "id") + ":1"}
		return "quotas " + text(b, "user")
	}, "I2"},
	{"a missing rejected order", func(w *testSale) string {
		o := w.order(seckill.Rejected, 0)
		w.remove(ledger.TableOrders, o)
		return "quotas " + text(o, "user")
	}, "I2"},
	{"a quota row's newest order is another user's", func(w *testSale) string {
		q := w.quota(w.expired())
		q["newest"] = w.paid()["id"]
		return "quotas " + text(q, "user")
	}, "I2"},
	{"a missing unit row", func(w *testSale) string {
		o := w.paid()
		w.remove(ledger.TableUnits, w.unitRow(o))
		return id(o)
	}, "I3 I2 I6 L3"},
	{"a unit row names another user", func(w *testSale) string {
		r := w.unitRow(w.paid())
		r["user"] = "77"
		return unitName(r)
	}, "I3 I2"},
	{"a unit row names another order", func(w *testSale) string {
		a, b := w.paid(), w.order(seckill.Paid, 4)
		r := w.unitRow(a)
		r["order"], r["user"] = b["id"], b["user"]
		return unitName(r)
	}, "I3 I2 I6 L3"},
	{"a unit row names a missing order", func(w *testSale) string {
		r := w.unitRow(w.paid())
		r["order"] = "onone"
		return unitName(r)
	}, "I3 I2 I6 L3"},
	{"a unit above the stock", func(w *testSale) string {
		o := w.paid()
		r := w.unitRow(o)
		r["unit"] = fmt.Sprintf("%07d", stock+1)
		return unitName(r)
	}, "I3 L3"},
	{"a unit row in the wrong bucket", func(w *testSale) string {
		r := w.unitRow(w.paid())
		r["bucket"] = item + "#99"
		return unitName(r)
	}, "I3"},
	expired("a closed order lists a unit", "I3", func(o ledger.Row) { o["units"] = "1" }),
	{"an order lists fewer units than its count", func(w *testSale) string {
		o := w.row(ledger.TableOrders, 0, func(r ledger.Row) bool {
			return r["state"] == "paid" && r["count"] == int64(2)
		})
		o["units"] = firstUnit(o)
		return id(o)
	}, "I3"},
	paid("another ordinary price than on sale", "I9", func(o ledger.Row) { o["list_price"] = int64(1) }),
	paid("another picture than on sale", "I9", func(o ledger.Row) { o["cover"] = "/other.jpg" }),
	paid("options that are not on sale", "I9", func(o ledger.Row) { o["options"] = "颜色=黑" }),
	expired("a name without an address", "I9", func(o ledger.Row) {
		delete(o, "address")
		o["erased"], o["shopper_name"] = int64(1), "李雷"
	}),
	expired("a network address without an address", "I9", func(o ledger.Row) {
		delete(o, "address")
		o["erased"], o["network_address"] = int64(1), "2001:db8::7"
	}),
	paid("a missing attribute", "I3", func(o ledger.Row) { delete(o, "title") }),
	paid("an order with other buckets than its item", "I3", func(o ledger.Row) { o["buckets"] = int64(17) }),
	{"an order without an item", func(w *testSale) string {
		o := copyRow(w.expired())
		o["id"] = "onew"
		delete(o, "item")
		w.add(ledger.TableOrders, o)
		return "orders onew"
	}, "I3"},
	{"an order row exists twice", func(w *testSale) string {
		o := w.paid()
		w.add(ledger.TableOrders, copyRow(o))
		return id(o)
	}, "I4"},
	expired("a state change that the table does not allow", "I5", func(o ledger.Row) {
		h := o["history"].([]string)
		o["history"] = []string{h[0], h[2]}
	}),
	paid("a history goes back in time", "I5", func(o ledger.Row) {
		h := o["history"].([]string)
		h[1] = "2020-01-01T00:00:00.000Z paid notify"
	}),
	paid("a history ends in another state", "I5", func(o ledger.Row) { o["state"] = string(seckill.Confirmed) }),
	paid("an order has no history", "I5", func(o ledger.Row) { delete(o, "history") }),
	paid("an unreadable history", "I5", func(o ledger.Row) { o["history"] = []string{"yesterday paid"} }),
	{"a paid order without its payment row", func(w *testSale) string {
		o := w.paid()
		w.remove(ledger.TablePayments, w.of(ledger.TablePayments, o))
		return text(o, "id")
	}, "I6"},
	{"a paid order's money is due back", func(w *testSale) string {
		o := w.paid()
		p := w.of(ledger.TablePayments, o)
		p["state"], p["refund_shard"], p["refund_at"] = string(seckill.RefundDue), "01", "1"
		return id(o)
	}, "I6"},
	{"a due refund that no sweep finds", func(w *testSale) string {
		o := w.paid()
		o["state"] = string(seckill.Paid)
		p := copyRow(w.of(ledger.TablePayments, o))
		p["state"] = string(seckill.RefundDue)
		w.add(ledger.TablePayments, p)
		return payments(o)
	}, "I6"},
	{"an expired order keeps money", func(w *testSale) string {
		o, paid := w.expired(), w.paid()
		p, tr := copyRow(w.of(ledger.TablePayments, paid)), copyRow(w.trade(paid))
		p["order"], p["amount"], tr["out_trade_no"], tr["amount"] = o["id"], o["amount"], o["id"], o["amount"]
		w.add(ledger.TablePayments, p)
		w.add(record.PartTrades, tr)
		return id(o)
	}, "I6"},
	{"an order owes a refund but no payment does", func(w *testSale) string {
		o := w.expired()
		o["state"] = string(seckill.RefundOwed)
		o["history"] = append(o["history"].([]string), time.UnixMilli(w.now).UTC().Format("2006-01-02T15:04:05.000Z")+
			" refund_due notify")
		return id(o)
	}, "I6"},
	{"the provider has money that the ledger lacks", func(w *testSale) string {
		o := w.expired()
		tr := copyRow(w.trade(w.paid()))
		tr["out_trade_no"] = o["id"]
		w.add(record.PartTrades, tr)
		return trades(o)
	}, "I6"},
	{"a payment in an unknown state", func(w *testSale) string {
		p := w.tables[ledger.TablePayments][0]
		p["state"] = "gone"
		return "payments " + text(p, "order")
	}, "I6"},
	{"a payment of another amount", func(w *testSale) string {
		p := w.tables[ledger.TablePayments][0]
		p["amount"] = int64(1)
		return "payments " + text(p, "order")
	}, "I7 I6"},
	expired("an order with a wrong amount", "I7", func(o ledger.Row) { o["amount"] = int64(1) }),
	{"a payment without a trade", func(w *testSale) string {
		o := w.paid()
		w.remove(record.PartTrades, w.trade(o))
		return payments(o)
	}, "I7"},
	{"a payment of an unpaid trade", func(w *testSale) string {
		o := w.paid()
		w.trade(o)["status"] = "WAIT_BUYER_PAY"
		delete(w.trade(o), "paid")
		return payments(o)
	}, "I7"},
	{"a payment of another trade", func(w *testSale) string {
		o := w.paid()
		w.of(ledger.TablePayments, o)["trade_no"] = "1"
		return payments(o) + "/1"
	}, "I7 I6"},
	{"a payment without an order", func(w *testSale) string {
		o := w.paid()
		p, tr := copyRow(w.of(ledger.TablePayments, o)), copyRow(w.trade(o))
		p["order"], tr["out_trade_no"] = "onone", "onone"
		w.add(ledger.TablePayments, p)
		w.add(record.PartTrades, tr)
		return "payments onone"
	}, "I7"},
	expired("units returned twice", "I8 I5", func(o ledger.Row) {
		h := o["history"].([]string)
		o["history"] = append(h, h[1], h[2])
	}),
	{"a unit row of a closed order", func(w *testSale) string {
		o, n := w.expired(), w.freeUnit()
		w.add(ledger.TableUnits, ledger.Row{"v": int64(1), "bucket": fmt.Sprintf("%s#%d", item, n%16),
			"unit": fmt.Sprintf("%07d", n), "order": o["id"], "user": o["user"]})
		return id(o)
	}, "I8 I2 I3 L3"},
	{"a paid order returns units", func(w *testSale) string {
		return w.giveBack(w.paid())
	}, "I8"},
	{"a return row of another user", func(w *testSale) string {
		w.now = w.release(w.expired())
		row := w.giveBack(w.expired())
		w.tables[ledger.TableReturns][0]["user"] = "77"
		return row
	}, "I8"},
	{"a return row exists twice", func(w *testSale) string {
		w.now = w.release(w.expired())
		row := w.giveBack(w.expired())
		w.giveBack(w.expired())
		w.tables[ledger.TableReturns][1]["shard"] = "15"
		return row
	}, "I8"},
	{"an order reserved before the sale", func(w *testSale) string {
		o := w.paid()
		o["created"] = w.tables[record.PartItems][0]["start"].(int64) - 2001
		return id(o)
	}, "I10"},
	{"an order reserved after the sale", func(w *testSale) string {
		o := w.paid()
		o["created"] = w.tables[record.PartItems][0]["end"].(int64) + 2000
		return id(o)
	}, "I10"},
}

// freeUnit returns a free unit.
func (w *testSale) freeUnit() int {
	n, err := strconv.Atoi(slices.Sorted(maps.Keys(w.fields("free")))[0])
	if err != nil {
		panic(err)
	}
	return n
}

// giveBack adds a return row.
func (w *testSale) giveBack(o ledger.Row) string {
	units := "1,2"[:2*o["count"].(int64)-1]
	w.add(ledger.TableReturns, ledger.Row{"v": int64(1), "shard": "01",
		"order": o["id"], "item": item, "user": o["user"], "units": units})
	return "returns " + text(o, "id")
}

// release returns when an order returned its units.
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
	{"a reservation that is overdue to be sent", func(w *testSale) string {
		w.await("onew", -10*time.Minute, -11*time.Minute)
		return key("awaiting") + " onew"
	}, "L2"},
	{"a reservation of yesterday", func(w *testSale) string {
		w.await("onew", time.Minute, -24*time.Hour)
		return key("awaiting") + " onew"
	}, "L2"},
	{"a reservation that is never sent again", func(w *testSale) string {
		w.await("onew", time.Minute, -time.Minute)
		delete(w.fields("awaiting"), "onew")
		return key("res") + " onew"
	}, "L2"},
	{"an awaited reservation that is not stored", func(w *testSale) string {
		w.await("onew", time.Minute, -time.Minute)
		delete(w.fields("res"), "onew")
		return key("awaiting") + " onew"
	}, "L2"},
	{"units that never reach the stock", func(w *testSale) string {
		o := w.expired()
		row := w.giveBack(o)
		w.now = w.release(o) + (3 * time.Minute).Milliseconds()
		return row
	}, "L2"},
	{"a unit held for another order", func(w *testSale) string {
		n := firstUnit(w.paid())
		w.fields("held")[n] = text(w.order(seckill.Paid, 1), "id")
		return key("held") + " " + n
	}, "L3"},
	{"a sold unit that is not held", func(w *testSale) string {
		n := firstUnit(w.paid())
		delete(w.fields("held"), n)
		return key("held") + " " + n
	}, "L3"},
	{"a sold unit that is free", func(w *testSale) string {
		n := firstUnit(w.paid())
		w.fields("free")[n] = n
		return key("held") + " " + n
	}, "L3"},
	{"a unit neither free nor held", func(w *testSale) string {
		n := strconv.Itoa(w.freeUnit())
		delete(w.fields("free"), n)
		return key("held") + " " + n
	}, "L3"},
	{"a unit held for a missing order", func(w *testSale) string {
		n := strconv.Itoa(w.freeUnit())
		delete(w.fields("free"), n)
		w.fields("held")[n] = "onone"
		return key("held") + " " + n
	}, "L3"},
	{"a free unit above the stock", func(w *testSale) string {
		w.fields("free")["41"] = "41"
		return key("held") + " 41"
	}, "L3"},
	{"a member that is not a number", func(w *testSale) string {
		w.fields("free")["07"] = "7"
		return key("free") + " 07"
	}, "L3"},
	{"a high-water mark that is too low", func(w *testSale) string {
		w.fields("item")["hw"] = "39"
		return key("held") + " 40"
	}, "L3"},
	{"a high-water mark above the stock", func(w *testSale) string {
		w.fields("item")["hw"] = "41"
		return key("item") + " hw"
	}, "L3"},
	{"an entry that counts too few units", func(w *testSale) string {
		o := w.row(ledger.TableOrders, 0, func(r ledger.Row) bool {
			return r["state"] == "paid" && r["count"] == int64(2)
		})
		w.fields("users")[text(o, "user")] = text(o, "id") + ":1"
		return key("users") + " " + text(o, "user")
	}, "L3"},
	{"a missing entry", func(w *testSale) string {
		o := w.paid()
		delete(w.fields("users"), text(o, "user"))
		return key("users") + " " + text(o, "user")
	}, "L3"},
	{"an entry for a closed order", func(w *testSale) string {
		o := w.expired()
		w.fields("users")[text(o, "user")] = text(o, "id") + ":1"
		return key("users") + " " + text(o, "user")
	}, "L3"},
	{"an entry for another user's order", func(w *testSale) string {
		w.fields("users")["77"] = text(w.paid(), "id") + ":1"
		return key("users") + " 77"
	}, "L3"},
	{"added stock that did not reach Redis", func(w *testSale) string {
		w.fields("item")["stock"] = "39"
		return key("item") + " stock"
	}, "L3"},
	{"a stop that did not reach Redis", func(w *testSale) string {
		w.tables[record.PartItems][0]["stopped"] = int64(1)
		return key("item") + " stopped"
	}, "L3"},
	{"an item that is not installed", func(w *testSale) string {
		w.keys = map[string]map[string]string{}
		return key("item")
	}, "L3"},
	{"an item that is not removed", func(w *testSale) string {
		w.now = w.tables[record.PartItems][0]["end"].(int64) + seckill.KeepLoaded.Milliseconds()
		return key("item")
	}, "L3"},
}

// await adds a reservation: its message is due after next, it was created after since (negative).
func (w *testSale) await(id string, next, since time.Duration) {
	w.fields("awaiting")[id] = strconv.FormatInt(ms(w, next), 10)
	w.fields("res")[id] = fmt.Sprintf("q|1|||30000|%d|77|hash|{}", ms(w, since))
}

func TestEachCorruptionBreaksItsGuarantee(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range slices.Concat(doorCorruptions, rowCorruptions, moneyCorruptions, keyCorruptions,
		toldCorruptions) {
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

// check audits and expects exactly the guarantees in want to be broken, the first one by a finding that names row.
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
