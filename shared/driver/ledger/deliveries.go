package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// givenUpShard is the partition of the deliveries that wait for an operator, or for the order's next change.
const givenUpShard = "given_up"

func deliveryKey(order string) Key { return Key{Table: TableDeliveries, PK: order} }

// Webhook implements seckill.Ledger.
func (l *Ledger) Webhook(ctx context.Context, order string) (seckill.Webhook, error) {
	row, found, err := l.rows.Get(ctx, deliveryKey(order))
	if err != nil {
		return seckill.Webhook{}, fmt.Errorf("ledger: delivery of %s: %w", order, err)
	}
	if !found {
		return seckill.Webhook{Order: order}, nil
	}
	return decodeDelivery(row)
}

// SaveWebhook implements seckill.Ledger in one write.
func (l *Ledger) SaveWebhook(ctx context.Context, w seckill.Webhook) error {
	unread := Absent()
	if w.Writes > 0 {
		unread = Eq("writes", int64(w.Writes))
	}
	w.Writes++
	c, err := l.transact(ctx, []Write{{Key: deliveryKey(w.Order), Op: OpPut, Row: encodeDelivery(&w),
		If: []Cond{unread}}})
	return changed(c, err, "save the delivery of", w.Order)
}

// WebhooksDue implements seckill.Ledger.
func (l *Ledger) WebhooksDue(ctx context.Context, shard int, now time.Time, after string,
	limit int) (seckill.Page[seckill.Webhook], error) {
	rows, next, err := l.rows.Index(ctx, IndexDeliveriesDue, shardKey(shard), after, limit, false)
	if err != nil {
		return seckill.Page[seckill.Webhook]{}, fmt.Errorf("ledger: deliveries due %d: %w", shard, err)
	}
	rows, next = dueBy(rows, next, "due_at", now)
	return page(rows, next, decodeDelivery), nil
}

// WebhooksGivenUp implements seckill.Ledger.
func (l *Ledger) WebhooksGivenUp(ctx context.Context, after string, limit int) (seckill.Page[seckill.Webhook], error) {
	rows, next, err := l.rows.Index(ctx, IndexDeliveriesDue, givenUpShard, after, limit, false)
	if err != nil {
		return seckill.Page[seckill.Webhook]{}, fmt.Errorf("ledger: deliveries given up: %w", err)
	}
	return page(rows, next, decodeDelivery), nil
}

func encodeDelivery(w *seckill.Webhook) Row {
	row := Row{"v": Version, "known": int64(w.Known), "sent": int64(w.Sent), "tries": int64(w.Tries),
		"writes": int64(w.Writes)}
	if !w.Since.IsZero() {
		row["since"] = w.Since.UnixMilli()
	}
	if !w.Due.IsZero() {
		row["due_shard"], row["due_at"] = shardKey(orderShard(w.Order)), timeKey(w.Due)
	}
	if w.GivenUp {
		row["due_shard"] = givenUpShard
	}
	return row
}

func decodeDelivery(row Row) (seckill.Webhook, error) {
	d := decode(TableDeliveries, row)
	w := seckill.Webhook{Order: d.text("order"), Known: int(d.number("known")), Sent: int(d.number("sent")),
		Tries: int(d.number("tries")), Writes: int(d.number("writes")),
		GivenUp: d.optional("due_shard") == givenUpShard}
	if _, ok := row["since"]; ok {
		w.Since = d.time("since")
	}
	if d.optional("due_at") != "" {
		w.Due = d.sortable("due_at")
	}
	return w, d.err
}
