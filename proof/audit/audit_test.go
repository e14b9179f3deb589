package audit_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

func show(t testing.TB, r *audit.Report) string {
	t.Helper()
	var b strings.Builder
	must.OK(t, r.WriteText(&b))
	return b.String()
}

// evidence returns how much evidence a result rests on.
func evidence(j *audit.GuaranteeResult) (n int) {
	for _, l := range j.Looked {
		n += l.Count
	}
	return n
}

// verdicts returns the ids of the guarantees with a verdict.
func verdicts(r *audit.Report, v audit.Verdict) (ids []string) {
	for _, j := range r.Results {
		if j.Verdict == v {
			ids = append(ids, j.ID)
		}
	}
	return ids
}

func TestAGoodSaleHoldsEverywhere(t *testing.T) {
	t.Parallel()
	r := atRest().audit(t)
	for _, j := range r.Results {
		if j.Verdict != audit.Holds {
			t.Errorf("%s is %s", j.ID, j.Verdict)
		}
		if j.Verdict == audit.Holds && evidence(&j) == 0 {
			t.Errorf("%s holds without evidence", j.ID)
		}
	}
	if t.Failed() {
		t.Log(show(t, r))
	}
	u, m := r.Statement.Units, r.Statement.Money
	if u.Sold+u.Held+u.Unsold != stock || u.Held != 0 || u.Sold == 0 || *u.Free+*u.NeverIssued != u.Unsold ||
		*u.Reserved != 0 || u.Returned == 0 {
		t.Errorf("units %+v", u)
	}
	if m.Kept.Fen != int64(u.Sold)*199_00 || m.Captured.Fen != m.Kept.Fen+m.Refunded.Fen ||
		m.Kept.Yuan != seckill.Fen(m.Kept.Fen).Yuan() || m.DueBack.Fen != 0 ||
		m.Refunded.Fen != int64(r.Statement.Orders[seckill.Refunded])*199_00 {
		t.Errorf("money %+v, %d units sold", m, u.Sold)
	}
	if p := m.Provider; p == nil || !p.Balanced || p.Captured != m.Captured || p.Kept != m.Kept ||
		p.Refunded != m.Refunded {
		t.Errorf("the provider's %+v, the ledger's %+v", p, m)
	}
	if text := show(t, r); !strings.Contains(text, " refunded: they balance\n") {
		t.Error(text)
	}
	for _, state := range []seckill.State{seckill.Paid, seckill.Expired, seckill.Cancelled, seckill.Rejected,
		seckill.Refunded} {
		if r.Statement.Orders[state] == 0 {
			t.Errorf("no order is %s", state)
		}
	}
}

