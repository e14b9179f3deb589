package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/your-org/seckill/shared/seckill"
)

// NewestOrders implements seckill.Ledger: it merges the shards of an index, each of which is sorted. What a page costs
// depends on its limit alone, however long nobody bought.
func (l *Ledger) NewestOrders(ctx context.Context, q seckill.NewestOrders) (seckill.Page[seckill.Order],
	error) {
	if q.After != "" && !seckill.ValidPosition(q.After) {
		return seckill.Page[seckill.Order]{}, seckill.Invalid("cursor", "")
	}
	if q.Limit < 1 {
		return seckill.Page[seckill.Order]{}, fmt.Errorf("ledger: %d newest orders", q.Limit)
	}
	rows, err := l.newest(ctx, &q)
	next := ""
	if len(rows) == q.Limit {
		next = createdID(rows[q.Limit-1])
	}
	if err == nil && q.Item == "" {
		rows, err = l.whole(ctx, rows)
	}
	if err != nil {
		return seckill.Page[seckill.Order]{}, fmt.Errorf("ledger: newest orders of item %q: %w", q.Item, err)
	}
	return page(rows, next, decodeOrder), nil
}

// run is a shard's rows, newest first, as far as they are read.
type run struct {
	pk   string
	rows []Row
	more bool // rows may follow
}

func (l *Ledger) newest(ctx context.Context, q *seckill.NewestOrders) ([]Row, error) {
	before := q.After
	if to := timeKey(q.To); !q.To.IsZero() && (before == "" || to < before) {
		before = to
	}
	index, size := IndexOrdersByTime, q.Limit/itemShards*5/4+4 // a shard has seldom more of a page than that
	runs := make([]run, itemShards)
	for shard := range runs {
		runs[shard] = run{pk: shardKey(shard), more: true}
		if q.Item != "" {
			index, runs[shard].pk = IndexOrdersByItem, itemShardKey(q.Item, shard)
		}
		if err := l.readRun(ctx, index, &runs[shard], before, size); err != nil {
			return nil, err
		}
	}
	out := make([]Row, 0, q.Limit)
	for len(out) < q.Limit {
		first := -1
		for i := range runs {
			if len(runs[i].rows) > 0 && (first < 0 || createdID(runs[i].rows[0]) > createdID(runs[first].rows[0])) {
				first = i
			}
		}
		if first < 0 {
			break
		}
		r := &runs[first]
		row := r.rows[0]
		r.rows, out = r.rows[1:], append(out, row)
		if len(r.rows) == 0 && len(out) < q.Limit {
			if err := l.readRun(ctx, index, r, createdID(row), size); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (l *Ledger) readRun(ctx context.Context, index string, r *run, before string, size int) (err error) {
	if !r.more {
		return nil
	}
	r.rows, err = l.rows.Newest(ctx, index, r.pk, before, size)
	r.more = len(r.rows) == size
	return err
}

func createdID(row Row) string {
	s, _ := row["created_id"].(string) // a key is always a string
	return s
}

// whole reads the rows of the orders that an index names, in its order.
func (l *Ledger) whole(ctx context.Context, named []Row) ([]Row, error) {
	found := make(map[any]Row, len(named))
	for part := range slices.Chunk(named, MaxBatch) {
		keys := make([]Key, len(part))
		for i, row := range part {
			id, _ := row["id"].(string) // a key is always a string
			keys[i] = orderKey(id)
		}
		rows, err := l.rows.GetBatch(ctx, keys)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			found[row["id"]] = row
		}
	}
	out := make([]Row, 0, len(named))
	for _, row := range named {
		if full, is := found[row["id"]]; is {
			out = append(out, full)
		}
	}
	return out, nil
}
