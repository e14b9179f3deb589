package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

var (
	start = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	ctx   = context.Background()
)

func newRows() *memory.Rows { return memory.NewRows(memory.RowsOptions{Clock: memory.NewClock(start)}) }

func order(id string, units ...int) seckill.Order {
	o := seckill.Order{ID: id, Item: "1", User: "7", Count: len(units), Units: units, Price: 100,
		Amount: seckill.Fen(100 * len(units)), Given: drivertest.Given(),
		Title: "t", Buckets: 1,
		ListPrice: 120, Cover: "/c.jpg", ItemVersion: 1, Options: seckill.Options{{Name: "a", Value: "b"}},
		Activity: "12",
		CloseTo:  seckill.Expired,
		Created:  start, Placed: start, PayBy: start.Add(seckill.DefaultHold)}
	o.Address, o.Name, o.Network = "secret street", "Lei", netip.MustParseAddr("2001:db8::7")
	if id == "a" {
		o.Span = "70"
	}
	return o
}

func block(subject seckill.Subject) seckill.Block {
	return seckill.Block{Subject: subject, Item: "1", Reason: "a script", By: "ada", Made: start}
}

func activity(version int64) seckill.Activity {
	return seckill.Activity{ID: "70", Title: "t", Start: start, End: start.Add(time.Hour), Items: []string{"7", "8"},
		Version: version, MadeBy: "ada", MadeFrom: seckill.MadeAtCLI, Made: start}
}

// fulfilled is the order d in a state.
func gone(outside seckill.Fen) seckill.Payment {
	return seckill.Payment{Order: "g", TradeNo: "t4", Amount: 9, Outside: outside, State: seckill.Captured, At: start}
}

func fulfilled(state seckill.State) seckill.Order {
	o := order("d", 4)
	o.State = state
	return o
}

// counter counts the calls of rows.
type counter struct {
	ledger.Rows
	calls []string
}

func (c *counter) Transact(ctx context.Context, writes []ledger.Write) error {
	c.calls = append(c.calls, fmt.Sprintf("Transact %d", len(writes)))
	return c.Rows.Transact(ctx, writes)
}

func (c *counter) Get(ctx context.Context, k ledger.Key) (ledger.Row, bool, error) {
	c.calls = append(c.calls, "Get")
	return c.Rows.Get(ctx, k)
}

func (c *counter) GetBatch(ctx context.Context, keys []ledger.Key) ([]ledger.Row, error) {
	c.calls = append(c.calls, "GetBatch")
	return c.Rows.GetBatch(ctx, keys)
}

func (c *counter) PeekBatch(ctx context.Context, keys []ledger.Key) ([]ledger.Row, error) {
	c.calls = append(c.calls, "PeekBatch")
	return c.Rows.PeekBatch(ctx, keys)
}

func (c *counter) Update(ctx context.Context, w ledger.Write) error {
	c.calls = append(c.calls, "Update")
	return c.Rows.Update(ctx, w)
}

func (c *counter) Query(ctx context.Context, table, pk, after string, limit int) ([]ledger.Row, error) {
	c.calls = append(c.calls, "Query")
	return c.Rows.Query(ctx, table, pk, after, limit)
}

func (c *counter) Index(ctx context.Context, index, pk, after string, limit int, desc bool) ([]ledger.Row, string,
	error) {
	c.calls = append(c.calls, "Index")
	return c.Rows.Index(ctx, index, pk, after, limit, desc)
}

func (c *counter) Newest(ctx context.Context, index, pk, before string, limit int) ([]ledger.Row, error) {
	c.calls = append(c.calls, "Newest")
	return c.Rows.Newest(ctx, index, pk, before, limit)
}

// auditEntry returns an entry of the audit log.
func auditEntry() seckill.AuditEntry {
	e := seckill.AuditEntry{Kind: seckill.AuditWhole, ID: "a", Who: "ada", Act: "open", Result: "read"}
	e.Stamp(start)
	return e
}