// TestWithoutEvidenceNothingHolds removes parts of the evidence.
func TestWithoutEvidenceNothingHolds(t *testing.T) {
	t.Parallel()
	gone := func(parts ...string) func(*testSale) {
		return func(w *testSale) {
			for _, p := range parts {
				w.missing[p] = "removed"
			}
		}
	}
	cut := func(part string) func(*testSale) { return func(w *testSale) { w.cut[part] = true } }
	for _, tt := range []struct {
		without string
		change  func(*testSale)
		unknown string
	}{
		{"a journal", func(w *testSale) { w.entries = nil }, "I4 I9 I11 A1 L4"},
		{"a journal's end", func(w *testSale) { w.entries = w.entries[:len(w.entries)-1] },
			"I4 I9 I11 A1 L4"},
		{"a journal of this item", func(w *testSale) {
			start := *w.entries[0].Start
			start.Item = "8"
			w.entries[0].Start = &start
		}, "I4 I9 I11 A1 L4"},
		{"Redis", gone(record.PartRedis), "L2 L3"},
		{"all of Redis", cut(record.PartRedis), "L2 L3"},
		{"trades", gone(record.PartTrades), "I6 I7"},
		{"orders", gone(ledger.TableOrders), "I1 I2 I3 I4 I5 I6 I7 I8 I9 I10 I11 A1 A4 L1 L2 L3 L4"},
		{"units", gone(ledger.TableUnits), "I1 I2 I3 I8 L3 L4"},
		{"all units", cut(ledger.TableUnits), "I1 I2 I3 I8 L3 L4"},
		{"quotas", gone(ledger.TableQuotas), "I2"},
		{"payments", gone(ledger.TablePayments), "I6 I7"},
		{"returns", gone(ledger.TableReturns), "I8 L2 L3"},
		{"blocks", gone(ledger.TableBlocks), "A4"},
		{"all blocks", cut(ledger.TableBlocks), "A4"},
		{"a block", func(w *testSale) { w.tables[ledger.TableBlocks] = nil }, "A4"},
		{"checks", func(w *testSale) { delete(w.tables[record.PartItems][0], "checks") }, "A1"},
		{"a known schema version", func(w *testSale) { w.tables[ledger.TableQuotas][0]["v"] = int64(2) }, "I2"},
		{"the times of stops in the items row", func(w *testSale) {
			delete(w.tables[record.PartItems][0], "stops")
			w.tables[record.PartItems][0]["version"], w.fields("item")["version"] = int64(2), "2"
		}, "I10"},
		{"all buyers in the journal", func(w *testSale) {
			for _, row := range w.tables[ledger.TableOrders] {
				row["address"] = "x" // only the journal knows better
			}
			start := *w.entries[0].Start
			start.FirstUser, start.LastUser = 0, 0
			w.entries[0].Start = &start
			w.without(func(e record.Entry) bool { return e.User != "" && e.Code == "" })
		}, "I4 I9 I11 A1 L4"},
	} {
		w := atRest()
		tt.change(w)
		r := w.audit(t)
		want := strings.Fields(tt.unknown)
		if tt.without == "orders" || tt.without == "units" || tt.without == "all units" {
			for _, id := range want {
				if r.Of(id).Verdict == audit.Holds {
					t.Errorf("without %s: %s holds\n%s", tt.without, id, show(t, r))
				}
			}
			continue
		}
		if got := verdicts(r, audit.Unknown); !slices.Equal(got, want) {
			t.Errorf("without %s: %v unknown, want %v\n%s", tt.without, got, want, show(t, r))
		}
	}
}

func TestAnEmptySaleHoldsNowhere(t *testing.T) {
	t.Parallel()
	w := &testSale{now: time.Now().UnixMilli(),
		tables: map[string][]ledger.Row{record.PartItems: atRest().tables[record.PartItems]}}
	if r := w.audit(t); len(verdicts(r, audit.Holds)) > 0 {
		t.Error(show(t, r))
	}
	w.tables = nil
	if _, err := audit.Run(t.Context(), w, audit.Options{Item: item}); !errors.Is(err, audit.ErrNoItem) {
		t.Errorf("no item: %v", err)
	}
}

// TestMoneyThatIsNotHeardOf: a lost notification is not a finding while its order is open, because expire queries the
// trade before it closes the order.
func TestMoneyThatIsNotHeardOf(t *testing.T) {
	t.Parallel()
	w := underWay()
	o, tr := w.order(seckill.PendingPayment, 0), copyRow(w.trade(w.paid()))
	tr["out_trade_no"] = o["id"]
	w.add(record.PartTrades, tr)
	if r := w.audit(t); r.Of("I6").Verdict != audit.Unknown || r.Broken() {
		t.Error(show(t, r))
	}
}

// TestAClockThatWasMoved: a seckill run may sell early when its clock was moved before the crowd came. Servers may not.
func TestAClockThatWasMoved(t *testing.T) {
	t.Parallel()
	const by = 3 * time.Hour // the sale began two hours before the crowd came
	for _, tt := range []struct {
		now    time.Time
		broken []string
	}{
		{time.Now().Add(by), nil},
		{time.Now(), []string{"I10", "L4"}},
	} {
		w := atRest()
		start := *w.entries[0].Start
		start.Time = start.Time.Add(-by)
		w.entries[0].Start, w.now = &start, tt.now.UnixMilli()
		r := w.audit(t)
		if got := verdicts(r, audit.Broken); !slices.Equal(got, tt.broken) || len(verdicts(r, audit.Unknown)) > 0 {
			t.Error(show(t, r))
		}
	}
}

