package seckill_test

import (
	"slices"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// TestMoves plays the lives that an order may have.
func TestMoves(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 11, 2, 0, 59, 999e6, time.UTC)
	type states = []seckill.State
	const restocked = seckill.State("restocked") // a note of a refunded order
	for _, tt := range []struct {
		what    string
		history states
		units   []int
		from    int
		want    []seckill.Count
	}{
		{"placed", states{seckill.PendingPayment}, []int{4, 5}, 0, []seckill.Count{{Placed: 2}}},
		{"rejected", states{seckill.Rejected}, nil, 0, nil},
		{"expired", states{seckill.PendingPayment, seckill.Closing, seckill.Expired}, nil, 0,
			[]seckill.Count{{Placed: 2}, {GivenBack: 2}}},
		{"cancelled, and paid too late", states{seckill.PendingPayment, seckill.Closing, seckill.Cancelled,
			seckill.RefundOwed, seckill.Refunded}, nil, 0, []seckill.Count{{Placed: 2}, {GivenBack: 2}}},
		{"paid, and paid again", states{seckill.PendingPayment, seckill.Paid, seckill.Paid}, []int{4, 5}, 0,
			[]seckill.Count{{Placed: 2}, {Paid: 2}}},
		{"refunded with restock", states{seckill.PendingPayment, seckill.Paid, seckill.RefundOwed, seckill.Refunded},
			nil, 1, []seckill.Count{{Paid: 2}, {GivenBack: 2}}},
		{"refunded without", states{seckill.PendingPayment, seckill.Paid, seckill.RefundOwed, seckill.Refunded},
			[]int{4, 5}, 1, []seckill.Count{{Paid: 2}}},
		{"counted already", states{seckill.PendingPayment, seckill.Paid}, []int{4, 5}, 2, nil},
		{"counted further", states{seckill.PendingPayment}, []int{4, 5}, 2, nil},
		{"refunded without, and restocked an hour later", states{seckill.PendingPayment, seckill.Paid,
			seckill.Refunded, restocked}, nil, 2, []seckill.Count{{GivenBack: 2}}},
		{"and counted before that", states{seckill.PendingPayment, seckill.Paid, seckill.Refunded, restocked}, nil, 3,
			[]seckill.Count{{GivenBack: 2}}},
	} {
		o := seckill.Order{Count: 2, Units: tt.units}
		for i, s := range tt.history {
			change := seckill.Change{State: s, At: at.Add(time.Duration(i) * time.Hour)}
			if s == restocked {
				change.State, change.Cause = seckill.Refunded, seckill.RestockedBy+"ann: it never left"
			}
			o.History = append(o.History, change)
		}
		var got []seckill.Count
		for _, m := range o.Moves(tt.from) {
			if got = append(got, m.Count); m.Minute.Second() != 0 || m.Minute.Minute() != 0 {
				t.Errorf("%s: minute %s", tt.what, m.Minute)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", tt.what, got, tt.want)
		}
	}
}
