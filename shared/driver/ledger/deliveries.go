package ledger

import (
	"context"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// givenUpShard is the partition of the deliveries that wait for an operator, or for the order's next change.
const givenUpShard = "given_up"

func deliveryKey(order string) Key { return Key{Table: TableDeliveries, PK: order} }

// Webhook implements seckill.Ledger.
func (l *Ledger) Webhook(ctx context.Context, order string) (seckill.Webhook, error) {
	w, err := get(ctx, l, "delivery of "+order, deliveryKey(order), nil, decodeDelivery)
	w.Order = order
	return w, err
}

// SaveWebhook implements seckill.Ledger in one write.
func (l *Ledger) SaveWebhook(ctx context.Context, w seckill.Webhook) error {
	unread := Absent()
	if w.Writes > 0 {
		unread = Eq("writes", int64(w.Writes))
	}
	w.Writes++
	return l.change(ctx, "save the delivery of "+w.Order, seckill.ErrStateChanged, Write{Key: deliveryKey(w.Order),
		Op: OpPut, Row: encodeDelivery(&w), If: []Cond{unread}})
}

// WebhooksDue implements seckill.Ledger.
func (l *Ledger) WebhooksDue(ctx context.Context, shard int, now time.Time, after string,
	limit int) (seckill.Page[seckill.Webhook], error) {
	return due(ctx, l, "deliveries due", IndexDeliveriesDue, shardKey(shard), "due_at", now, after, limit,
		decodeDelivery)
}

// WebhooksGivenUp implements seckill.Ledger.
func (l *Ledger) WebhooksGivenUp(ctx context.Context, after string, limit int) (seckill.Page[seckill.Webhook], error) {
	return listed(ctx, l, "deliveries given up", IndexDeliveriesDue, givenUpShard, after, limit, decodeDelivery)
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
