package dynamoledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// Schema versions of an item's row, in its attribute v. Another version is an error.
const (
	itemVersion    int64 = 1
	VariantVersion int64 = 2 // has a family, which the put of a release that does not know it would drop
)

// maxScan is the largest number of pages of 1 MB that List reads before it fails. A shop with more items needs an
// index; a partial list would leave sales unopened.
const maxScan = 64

// Items is seckill.Items on DynamoDB: one row per item in the table items, and one per description in the table
// catalog.
type Items struct{ rows *Rows }

var _ seckill.Items = (*Items)(nil)

// Items returns the table of items.
func (r *Rows) Items() *Items { return &Items{rows: r} }

func itemKey(id string) ledger.Key { return ledger.Key{Table: TableItems, PK: id} }

// Get implements seckill.Items.
func (t *Items) Get(ctx context.Context, id string) (seckill.Item, error) {
	if !seckill.ValidItemID(id) {
		return seckill.Item{}, seckill.Refuse(seckill.CodeItemUnknown)
	}
	row, found, err := t.rows.Get(ctx, itemKey(id))
	if err != nil {
		return seckill.Item{}, fmt.Errorf("dynamoledger: item %s: %w", id, err)
	}
	if !found {
		return seckill.Item{}, seckill.Refuse(seckill.CodeItemUnknown)
	}
	return decodeItem(row)
}

// List implements seckill.Items, earliest end first; beyond MaxItems it omits the latest. It reads the whole table,
// so only schedules call it; a table above 64 MB is an error.
func (t *Items) List(ctx context.Context, endsAfter time.Time) ([]seckill.Item, error) {
	return t.list(ctx, "#end > :end", map[string]string{"#end": "end"}, endsAfter)
}

// ListEnded implements seckill.Items, with List's limits.
func (t *Items) ListEnded(ctx context.Context, what seckill.Kept, endedBy time.Time) ([]seckill.Item, error) {
	return t.list(ctx, "#end <= :end AND attribute_not_exists(#erased)", map[string]string{"#end": "end",
		"#erased": mark(what)}, endedBy)
}

var everyKept = []seckill.Kept{seckill.KeptAddresses, seckill.KeptNetworks, seckill.KeptStock}

// mark returns the attribute that says when the last of these was erased.
func mark(what seckill.Kept) string {
	return []string{"erased", "networks_erased", "stock_erased"}[what]
}

