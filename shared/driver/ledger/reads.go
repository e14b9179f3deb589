package ledger

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// pageRows is the number of rows that one query of a whole partition asks for.
const pageRows = 1000

// get reads a noun. missing is the error if the noun has no row; if missing is nil, get then returns the zero noun.
func get[T any](ctx context.Context, l *Ledger, what string, k Key, missing error,
	decode func(Row) (T, error)) (noun T, err error) {
	row, found, err := l.rows.Get(ctx, k)
	switch {
	case err != nil:
		return noun, fmt.Errorf("ledger: %s: %w", what, err)
	case !found:
		return noun, missing
	}
	return decode(row)
}

// query reads nouns of a partition that are checked together: one unreadable row fails the read.
func query[T any](ctx context.Context, l *Ledger, what, table, pk, after string, limit int,
	decode func(Row) (T, error)) ([]T, error) {
	rows, err := l.rows.Query(ctx, table, pk, after, limit)
	if err != nil {
		return nil, fmt.Errorf("ledger: %s: %w", what, err)
	}
	return decodeAll(rows, decode)
}

// all is query for a whole partition, page by page; sk is the table's sort key.
func all[T any](ctx context.Context, l *Ledger, what, table, pk, sk string, decode func(Row) (T, error)) ([]T, error) {
	var rows []Row
	for after := ""; ; {
		page, err := l.rows.Query(ctx, table, pk, after, pageRows)
		if err != nil {
			return nil, fmt.Errorf("ledger: %s: %w", what, err)
		}
		rows = append(rows, page...)
		if len(page) < pageRows {
			return decodeAll(rows, decode)
		}
		after, _ = page[len(page)-1][sk].(string)
	}
}

// listed reads a page of an index's partition, oldest first.
func listed[T any](ctx context.Context, l *Ledger, what, index, pk, after string, limit int,
	decode func(Row) (T, error)) (seckill.Page[T], error) {
	rows, next, err := l.rows.Index(ctx, index, pk, after, limit, false)
	if err != nil {
		return seckill.Page[T]{}, fmt.Errorf("ledger: %s: %w", what, err)
	}
	return page(rows, next, decode), nil
}

// due is listed, but only rows that are due by now; attr has the times by which the index is sorted.
func due[T any](ctx context.Context, l *Ledger, what, index, pk, attr string, now time.Time, after string, limit int,
	decode func(Row) (T, error)) (seckill.Page[T], error) {
	rows, next, err := l.rows.Index(ctx, index, pk, after, limit, false)
	if err != nil {
		return seckill.Page[T]{}, fmt.Errorf("ledger: %s: %w", what, err)
	}
	for i, row := range rows {
		if at, _ := row[attr].(string); at > timeKey(now) {
			rows, next = rows[:i], ""
			break
		}
	}
	return page(rows, next, decode), nil
}

// Order implements seckill.Ledger.
func (l *Ledger) Order(ctx context.Context, id string) (seckill.Order, error) {
	return get(ctx, l, "order "+id, orderKey(id), seckill.ErrNoOrder, decodeOrder)
}

// Quota implements seckill.Ledger.
func (l *Ledger) Quota(ctx context.Context, user, item string) (seckill.Quota, error) {
	return get(ctx, l, "quota "+user+"/"+item, quotaKey(user, item), nil, quotaCodec.decode)
}

// SpanQuota implements seckill.SpanReader. The row of a family names no newest order.
func (l *Ledger) SpanQuota(ctx context.Context, user, family string) (seckill.Quota, error) {
	ctx, cancel := context.WithTimeout(ctx, seckill.SpanTimeout)
	defer cancel()
	return get(ctx, l, "quota "+user+"/"+family, spanKey(user, family), nil, func(row Row) (seckill.Quota, error) {
		row = maps.Clone(row)
		row["newest"] = ""
		return quotaCodec.decode(row)
	})
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
	return get(ctx, l, "return "+order, returnKey(order), seckill.ErrNoReturn, returnCodec.decode)
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
	in := bucketKey(item, bucket)
	return all(ctx, l, "units of "+in, TableUnits, in, "unit", unitCodec.decode)
}

// Payments implements seckill.Ledger, ascending by trade number.
func (l *Ledger) Payments(ctx context.Context, order string) ([]seckill.Payment, error) {
	return all(ctx, l, "payments of "+order, TablePayments, order, "trade_no", paymentCodec.decode)
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
	return due(ctx, l, "due orders "+shard, IndexOrdersDue, shard, "due_at", now, after, limit,
		func(row Row) (string, error) {
			id, _ := row["id"].(string) // a key is always a string
			return id, nil
		})
}

// RefundsDue implements seckill.Ledger.
func (l *Ledger) RefundsDue(ctx context.Context, shard int, now time.Time, after string,
	limit int) (seckill.Page[seckill.Payment], error) {
	return due(ctx, l, "refunds due", IndexRefundsDue, shardKey(shard), "refund_at", now, after, limit,
		paymentCodec.decode)
}

// RefundsRefused implements seckill.Ledger.
func (l *Ledger) RefundsRefused(ctx context.Context, after string, limit int) (seckill.Page[seckill.Payment], error) {
	return listed(ctx, l, "refunds refused", IndexRefundsDue, refusedShard, after, limit, paymentCodec.decode)
}

// RefundsOutside implements seckill.Ledger.
func (l *Ledger) RefundsOutside(ctx context.Context, after string, limit int) (seckill.Page[seckill.Payment], error) {
	return listed(ctx, l, "refunds outside", IndexRefundsDue, outsideShard, after, limit, paymentCodec.decode)
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
		return 0, "", seckill.Invalid("cursor", "")
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