// TestOpenOrders: L1 is unknown while orders are open, and broken when they stay open.
func TestOpenOrders(t *testing.T) {
	t.Parallel()
	if r := underWay().audit(t); !slices.Equal(verdicts(r, audit.Unknown), []string{"L1"}) ||
		len(verdicts(r, audit.Broken)) > 0 {
		t.Error(show(t, r))
	}
	for _, c := range []corruption{
		{"an order that is not closed in time", func(w *testSale) string {
			w.now += time.Hour.Milliseconds()
			return id(w.order(seckill.PendingPayment, 0))
		}, "L1"},
		{"an order that no sweep finds", func(w *testSale) string {
			o := w.order(seckill.PendingPayment, 0)
			delete(o, "due_at")
			return id(o)
		}, "L1"},
		{"a cancelled order that stays closing", func(w *testSale) string {
			for _, o := range w.tables[ledger.TableOrders] {
				if o["state"] == string(seckill.PendingPayment) {
					o["state"], o["close_to"] = string(seckill.Closing), string(seckill.Cancelled)
					o["history"] = append(o["history"].([]string),
						time.UnixMilli(w.now).UTC().Format("2006-01-02T15:04:05.000Z")+" closing shopper")
				}
			}
			w.now += 3 * time.Minute.Milliseconds()
			return "orders"
		}, "L1"},
	} {
		w := underWay()
		check(t, c.name, w, c.want, c.change(w))
	}
}

// TestUnderWayIsUnknown: what the next minutes decide is unknown, not broken.
func TestUnderWayIsUnknown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		change  func(w *testSale)
		unknown string
	}{
		{"a refund that is not yet recorded", func(w *testSale) {
			p := w.of(ledger.TablePayments, w.owed())
			p["state"], p["refund_shard"], p["refund_at"] = string(seckill.RefundDue), "01", "1"
		}, "I6"},
		{"a partial refund", func(w *testSale) {
			o := w.owed()
			p, tr := w.of(ledger.TablePayments, o), w.trade(o)
			p["state"], p["refund_shard"], p["refund_at"] = string(seckill.RefundDue), "refused", "1"
			tr["status"], tr["refunds"] = "TRADE_SUCCESS", []string{refund(1)}
		}, "I6"},
		{"a reservation on its way", func(w *testSale) {
			w.await("onew", time.Minute, -time.Second)
			n := slices.Sorted(maps.Keys(w.fields("free")))[0]
			delete(w.fields("free"), n)
			w.fields("held")[n] = "onew"
			w.fields("users")["77"] = "onew:1"
		}, "L2 L3"},
		{"units on their way back", func(w *testSale) {
			o := w.expired()
			w.now = w.release(o)
			w.giveBack(o)
			w.fields("users")[text(o, "user")] = text(o, "id") + ":1"
		}, "L2 L3"},
		{"an acknowledged order in Redis", func(w *testSale) {
			w.await("onew", time.Minute, -time.Second)
			w.answer(0, w.answerTo(false), func(e *record.Entry) { e.Order = "onew" })
		}, "I11 L2"},
		{"an acknowledged order in a queue", func(w *testSale) {
			w.queues["orders"] = record.Depth{Visible: 1}
			w.answer(0, w.answerTo(false), func(e *record.Entry) { e.Order = "onew" })
		}, "I11 L1"},
		{"an acknowledged order, and queues of unknown depth", func(w *testSale) {
			w.queues = nil
			w.answer(0, w.answerTo(false), func(e *record.Entry) { e.Order = "onew" })
		}, "I11"},
		{"parked messages", func(w *testSale) { w.queues["closings"] = record.Depth{Parked: 1} }, "L1"},
		{"a notification to come", func(w *testSale) {
			o := w.expired()
			tr := copyRow(w.trade(w.paid()))
			tr["out_trade_no"], tr["notify_state"] = o["id"], "due"
			w.add(record.PartTrades, tr)
		}, "I6"},
	} {
		w := atRest()
		tt.change(w)
		r := w.audit(t)
		if got := verdicts(r, audit.Unknown); !slices.Equal(got, strings.Fields(tt.unknown)) || r.Broken() {
			t.Errorf("%s: %v unknown, want %s\n%s", tt.name, got, tt.unknown, show(t, r))
		}
	}
}

