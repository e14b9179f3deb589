package sim

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// strangers puts n rows of a later schema version, which this code cannot read, before all others of a shard.
func strangers(t *testing.T, w *World, n int, key func(i int) ledger.Key, row ledger.Row) {
	t.Helper()
	for i := range n {
		own := ledger.Row{"v": ledger.SpanVersion + 1}
		for attr, v := range row {
			own[attr] = v
		}
		if err := w.Rows.Transact(ctx, []ledger.Write{{Key: key(i), Op: ledger.OpPut, Row: own}}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHoleUnreadableRows checks that rows behind more than a page of unreadable ones are handled within a minute.
func TestHoleUnreadableRows(t *testing.T) {
	const many = 250
	first := "000000000000001"
	t.Run("due orders", func(t *testing.T) {
		w := newTestWorld(t, 5, 2)
		do(t, w, steps(placed("1", 2), loseClosings))
		id := w.id("1")
		row, _, err := w.Rows.Get(ctx, ledger.Key{Table: ledger.TableOrders, PK: id})
		if err != nil {
			t.Fatal(err)
		}
		strangers(t, w, many, func(i int) ledger.Key {
			return ledger.Key{Table: ledger.TableOrders, PK: fmt.Sprintf("bad%03d", i)}
		},
			ledger.Row{"due_shard": row["due_shard"], "due_at": first})
		w.Clock.Advance(Hold + seckill.Grace + time.Minute)
		err = w.Start(nil).Expire.Sweep(ctx)
		if o, _ := w.ledger.Order(ctx, id); o.State != seckill.Expired {
			t.Errorf("the order is %s, want %s; the sweep said %.200v", o.State, seckill.Expired, err)
		}
		if err == nil {
			t.Error("nobody is told of rows that cannot be read")
		}
	})
	t.Run("due refunds", func(t *testing.T) {
		w := newTestWorld(t, 5, 2)
		do(t, w, steps(placed("1", 2), paid("1"), notified))
		id := w.id("1")
		if _, err := w.Start(nil).Refund.Order(ctx, id, "ann", "broken", false); err != nil {
			t.Fatal(err)
		}
		p, err := w.ledger.Payments(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		row, _, err := w.Rows.Get(ctx, ledger.Key{Table: ledger.TablePayments, PK: id, SK: p[0].TradeNo})
		if err != nil {
			t.Fatal(err)
		}
		strangers(t, w, many, func(i int) ledger.Key {
			return ledger.Key{Table: ledger.TablePayments, PK: fmt.Sprintf("bad%03d", i), SK: "t"}
		},
			ledger.Row{"refund_shard": row["refund_shard"], "refund_at": first})
		w.Clock.Advance(2 * time.Minute)
		err = w.Start(nil).Refund.Sweep(ctx)
		if o, _ := w.ledger.Order(ctx, id); o.State != seckill.Refunded {
			t.Errorf("the order is %s, want %s; the sweep said %.200v", o.State, seckill.Refunded, err)
		}
		if err == nil {
			t.Error("nobody is told of rows that cannot be read")
		}
	})
	for _, c := range []struct {
		name string
		row  ledger.Row // of the returns before
	}{
		{"returns that cannot be read", nil},
		{"returns of an item that cannot be rebuilt", ledger.Row{"v": ledger.Version, "item": "2002", "user": "9",
			"units": "1"}},
		{"returns of an item that nobody knows", ledger.Row{"v": ledger.Version, "item": "3003", "user": "9",
			"units": "1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newTestWorld(t, 5, 2)
			do(t, w, steps(placed("1", 2), due, expired, loseOrders))
			if err := w.items.Put(ctx, itemOf("2002", 5, 2), nil); err != nil {
				t.Fatal(err)
			}
			rows := w.Rows.Dump(ledger.TableReturns)
			if len(rows) != 1 {
				t.Fatalf("%d return rows, want 1", len(rows))
			}
			shard := rows[0]["shard"].(string)
			strangers(t, w, 3*many, func(i int) ledger.Key {
				return ledger.Key{Table: ledger.TableReturns, PK: shard, SK: fmt.Sprintf("a%03d", i)}
			}, c.row)
			errBuild := errors.New("no build")
			var err error
			for range 3 {
				i := w.Start(func(call string, do func() error) error {
					if call == "stock.BuildStart" {
						return errBuild
					}
					return do()
				})
				err = i.Repair.Run(ctx)
				w.Clock.Advance(time.Minute)
			}
			if n := len(w.Rows.Dump(ledger.TableReturns)); n != 3*many {
				t.Errorf("%d return rows stand, want the %d that cannot be finished; the run said %.300v", n, 3*many,
					err)
			}
			if err == nil {
				t.Error("nobody is told of them")
			}
		})
	}
}