// lifeSteps calls every method of the port once, successfully.
var lifeSteps = []struct {
	name string
	call string
	run  func(l seckill.Ledger) error
}{
	{"Place", "Transact 7", func(l seckill.Ledger) error { return l.Place(ctx, order("a", 1, 2), 9) }},
	{"Place", "Transact 5", func(l seckill.Ledger) error { return l.Place(ctx, order("b", 3), 9) }},
	{"Reject", "Transact 2", func(l seckill.Ledger) error {
		o := order("c")
		o.Reason = seckill.CodeSoldOut
		return l.Reject(ctx, o)
	}},
	{"BeginClosing", "Transact 1", func(l seckill.Ledger) error {
		return l.BeginClosing(ctx, order("a"), seckill.Expired, start, "c")
	}},
	{"Place", "Transact 5", func(l seckill.Ledger) error { return l.Place(ctx, order("x", 9), 9) }},
	{"BeginClosing by a cancel", "Transact 2", func(l seckill.Ledger) error {
		return l.BeginClosing(ctx, order("x"), seckill.Cancelled, start, "c")
	}},
	{"Reschedule", "Transact 1", func(l seckill.Ledger) error {
		return l.Reschedule(ctx, "a", start.Add(time.Minute))
	}},
	{"RescheduleNow", "Transact 1", func(l seckill.Ledger) error {
		return l.RescheduleNow(ctx, "a", start.Add(time.Minute), "c")
	}},
	{"DueOrders", "Index", func(l seckill.Ledger) error { return second(l.DueOrders(ctx, 0, start, "", 9)) }},
	{"GiveBack", "Transact 6", func(l seckill.Ledger) error { return l.GiveBack(ctx, order("a", 1, 2), start, "c") }},
	{"RecordPayment and move", "Transact 2", func(l seckill.Ledger) error {
		return l.RecordPayment(ctx, seckill.Payment{Order: "b", TradeNo: "t1", State: seckill.Captured, At: start},
			seckill.PendingPayment, seckill.Paid)
	}},
	{"RecordPayment and stay", "Transact 2", func(l seckill.Ledger) error {
		return l.RecordPayment(ctx, seckill.Payment{Order: "b", TradeNo: "t2", State: seckill.RefundDue, At: start},
			seckill.Paid, seckill.Paid)
	}},
	{"Order", "Get", func(l seckill.Ledger) error { return second(l.Order(ctx, "b")) }},
	{"Quota", "Get", func(l seckill.Ledger) error { return second(l.Quota(ctx, "7", "1")) }},
	{"Quotas", "GetBatch", func(l seckill.Ledger) error { return second(l.Quotas(ctx, "1", []string{"7", "8"})) }},
	{"Units", "Query", func(l seckill.Ledger) error { return second(l.Units(ctx, "1", 0)) }},
	{"Payments", "Query", func(l seckill.Ledger) error { return second(l.Payments(ctx, "b")) }},
	{"Returns", "Query", func(l seckill.Ledger) error { return second(l.Returns(ctx, 0, "", 9)) }},
	{"Return", "Get", func(l seckill.Ledger) error { return second(l.Return(ctx, "a")) }},
	{"RefundsDue", "Index", func(l seckill.Ledger) error { return second(l.RefundsDue(ctx, 0, start, "", 9)) }},
	{"RefundsRefused", "Index", func(l seckill.Ledger) error { return second(l.RefundsRefused(ctx, "", 9)) }},
	{"Webhook", "Get", func(l seckill.Ledger) error { return second(l.Webhook(ctx, "b")) }},
	{"SaveWebhook", "Transact 1", func(l seckill.Ledger) error {
		return l.SaveWebhook(ctx, seckill.Webhook{Order: "b", Known: 2, Due: start, Tries: 1, Since: start})
	}},
	{"WebhooksDue", "Index", func(l seckill.Ledger) error { return second(l.WebhooksDue(ctx, 0, start, "", 9)) }},
	{"WebhooksGivenUp", "Index", func(l seckill.Ledger) error { return second(l.WebhooksGivenUp(ctx, "", 9)) }},
	{"DeferRefund", "Transact 1", func(l seckill.Ledger) error {
		return l.DeferRefund(ctx, seckill.Payment{Order: "b", TradeNo: "t2"}, start, "poor")
	}},
	{"RetryRefund", "Transact 2", func(l seckill.Ledger) error {
		return l.RetryRefund(ctx, seckill.Payment{Order: "b", TradeNo: "t2"}, seckill.Paid, start, "c")
	}},
	{"Place", "Transact 5", func(l seckill.Ledger) error { return l.Place(ctx, order("d", 4), 9) }},
	{"RecordPayment of another", "Transact 2", func(l seckill.Ledger) error {
		return l.RecordPayment(ctx, seckill.Payment{Order: "d", TradeNo: "t3", State: seckill.Captured, At: start},
			seckill.PendingPayment, seckill.Paid)
	}},
	{"WentBack", "Transact 2", func(l seckill.Ledger) error {
		p := seckill.Payment{Order: "d", TradeNo: "t3", Amount: 9, Outside: 5, State: seckill.Captured}
		return l.WentBack(ctx, fulfilled(seckill.Paid), p, 0, start, "c")
	}},
	{"RefundsOutside", "Index", func(l seckill.Ledger) error { return second(l.RefundsOutside(ctx, "", 9)) }},
	{"Accept", "Transact 2", func(l seckill.Ledger) error {
		o := fulfilled(seckill.Paid)
		o.Outside = 5
		o.Undecided = true
		return l.Accept(ctx, o, seckill.Payment{Order: "d", TradeNo: "t3", Amount: 9, Outside: 5}, 5, start, "c")
	}},
	{"Place", "Transact 5", func(l seckill.Ledger) error {
		return l.Place(ctx, order("g", 8), 9)
	}},
	{"RecordPayment of it", "Transact 2", func(l seckill.Ledger) error {
		return l.RecordPayment(ctx, gone(0), seckill.PendingPayment, seckill.Paid)
	}},
	{"WentBack all", "Transact 2", func(l seckill.Ledger) error {
		o := order("g", 8)
		o.State = seckill.Paid
		return l.WentBack(ctx, o, gone(9), 0, start, "c")
	}},
	{"Propose", "Transact 2", func(l seckill.Ledger) error { return l.Propose(ctx, proposal("g"), "t4") }},
	{"StartRefund, all is gone", "Transact 2", func(l seckill.Ledger) error {
		o := order("g", 8)
		o.State = seckill.Paid
		return l.StartRefund(ctx, o, gone(9), false, seckill.Decision{}, start, "c")
	}},
	{"Restock", "Transact 4", func(l seckill.Ledger) error {
		o := order("g", 8)
		o.State = seckill.Refunded
		return l.Restock(ctx, o, start, "c")
	}},
	{"Fulfil", "Transact 1", func(l seckill.Ledger) error {
		return l.Fulfil(ctx, fulfilled(seckill.Paid), seckill.Confirmed, time.Time{}, start, "c")
	}},
	{"Fulfil by shipping", "Transact 1", func(l seckill.Ledger) error {
		o := fulfilled(seckill.Confirmed)
		o.Carrier, o.Number = "SF", "1"
		return l.Fulfil(ctx, o, seckill.Shipped, start, start, "c")
	}},
	{"FulfilDue", "Index", func(l seckill.Ledger) error { return second(l.FulfilDue(ctx, 0, start, "", 9)) }},
	{"Note", "Transact 1", func(l seckill.Ledger) error { return l.Note(ctx, fulfilled(seckill.Shipped), start, "c") }},
	{"Hide", "Transact 1", func(l seckill.Ledger) error {
		return l.Hide(ctx, fulfilled(seckill.Shipped), true, start, "c")
	}},
	{"AskRefund", "Transact 1", func(l seckill.Ledger) error {
		return l.AskRefund(ctx, fulfilled(seckill.Shipped), "x", start, "c")
	}},
	{"StartRefund", "Transact 6", func(l seckill.Ledger) error {
		o := order("b", 3)
		o.State = seckill.Paid
		return l.StartRefund(ctx, o, seckill.Payment{Order: "b", TradeNo: "t1", Amount: 9}, true,
			seckill.Decision{Person: "ann", PerDay: 2}, start, "c")
	}},
	{"Propose another", "Transact 2", func(l seckill.Ledger) error { return l.Propose(ctx, proposal("d"), "t3") }},
	{"Proposal", "Get", func(l seckill.Ledger) error { return second(l.Proposal(ctx, "g")) }},
	{"Proposals", "Query", func(l seckill.Ledger) error { return second(l.Proposals(ctx, "", 9)) }},
	{"Withdraw", "Transact 1", func(l seckill.Ledger) error { return l.Withdraw(ctx, proposal("g")) }},
	{"SaveActivity", "Transact 3", func(l seckill.Ledger) error { return l.SaveActivity(ctx, activity(1), nil) }},
	{"SaveActivity", "Transact 2", func(l seckill.Ledger) error {
		was, a := activity(1), activity(2)
		a.Items, a.Offline, a.Resumes = a.Items[:1], true, a.Items[:1]
		return l.SaveActivity(ctx, a, &was)
	}},
	{"SaveActivity", "Transact 2", func(l seckill.Ledger) error {
		was, a := activity(2), activity(3)
		was.Items, a.Items, a.Deleted = was.Items[:1], a.Items[:1], start
		return l.SaveActivity(ctx, a, &was)
	}},
	{"Activity", "Get", func(l seckill.Ledger) error { return second(l.Activity(ctx, "70")) }},
	{"ActivitiesOf", "GetBatch", func(l seckill.Ledger) error {
		return second(l.ActivitiesOf(ctx, []string{"7", "8"}))
	}},
	{"ListActivities", "Index", func(l seckill.Ledger) error { return second(l.ListActivities(ctx, "", 9)) }},
	{"SaveStaffSession", "Transact 1", func(l seckill.Ledger) error {
		return l.(seckill.StaffSessions).SaveStaffSession(ctx, seckill.StaffSession{Key: "k", Who: "ann",
			Proof: start, Ends: start})
	}},
	{"StaffSession", "Get", func(l seckill.Ledger) error {
		return second(l.(seckill.StaffSessions).StaffSession(ctx, "k"))
	}},
	{"ListStaffSessions", "Query", func(l seckill.Ledger) error {
		return second(l.(seckill.StaffSessions).ListStaffSessions(ctx, "", 9))
	}},
	{"EndStaffSession", "Transact 1", func(l seckill.Ledger) error {
		return l.(seckill.StaffSessions).EndStaffSession(ctx, "k")
	}},
	{"BeginSession", "Transact 1", func(l seckill.Ledger) error { return l.BeginSession(ctx, signedIn) }},
	{"Place of a session", "Transact 6", func(l seckill.Ledger) error {
		o := order("s", 19)
		o.Session = signedIn.ID
		return l.Place(ctx, o, 9)
	}},
	{"RenewSession", "Transact 1", func(l seckill.Ledger) error { return l.RenewSession(ctx, signedIn) }},
	{"Session", "Get", func(l seckill.Ledger) error { return second(l.Session(ctx, "7", signedIn.ID)) }},
	{"ListSessions", "Query", func(l seckill.Ledger) error { return second(l.ListSessions(ctx, "7", 9)) }},
	{"EndSession", "Transact 1", func(l seckill.Ledger) error { return l.EndSession(ctx, "7", signedIn.ID) }},
	{"Refunded and stay", "Transact 3", func(l seckill.Ledger) error {
		return l.Refunded(ctx, seckill.Payment{Order: "b", TradeNo: "t1"}, 0, "t2", seckill.RefundOwed,
			seckill.RefundOwed, start, "c")
	}},
	{"Refunded and move", "Transact 2", func(l seckill.Ledger) error {
		return l.Refunded(ctx, seckill.Payment{Order: "b", TradeNo: "t2"}, 0, "", seckill.RefundOwed, seckill.Refunded,
			start, "c")
	}},
	{"EraseAddress", "Transact 1", func(l seckill.Ledger) error {
		return l.EraseAddress(ctx, "a", seckill.Expired, start)
	}},
	{"EraseNetwork", "Transact 1", func(l seckill.Ledger) error { return l.EraseNetwork(ctx, "a", seckill.Expired) }},
	{"OrdersByUser", "Index", func(l seckill.Ledger) error { return second(l.OrdersByUser(ctx, "7", "", 9)) }},
	{"OrdersByItem", "16 × Index", func(l seckill.Ledger) error { return second(l.OrdersByItem(ctx, "1", "", 9)) }},
	{"NewestOrders of an item", "16 × Newest", func(l seckill.Ledger) error {
		return second(l.NewestOrders(ctx, seckill.NewestOrders{Item: "1", Limit: 9}))
	}},
	{"NewestOrders", "17 × Newest, GetBatch", func(l seckill.Ledger) error {
		return second(l.NewestOrders(ctx, seckill.NewestOrders{Limit: 9}))
	}},
	{"PaymentsOn", "16 × Index", func(l seckill.Ledger) error {
		return second(l.PaymentsOn(ctx, "2026-07-01", "", 9))
	}},
	{"RefundsOn", "16 × Index", func(l seckill.Ledger) error { return second(l.RefundsOn(ctx, "2026-07-01", "", 9)) }},
	{"KeepNotification", "Transact 1", func(l seckill.Ledger) error {
		return l.KeepNotification(ctx, seckill.KeptNotification{Order: "b", ID: "n", TradeNo: "t1", At: start,
			Outcome: seckill.NotificationRecorded, Raw: "sign=s", Expires: start})
	}},
	{"Notifications", "Query", func(l seckill.Ledger) error { return second(l.Notifications(ctx, "b")) }},
	{"KeepReconciliation", "Transact 1", func(l seckill.Ledger) error {
		return l.KeepReconciliation(ctx, seckill.Reconciliation{Day: "2026-07-01", At: start, NoBill: true,
			Differences: []seckill.Difference{{Kind: seckill.PaymentNotHere}}})
	}},
	{"Reconciliations", "Query", func(l seckill.Ledger) error { return second(l.Reconciliations(ctx, "2026-07-01")) }},
	{"Enrol", "Transact 2", func(l seckill.Ledger) error {
		return second(l.Enrol(ctx, seckill.Identity{Issuer: "https://id.example.com", Subject: "s"}, "7", start))
	}},
	{"UserOf", "Get", func(l seckill.Ledger) error {
		return second(l.UserOf(ctx, seckill.Identity{Issuer: "https://id.example.com", Subject: "s"}))
	}},
	{"DeleteReturn", "Transact 1", func(l seckill.Ledger) error {
		return l.DeleteReturn(ctx, seckill.ReturnRow{Order: "a", Item: "1", User: "7", Units: []int{1, 2}})
	}},
	{"Counts", "Get", func(l seckill.Ledger) error { return second(l.Counts(ctx, "1")) }},
	{"Counted", "GetBatch", func(l seckill.Ledger) error { return second(l.Counted(ctx, []string{"a", "b"})) }},
	{"BeginRecount", "Transact 1", func(l seckill.Ledger) error {
		return l.BeginRecount(ctx, seckill.Counts{Item: "1"}, start)
	}},
	{"AddCounts", "Transact 3", func(l seckill.Ledger) error {
		moves := seckill.Count{Placed: 3, Paid: 2, GivenBack: 1}
		return l.AddCounts(ctx, seckill.Counts{Item: "1", Since: start}, seckill.Addition{At: start, Total: moves,
			Orders:  []seckill.CountedOrder{{Order: "a", Sequence: 1}, {Order: "b", Sequence: 1}},
			Minutes: []seckill.MinuteCount{{Minute: start.Truncate(time.Minute), Count: moves}}})
	}},
	{"EndRecount", "Transact 1", func(l seckill.Ledger) error {
		return l.EndRecount(ctx, seckill.Counts{Item: "1", Since: start})
	}},
	{"PutBlock", "Transact 1", func(l seckill.Ledger) error { return l.PutBlock(ctx, block("user:8")) }},
	{"PutBlocks", "Transact 2", func(l seckill.Ledger) error {
		return l.PutBlocks(ctx, []seckill.Block{block("user:9"), block("net:203.0.113.0/24")})
	}},
	{"DropBlock", "Transact 1", func(l seckill.Ledger) error { return second(l.DropBlock(ctx, "user:9", "1")) }},
	{"RangeBlocks", "PeekBatch", func(l seckill.Ledger) error {
		return second(l.RangeBlocks(ctx, []seckill.Subject{"net:203.0.113.7/32"}, "1"))
	}},
	{"Stored", "GetBatch", func(l seckill.Ledger) error {
		return second(l.Stored(ctx, []seckill.Block{block("user:8")}))
	}},
	{"BlocksOn", "Query", func(l seckill.Ledger) error { return second(l.BlocksOn(ctx, "user:8", "", 9)) }},
	{"ListBlocks", "Index", func(l seckill.Ledger) error { return second(l.ListBlocks(ctx, 0, "", 9)) }},
	{"KeepAct", "Transact 1", func(l seckill.Ledger) error {
		return l.KeepAct(ctx, seckill.Act{ID: actID, At: start, User: "7", Rules: seckill.RuleFast})
	}},
	{"Act", "Get", func(l seckill.Ledger) error { return second(l.Act(ctx, actID)) }},
	{"ActsOn", "Query", func(l seckill.Ledger) error { return second(l.ActsOn(ctx, seckill.Day(start), 0, "", 9)) }},
	{"HandleAct", "Transact 1", func(l seckill.Ledger) error { return l.HandleAct(ctx, actID, "ada", "x", start) }},
	{"UserBlocks", "GetBatch", func(l seckill.Ledger) error { return second(l.UserBlocks(ctx, "7", "1")) }},
	{"Live", "Get", func(l seckill.Ledger) error { return second(l.Live(ctx, "1")) }},
	{"LeaseLive", "Update", func(l seckill.Ledger) error {
		return second(l.LeaseLive(ctx, seckill.LiveRow{Live: seckill.Live{Item: "1"}}, start))
	}},
	{"KeepLive", "Update", func(l seckill.Ledger) error {
		return l.KeepLive(ctx, seckill.LiveRow{Live: seckill.Live{Item: "1"}, Version: 1}, start)
	}},
	{"AppendAudit", "Transact 1", func(l seckill.Ledger) error { return l.AppendAudit(ctx, auditEntry()) }},
	{"AuditOn", "Query", func(l seckill.Ledger) error { return second(l.AuditOn(ctx, seckill.Day(start), "", 9)) }},
	{"CountAttempt", "Update", func(l seckill.Ledger) error { return l.CountAttempt(ctx, "7", "1", start) }},
	{"PutQuestion", "Transact 1", func(l seckill.Ledger) error {
		return l.PutQuestion(ctx, "1", seckill.Question{ID: "a", Text: "2 + 2?", Answers: []string{"4"}})
	}},
	{"DropQuestion", "Transact 1", func(l seckill.Ledger) error { return l.DropQuestion(ctx, "1", "b") }},
	{"Questions", "Query", func(l seckill.Ledger) error { return second(l.Questions(ctx, "1")) }},
}