// TestRowsOfOtherItemsAreNotOurs: faults in other items' rows are not findings.
func TestRowsOfOtherItemsAreNotOurs(t *testing.T) {
	t.Parallel()
	w := atRest()
	for _, row := range []struct {
		table string
		row   ledger.Row
	}{
		{ledger.TableOrders, ledger.Row{"id": "oother", "item": "8"}},
		{ledger.TableUnits, ledger.Row{"bucket": "8#1", "unit": "0000001", "order": "oother"}},
		{ledger.TableUnits, ledger.Row{"bucket": item + "8#1", "unit": "0000001", "order": "oother"}},
		{ledger.TableQuotas, ledger.Row{"user": "5", "item": "8", "units": int64(9)}},
		{ledger.TablePayments, ledger.Row{"order": "oother", "trade_no": "1"}},
		{ledger.TableReturns, ledger.Row{"shard": "01", "order": "oother", "item": "8"}},
		{record.PartTrades, ledger.Row{"v": int64(1), "out_trade_no": "oother", "trade_no": "1", "amount": int64(1),
			"status": "TRADE_SUCCESS", "paid": int64(1)}},
	} {
		w.add(row.table, row.row)
	}
	if r := w.audit(t); len(verdicts(r, audit.Holds)) != len(r.Results) {
		t.Error(show(t, r))
	}
}

func TestABrokenJournalIsNamedByLine(t *testing.T) {
	t.Parallel()
	w := atRest()
	w.bytes = bytes.Replace(w.journal(), []byte(`"n":6,`), []byte(`"n":7,`), 1)
	r := w.audit(t)
	if !r.Broken() || !strings.Contains(r.Journal.Fault, "line 6") ||
		!slices.Equal(verdicts(r, audit.Unknown), strings.Fields("I4 I9 I11 A1 L4")) {
		t.Error(show(t, r))
	}
}

// TestEveryRowCounts checks that removing any row, or any entry of Redis, breaks a guarantee.
func TestEveryRowCounts(t *testing.T) {
	t.Parallel()
	good := atRest()
	for _, table := range []string{ledger.TableOrders, ledger.TableUnits, ledger.TableQuotas, ledger.TablePayments} {
		for i, row := range good.tables[table] {
			if n, _ := row["units"].(int64); table == ledger.TableQuotas && n == 0 {
				continue // means the same as no row
			}
			w := atRest()
			w.tables[table] = slices.Delete(w.tables[table], i, i+1)
			if r := w.audit(t); len(verdicts(r, audit.Broken)) == 0 {
				t.Errorf("row %v of %s removed: nothing is broken\n%s", row, table, show(t, r))
			}
		}
	}
	for _, name := range []string{"free", "held", "users"} {
		for field := range good.keys[key(name)] {
			w := atRest()
			delete(w.fields(name), field)
			if r := w.audit(t); !slices.Equal(verdicts(r, audit.Broken), []string{"L3"}) {
				t.Errorf("%s of %s removed: %v broken, want L3", field, name, verdicts(r, audit.Broken))
			}
		}
	}
}

// TestWhatIsBrokenIsReadAgain: a finding counts when both readings have it.
func TestWhatIsBrokenIsReadAgain(t *testing.T) {
	t.Parallel()
	good, bad, worse := atRest(), atRest(), atRest()
	bad.order(seckill.Paid, 0)["title"] = nil
	worse.order(seckill.Paid, 0)["title"] = nil
	worse.order(seckill.Paid, 1)["title"] = nil
	for _, tt := range []struct {
		first, second *testSale
		verdict       audit.Verdict
		count         int
		reads         int
	}{
		{good, bad, audit.Holds, 0, 1},
		{bad, good, audit.Holds, 0, 2},
		{bad, worse, audit.Broken, 1, 2},
		{worse, bad, audit.Broken, 1, 2},
	} {
		reads := 0
		src := audit.SourceFunc(func(ctx context.Context, each func(*record.Line) error) error {
			if reads++; reads == 1 {
				return tt.first.Read(ctx, each)
			}
			return tt.second.Read(ctx, each)
		})
		r, err := audit.Run(t.Context(), src, audit.Options{Item: item, Journal: bytes.NewReader(good.journal()),
			Again: time.Millisecond})
		must.OK(t, err)
		if j := r.Of("I3"); j.Verdict != tt.verdict || j.Count != tt.count || reads != tt.reads {
			t.Errorf("%s with %d findings after %d readings, want %s with %d after %d", j.Verdict, j.Count, reads,
				tt.verdict, tt.count, tt.reads)
		}
	}
}
