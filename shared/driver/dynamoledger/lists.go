package dynamoledger

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// listCopies is the number of copies of the list's version and of the list, each in its own partition. An instance
// reads a random copy: one key allows 6,000 eventually consistent reads a second, and 2,000 instances that start
// within a second all read the list.
const listCopies = 8

// maxList is the largest size of the stored list in bytes: a row may have 400 KB, the transaction with all copies 4
// MB.
const maxList = 380 << 10

// maxListText bounds the decompressed list in bytes: MaxItems of the longest items fit.
const maxListText = 4 << 20

func listKey(kind string, n int) ledger.Key {
	return ledger.Key{Table: TableCatalog, PK: fmt.Sprintf("%s#%02d", kind, n)}
}

// ListVersion implements seckill.Lists.
func (t *Items) ListVersion(ctx context.Context) (int64, error) {
	return t.listVersion(ctx, rand.IntN(listCopies), false)
}

func (t *Items) listVersion(ctx context.Context, n int, consistently bool) (int64, error) {
	row, _, err := t.rows.get(ctx, listKey("version", n), consistently)
	if err != nil {
		return 0, fmt.Errorf("dynamoledger: version of the list: %w", err)
	}
	version, _ := row["version"].(int64)
	return version, nil
}

// ReadList implements seckill.Lists. It reads eventually consistently first, and consistently only if that result is
// too old.
func (t *Items) ReadList(ctx context.Context, version int64) (seckill.List, error) {
	n := rand.IntN(listCopies)
	var l seckill.List
	for _, consistently := range []bool{false, true} {
		var err error
		if l, err = t.readList(ctx, n, consistently); err != nil || l.Version >= version {
			return l, err
		}
	}
	return seckill.List{}, unreadable(TableCatalog, listKey("list", n).PK, fmt.Sprintf(" is of version %d, want %d",
		l.Version, version))
}

func (t *Items) readList(ctx context.Context, n int, consistently bool) (seckill.List, error) {
	row, found, err := t.rows.get(ctx, listKey("list", n), consistently)
	if err != nil {
		return seckill.List{}, fmt.Errorf("dynamoledger: list: %w", err)
	}
	if !found {
		return seckill.List{}, nil
	}
	return decodeList(row)
}

// Published implements seckill.Lists.
func (t *Items) Published(ctx context.Context) (seckill.List, error) {
	version, err := t.listVersion(ctx, 0, true)
	if err != nil || version == 0 {
		return seckill.List{}, err
	}
	l, err := t.readList(ctx, 0, true)
	if errors.Is(err, seckill.ErrUnreadable) {
		l = seckill.List{Version: version}
	}
	return l, err
}

// Publish implements seckill.Lists in one transaction for all copies, so no reader sees a version without its list.
func (t *Items) Publish(ctx context.Context, l seckill.List) error {
	text, err := encodeList(l.Items)
	if err != nil {
		return err
	}
	list := ledger.Row{"v": CatalogVersion, "version": l.Version, "items": text}
	if len(l.Activities) > 0 {
		titles, err := pack(l.Activities)
		if err != nil {
			return err
		}
		if len(text)+len(titles) <= maxList { // items matter more
			list["activities"] = titles
		}
	}
	if len(l.Items) > seckill.MaxItems || len(text) > maxList {
		return seckill.Invalid("list",
			fmt.Sprintf("at most %d items that take %d bytes packed; these are %d, and take %d", seckill.MaxItems,
				maxList,
				len(l.Items), len(text)))
	}
	first := ledger.Eq("version", l.Version-1)
	if l.Version == 1 {
		first = ledger.Absent()
	}
	var writes []ledger.Write
	for n := range listCopies {
		writes = append(writes,
			ledger.Write{Key: listKey("version", n), Op: ledger.OpPut, Row: ledger.Row{"v": CatalogVersion,
				"version": l.Version}},
			ledger.Write{Key: listKey("list", n), Op: ledger.OpPut, Row: maps.Clone(list)})
	}
	writes[0].If = []ledger.Cond{first}
	err = t.rows.Transact(ctx, writes)
	var canceled *ledger.Canceled
	if errors.As(err, &canceled) {
		return seckill.ErrStateChanged
	}
	if err != nil {
		return fmt.Errorf("dynamoledger: publish version %d of the list: %w", l.Version, err)
	}
	return nil
}

// encodeList encodes the items' rows as JSON, gzip, base64.
func encodeList(items []seckill.Item) (string, error) {
	rows := make([]ledger.Row, len(items))
	for i := range items {
		rows[i] = encodeItem(&items[i])
		rows[i]["id"] = items[i].ID
		delete(rows[i], "cover")
	}
	return pack(rows)
}

// pack encodes a value as JSON, gzip, base64.
func pack(v any) (string, error) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if err := errors.Join(json.NewEncoder(z).Encode(v), z.Close()); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), nil
}

// decodeList decodes what Publish wrote.
func decodeList(row ledger.Row) (seckill.List, error) {
	key, _ := row["id"].(string)
	a := attributes{row: row}
	l := seckill.List{Version: a.number("version")}
	rows, err := unpack(field[string](&a, "items"))
	if v, ok := row["v"].(int64); !ok || v != CatalogVersion || a.bad != "" {
		return seckill.List{}, unreadable(TableCatalog, key,
			fmt.Sprintf(" has version v=%v, this code reads %d; or no attribute %s", row["v"], CatalogVersion, a.bad))
	}
	if err != nil {
		return seckill.List{}, unreadable(TableCatalog, key, ": "+err.Error())
	}
	l.Items = make([]seckill.Item, len(rows))
	for i, r := range rows {
		if l.Items[i], err = decodeItem(r); err != nil {
			return seckill.List{}, err
		}
	}
	if titles, ok := row["activities"].(string); ok { // a list without titles is better than no list
		if err := unpackInto(titles, &l.Activities); err != nil {
			l.Activities = nil
		}
	}
	return l, nil
}

// unpackInto is the inverse of pack.
func unpackInto(text string, v any) error {
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewBufferString(text)))
	if err != nil {
		return err
	}
	d := json.NewDecoder(io.LimitReader(z, maxListText))
	d.UseNumber()
	return d.Decode(v)
}

func unpack(text string) ([]ledger.Row, error) {
	var rows []ledger.Row
	if err := unpackInto(text, &rows); err != nil {
		return nil, err
	}
	for _, r := range rows {
		for attr, v := range r {
			switch v := v.(type) {
			case json.Number:
				n, err := v.Int64()
				if err != nil {
					return nil, fmt.Errorf("attribute %s: %w", attr, err)
				}
				r[attr] = n
			case []any:
				texts := make([]string, len(v))
				for i := range v {
					texts[i], _ = v[i].(string)
				}
				r[attr] = texts
			}
		}
	}
	return rows, nil
}
