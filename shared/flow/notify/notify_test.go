package notify_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"seckill/shared/adapter/ledger"
	"seckill/shared/adapter/memory"
	"seckill/shared/flow/notify"
	"seckill/shared/seckill"
)

type verified seckill.Notice

func (v verified) Verify(url.Values) (seckill.Notice, error) { return seckill.Notice(v), nil }

type clock time.Time

func (c clock) Now() time.Time { return time.Time(c) }

type meter struct{}

func (meter) Count(seckill.Event, int) {}

// TestRetention: a notice says itself when it may go, in whole seconds; without a retention it stays.
func TestRetention(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 7e6, time.UTC)
	for name, c := range map[string]struct {
		keep time.Duration
		want time.Time
	}{
		"for ever": {0, time.Time{}},
		"a day":    {24 * time.Hour, time.Date(2026, 7, 2, 12, 0, 0, 0, time.UTC)},
	} {
		books := ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock(now)}))
		flow := notify.New(notify.Deps{Verifier: verified{Order: "o1", ID: "n1", TradeNo: "t1", Amount: 1, Paid: true}, Ledger: books,
			Clock: clock(now), Meter: meter{}, Keep: c.keep})
		_ = flow.Notify(t.Context(), url.Values{}) // of no order of ours: refused, and kept
		kept, err := books.Notices(context.Background(), "o1")
		if err != nil || len(kept) != 1 || !kept[0].Expires.Equal(c.want) {
			t.Errorf("%s: got %+v, error %v; want one that expires at %s", name, kept, err, c.want)
		}
	}
}
