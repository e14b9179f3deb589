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

var deliveryCodec = &codec[seckill.Webhook]{table: TableDeliveries, more: 1}

func encodeDelivery(w *seckill.Webhook) Row {
	row := deliveryCodec.encode(w, 0)
	switch {
	case w.GivenUp:
		row["due_shard"] = givenUpShard
	case !w.Due.IsZero():
		row["due_shard"] = shardKey(orderShard(w.Order))
	}
	return row
}

func decodeDelivery(row Row) (seckill.Webhook, error) {
	d := decode(TableDeliveries, row)
	w := deliveryCodec.take(d)
	w.GivenUp = d.optional("due_shard") == givenUpShard
	return w, d.err
}
