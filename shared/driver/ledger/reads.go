package ledger

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// pageRows is the number of rows that one query of a whole partition asks for.
const pageRows = 1000

// Order implements seckill.Ledger.
func (l *Ledger) Order(ctx context.Context, id string) (seckill.Order, error) {
	row, found, err := l.rows.Get(ctx, orderKey(id))
	if err != nil {
		return seckill.Order{}, fmt.Errorf("ledger: order %s: %w", id, err)
	}
	if !found {
		return seckill.Order{}, seckill.ErrNoOrder
	}
	return decodeOrder(row)
}

// Quota implements seckill.Ledger.
func (l *Ledger) Quota(ctx context.Context, user, item string) (seckill.Quota, error) {
	row, found, err := l.rows.Get(ctx, quotaKey(user, item))
	if err != nil {
		return seckill.Quota{}, fmt.Errorf("ledger: quota %s/%s: %w", user, item, err)
	}
	if !found {
		return seckill.Quota{}, nil
	}
	return quotaCodec.decode(row)
}

// Quotas implements seckill.Ledger. More than MaxQuotas users, or a repeated one, is a programming error.
func (l *Ledger) Quotas(ctx context.Context, item string, users []string) (map[string]seckill.Quota, error) {
	quotas := make(map[string]seckill.Quota, len(users))
	if len(users) == 0 {
		return quotas, nil
	}
	if len(users) > seckill.MaxQuotas {
		return nil, fmt.Errorf("ledger: quotas of %d users of %s, want at most %d", len(users), item, seckill.MaxQuotas)
	}
	keys := make([]Key, len(users))
	for i, user := range users {
		keys[i] = quotaKey(user, item)
	}
	rows, err := l.rows.GetBatch(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("ledger: quotas of %s: %w", item, err)
	}
	for _, row := range rows {
		q, err := quotaCodec.decode(row)
		if err != nil {
			return nil, err
		}
		user, _ := row["user"].(string)
		quotas[user] = q
	}
	return quotas, nil
}

// Return implements seckill.Ledger.
func (l *Ledger) Return(ctx context.Context, order string) (seckill.ReturnRow, error) {
	row, found, err := l.rows.Get(ctx, returnKey(order))
	if err != nil {
		return seckill.ReturnRow{}, fmt.Errorf("ledger: return %s: %w", order, err)
	}
	if !found {
		return seckill.ReturnRow{}, seckill.ErrNoReturn
	}
	return returnCodec.decode(row)
}

// Returns implements seckill.Ledger, ascending by order.
func (l *Ledger) Returns(ctx context.Context, shard int, after string, limit int) (seckill.Page[seckill.ReturnRow],
	error) {
	rows, err := l.rows.Query(ctx, TableReturns, shardKey(shard), after, limit)
	if err != nil {
		return seckill.Page[seckill.ReturnRow]{}, fmt.Errorf("ledger: returns %d: %w", shard, err)
	}
	next := ""
	if len(rows) == limit {
		next, _ = rows[limit-1]["order"].(string)
	}
	return page(rows, next, returnCodec.decode), nil
}

// Units implements seckill.Ledger, ascending by unit.
func (l *Ledger) Units(ctx context.Context, item string, bucket int) ([]seckill.UnitRow, error) {
	rows, err := l.partition(ctx, TableUnits, bucketKey(item, bucket), "unit")
	if err != nil {
		return nil, fmt.Errorf("ledger: units of %s bucket %d: %w", item, bucket, err)
	}
	return decodeAll(rows, unitCodec.decode)
}

// Payments implements seckill.Ledger, ascending by trade number.
func (l *Ledger) Payments(ctx context.Context, order string) ([]seckill.Payment, error) {
	rows, err := l.partition(ctx, TablePayments, order, "trade_no")
	if err != nil {
		return nil, fmt.Errorf("ledger: payments of %s: %w", order, err)
	}
	return decodeAll(rows, paymentCodec.decode)
}

// partition reads all rows of a partition, page by page.
func (l *Ledger) partition(ctx context.Context, table, pk, sk string) ([]Row, error) {
	var all []Row
	for after := ""; ; {
		page, err := l.rows.Query(ctx, table, pk, after, pageRows)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if len(page) < pageRows {
			return all, nil
		}
		after, _ = page[len(page)-1][sk].(string)
	}
}

// DueOrders implements seckill.Ledger. A shard is one partition sorted by due time, so one read finds the overdue
// orders however long no sweep ran.
func (l *Ledger) DueOrders(ctx context.Context, shard int, now time.Time, after string,
	limit int) (seckill.Page[string], error) {
	return l.ordersDue(ctx, shardKey(shard), now, after, limit)
}

// FulfilDue implements seckill.Ledger.
func (l *Ledger) FulfilDue(ctx context.Context, shard int, now time.Time, after string,
	limit int) (seckill.Page[string], error) {
	return l.ordersDue(ctx, FulfilShard+shardKey(shard), now, after, limit)
}

func (l *Ledger) ordersDue(ctx context.Context, shard string, now time.Time, after string,
	limit int) (seckill.Page[string], error) {
	rows, next, err := l.rows.Index(ctx, IndexOrdersDue, shard, after, limit, false)
	if err != nil {
		return seckill.Page[string]{}, fmt.Errorf("ledger: due orders %s: %w", shard, err)
	}
	rows, next = dueBy(rows, next, "due_at", now)
	return page(rows, next, func(row Row) (string, error) {
		id, _ := row["id"].(string) // a key is always a string
		return id, nil
	}), nil
}

