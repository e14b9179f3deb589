package ledger

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Version is the schema version of a row, in its attribute v. Another version is an error.
const Version int64 = 1

// SpanVersion is the schema version of an order with a span, and the newest version. Older releases refuse it: they
// would give the order back without lowering the quota of its family.
const SpanVersion int64 = 2

// historyTime has milliseconds, the resolution of every time in the ledger.
const historyTime = "2006-01-02T15:04:05.000Z07:00"

func orderKey(id string) Key          { return Key{Table: TableOrders, PK: id} }
func loginKey(user, id string) Key    { return Key{TableLogins, user, id} }
func quotaKey(user, item string) Key  { return Key{TableQuotas, user, item} }
func spanKey(user, family string) Key { return Key{TableQuotas, user, "family#" + family} }
func paymentKey(order, no string) Key { return Key{TablePayments, order, no} }
func returnKey(order string) Key      { return Key{TableReturns, shardKey(orderShard(order)), order} }

func bucketKey(item string, bucket int) string { return item + "#" + strconv.Itoa(bucket) }

func unitKey(o *seckill.Order, unit int) Key {
	return Key{TableUnits, bucketKey(o.Item, unit%o.Buckets), padded(int64(unit), 7)} // 7 digits suffice for MaxStock
}

// orderShard spreads the rows that a sweep reads over partitions: FNV-1a of the order's id. Return rows, due orders,
// due refunds, all orders and an item's orders share it.
func orderShard(order string) int {
	h := fnv.New32a()
	h.Write([]byte(order))
	return int(h.Sum32() % seckill.ReturnShards)
}

// itemShards is the number of partitions of the index of an item's orders: a single partition would cap a sale at
// 1,000 writes a second.
const itemShards = seckill.ReturnShards

// One shard function serves all: if the numbers differ, this line does not compile.
var _ [0]struct{} = [seckill.ReturnShards - seckill.DueShards]struct{}{}

func shardKey(shard int) string { return padded(int64(shard), 2) }

func itemShardKey(item string, shard int) string { return item + "#" + shardKey(shard) }

// timeKey formats a time so that string order is time order: Unix milliseconds, 15 digits.
func timeKey(t time.Time) string { return padded(t.UnixMilli(), 15) }

// dayKey returns the partition of a payment in an index by day: a Day and the order's shard.
func dayKey(t time.Time, order string) string { return dayShardKey(seckill.Day(t), orderShard(order)) }

func dayShardKey(day string, shard int) string { return day + "#" + shardKey(shard) }

// padded formats n ≥ 0 with leading zeros, so that string order is numeric order.
func padded(n int64, digits int) string {
	s := strconv.FormatInt(n, 10)
	if len(s) >= digits {
		return s
	}
	return "000000000000000"[:digits-len(s)] + s
}

// quotaEntry returns an order's entry in the quota row's set.
func quotaEntry(order string, count int) string { return order + ":" + strconv.Itoa(count) }

func encodeUnits(units []int) string {
	var b []byte
	for i, n := range units {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return string(b)
}

func decodeUnits(s string) ([]int, error) {
	if s == "" {
		return nil, nil
	}
	parts := strings.Split(s, ",")
	units := make([]int, len(parts))
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil {
			return nil, err
		}
		units[i] = n
	}
	return units, nil
}

func encodeRoles(roles []seckill.Role) string {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = string(r)
	}
	return strings.Join(names, ",")
}

func decodeRoles(s string) (roles []seckill.Role, err error) {
	for name := range strings.SplitSeq(s, ",") {
		roles = append(roles, seckill.Role(name))
	}
	return roles, nil
}

func encodeChange(c seckill.Change) string {
	s := c.At.UTC().Format(historyTime) + " " + string(c.State)
	if c.Cause != "" {
		s += " " + c.Cause
	}
	return s
}

func decodeChange(s string) (seckill.Change, error) {
	at, rest, ok := strings.Cut(s, " ")
	t, err := time.Parse(historyTime, at)
	if !ok || err != nil {
		return seckill.Change{}, fmt.Errorf("history entry %.60q", s)
	}
	state, cause, _ := strings.Cut(rest, " ")
	return seckill.Change{State: seckill.State(state), At: t.UTC(), Cause: cause}, nil
}

var orderCodec = &codec[seckill.Order]{table: TableOrders, more: 6}

// Personal lists the attributes of an order's row that erasure removes: what its shopper gave, and said since.
func Personal() []string { return orderCodec.named(personal) }

// Given lists the attributes in which an order's row has its Given: some of Personal.
func Given() []string { return orderCodec.named(placed | personal) }

