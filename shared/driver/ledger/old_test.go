package ledger

import (
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

func oldEncodeOrder(o *seckill.Order) Row {
	history := make([]string, len(o.History))
	for i, c := range o.History {
		history[i] = encodeChange(c)
	}
	row := make(Row, 28) // room for all attributes and the key, so that it never grows
	row["v"] = Version
	row["item"] = o.Item
	row["user"] = o.User
	row["count"] = int64(o.Count)
	row["price"] = int64(o.Price)
	row["amount"] = int64(o.Amount)
	row["title"] = o.Title
	row["state"] = string(o.State)
	row["created"] = o.Created.UnixMilli()
	row["placed"] = o.Placed.UnixMilli()
	row["buckets"] = int64(o.Buckets)
	row["history"] = history
	row["created_id"] = timeKey(o.Created) + "#" + o.ID
	row["item_shard"] = itemShardKey(o.Item, orderShard(o.ID))
	if o.ItemVersion > 0 {
		row["item_version"] = o.ItemVersion
		row["list_price"] = int64(o.ListPrice)
	}
	if o.Cover != "" {
		row["cover"] = o.Cover
	}
	if len(o.Options) > 0 {
		row["options"] = o.Options.String()
	}
	if o.Span != "" {
		row["v"], row["span"] = SpanVersion, o.Span
	}
	if o.State == seckill.Rejected {
		row["reason"] = string(o.Reason)
		// no address, name and network address, because nothing is shipped, and no list by user has this row, through
		// which they could be erased
		return row
	}
	row["address"] = o.Address
	if o.Name != "" {
		row["shopper_name"] = o.Name
	}
	if o.Network.IsValid() {
		row["network_address"] = o.Network.String()
	}
	row["units"] = encodeUnits(o.Units)
	row["pay_by"] = o.PayBy.UnixMilli()
	row["placed_by"] = o.User
	row["due_shard"] = shardKey(orderShard(o.ID))
	row["due_at"] = timeKey(o.Due())
	return row
}

func oldDecodeOrder(row Row) (seckill.Order, error) {
	d := decode(TableOrders, row)
	o := seckill.Order{
		ID: d.text("id"), Item: d.text("item"), User: d.text("user"), Count: int(d.number("count")),
		Units: d.oldUnits(), Price: seckill.Fen(d.number("price")), Amount: seckill.Fen(d.number("amount")),
		Given: seckill.Given{Address: d.optional("address"), Name: d.optional("shopper_name")},
		State: seckill.State(d.text("state")), Created: d.time("created"), Placed: d.time("placed"),
		CloseTo: seckill.State(d.optional("close_to")), Reason: seckill.Code(d.optional("reason")),
		Title: d.text("title"), Buckets: int(d.number("buckets")), History: d.oldHistory(),
		Carrier: d.optional("carrier"), Number: d.optional("number"), RefundWhy: d.optional("refund_why"),
		Cover: d.optional("cover"), Span: d.optional("span"),
	}
	if _, ok := row["item_version"]; ok {
		o.ItemVersion, o.ListPrice = d.number("item_version"), seckill.Fen(d.number("list_price"))
	}
	var err error
	if o.Options, err = seckill.ParseOptions(d.optional("options")); err != nil {
		d.fail("options", "a list of options")
	}
	if text := d.optional("network_address"); text != "" {
		if o.Network, err = netip.ParseAddr(text); err != nil {
			d.fail("network_address", "a network address")
		}
	}
	if _, ok := row["hidden"]; ok {
		o.Hidden = d.number("hidden") == 1
	}
	if _, ok := row["pay_by"]; ok {
		o.PayBy = d.time("pay_by")
	}
	switch _, erased := row["erased"]; {
	case erased:
		o.Erased = d.time("erased")
	case o.State != seckill.Rejected:
		d.text("address") // the attribute must exist
	}
	if d.err == nil && o.State.Info().State == "" {
		d.fail("state", "a known state")
	}
	return o, d.err
}

func (d *decoder) oldUnits() []int {
	s := d.optional("units")
	if s == "" {
		return nil
	}
	parts := strings.Split(s, ",")
	units := make([]int, len(parts))
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil {
			d.fail("units", "a list of numbers")
		}
		units[i] = n
	}
	return units
}

func (d *decoder) oldHistory() []seckill.Change {
	list, ok := d.row["history"].([]string)
	if !ok {
		d.fail("history", "a list")
	}
	changes := make([]seckill.Change, len(list))
	for i, s := range list {
		c, err := decodeChange(s)
		if err != nil {
			d.fail("history", "a list of changes")
		}
		changes[i] = c
	}
	return changes
}

