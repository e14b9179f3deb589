package ledger

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// The attributes of a row of counts: a total, and per minute one attribute whose name is a letter and the minute's
// number since 1970. Short names keep the row small.
const (
	placedTotal, paidTotal, backTotal    = "placed", "paid", "back"
	placedMinute, paidMinute, backMinute = 'p', 'm', 'b'
)

var countedCodec = &codec[seckill.CountMark]{table: TableCounted, more: 1}

func countsKey(item string) Key   { return Key{Table: TableCounts, PK: item} }
func countedKey(order string) Key { return Key{Table: TableCounted, PK: order} }

// Counts implements seckill.Ledger.
func (l *Ledger) Counts(ctx context.Context, item string) (seckill.Counts, error) {
	c, err := get(ctx, l, "counts of item "+item, countsKey(item), nil, decodeCounts)
	c.Item = item
	return c, err
}

// Counted implements seckill.Ledger. Another number of orders, or a repeated one, is a programming error.
func (l *Ledger) Counted(ctx context.Context, orders []string) (map[string]seckill.CountMark, error) {
	if len(orders) < 1 || len(orders) > seckill.MaxCounted {
		return nil, fmt.Errorf("ledger: marks of %d orders, want 1..%d", len(orders), seckill.MaxCounted)
	}
	keys := make([]Key, len(orders))
	for i, order := range orders {
		keys[i] = countedKey(order)
	}
	rows, err := l.rows.GetBatch(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("ledger: marks of %d orders: %w", len(orders), err)
	}
	marks := make(map[string]seckill.CountMark, len(rows))
	for _, row := range rows {
		d := decode(TableCounted, row)
		marks[d.text("order")] = countedCodec.take(d)
		if d.err != nil {
			return nil, d.err
		}
	}
	return marks, nil
}

// AddCounts implements seckill.Ledger in one write and one per order. Numbers of orders that a transaction cannot
// have, and a mark that does not move forward within its count, are programming errors.
func (l *Ledger) AddCounts(ctx context.Context, c seckill.Counts, a seckill.Addition) error {
	since, first := c.Since, asRead(c)
	add := map[string]int64{}
	addTo(add, placedTotal, paidTotal, backTotal, a.Total)
	for _, m := range a.Minutes {
		n := strconv.FormatInt(m.Minute.Unix()/60, 10)
		addTo(add, string(placedMinute)+n, string(paidMinute)+n, string(backMinute)+n, m.Count)
	}
	counts := Write{Key: countsKey(c.Item), Op: OpUpdate, Set: Row{"v": Version}, Add: add, If: []Cond{first}}
	if since.IsZero() {
		since = a.At
		counts.Set["since"] = since.UnixMilli()
	}
	if n := len(a.Orders); n < 1 || n > seckill.MaxCounted {
		return fmt.Errorf("ledger: count %d orders of item %s, want 1..%d", n, c.Item, seckill.MaxCounted)
	}
	writes := make([]Write, 0, len(a.Orders)+1)
	writes = append(writes, counts)
	for _, o := range a.Orders {
		if o.Was.Since.Equal(c.Since) && o.Sequence <= o.Was.Sequence {
			return fmt.Errorf("ledger: count order %s up to %d, it was at %d", o.Order, o.Sequence, o.Was.Sequence)
		}
		mark := Write{Key: countedKey(o.Order), Op: OpPut, If: []Cond{Absent()},
			Row: countedCodec.encode(&seckill.CountMark{Since: since, Sequence: o.Sequence}, 0)}
		if !o.Was.Since.IsZero() {
			mark.If = []Cond{Eq("since", o.Was.Since.UnixMilli()), Eq("sequence", int64(o.Was.Sequence))}
		}
		writes = append(writes, mark)
	}
	return l.recounted(ctx, c, "count", writes)
}

// addTo adds the parts of a count that are not zero.
func addTo(add map[string]int64, placed, paid, back string, c seckill.Count) {
	for attr, n := range map[string]int{placed: c.Placed, paid: c.Paid, back: c.GivenBack} {
		if n != 0 {
			add[attr] = int64(n)
		}
	}
}

// BeginRecount implements seckill.Ledger in one write. The new count begins later than the one before it, also by a
// clock that was set back.
func (l *Ledger) BeginRecount(ctx context.Context, c seckill.Counts, at time.Time) error {
	since := max(at.UnixMilli(), c.Since.UnixMilli()+1)
	return l.recounted(ctx, c, "recount", []Write{{Key: countsKey(c.Item), Op: OpPut,
		Row: Row{"v": Version, "since": since, "recounting": int64(1)}, If: []Cond{asRead(c)}}})
}

// EndRecount implements seckill.Ledger in one write.
func (l *Ledger) EndRecount(ctx context.Context, c seckill.Counts) error {
	return l.recounted(ctx, c, "end the recount of", []Write{{Key: countsKey(c.Item), Op: OpUpdate,
		Remove: []string{"recounting"}, If: []Cond{Eq("since", c.Since.UnixMilli())}}})
}

// asRead requires that an item's counts are the ones that were read, whatever was added to them since.
func asRead(c seckill.Counts) Cond {
	if c.Since.IsZero() {
		return Absent()
	}
	return Eq("since", c.Since.UnixMilli())
}

// recounted executes a write of counts.
func (l *Ledger) recounted(ctx context.Context, c seckill.Counts, doing string, writes []Write) error {
	return l.change(ctx, doing+" item "+c.Item, seckill.ErrCountsChanged, writes...)
}

func decodeCounts(row Row) (seckill.Counts, error) {
	d := decode(TableCounts, row)
	c := seckill.Counts{Item: d.text("item"), Since: d.time("since")}
	_, c.Recounting = row["recounting"]
	minutes := map[int64]seckill.Count{}
	for attr := range row {
		minute, err := strconv.ParseInt(attr[1:], 10, 64)
		if err != nil {
			continue // another attribute
		}
		count, n := minutes[minute], int(d.number(attr))
		switch attr[0] {
		case placedMinute:
			count.Placed = n
		case paidMinute:
			count.Paid = n
		case backMinute:
			count.GivenBack = n
		}
		minutes[minute] = count
	}
	for attr, total := range map[string]*int{placedTotal: &c.Total.Placed, paidTotal: &c.Total.Paid,
		backTotal: &c.Total.GivenBack} {
		if _, ok := row[attr]; ok {
			*total = int(d.number(attr))
		}
	}
	for _, minute := range slices.Sorted(maps.Keys(minutes)) {
		at := time.Unix(60*minute, 0).UTC()
		c.Minutes = append(c.Minutes, seckill.MinuteCount{Minute: at, Count: minutes[minute]})
	}
	return c, d.err
}
