package repair

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

var errSend = errors.New("no queue")

type fakeStock struct {
	seckill.Stock
	passes, returns int
}

func (s *fakeStock) Due(context.Context, time.Time, string, int, time.Duration) ([]seckill.Reservation, error) {
	return make([]seckill.Reservation, resendBatch), nil
}

func (s *fakeStock) Level(context.Context, string) (seckill.Level, error) {
	return seckill.Level{}, nil
}

func (s *fakeStock) DriftBegin(context.Context, string, string) (int64, error) {
	s.passes++
	return 0, seckill.ErrNotInstalled // enough for this test
}

type fakeQueue struct {
	seckill.Queue
	sends, works int
}

func (q *fakeQueue) Send(context.Context, seckill.Message, time.Duration) error {
	if q.sends++; q.sends > q.works {
		return errSend
	}
	return nil
}

type fakeItems struct{ seckill.Items }

func (fakeItems) Get(context.Context, string) (seckill.Item, error) {
	return seckill.Item{End: time.Unix(0, 0).AddDate(1, 0, 0)}, nil
}

// fakeReturns is a shard with an unreadable row and a return of an item that the stock has lost.
type fakeReturns struct{ seckill.Ledger }

func (fakeReturns) Returns(_ context.Context, shard int, _ string, _ int) (page seckill.Page[seckill.ReturnRow],
	_ error) {
	if shard == 0 {
		page.Unreadable = []error{&seckill.Unreadable{Table: "returns", PK: "00", SK: "o1", Why: " has version v=2"}}
		page.Rows = []seckill.ReturnRow{{Order: "o2", Item: "1"}}
	}
	return page, nil
}

func (fakeItems) List(context.Context, time.Time) ([]seckill.Item, error) { return nil, nil }

func (s *fakeStock) Return(context.Context, string, string, string, []int) error {
	s.returns++
	return seckill.ErrNotInstalled
}

// TestUnreadableReturnsAreCountedOnce checks that the second pass of a run does not count unreadable rows again.
func TestUnreadableReturnsAreCountedOnce(t *testing.T) {
	stock, meter := &fakeStock{}, memory.Meter{}
	f := New(Deps{Stock: stock, Ledger: fakeReturns{}, Items: fakeItems{}, Clock: fakeRest{}, IDs: fakeRest{},
		Meter: meter})
	err := f.Run(t.Context())
	if stock.returns != 2 || !errors.Is(err, seckill.ErrUnreadable) {
		t.Fatalf("%d attempts at the return, %v; want two passes, and the row named", stock.returns, err)
	}
	must.Equal(t, 1, meter[seckill.EventUnreadable], "one row that cannot be read is counted", "times in a run")
}

type fakeRest struct{}

func (fakeRest) Now() time.Time           { return time.Unix(0, 0) }
func (fakeRest) OrderID(string) string    { return "o" }
func (fakeRest) Token() string            { return "t" }
func (fakeRest) Count(seckill.Event, int) {}

// TestQueueThatFailsDoesNotUseTheRunUp checks that the run reaches the drift pass although each failing send takes
// seconds.
func TestQueueThatFailsDoesNotUseTheRunUp(t *testing.T) {
	for _, works := range []int{0, 150, maxResend} {
		stock, queue := &fakeStock{}, &fakeQueue{works: works}
		f := New(Deps{Stock: stock, Orders: queue, Items: fakeItems{}, Clock: fakeRest{}, IDs: fakeRest{},
			Meter: fakeRest{}})
		err := f.item(t.Context(), "1")
		want := min(works+maxUnsent, maxResend)
		if queue.sends != want || stock.passes != 1 || errors.Is(err, errSend) != (works < maxResend) {
			t.Errorf("a queue that takes %d: %d sends, want %d; %d drift passes; %v", works, queue.sends, want,
				stock.passes, err)
		}
	}
}
