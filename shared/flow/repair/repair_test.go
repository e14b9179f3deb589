package repair

import (
	"context"
	"errors"
	"testing"
	"time"

	"seckill/shared/seckill"
)

var errSend = errors.New("no queue")

type fakeStock struct {
	seckill.Stock
	passes int
}

func (s *fakeStock) Due(context.Context, time.Time, string, int, time.Duration) ([]seckill.Reservation, error) {
	return make([]seckill.Reservation, resendBatch), nil
}

func (s *fakeStock) DriftBegin(context.Context, string, string) (int64, error) {
	s.passes++
	return 0, seckill.ErrNotInstalled // enough of it
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

func (fakeItems) Get(context.Context, string) (seckill.Item, error) { return seckill.Item{}, nil }

type fakeRest struct{}

func (fakeRest) Now() time.Time           { return time.Unix(0, 0) }
func (fakeRest) OrderID(string) string    { return "o" }
func (fakeRest) Token() string            { return "t" }
func (fakeRest) Count(seckill.Event, int) {}

// TestQueueThatFailsDoesNotUseTheRunUp: a send that fails takes seconds, and the drift pass has to be reached all the same.
func TestQueueThatFailsDoesNotUseTheRunUp(t *testing.T) {
	for _, works := range []int{0, 150, maxResend} {
		stock, queue := &fakeStock{}, &fakeQueue{works: works}
		f := New(Deps{Stock: stock, Orders: queue, Items: fakeItems{}, Clock: fakeRest{}, IDs: fakeRest{}, Meter: fakeRest{}})
		err := f.item(t.Context(), "1")
		want := min(works+maxUnsent, maxResend)
		if queue.sends != want || stock.passes != 1 || errors.Is(err, errSend) != (works < maxResend) {
			t.Errorf("a queue that takes %d: %d sends, want %d; %d drift passes; %v", works, queue.sends, want, stock.passes, err)
		}
	}
}
