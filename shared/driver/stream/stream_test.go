package stream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/stream"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

var placed = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

// step keeps what it is given, and fails at the change with index fails.
type step struct {
	got        []seckill.OrderChange
	fails      int
	unreadable int
}

func (s *step) Changes(_ context.Context, changes []seckill.OrderChange) (int, error) {
	s.got = changes
	if s.fails >= 0 && s.fails < len(changes) {
		return s.fails, errors.New("bus away")
	}
	return len(changes), nil
}

func (s *step) Unreadable() { s.unreadable++ }

// TestWithin checks that a step's time ends, and that nothing else about it is another.
func TestWithin(t *testing.T) {
	t.Parallel()
	inner := &slow{}
	s := stream.Within(time.Millisecond, inner)
	if n, err := s.Changes(t.Context(), make([]seckill.OrderChange, 3)); n != 2 || !errors.Is(err,
		context.DeadlineExceeded) {
		t.Errorf("%d done, %v; want what the step says", n, err)
	}
	if s.Unreadable(); inner.unreadable != 1 {
		t.Error("the step is not told of a change that cannot be read")
	}
}

// slow does all changes except the last, and then waits until its time ends.
type slow struct{ step }

func (*slow) Changes(ctx context.Context, changes []seckill.OrderChange) (int, error) {
	<-ctx.Done()
	return len(changes) - 1, ctx.Err()
}

// image writes a row as the stream does.
func image(row ledger.Row) map[string]any {
	if row == nil {
		return nil
	}
	out := map[string]any{}
	for attr, v := range row {
		switch v := v.(type) {
		case string:
			out[attr] = map[string]any{"S": v}
		case int64:
			out[attr] = map[string]any{"N": fmt.Sprint(v)}
		case []string:
			list := []any{}
			for _, s := range v {
				list = append(list, map[string]any{"S": s})
			}
			out[attr] = map[string]any{"L": list}
		default:
			panic(fmt.Sprintf("%T", v))
		}
	}
	return out
}

// records returns what the stream has of an order that is placed, paid and whose address is erased.
func records(t *testing.T) []map[string]any {
	t.Helper()
	var out []map[string]any
	watch := func(table string, before, after ledger.Row) {
		if table == ledger.TableOrders {
			out = append(out, map[string]any{"eventSource": "aws:dynamodb", "dynamodb": map[string]any{
				"SequenceNumber": fmt.Sprintf("10%d", len(out)), "OldImage": image(before), "NewImage": image(after)}})
		}
	}
	l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: memory.NewClock(placed), Watch: watch}))
	id := seckill.KeyedOrderID("1", "9", "k")
	must.OK(t, l.Place(t.Context(), seckill.Order{ID: id, Item: "1", User: "9", Count: 1, Units: []int{7}, Price: 100,
		Amount: 100, Given: seckill.Given{Address: "x"}, Title: "t", Created: placed, Placed: placed,
		PayBy: placed.Add(time.Hour), Buckets: 16}, 1),
		l.RecordPayment(t.Context(), seckill.Payment{Order: id, TradeNo: "t", Amount: 100, State: seckill.Captured,
			At: placed, Cause: "notify"}, seckill.PendingPayment, seckill.Paid),
		l.EraseAddress(t.Context(), id, seckill.Paid, placed),
	)
	return out
}

func call(t *testing.T, s *step, records ...map[string]any) (failed []string, log string, err error) {
	t.Helper()
	event := must.Get(json.Marshal(map[string]any{"Records": records}))
	var b strings.Builder
	out, err := stream.Handle(s, slog.New(slog.NewTextHandler(&b, nil)))(t.Context(), event)
	if err != nil {
		return nil, b.String(), err
	}
	var answer struct {
		BatchItemFailures []struct{ ItemIdentifier string }
	}
	if err := json.Unmarshal(out, &answer); err != nil || !strings.Contains(string(out), `"batchItemFailures":[`) {
		t.Fatalf("%s: %v", out, err)
	}
	for _, f := range answer.BatchItemFailures {
		failed = append(failed, f.ItemIdentifier)
	}
	return failed, b.String(), nil
}

func TestChangesOfAStream(t *testing.T) {
	t.Parallel()
	s := &step{fails: -1}
	if failed, _, err := call(t, s, records(t)...); err != nil || failed != nil || len(s.got) != 3 {
		t.Fatalf("failed %q, %v, %d changes", failed, err, len(s.got))
	}
	var kinds []string
	for i := range s.got {
		for _, e := range s.got[i].Events() {
			kinds = append(kinds, e.Kind())
		}
	}
	must.Equal(t, "order.placed order.paid", strings.Join(kinds, " "), "events")
}

// TestFailedFrom checks that the answer names the record of the first change that is not done, not its place among
// those that could be read.
func TestFailedFrom(t *testing.T) {
	t.Parallel()
	all := records(t)
	all[0]["dynamodb"].(map[string]any)["NewImage"].(map[string]any)["v"] = map[string]any{"N": "3"}
	s := &step{fails: 0}
	failed, log, err := call(t, s, all...)
	if err != nil || len(failed) != 1 || failed[0] != "101" || s.unreadable != 1 || len(s.got) != 2 {
		t.Errorf("failed %q, %v, %d unreadable, %d changes", failed, err, s.unreadable, len(s.got))
	}
	if !strings.Contains(log, "change not told") || !strings.Contains(log, "this code reads 1") {
		t.Errorf("log %s", log)
	}
}

// TestDeletedRow checks that a deleted row, and a batch without changes, are done.
func TestDeletedRow(t *testing.T) {
	t.Parallel()
	r := records(t)[0]
	delete(r["dynamodb"].(map[string]any), "NewImage")
	s := &step{fails: 0}
	if failed, _, err := call(t, s, r); err != nil || failed != nil || s.unreadable != 0 {
		t.Errorf("failed %q, %v, %d unreadable", failed, err, s.unreadable)
	}
}

func TestOtherEvents(t *testing.T) {
	t.Parallel()
	queue := map[string]any{"eventSource": "aws:sqs", "messageId": "1", "body": "{}"}
	if _, _, err := call(t, &step{fails: -1}, queue); err == nil {
		t.Error("a queue's record is taken for a stream's")
	}
}

// TestEach checks that all steps get every change, and that what one step has not done comes back.
func TestEach(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ a, b, done int }{{-1, -1, 3}, {1, -1, 1}, {-1, 2, 2}, {2, 1, 1}} {
		a, b := &step{fails: tt.a}, &step{fails: tt.b}
		both := stream.Each(a, b)
		both.Unreadable()
		done, err := both.Changes(t.Context(), make([]seckill.OrderChange, 3))
		if done != tt.done || (err == nil) != (tt.done == 3) || len(a.got) != 3 || len(b.got) != 3 ||
			a.unreadable+b.unreadable != 2 {
			t.Errorf("%+v: %d done, %v, %d and %d got", tt, done, err, len(a.got), len(b.got))
		}
	}
}