// RefundsDue implements seckill.Ledger.
func (l *Ledger) RefundsDue(ctx context.Context, shard int, now time.Time, after string,
	limit int) (seckill.Page[seckill.Payment], error) {
	rows, next, err := l.rows.Index(ctx, IndexRefundsDue, shardKey(shard), after, limit, false)
	if err != nil {
		return seckill.Page[seckill.Payment]{}, fmt.Errorf("ledger: refunds due %d: %w", shard, err)
	}
	rows, next = dueBy(rows, next, "refund_at", now)
	return page(rows, next, paymentCodec.decode), nil
}

// dueBy cuts a page of rows sorted by due time before the first one due after now.
func dueBy(rows []Row, next, attr string, now time.Time) ([]Row, string) {
	for i, row := range rows {
		if due, _ := row[attr].(string); due > timeKey(now) {
			return rows[:i], ""
		}
	}
	return rows, next
}

// RefundsRefused implements seckill.Ledger.
func (l *Ledger) RefundsRefused(ctx context.Context, after string, limit int) (seckill.Page[seckill.Payment], error) {
	rows, next, err := l.rows.Index(ctx, IndexRefundsDue, refusedShard, after, limit, false)
	if err != nil {
		return seckill.Page[seckill.Payment]{}, fmt.Errorf("ledger: refunds refused: %w", err)
	}
	return page(rows, next, paymentCodec.decode), nil
}

// OrdersByUser implements seckill.Ledger.
func (l *Ledger) OrdersByUser(ctx context.Context, user, after string, limit int) (seckill.OrderPage, error) {
	return l.orders(ctx, IndexOrdersByUser, user, after, limit, true)
}

// OrdersByItem implements seckill.Ledger, shard by shard and oldest first in each. Every page except the last is
// full, so one page may take as many reads as there are shards.
func (l *Ledger) OrdersByItem(ctx context.Context, item, after string, limit int) (seckill.OrderPage, error) {
	all, next, err := shards(after, limit, func(shard int, after string, limit int) ([]seckill.Order, string, error) {
		page, err := l.orders(ctx, IndexOrdersByItem, itemShardKey(item, shard), after, limit, false)
		return page.Orders, page.Next, err
	})
	if err != nil {
		return seckill.OrderPage{}, fmt.Errorf("ledger: orders of item %s: %w", item, err)
	}
	return seckill.OrderPage{Orders: all, Next: next}, nil
}

// PaymentsOn implements seckill.Ledger, shard by shard.
func (l *Ledger) PaymentsOn(ctx context.Context, day, after string, limit int) (seckill.Page[seckill.Payment], error) {
	return l.paymentsBy(ctx, IndexPaymentsOn, day, after, limit)
}

// RefundsOn implements seckill.Ledger, shard by shard.
func (l *Ledger) RefundsOn(ctx context.Context, day, after string, limit int) (seckill.Page[seckill.Payment], error) {
	return l.paymentsBy(ctx, IndexRefundsOn, day, after, limit)
}

func (l *Ledger) paymentsBy(ctx context.Context, index, day, after string, limit int) (seckill.Page[seckill.Payment],
	error) {
	rows, next, err := shards(after, limit, func(shard int, after string, limit int) ([]Row, string, error) {
		return l.rows.Index(ctx, index, dayShardKey(day, shard), after, limit, false)
	})
	if err != nil {
		return seckill.Page[seckill.Payment]{}, fmt.Errorf("ledger: %s %s: %w", index, day, err)
	}
	return page(rows, next, paymentCodec.decode), nil
}

// shards reads a page of a listing that is spread over shards. Every page except the last is full.
func shards[T any](cursor string, limit int, read func(shard int, after string, limit int) ([]T, string,
	error)) (all []T, next string, err error) {
	shard, after, err := decodeShardCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	for ; shard < itemShards; shard, after = shard+1, "" {
		page, more, err := read(shard, after, limit-len(all))
		if err != nil {
			return nil, "", err
		}
		all = append(all, page...)
		switch {
		case more != "":
			return all, encodeShardCursor(shard, more), nil
		case len(all) >= limit && shard+1 < itemShards:
			return all, encodeShardCursor(shard+1, ""), nil
		}
	}
	return all, "", nil
}

// encodeShardCursor encodes where a listing continues: the shard and a position in it, "" for its beginning.
func encodeShardCursor(shard int, after string) string { return shardKey(shard) + "." + after }

func decodeShardCursor(s string) (shard int, after string, err error) {
	if s == "" {
		return 0, "", nil
	}
	digits, after, found := strings.Cut(s, ".")
	shard, err = strconv.Atoi(digits)
	if err != nil || !found || shard < 0 || shard >= itemShards || shardKey(shard) != digits {
		return 0, "", fmt.Errorf("not a cursor: %.80q", s)
	}
	return shard, after, nil
}

func (l *Ledger) orders(ctx context.Context, index, pk, after string, limit int, descending bool) (seckill.OrderPage,
	error) {
	rows, next, err := l.rows.Index(ctx, index, pk, after, limit, descending)
	if err != nil {
		return seckill.OrderPage{}, fmt.Errorf("ledger: %s %s: %w", index, pk, err)
	}
	orders, err := decodeAll(rows, decodeOrder)
	return seckill.OrderPage{Orders: orders, Next: next}, err
}

// page decodes a page of a sweep or listing; an unreadable row does not hide the others.
func page[T any](rows []Row, next string, decode func(Row) (T, error)) seckill.Page[T] {
	out := seckill.Page[T]{Next: next}
	for _, row := range rows {
		if v, err := decode(row); err != nil {
			out.Unreadable = append(out.Unreadable, err)
		} else {
			out.Rows = append(out.Rows, v)
		}
	}
	return out
}

// decodeAll decodes rows that are checked together: one unreadable row fails the read.
func decodeAll[T any](rows []Row, decode func(Row) (T, error)) ([]T, error) {
	out := make([]T, 0, len(rows))
	for _, row := range rows {
		v, err := decode(row)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}
