package ledger

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"seckill/shared/seckill"
)

// pageRows is how many rows one query of a whole partition asks for.
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
	return decodeQuota(row)
}

// Quotas implements seckill.Ledger. More than MaxQuotas users, or one twice, is a programming error.
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
		q, err := decodeQuota(row)
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
	return decodeReturn(row)
}

// Returns implements seckill.Ledger.
func (l *Ledger) Returns(ctx context.Context, shard, limit int) ([]seckill.ReturnRow, error) {
	rows, err := l.rows.Query(ctx, TableReturns, shardKey(shard), "", limit)
	if err != nil {
		return nil, fmt.Errorf("ledger: returns %d: %w", shard, err)
	}
	return decodeAll(rows, decodeReturn)
}

// Units implements seckill.Ledger, ascending by number.
func (l *Ledger) Units(ctx context.Context, item string, bucket int) ([]seckill.UnitRow, error) {
	rows, err := l.partition(ctx, TableUnits, bucketKey(item, bucket), "unit")
	if err != nil {
		return nil, fmt.Errorf("ledger: units of %s bucket %d: %w", item, bucket, err)
	}
	return decodeAll(rows, decodeUnit)
}

// Payments implements seckill.Ledger, ascending by trade number.
func (l *Ledger) Payments(ctx context.Context, order string) ([]seckill.Payment, error) {
	rows, err := l.partition(ctx, TablePayments, order, "trade_no")
	if err != nil {
		return nil, fmt.Errorf("ledger: payments of %s: %w", order, err)
	}
	return decodeAll(rows, decodePayment)
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

// DueOrders implements seckill.Ledger. A shard is one partition sorted by due time, so one read finds what is overdue
// however long nobody looked.
func (l *Ledger) DueOrders(ctx context.Context, shard int, now time.Time, limit int) ([]string, error) {
	rows, _, err := l.rows.Index(ctx, IndexOrdersDue, shardKey(shard), "", limit, false)
	if err != nil {
		return nil, fmt.Errorf("ledger: due orders %d: %w", shard, err)
	}
	var ids []string
	for _, row := range rows {
		due, okDue := row["due_at"].(string)
		id, okID := row["id"].(string)
		if !okDue || !okID {
			return nil, fmt.Errorf("ledger: due orders %d: an index row without its keys", shard)
		}
		if due > timeKey(now) {
			break
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// RefundsDue implements seckill.Ledger.
func (l *Ledger) RefundsDue(ctx context.Context, shard int, now time.Time, limit int) ([]seckill.Payment, error) {
	due, err := l.refunds(ctx, shardKey(shard), limit)
	if i := slices.IndexFunc(due, func(p seckill.Payment) bool { return p.Due.After(now) }); i >= 0 {
		due = due[:i]
	}
	return due, err
}

// RefundsRefused implements seckill.Ledger.
func (l *Ledger) RefundsRefused(ctx context.Context, limit int) ([]seckill.Payment, error) {
	return l.refunds(ctx, refusedShard, limit)
}

func (l *Ledger) refunds(ctx context.Context, shard string, limit int) ([]seckill.Payment, error) {
	rows, _, err := l.rows.Index(ctx, IndexRefundsDue, shard, "", limit, false)
	if err != nil {
		return nil, fmt.Errorf("ledger: refunds due %s: %w", shard, err)
	}
	return decodeAll(rows, decodePayment)
}

// OrdersByUser implements seckill.Ledger.
func (l *Ledger) OrdersByUser(ctx context.Context, user, after string, limit int) (seckill.OrderPage, error) {
	return l.orders(ctx, IndexOrdersByUser, user, after, limit, true)
}

// OrdersByItem implements seckill.Ledger, shard by shard and oldest first in each. A page is full unless it is the
// last, so it may take as many reads as there are shards.
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
func (l *Ledger) PaymentsOn(ctx context.Context, day, after string, limit int) (seckill.PaymentPage, error) {
	return l.paymentsBy(ctx, IndexPaymentsOn, day, after, limit)
}

// RefundsOn implements seckill.Ledger, shard by shard.
func (l *Ledger) RefundsOn(ctx context.Context, day, after string, limit int) (seckill.PaymentPage, error) {
	return l.paymentsBy(ctx, IndexRefundsOn, day, after, limit)
}

func (l *Ledger) paymentsBy(ctx context.Context, index, day, after string, limit int) (seckill.PaymentPage, error) {
	all, next, err := shards(after, limit, func(shard int, after string, limit int) ([]seckill.Payment, string, error) {
		rows, next, err := l.rows.Index(ctx, index, dayShardKey(day, shard), after, limit, false)
		if err != nil {
			return nil, "", err
		}
		payments, err := decodeAll(rows, decodePayment)
		return payments, next, err
	})
	if err != nil {
		return seckill.PaymentPage{}, fmt.Errorf("ledger: %s %s: %w", index, day, err)
	}
	return seckill.PaymentPage{Payments: all, Next: next}, nil
}

// shards reads a page of a listing that is spread over shards. It is full unless it is the last.
func shards[T any](cursor string, limit int, read func(shard int, after string, limit int) ([]T, string, error)) (all []T, next string, err error) {
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

// encodeShardCursor writes where a listing goes on: the shard, and a place in it or "" for its beginning.
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

func (l *Ledger) orders(ctx context.Context, index, pk, after string, limit int, descending bool) (seckill.OrderPage, error) {
	rows, next, err := l.rows.Index(ctx, index, pk, after, limit, descending)
	if err != nil {
		return seckill.OrderPage{}, fmt.Errorf("ledger: %s %s: %w", index, pk, err)
	}
	orders, err := decodeAll(rows, decodeOrder)
	return seckill.OrderPage{Orders: orders, Next: next}, err
}

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