func proposal(order string) seckill.Proposal {
	return seckill.Proposal{Order: order, Who: "ann", Why: "broken", Restock: true, Gone: true, Amount: 100, At: start}
}

// written returns a ledger after the steps that write, before a return row is confirmed: order a gave back, b is paid
// with a second trade to be refunded, c was rejected.
func written(t *testing.T) (*ledger.Ledger, *memory.Rows) {
	t.Helper()
	rows := newRows()
	l := ledger.New(rows)
	for _, step := range lifeSteps[:12] {
		if err := step.run(l); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
	}
	return l, rows
}

var signedIn = seckill.Session{User: "7", ID: strings.Repeat("a", 32), Device: "Safari, iPhone", Began: start,
	Renewed: start}

func second[T any](_ T, err error) error { return err }

func TestEachMethodIsOneCallOnRowsOrOneForEachShard(t *testing.T) {
	rows := &counter{Rows: newRows()}
	l := ledger.New(rows)
	for _, step := range lifeSteps {
		rows.calls = nil
		if err := step.run(l); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		got := strings.Join(slices.Compact(slices.Clone(rows.calls)), ", ")
		if n := len(rows.calls); n > 1 {
			got = fmt.Sprintf("%d × %s", n, got)
		}
		if got != step.call {
			t.Errorf("%s: got calls %v, want %s", step.name, rows.calls, step.call)
		}
	}
}