func encodeOrder(o *seckill.Order) Row {
	omit := rejected
	if o.State == seckill.Rejected {
		// nothing is shipped, and no list by user has this row, through which its personal attributes could be erased
		omit = placed
	}
	row := orderCodec.encode(o, omit)
	row["created_id"] = o.Position()
	row["time_shard"] = shardKey(orderShard(o.ID))
	row["item_shard"] = itemShardKey(o.Item, orderShard(o.ID))
	if o.Span != "" {
		row["v"] = SpanVersion
	}
	if omit == rejected {
		row["placed_by"] = o.User
		row["due_shard"] = shardKey(orderShard(o.ID))
		row["due_at"] = timeKey(o.Due())
	}
	return row
}

func decodeOrder(row Row) (seckill.Order, error) {
	d := decode(TableOrders, row)
	o := orderCodec.take(d)
	if o.Erased.IsZero() && o.State != seckill.Rejected {
		d.text("address") // the attribute must exist
	}
	if d.err == nil && o.State.Info().State == "" {
		d.fail("state", "a known state")
	}
	return o, d.err
}

var paymentCodec = &codec[seckill.Payment]{table: TablePayments, more: 3}

func encodePayment(p *seckill.Payment) Row {
	row := paymentCodec.encode(p, 0)
	row["paid_day"] = dayKey(p.At, p.Order)
	if p.State == seckill.RefundDue {
		row["refund_shard"] = shardKey(orderShard(p.Order))
		row["refund_at"] = timeKey(p.At)
	}
	return row
}

// Partitions of refunds_due that no sweep reads: they wait for an operator.
const (
	refusedShard = "refused"
	outsideShard = "outside"
)

var (
	unitCodec   = &codec[seckill.UnitRow]{table: TableUnits}
	returnCodec = &codec[seckill.ReturnRow]{table: TableReturns}
	quotaCodec  = &codec[seckill.Quota]{table: TableQuotas}
)

// decodeEntries reads the orders of a quota: see quotaEntry.
func decodeEntries(d *decoder, attr string, to reflect.Value) {
	entries, ok := d.row[attr].(Set)
	if !ok {
		d.fail(attr, "a set")
	}
	orders := make(map[string]int, len(entries))
	for _, e := range entries {
		order, count, _ := strings.Cut(e, ":")
		n, err := strconv.Atoi(count)
		if err != nil {
			d.fail(attr, "order:count")
		}
		orders[order] = n
	}
	*at[map[string]int](to) = orders
}

// decoder decodes a row's attributes and keeps the first error.
type decoder struct {
	table string
	row   Row
	err   error
}

func decode(table string, row Row) *decoder {
	d := &decoder{table: table, row: row}
	newest, reads := Version, "1"
	if table == TableOrders {
		newest, reads = SpanVersion, "1 to 2"
	}
	if v, ok := row["v"].(int64); !ok || v < Version || v > newest {
		d.unreadable(" has version v=%v, this code reads %s", row["v"], reads)
	}
	return d
}

// unreadable keeps a *seckill.Unreadable that names the row.
func (d *decoder) unreadable(format string, a ...any) {
	u := &seckill.Unreadable{Table: d.table, Why: fmt.Sprintf(format, a...)}
	for _, t := range Schema {
		if t.Name == d.table {
			u.PK, _ = d.row[t.PK].(string)
			u.SK, _ = d.row[t.SK].(string)
		}
	}
	d.err = u
}

// fail keeps an error without the value, which may be a delivery address.
func (d *decoder) fail(attr, want string) {
	if d.err == nil {
		d.unreadable(": attribute %s is not %s", attr, want)
	}
}

func (d *decoder) text(attr string) string {
	s, ok := d.row[attr].(string)
	if !ok {
		d.fail(attr, "a text")
	}
	return s
}

func (d *decoder) optional(attr string) string {
	if _, ok := d.row[attr]; !ok {
		return ""
	}
	return d.text(attr)
}

func (d *decoder) number(attr string) int64 {
	n, ok := d.row[attr].(int64)
	if !ok {
		d.fail(attr, "a number")
	}
	return n
}

func (d *decoder) time(attr string) time.Time { return time.UnixMilli(d.number(attr)).UTC() }

// digits decodes a number of a key.
func (d *decoder) digits(attr string) int {
	n, err := strconv.Atoi(d.text(attr))
	if err != nil {
		d.fail(attr, "a number")
	}
	return n
}

// sortable decodes a time that timeKey encoded.
func (d *decoder) sortable(attr string) time.Time {
	ms, err := strconv.ParseInt(d.text(attr), 10, 64)
	if err != nil {
		d.fail(attr, "a time")
	}
	return time.UnixMilli(ms).UTC()
}