// fill sets every field of a noun to a value that differs from the others.
func fill(v reflect.Value, n *int) {
	at := time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	for i := range v.NumField() {
		f := v.Field(i)
		*n++
		switch p := f.Addr().Interface().(type) {
		case *time.Time:
			*p = at.Add(time.Duration(*n) * time.Second)
		case *netip.Addr:
			*p = netip.MustParseAddr("2001:db8::7")
		case *seckill.Options:
			*p = seckill.Options{{Name: "颜色", Value: "黑"}, {Name: "b", Value: "c"}}
		case *[]seckill.Change:
			*p = []seckill.Change{{State: seckill.PendingPayment, At: at}, {State: seckill.Paid, At: at, Cause: "notify x"}}
		case *[]int:
			*p = []int{*n, *n + 1}
		case *seckill.State:
			*p = seckill.Expired
		default:
			switch f.Kind() {
			case reflect.Struct:
				fill(f, n)
			case reflect.String:
				f.SetString("x" + strconv.Itoa(*n))
			case reflect.Int, reflect.Int64:
				f.SetInt(int64(*n))
			case reflect.Bool:
				f.SetBool(true)
			default:
				panic(f.Type())
			}
		}
	}
}

// leaves lists every field, those of what is embedded, too.
func leaves(v reflect.Value) (all []reflect.Value) {
	for i := range v.NumField() {
		if f := v.Field(i); v.Type().Field(i).Anonymous {
			all = append(all, leaves(f)...)
		} else {
			all = append(all, f)
		}
	}
	return all
}

// cases are orders in every state: whole, empty, and each with one field emptied or one field set.
func cases() (all []seckill.Order) {
	for _, info := range seckill.States {
		var whole, bare seckill.Order
		n := 0
		fill(reflect.ValueOf(&whole).Elem(), &n)
		whole.State, bare.State = info.State, info.State
		all = append(all, whole, bare)
		for i := range leaves(reflect.ValueOf(&whole).Elem()) {
			without, with := whole, bare
			leaves(reflect.ValueOf(&without).Elem())[i].SetZero()
			leaves(reflect.ValueOf(&with).Elem())[i].Set(leaves(reflect.ValueOf(&whole).Elem())[i])
			without.State, with.State = info.State, info.State
			all = append(all, without, with)
		}
		odd := whole
		odd.Options, odd.Units, odd.History = seckill.Options{}, []int{}, []seckill.Change{}
		odd.Network, odd.Network = netip.Addr{}, netip.IPv4Unspecified()
		all = append(all, odd)
	}
	return all
}

func TestOrdersAreAsBefore(t *testing.T) {
	all := cases()
	for i := range all {
		got, want := encodeOrder(&all[i]), oldEncodeOrder(&all[i])
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v\ngot  %v\nwant %v", all[i], got, want)
		}
		rows := []Row{want}
		extra := map[string]any{"erased": int64(5), "close_to": "expired", "carrier": "SF", "number": "1", "hidden": int64(1),
			"refund_why": "w", "reason": "limit", "units": "", "address": nil, "shopper_name": nil, "network_address": nil,
			"pay_by": nil, "title": nil, "history": nil, "v": int64(3), "state": "lost", "item_version": nil, "list_price": nil}
		for name, value := range extra {
			row := map[string]any{}
			for k, v := range want {
				row[k] = v
			}
			if row[name] = value; value == nil {
				delete(row, name)
			}
			rows = append(rows, row)
		}
		last := map[string]any{}
		for k, v := range want {
			last[k] = v
		}
		for name, value := range extra {
			if value != nil && name != "v" && name != "state" {
				last[name] = value
			}
		}
		rows = append(rows, last)
		for _, row := range rows {
			row["id"] = all[i].ID
			a, err := decodeOrder(row)
			b, oldErr := oldDecodeOrder(row)
			if err == nil && oldErr == nil && !reflect.DeepEqual(a, b) || (err == nil) != (oldErr == nil) ||
				err != nil && err.Error() != oldErr.Error() {
				t.Fatalf("%v\ngot  %+v %v\nwant %+v %v", row, a, err, b, oldErr)
			}
		}
	}
	t.Logf("%d orders", len(all))
}

func BenchmarkOldOrder(b *testing.B) {
	var o seckill.Order
	n := 0
	fill(reflect.ValueOf(&o).Elem(), &n)
	o.State = seckill.PendingPayment
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			oldEncodeOrder(&o)
		}
	})
	row := oldEncodeOrder(&o)
	row["id"] = o.ID
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := oldDecodeOrder(row); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkOrder(b *testing.B) {
	var o seckill.Order
	n := 0
	fill(reflect.ValueOf(&o).Elem(), &n)
	o.State = seckill.PendingPayment
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			encodeOrder(&o)
		}
	})
	row := encodeOrder(&o)
	row["id"] = o.ID
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := decodeOrder(row); err != nil {
				b.Fatal(err)
			}
		}
	})
}