// broken fails every call, after the caller's deadline if the caller has a deadline.
type broken struct{ ledger.Rows }

var errFault = errors.New("rows out of reach")

func (broken) Transact(ctx context.Context, _ []ledger.Write) error {
	if _, ok := ctx.Deadline(); ok {
		<-ctx.Done()
	}
	return errFault
}

func (broken) Get(context.Context, ledger.Key) (ledger.Row, bool, error) { return nil, false, errFault }

func (broken) GetBatch(context.Context, []ledger.Key) ([]ledger.Row, error) { return nil, errFault }

func (broken) PeekBatch(context.Context, []ledger.Key) ([]ledger.Row, error) { return nil, errFault }

func (broken) Update(context.Context, ledger.Write) error { return errFault }

func (broken) Query(context.Context, string, string, string, int) ([]ledger.Row, error) {
	return nil, errFault
}

func (broken) Index(context.Context, string, string, string, int, bool) ([]ledger.Row, string, error) {
	return nil, "", errFault
}

func (broken) Newest(context.Context, string, string, string, int) ([]ledger.Row, error) {
	return nil, errFault
}

func TestAFaultOfRowsIsAFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := ledger.New(broken{})
		for _, step := range lifeSteps {
			began := time.Now()
			must.Is(t, errFault, step.run(l), step.name)
			want := time.Duration(0)
			if strings.HasPrefix(step.name, "Place") {
				want = seckill.PlaceTimeout
			}
			must.Equal(t, want, time.Since(began), step.name, "gave up after")
		}
	})
}

var actID = seckill.ActID(start, "a")

// silent does not answer reads.
type silent struct{ broken }

func (silent) Get(ctx context.Context, _ ledger.Key) (ledger.Row, bool, error) {
	<-ctx.Done()
	return nil, false, ctx.Err()
}

// TestAPurchaseDoesNotWaitForASilentTable: the read that each purchase of an item makes whose limit spans is short.
func TestAPurchaseDoesNotWaitForASilentTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		_, err := ledger.New(silent{}).SpanQuota(ctx, "7", "70")
		must.Is(t, context.DeadlineExceeded, err)
		must.Equal(t, seckill.SpanTimeout, time.Since(began), "gave up after")
	})
}
