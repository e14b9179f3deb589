// Package sim simulates what production will do to the system: it stands between the flows and their ports, so that a
// test decides what happens at every port call. kill_test.go kills every flow, or fails its call, at each of its port
// calls, one at a time.
package sim

import (
	"context"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// Hook is called for every port call, with its name ("stock.Reserve"). do executes the call and returns its error. A
// hook may skip it, return another error after it, or panic instead of returning, like a process that dies.
type Hook func(call string, do func() error) error

func get[T any](h Hook, call string, f func() (T, error)) (T, error) {
	var v T
	err := h(call, func() (err error) { v, err = f(); return err })
	return v, err
}

// Stock, Ledger, Items, Queue, Payments and Refunds are ports whose calls all go through a Hook.
type (
	Stock struct {
		Next seckill.Stock
		Hook Hook
	}
	Ledger struct {
		Next seckill.Ledger
		Hook Hook
	}
	Items struct {
		Next seckill.Items
		Hook Hook
	}
	Queue struct {
		Name string
		Next seckill.Queue
		Hook Hook
	}
	Payments struct {
		Next seckill.Payments
		Hook Hook
	}
	Refunds struct {
		Next seckill.Refunds
		Hook Hook
	}
)

var (
	_ seckill.Stock    = Stock{}
	_ seckill.Ledger   = Ledger{}
	_ seckill.Items    = Items{}
	_ seckill.Queue    = Queue{}
	_ seckill.Payments = Payments{}
	_ seckill.Refunds  = Refunds{}
)

func (s Stock) Reserve(ctx context.Context, now time.Time, r seckill.Request, keyed bool,
	resend time.Duration) (seckill.ReserveResult, error) {
	return get(s.Hook, "stock.Reserve", func() (seckill.ReserveResult, error) {
		return s.Next.Reserve(ctx, now, r, keyed, resend)
	})
}

func (s Stock) Confirm(ctx context.Context, item, order, user string, units []int) error {
	return s.Hook("stock.Confirm", func() error { return s.Next.Confirm(ctx, item, order, user, units) })
}

func (s Stock) Redraw(ctx context.Context, now time.Time, r seckill.Reservation, c seckill.Collision,
	resend time.Duration) (code seckill.RedrawCode, out seckill.Reservation, err error) {
	err = s.Hook("stock.Redraw", func() (err error) {
		code, out, err = s.Next.Redraw(ctx, now, r, c, resend)
		return err
	})
	return code, out, err
}

func (s Stock) Return(ctx context.Context, item, order, user string, units []int) error {
	return s.Hook("stock.Return", func() error { return s.Next.Return(ctx, item, order, user, units) })
}

func (s Stock) Due(ctx context.Context, now time.Time, item string, limit int,
	longest time.Duration) ([]seckill.Reservation, error) {
	return get(s.Hook, "stock.Due", func() ([]seckill.Reservation, error) {
		return s.Next.Due(ctx, now, item, limit, longest)
	})
}

func (s Stock) Assert(ctx context.Context, it seckill.Item) error {
	return s.Hook("stock.Assert", func() error { return s.Next.Assert(ctx, it) })
}

func (s Stock) Level(ctx context.Context, item string) (seckill.Level, error) {
	return get(s.Hook, "stock.Level", func() (seckill.Level, error) { return s.Next.Level(ctx, item) })
}

func (s Stock) Queued(ctx context.Context, item, user, order string) (seckill.Reservation, error) {
	return get(s.Hook, "stock.Queued", func() (seckill.Reservation, error) {
		return s.Next.Queued(ctx, item, user, order)
	})
}

func (s Stock) DriftBegin(ctx context.Context, item, token string) (int64, error) {
	return get(s.Hook, "stock.DriftBegin", func() (int64, error) { return s.Next.DriftBegin(ctx, item, token) })
}

func (s Stock) Scan(ctx context.Context, item string, bucket, buckets int) ([]seckill.Seen, error) {
	return get(s.Hook, "stock.Scan", func() ([]seckill.Seen, error) { return s.Next.Scan(ctx, item, bucket, buckets) })
}

func (s Stock) Correct(ctx context.Context, item string, c seckill.Correction) (bool, error) {
	return get(s.Hook, "stock.Correct", func() (bool, error) { return s.Next.Correct(ctx, item, c) })
}

func (s Stock) Users(ctx context.Context, item string, cursor uint64) (page []seckill.UserEntries, next uint64,
	err error) {
	err = s.Hook("stock.Users", func() (err error) { page, next, err = s.Next.Users(ctx, item, cursor); return err })
	return page, next, err
}

func (s Stock) CorrectUser(ctx context.Context, item string, seen seckill.UserEntries, want map[string]int) (bool,
	error) {
	return get(s.Hook, "stock.CorrectUser", func() (bool, error) { return s.Next.CorrectUser(ctx, item, seen, want) })
}

func (s Stock) DriftEnd(ctx context.Context, item, token string, pass int64) error {
	return s.Hook("stock.DriftEnd", func() error { return s.Next.DriftEnd(ctx, item, token, pass) })
}

func (s Stock) BuildStart(ctx context.Context, now time.Time, item, token string) error {
	return s.Hook("stock.BuildStart", func() error { return s.Next.BuildStart(ctx, now, item, token) })
}

func (s Stock) BuildUnits(ctx context.Context, now time.Time, item, token string, rows []seckill.UnitRow) (int, error) {
	return get(s.Hook, "stock.BuildUnits", func() (int, error) {
		return s.Next.BuildUnits(ctx, now, item, token, rows)
	})
}

func (s Stock) BuildGaps(ctx context.Context, now time.Time, item, token string, from, to int) error {
	return s.Hook("stock.BuildGaps", func() error { return s.Next.BuildGaps(ctx, now, item, token, from, to) })
}

func (s Stock) Install(ctx context.Context, it seckill.Item, token string, units, users, highWater int) error {
	return s.Hook("stock.Install", func() error { return s.Next.Install(ctx, it, token, units, users, highWater) })
}

func (s Stock) Remove(ctx context.Context, item string) error {
	return s.Hook("stock.Remove", func() error { return s.Next.Remove(ctx, item) })
}

func (l Ledger) UserOf(ctx context.Context, id seckill.Identity) (string, error) {
	return get(l.Hook, "ledger.UserOf", func() (string, error) { return l.Next.UserOf(ctx, id) })
}

func (l Ledger) Enrol(ctx context.Context, id seckill.Identity, user string, at time.Time) (string, error) {
	return get(l.Hook, "ledger.Enrol", func() (string, error) { return l.Next.Enrol(ctx, id, user, at) })
}

func (l Ledger) Place(ctx context.Context, o seckill.Order, limit int) error {
	return l.Hook("ledger.Place", func() error { return l.Next.Place(ctx, o, limit) })
}

func (l Ledger) Reject(ctx context.Context, o seckill.Order) error {
	return l.Hook("ledger.Reject", func() error { return l.Next.Reject(ctx, o) })
}

func (l Ledger) Order(ctx context.Context, id string) (seckill.Order, error) {
	return get(l.Hook, "ledger.Order", func() (seckill.Order, error) { return l.Next.Order(ctx, id) })
}

func (l Ledger) BeginClosing(ctx context.Context, o seckill.Order, to seckill.State, at time.Time, cause string) error {
	return l.Hook("ledger.BeginClosing", func() error { return l.Next.BeginClosing(ctx, o, to, at, cause) })
}

func (l Ledger) GiveBack(ctx context.Context, o seckill.Order, at time.Time, cause string) error {
	return l.Hook("ledger.GiveBack", func() error { return l.Next.GiveBack(ctx, o, at, cause) })
}

func (l Ledger) RecordPayment(ctx context.Context, p seckill.Payment, from, to seckill.State) error {
	return l.Hook("ledger.RecordPayment", func() error { return l.Next.RecordPayment(ctx, p, from, to) })
}

func (l Ledger) EraseAddress(ctx context.Context, id string, state seckill.State, at time.Time) error {
	return l.Hook("ledger.EraseAddress", func() error { return l.Next.EraseAddress(ctx, id, state, at) })
}

func (l Ledger) EraseNetwork(ctx context.Context, id string, state seckill.State) error {
	return l.Hook("ledger.EraseNetwork", func() error { return l.Next.EraseNetwork(ctx, id, state) })
}

func (l Ledger) Reschedule(ctx context.Context, id string, due time.Time) error {
	return l.Hook("ledger.Reschedule", func() error { return l.Next.Reschedule(ctx, id, due) })
}

func (l Ledger) RescheduleNow(ctx context.Context, id string, at time.Time, cause string) error {
	return l.Hook("ledger.RescheduleNow", func() error { return l.Next.RescheduleNow(ctx, id, at, cause) })
}

func (l Ledger) KeepNotification(ctx context.Context, n seckill.KeptNotification) error {
	return l.Hook("ledger.KeepNotification", func() error { return l.Next.KeepNotification(ctx, n) })
}

func (l Ledger) Notifications(ctx context.Context, order string) ([]seckill.KeptNotification, error) {
	return get(l.Hook, "ledger.Notifications", func() ([]seckill.KeptNotification, error) {
		return l.Next.Notifications(ctx, order)
	})
}

func (l Ledger) KeepReconciliation(ctx context.Context, r seckill.Reconciliation) error {
	return l.Hook("ledger.KeepReconciliation", func() error { return l.Next.KeepReconciliation(ctx, r) })
}

func (l Ledger) Reconciliations(ctx context.Context, day string) ([]seckill.Reconciliation, error) {
	return get(l.Hook, "ledger.Reconciliations", func() ([]seckill.Reconciliation, error) {
		return l.Next.Reconciliations(ctx, day)
	})
}

func (l Ledger) PaymentsOn(ctx context.Context, day, after string, limit int) (seckill.Page[seckill.Payment], error) {
	return get(l.Hook, "ledger.PaymentsOn", func() (seckill.Page[seckill.Payment], error) {
		return l.Next.PaymentsOn(ctx, day, after, limit)
	})
}

func (l Ledger) RefundsOn(ctx context.Context, day, after string, limit int) (seckill.Page[seckill.Payment], error) {
	return get(l.Hook, "ledger.RefundsOn", func() (seckill.Page[seckill.Payment], error) {
		return l.Next.RefundsOn(ctx, day, after, limit)
	})
}

func (l Ledger) Quota(ctx context.Context, user, item string) (seckill.Quota, error) {
	return get(l.Hook, "ledger.Quota", func() (seckill.Quota, error) { return l.Next.Quota(ctx, user, item) })
}

func (l Ledger) Quotas(ctx context.Context, item string, users []string) (map[string]seckill.Quota, error) {
	return get(l.Hook, "ledger.Quotas", func() (map[string]seckill.Quota, error) {
		return l.Next.Quotas(ctx, item, users)
	})
}

func (l Ledger) Units(ctx context.Context, item string, bucket int) ([]seckill.UnitRow, error) {
	return get(l.Hook, "ledger.Units", func() ([]seckill.UnitRow, error) { return l.Next.Units(ctx, item, bucket) })
}

func (l Ledger) Payments(ctx context.Context, order string) ([]seckill.Payment, error) {
	return get(l.Hook, "ledger.Payments", func() ([]seckill.Payment, error) { return l.Next.Payments(ctx, order) })
}

func (l Ledger) Returns(ctx context.Context, shard int, after string, limit int) (seckill.Page[seckill.ReturnRow],
	error) {
	return get(l.Hook, "ledger.Returns", func() (seckill.Page[seckill.ReturnRow], error) {
		return l.Next.Returns(ctx, shard, after, limit)
	})
}

func (l Ledger) Return(ctx context.Context, order string) (seckill.ReturnRow, error) {
	return get(l.Hook, "ledger.Return", func() (seckill.ReturnRow, error) { return l.Next.Return(ctx, order) })
}

func (l Ledger) DeleteReturn(ctx context.Context, r seckill.ReturnRow) error {
	return l.Hook("ledger.DeleteReturn", func() error { return l.Next.DeleteReturn(ctx, r) })
}

func (l Ledger) DueOrders(ctx context.Context, shard int, now time.Time, after string, limit int) (seckill.Page[string],
	error) {
	return get(l.Hook, "ledger.DueOrders", func() (seckill.Page[string], error) {
		return l.Next.DueOrders(ctx, shard, now, after, limit)
	})
}

func (l Ledger) StartRefund(ctx context.Context, o seckill.Order, p seckill.Payment, restock bool,
	by seckill.Decision, at time.Time, cause string) error {
	return l.Hook("ledger.StartRefund", func() error { return l.Next.StartRefund(ctx, o, p, restock, by, at, cause) })
}

func (l Ledger) Refunded(ctx context.Context, p seckill.Payment, besides string, from, to seckill.State, at time.Time,
	cause string) error {
	return l.Hook("ledger.Refunded", func() error { return l.Next.Refunded(ctx, p, besides, from, to, at, cause) })
}

func (l Ledger) DeferRefund(ctx context.Context, p seckill.Payment, due time.Time, refused string) error {
	return l.Hook("ledger.DeferRefund", func() error { return l.Next.DeferRefund(ctx, p, due, refused) })
}

func (l Ledger) RetryRefund(ctx context.Context, p seckill.Payment, state seckill.State, at time.Time,
	cause string) error {
	return l.Hook("ledger.RetryRefund", func() error { return l.Next.RetryRefund(ctx, p, state, at, cause) })
}

func (l Ledger) RefundsDue(ctx context.Context, shard int, now time.Time, after string,
	limit int) (seckill.Page[seckill.Payment], error) {
	return get(l.Hook, "ledger.RefundsDue", func() (seckill.Page[seckill.Payment], error) {
		return l.Next.RefundsDue(ctx, shard, now, after, limit)
	})
}

func (l Ledger) RefundsRefused(ctx context.Context, after string, limit int) (seckill.Page[seckill.Payment], error) {
	return get(l.Hook, "ledger.RefundsRefused", func() (seckill.Page[seckill.Payment], error) {
		return l.Next.RefundsRefused(ctx, after, limit)
	})
}

func (l Ledger) Webhook(ctx context.Context, order string) (seckill.Webhook, error) {
	return get(l.Hook, "ledger.Webhook", func() (seckill.Webhook, error) { return l.Next.Webhook(ctx, order) })
}

func (l Ledger) SaveWebhook(ctx context.Context, w seckill.Webhook) error {
	return l.Hook("ledger.SaveWebhook", func() error { return l.Next.SaveWebhook(ctx, w) })
}

func (l Ledger) WebhooksDue(ctx context.Context, shard int, now time.Time, after string,
	limit int) (seckill.Page[seckill.Webhook], error) {
	return get(l.Hook, "ledger.WebhooksDue", func() (seckill.Page[seckill.Webhook], error) {
		return l.Next.WebhooksDue(ctx, shard, now, after, limit)
	})
}

func (l Ledger) WebhooksGivenUp(ctx context.Context, after string, limit int) (seckill.Page[seckill.Webhook], error) {
	return get(l.Hook, "ledger.WebhooksGivenUp", func() (seckill.Page[seckill.Webhook], error) {
		return l.Next.WebhooksGivenUp(ctx, after, limit)
	})
}

func (l Ledger) OrdersByUser(ctx context.Context, user, after string, limit int) (seckill.OrderPage, error) {
	return get(l.Hook, "ledger.OrdersByUser", func() (seckill.OrderPage, error) {
		return l.Next.OrdersByUser(ctx, user, after, limit)
	})
}

func (l Ledger) OrdersByItem(ctx context.Context, item, after string, limit int) (seckill.OrderPage, error) {
	return get(l.Hook, "ledger.OrdersByItem", func() (seckill.OrderPage, error) {
		return l.Next.OrdersByItem(ctx, item, after, limit)
	})
}

func (t Items) Get(ctx context.Context, id string) (seckill.Item, error) {
	return get(t.Hook, "items.Get", func() (seckill.Item, error) { return t.Next.Get(ctx, id) })
}

func (t Items) List(ctx context.Context, endsAfter time.Time) ([]seckill.Item, error) {
	return get(t.Hook, "items.List", func() ([]seckill.Item, error) { return t.Next.List(ctx, endsAfter) })
}

func (t Items) Description(ctx context.Context, id string, described int64) (seckill.Description, error) {
	return get(t.Hook, "items.Description", func() (seckill.Description, error) {
		return t.Next.Description(ctx, id, described)
	})
}

func (t Items) Put(ctx context.Context, it seckill.Item, d *seckill.Description) error {
	return t.Hook("items.Put", func() error { return t.Next.Put(ctx, it, d) })
}

// ListEnded implements seckill.Items.
func (t Items) ListEnded(ctx context.Context, what seckill.Kept, endedBy time.Time) ([]seckill.Item, error) {
	return get(t.Hook, "items.ListEnded", func() ([]seckill.Item, error) {
		return t.Next.ListEnded(ctx, what, endedBy)
	})
}

// MarkErased implements seckill.Items.
func (t Items) MarkErased(ctx context.Context, id string, what seckill.Kept, at time.Time) error {
	return t.Hook("items.MarkErased", func() error { return t.Next.MarkErased(ctx, id, what, at) })
}

func (t Items) ListVersion(ctx context.Context) (int64, error) {
	return get(t.Hook, "items.ListVersion", func() (int64, error) { return t.Next.ListVersion(ctx) })
}

func (t Items) ReadList(ctx context.Context, version int64) (seckill.List, error) {
	return get(t.Hook, "items.ReadList", func() (seckill.List, error) { return t.Next.ReadList(ctx, version) })
}

func (t Items) Published(ctx context.Context) (seckill.List, error) {
	return get(t.Hook, "items.Published", func() (seckill.List, error) { return t.Next.Published(ctx) })
}

func (t Items) Publish(ctx context.Context, l seckill.List) error {
	return t.Hook("items.Publish", func() error { return t.Next.Publish(ctx, l) })
}

func (q Queue) Send(ctx context.Context, m seckill.Message, delay time.Duration) error {
	return q.Hook(q.Name+".Send", func() error { return q.Next.Send(ctx, m, delay) })
}

func (q Queue) Receive(ctx context.Context, limit int) ([]seckill.Delivery, error) {
	return get(q.Hook, q.Name+".Receive", func() ([]seckill.Delivery, error) { return q.Next.Receive(ctx, limit) })
}

func (q Queue) Delete(ctx context.Context, d seckill.Delivery) error {
	return q.Hook(q.Name+".Delete", func() error { return q.Next.Delete(ctx, d) })
}

func (q Queue) Delay(ctx context.Context, d seckill.Delivery, wait time.Duration) error {
	return q.Hook(q.Name+".Delay", func() error { return q.Next.Delay(ctx, d, wait) })
}

func (q Queue) Park(ctx context.Context, d seckill.Delivery, reason string) error {
	return q.Hook(q.Name+".Park", func() error { return q.Next.Park(ctx, d, reason) })
}

func (q Queue) Depth(ctx context.Context) (seckill.Depth, error) {
	return get(q.Hook, q.Name+".Depth", func() (seckill.Depth, error) { return q.Next.Depth(ctx) })
}

func (p Payments) Prepare(o seckill.Order) (string, error) {
	return get(p.Hook, "payments.Prepare", func() (string, error) { return p.Next.Prepare(o) })
}

func (p Payments) Query(ctx context.Context, order string) (seckill.Trade, error) {
	return get(p.Hook, "payments.Query", func() (seckill.Trade, error) { return p.Next.Query(ctx, order) })
}

func (p Payments) Close(ctx context.Context, order string) (seckill.CloseResult, error) {
	return get(p.Hook, "payments.Close", func() (seckill.CloseResult, error) { return p.Next.Close(ctx, order) })
}

func (p Payments) Verify(form map[string][]string) (seckill.Notification, error) {
	return get(p.Hook, "payments.Verify", func() (seckill.Notification, error) { return p.Next.Verify(form) })
}

func (r Refunds) Refund(ctx context.Context, f seckill.Refund) (seckill.RefundAnswer, error) {
	return get(r.Hook, "payments.Refund", func() (seckill.RefundAnswer, error) { return r.Next.Refund(ctx, f) })
}

func (r Refunds) RefundStatus(ctx context.Context, f seckill.Refund) (seckill.RefundAnswer, error) {
	return get(r.Hook, "payments.RefundStatus", func() (seckill.RefundAnswer, error) {
		return r.Next.RefundStatus(ctx, f)
	})
}

// Rows are a ledger's rows whose calls all go through a Hook.
type Rows struct {
	Next     ledger.Rows
	Hook     Hook
	Sabotage func([]ledger.Write) // may change a transaction; nil: no change
}

var _ ledger.Rows = Rows{}

// Transact implements ledger.Rows.
func (r Rows) Transact(ctx context.Context, writes []ledger.Write) error {
	if r.Sabotage != nil {
		r.Sabotage(writes)
	}
	return r.Hook("Transact", func() error { return r.Next.Transact(ctx, writes) })
}

// Get implements ledger.Rows.
func (r Rows) Get(ctx context.Context, k ledger.Key) (row ledger.Row, found bool, err error) {
	err = r.Hook("Get", func() (err error) { row, found, err = r.Next.Get(ctx, k); return err })
	return row, found, err
}

// Update implements ledger.Rows.
func (r Rows) Update(ctx context.Context, w ledger.Write) error {
	return r.Hook("Update", func() error { return r.Next.Update(ctx, w) })
}

// PeekBatch implements ledger.Rows.
func (r Rows) PeekBatch(ctx context.Context, keys []ledger.Key) ([]ledger.Row, error) {
	return get(r.Hook, "PeekBatch", func() ([]ledger.Row, error) { return r.Next.PeekBatch(ctx, keys) })
}

// GetBatch implements ledger.Rows.
func (r Rows) GetBatch(ctx context.Context, keys []ledger.Key) ([]ledger.Row, error) {
	return get(r.Hook, "GetBatch", func() ([]ledger.Row, error) { return r.Next.GetBatch(ctx, keys) })
}

// Query implements ledger.Rows.
func (r Rows) Query(ctx context.Context, table, pk, afterSK string, limit int) ([]ledger.Row, error) {
	return get(r.Hook, "Query", func() ([]ledger.Row, error) { return r.Next.Query(ctx, table, pk, afterSK, limit) })
}

// Index implements ledger.Rows.
func (r Rows) Index(ctx context.Context, index, pk, after string, limit int, descending bool) (rows []ledger.Row,
	next string, err error) {
	err = r.Hook("Index", func() (err error) {
		rows, next, err = r.Next.Index(ctx, index, pk, after, limit, descending)
		return err
	})
	return rows, next, err
}

// Bills passes every call of the port through a Hook.
type Bills struct {
	Next seckill.Bills
	Hook Hook
}

// Bill implements seckill.Bills.
func (b Bills) Bill(ctx context.Context, day string) (seckill.Bill, error) {
	return get(b.Hook, "payments.Bill", func() (seckill.Bill, error) { return b.Next.Bill(ctx, day) })
}

// Trades passes every call of the port through a Hook.
type Trades struct {
	Next seckill.Trades
	Hook Hook
}

// Trade implements seckill.Trades.
func (t Trades) Trade(ctx context.Context, order, tradeNo string) (seckill.Trade, error) {
	return get(t.Hook, "payments.Trade", func() (seckill.Trade, error) { return t.Next.Trade(ctx, order, tradeNo) })
}
