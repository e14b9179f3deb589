// Package sim simulates what production will do to the system: it stands between the flows and their ports, so that a
// test decides what happens at every port call. kill_test.go kills every flow, or fails its call, at each of its port
// calls, one at a time.
package sim

import (
	"context"
	"runtime"
	"strings"
	"sync"
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

// Items, Queue, Payments and Refunds are ports whose calls all go through a Hook.
type (
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
	_ seckill.Items    = Items{}
	_ seckill.Queue    = Queue{}
	_ seckill.Payments = Payments{}
	_ seckill.Refunds  = Refunds{}
)

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

const ledgerPackage = "github.com/your-org/seckill/shared/driver/ledger."

// methods has the results of methodOf, by stack.
var methods sync.Map

// call names a call of Rows by the ledger's method at work, such as "ledger.Place/Get": the outermost method of the
// ledger on the stack.
func (r Rows) call(op string) string {
	if r.Nameless {
		return ""
	}
	var stack [16]uintptr
	n := runtime.Callers(3, stack[:])
	if name, known := methods.Load(stack); known {
		return name.(string) + op
	}
	name := methodOf(stack[:n])
	methods.Store(stack, name)
	return name + op
}

func methodOf(stack []uintptr) string {
	frames, found := runtime.CallersFrames(stack), ""
	for {
		f, more := frames.Next()
		in, inside := strings.CutPrefix(f.Function, ledgerPackage)
		if name, ok := strings.CutPrefix(in, "(*Ledger)."); ok {
			found, _, _ = strings.Cut(name, ".") // without ".func1"
		}
		switch {
		case !inside && found != "":
			return "ledger." + found
		case !more:
			panic("the caller of the ledger's outermost method is not on the stack")
		}
	}
}

// Rows are a ledger's rows whose calls all go through a Hook, named by the ledger's method that is at work and by what
// it does to rows: "ledger.Place/Transact".
type Rows struct {
	Next     ledger.Rows
	Hook     Hook
	Sabotage func([]ledger.Write) // may change a transaction; nil means no change
	Nameless bool                 // the Hook reads no names, so that Rows need not find them, which is slow
}

var _ ledger.Rows = Rows{}

// Transact implements ledger.Rows.
func (r Rows) Transact(ctx context.Context, writes []ledger.Write) error {
	if r.Sabotage != nil {
		r.Sabotage(writes)
	}
	return r.Hook(r.call("/Transact"), func() error { return r.Next.Transact(ctx, writes) })
}

// Get implements ledger.Rows.
func (r Rows) Get(ctx context.Context, k ledger.Key) (row ledger.Row, found bool, err error) {
	err = r.Hook(r.call("/Get"), func() (err error) { row, found, err = r.Next.Get(ctx, k); return err })
	return row, found, err
}

// Update implements ledger.Rows.
func (r Rows) Update(ctx context.Context, w ledger.Write) error {
	return r.Hook(r.call("/Update"), func() error { return r.Next.Update(ctx, w) })
}

// PeekBatch implements ledger.Rows.
func (r Rows) PeekBatch(ctx context.Context, keys []ledger.Key) ([]ledger.Row, error) {
	return get(r.Hook, r.call("/PeekBatch"), func() ([]ledger.Row, error) { return r.Next.PeekBatch(ctx, keys) })
}

// GetBatch implements ledger.Rows.
func (r Rows) GetBatch(ctx context.Context, keys []ledger.Key) ([]ledger.Row, error) {
	return get(r.Hook, r.call("/GetBatch"), func() ([]ledger.Row, error) { return r.Next.GetBatch(ctx, keys) })
}

// Query implements ledger.Rows.
func (r Rows) Query(ctx context.Context, table, pk, afterSK string, limit int) ([]ledger.Row, error) {
	return get(r.Hook, r.call("/Query"), func() ([]ledger.Row, error) {
		return r.Next.Query(ctx, table, pk, afterSK, limit)
	})
}

// Index implements ledger.Rows.
func (r Rows) Index(ctx context.Context, index, pk, after string, limit int, descending bool) (rows []ledger.Row,
	next string, err error) {
	err = r.Hook(r.call("/Index"), func() (err error) {
		rows, next, err = r.Next.Index(ctx, index, pk, after, limit, descending)
		return err
	})
	return rows, next, err
}

// Newest implements ledger.Rows.
func (r Rows) Newest(ctx context.Context, index, pk, before string, limit int) ([]ledger.Row, error) {
	return get(r.Hook, r.call("/Newest"), func() ([]ledger.Row, error) {
		return r.Next.Newest(ctx, index, pk, before, limit)
	})
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