func (t *Items) list(ctx context.Context, filter string, names map[string]string, end time.Time) ([]seckill.Item,
	error) {
	ctx, cancel := t.rows.bound(ctx)
	defer cancel()
	in := &dynamodb.ScanInput{TableName: t.rows.name(TableItems), ConsistentRead: aws.Bool(true),
		FilterExpression:          aws.String(filter),
		ExpressionAttributeNames:  names,
		ExpressionAttributeValues: map[string]types.AttributeValue{":end": number(end.UnixMilli())}}
	var all []seckill.Item
	var errs []error
	for range maxScan {
		out, err := t.rows.client.Scan(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("dynamoledger: list %s: %w", *in.TableName, err)
		}
		for _, row := range t.rows.decodeRows(out.Items) {
			if it, err := decodeItem(row); err != nil {
				errs = append(errs, err)
			} else {
				all = append(all, it)
			}
		}
		if len(out.LastEvaluatedKey) == 0 {
			slices.SortFunc(all, func(a, b seckill.Item) int {
				return cmp.Or(a.End.Compare(b.End), cmp.Compare(a.ID, b.ID))
			})
			return all[:min(len(all), seckill.MaxItems)], errors.Join(errs...)
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
	return nil, fmt.Errorf("dynamoledger: table %s has more than %d pages: take old items out", *in.TableName, maxScan)
}

// Put implements seckill.Items. It uses a transaction even for one row: after a lost answer, the SDK's repeat of a
// plain put would find its own version and take it for another writer's. It returns CodeInvalid if Check returns an
// error.
func (t *Items) Put(ctx context.Context, it seckill.Item, d *seckill.Description) error {
	if err := it.Check(); err != nil {
		return seckill.Invalid("item", err.Error())
	}
	if d != nil {
		if err := d.Check(); err != nil {
			return seckill.Invalid("item", err.Error())
		}
	}
	cond := []ledger.Cond{ledger.Eq("version", it.Version-1), ledger.Eq("described", it.Described)}
	if it.Version == 1 {
		cond = []ledger.Cond{ledger.Absent()}
		if it.Described != 0 {
			return seckill.ErrStateChanged
		}
	}
	writes := make([]ledger.Write, 1, 2)
	if d != nil {
		it.Described, it.Cover = it.Version, d.FirstCover()
		writes = append(writes, ledger.Write{Key: descriptionKey(it.ID), Op: ledger.OpPut,
			Row: encodeDescription(&it, d)})
	}
	writes[0] = ledger.Write{Key: itemKey(it.ID), Op: ledger.OpPut, Row: encodeItem(&it), If: cond}
	err := t.rows.Transact(ctx, writes)
	var canceled *ledger.Canceled
	if errors.As(err, &canceled) {
		return seckill.ErrStateChanged
	}
	if err != nil {
		return fmt.Errorf("dynamoledger: put item %s: %w", it.ID, err)
	}
	return nil
}

// MarkErased implements seckill.Items.
func (t *Items) MarkErased(ctx context.Context, id string, what seckill.Kept, at time.Time) error {
	err := t.rows.Transact(ctx,
		[]ledger.Write{{Key: itemKey(id), Op: ledger.OpUpdate, Set: ledger.Row{mark(what): at.UnixMilli()},
			If: []ledger.Cond{ledger.Eq("id", id), ledger.AtMost("v", VariantVersion)}}})
	var canceled *ledger.Canceled
	if errors.As(err, &canceled) {
		return seckill.Refuse(seckill.CodeItemUnknown)
	}
	if err != nil {
		return fmt.Errorf("dynamoledger: mark item %s: %w", id, err)
	}
	return nil
}

func encodeItem(it *seckill.Item) ledger.Row {
	stopped := int64(0)
	if it.Stopped {
		stopped = 1
	}
	row := ledger.Row{
		"v": itemVersion, "version": it.Version,
		"commodity": it.Commodity.ID, "title": it.Commodity.Title, "described": it.Described,
		"price": int64(it.Commodity.Price), "commodity_created": it.Commodity.CreateTime.UnixMilli(),
		"sk_price": int64(it.Price), "start": it.Start.UnixMilli(), "end": it.End.UnixMilli(),
		"created": it.CreateTime.UnixMilli(),
		"stock":   int64(it.Stock), "limit": int64(it.Limit), "buckets": int64(it.Buckets), "stopped": stopped,
		"stops": EncodeStops(it.Stops),
	}
	if it.Checks != seckill.ChecksOff {
		row["checks"] = string(it.Checks)
	}
	if it.Cover != "" {
		row["cover"] = it.Cover
	}
	if v := &it.Variant; v.Family != "" {
		row["v"], row["family"], row["options"] = VariantVersion, v.Family, v.Options.String()
		if v.LimitSpans {
			row["limit_spans"] = int64(1)
		}
	}
	for _, what := range everyKept {
		if at := it.Erased(what); !at.IsZero() {
			row[mark(what)] = at.UnixMilli()
		}
	}
	return row
}

// EncodeStops encodes each stop as two times in milliseconds, "1794362400000-1794362460000"; without the second while
// it lasts.
func EncodeStops(stops []seckill.Stop) []string {
	out := make([]string, len(stops))
	for i, s := range stops {
		out[i] = strconv.FormatInt(s.From.UnixMilli(), 10) + "-"
		if !s.To.IsZero() {
			out[i] += strconv.FormatInt(s.To.UnixMilli(), 10)
		}
	}
	return out
}

// stops decodes what EncodeStops encoded. Rows of an older release have no stops.
func (d *attributes) stops() (out []seckill.Stop) {
	if d.row["stops"] == nil {
		return nil
	}
	for _, text := range field[[]string](d, "stops") {
		from, to, _ := strings.Cut(text, "-")
		n, err := strconv.ParseInt(from, 10, 64)
		s := seckill.Stop{From: time.UnixMilli(n).UTC()}
		if to != "" && err == nil {
			n, err = strconv.ParseInt(to, 10, 64)
			s.To = time.UnixMilli(n).UTC()
		}
		if err != nil {
			d.bad = cmp.Or(d.bad, "stops")
		}
		out = append(out, s)
	}
	return out
}

// decodeItem decodes what encodeItem encoded. A missing attribute, or an attribute of another type, is an error that
// names it.
func decodeItem(row ledger.Row) (seckill.Item, error) {
	id, _ := row["id"].(string)
	if v, ok := row["v"].(int64); !ok || v < itemVersion || v > VariantVersion {
		return seckill.Item{}, unreadable(TableItems, id, fmt.Sprintf(" has version v=%v, this code reads %d to %d",
			row["v"], itemVersion, VariantVersion))
	}
	d := attributes{row: row}
	it := seckill.Item{
		ID: id,
		Commodity: seckill.Commodity{ID: field[string](&d, "commodity"), Title: field[string](&d, "title"),
			Price: seckill.Fen(d.number("price")), CreateTime: d.time("commodity_created")},
		Price: seckill.Fen(d.number("sk_price")), Start: d.time("start"), End: d.time("end"),
		CreateTime: d.time("created"),
		Stock:      int(d.number("stock")), Limit: int(d.number("limit")), Buckets: int(d.number("buckets")),
		Stopped: d.number("stopped") != 0, Stops: d.stops(), Version: d.number("version"),
		Described: d.number("described"),
	}
	if row["checks"] != nil {
		it.Checks = seckill.Checks(field[string](&d, "checks"))
	}
	if row["cover"] != nil {
		it.Cover = field[string](&d, "cover")
	}
	if row["family"] != nil {
		options, err := seckill.ParseOptions(field[string](&d, "options"))
		if err != nil {
			d.bad = cmp.Or(d.bad, "options")
		}
		it.Variant = seckill.Variant{Family: field[string](&d, "family"), Options: options,
			LimitSpans: row["limit_spans"] != nil}
	}
	for _, what := range everyKept {
		if attr := mark(what); row[attr] != nil {
			*it.Erased(what) = d.time(attr)
		}
	}
	if d.bad != "" {
		return seckill.Item{}, unreadable(TableItems, id, fmt.Sprintf(": attribute %s is missing or of another type",
			d.bad))
	}
	return it, nil
}

func unreadable(table, key, why string) error {
	return &seckill.Unreadable{Table: table, PK: key, Why: why}
}

// attributes decodes attributes and keeps the first error.
type attributes struct {
	row ledger.Row
	bad string
}

func field[T any](d *attributes, attr string) T {
	v, ok := d.row[attr].(T)
	if !ok && d.bad == "" {
		d.bad = attr
	}
	return v
}

func (d *attributes) number(attr string) int64 { return field[int64](d, attr) }

func (d *attributes) time(attr string) time.Time { return time.UnixMilli(d.number(attr)).UTC() }
