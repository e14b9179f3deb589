package stage_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/adapter/memory"
	"github.com/your-org/seckill/shared/flow/stage"
	"github.com/your-org/seckill/shared/seckill"
)

// deaf is a stock that never answers.
type deaf struct{ seckill.Stock }

var errDeaf = errors.New("i/o timeout")

func (deaf) Assert(context.Context, seckill.Item) error { return errDeaf }

// While Redis does not answer, the stop is written to the table, and the operator is told what is missing.
func TestStopSaysThatRedisIsPending(t *testing.T) {
	t.Parallel()
	items := memory.NewItems()
	if err := items.Put(t.Context(), item("2", 0).Item, nil); err != nil {
		t.Fatal(err)
	}
	f := stage.New(stage.Deps{Items: items, Stock: deaf{}, Clock: memory.NewClock(now),
		Activities: newLedger()})
	for _, when := range []string{"first", "again"} {
		err := f.SetStopped(t.Context(), "2", true)
		if seckill.CodeOf(err) != seckill.CodeUnavailable || !errors.Is(err, errDeaf) || err == nil ||
			!strings.Contains(err.Error(), "Redis is pending") {
			t.Errorf("%s: %v, want unavailable, and that Redis is pending", when, err)
		}
	}
	if it, err := items.Get(t.Context(), "2"); err != nil || !it.Stopped {
		t.Errorf("%+v, %v: want it stopped in the items table", it, err)
	}
}
