// Package gatewaytable keeps the trades of the fake payment gateway in a table, so that any number of instances of a function are one
// gateway. In: calls of fakegateway.Store. Out: conditional transactions of one row, consistent reads and reads of an index on ledger.Rows.
// Only a sandbox has the table.
package gatewaytable

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"seckill/shared/adapter/alipay/fakegateway"
	"seckill/shared/adapter/ledger"
	"seckill/shared/seckill"
)

// TableTrades is the table's name after its prefix, IndexNotifiesDue that of its index.
const (
	TableTrades      = "gateway_trades"
	IndexNotifiesDue = "notifies_due"
)

// Table declares the table. docs/DATA.md describes it; a test holds the two together.
var Table = ledger.Table{Name: TableTrades, PK: "out_trade_no",
	Indexes: []ledger.Index{{Name: IndexNotifiesDue, PK: "notify_state", SK: "notify_at", KeysOnly: true}}}

const (
	schemaVersion int64 = 1     // a row's attribute v. A row with another one is an error
	notifyDue           = "due" // notify_state while an attempt is to come: the index has only those rows, all in one partition
	maxDue              = 100   // names that Due gives
)

// Store is fakegateway.Store on rows. It is safe for use by several goroutines and keeps nothing itself.
type Store struct{ rows ledger.Rows }

var _ fakegateway.Store = (*Store)(nil)

// New makes a store; rows have to know Table.
func New(rows ledger.Rows) *Store { return &Store{rows} }

func key(outTradeNo string) ledger.Key { return ledger.Key{Table: TableTrades, PK: outTradeNo} }

// Load implements fakegateway.Store.
func (s *Store) Load(ctx context.Context, outTradeNo string) (fakegateway.Record, bool, error) {
	if outTradeNo == "" { // no key that a table can have
		return fakegateway.Record{}, false, nil
	}
	row, found, err := s.rows.Get(ctx, key(outTradeNo))
	if err != nil || !found {
		return fakegateway.Record{}, false, err
	}
	r, err := decode(row)
	return r, err == nil, err
}

// Save implements fakegateway.Store; there is always room. It is a transaction of one row, because a plain put whose answer is lost would
// find its own version at the repeat and call it another's.
func (s *Store) Save(ctx context.Context, r fakegateway.Record) error {
	cond := ledger.Eq("version", r.Version)
	if r.Version == 0 {
		cond = ledger.Absent()
	}
	r.Version++
	err := s.rows.Transact(ctx, []ledger.Write{{Key: key(r.OutTradeNo), Op: ledger.OpPut, Row: encode(&r), If: []ledger.Cond{cond}}})
	if errors.As(err, new(*ledger.Canceled)) {
		return fakegateway.ErrChanged
	}
	return err
}

// Due implements fakegateway.Store: at most 100 names, by an index that may lag.
func (s *Store) Due(ctx context.Context, by time.Time) ([]string, error) {
	rows, _, err := s.rows.Index(ctx, IndexNotifiesDue, notifyDue, "", maxDue, false)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, row := range rows {
		d := decoder{row: row}
		no, at := text(&d, Table.PK), text(&d, "notify_at")
		if d.bad != "" {
			return nil, fmt.Errorf("gatewaytable: index %s: attribute %s is missing or of another type", IndexNotifiesDue, d.bad)
		}
		if at > sortable(by) {
			break
		}
		out = append(out, no)
	}
	return out, nil
}

// sortable writes a time as an index sorts it.
func sortable(t time.Time) string { return fmt.Sprintf("%015d", t.UnixMilli()) }

func encode(r *fakegateway.Record) ledger.Row {
	row := ledger.Row{"v": schemaVersion, "version": r.Version, "trade_no": r.TradeNo, "subject": r.Subject, "amount": int64(r.Amount), "status": string(r.Status),
		"created": r.Created.UnixMilli(), "expires": r.Expires.UnixMilli(), "lapses": r.Lapses.UnixMilli(), "notify_url": r.NotifyURL, "token": r.Token}
	if !r.Paid.IsZero() {
		row["paid"], row["notify_id"], row["notify_attempts"] = r.Paid.UnixMilli(), r.Notify.ID, int64(r.Notify.Attempts)
	}
	if !r.Notify.Next.IsZero() {
		row["notify_state"], row["notify_at"] = notifyDue, sortable(r.Notify.Next)
	}
	return row
}

// decode reads what encode wrote. An attribute that is missing or of another type is an error that names it.
func decode(row ledger.Row) (fakegateway.Record, error) {
	no, _ := row[Table.PK].(string)
	if v, ok := row["v"].(int64); !ok || v != schemaVersion {
		return fakegateway.Record{}, fmt.Errorf("gatewaytable: row %s has version v=%v, this code reads %d", no, row["v"], schemaVersion)
	}
	d := decoder{row: row}
	r := fakegateway.Record{
		Trade: fakegateway.Trade{OutTradeNo: no, TradeNo: text(&d, "trade_no"), Subject: text(&d, "subject"), Amount: seckill.Fen(number(&d, "amount")),
			Status: fakegateway.Status(text(&d, "status")), Created: at(&d, "created"), Expires: at(&d, "expires")},
		Lapses: at(&d, "lapses"), NotifyURL: text(&d, "notify_url"), Token: text(&d, "token"), Version: number(&d, "version"),
	}
	if row["paid"] != nil {
		r.Paid, r.Notify.ID, r.Notify.Attempts = at(&d, "paid"), text(&d, "notify_id"), int(number(&d, "notify_attempts"))
	}
	if row["notify_at"] != nil {
		ms, err := strconv.ParseInt(text(&d, "notify_at"), 10, 64)
		if err != nil && d.bad == "" {
			d.bad = "notify_at"
		}
		r.Notify.Next = time.UnixMilli(ms).UTC()
	}
	if d.bad != "" {
		return fakegateway.Record{}, fmt.Errorf("gatewaytable: row %s: attribute %s is missing or of another type", no, d.bad)
	}
	return r, nil
}

// decoder reads attributes and remembers the first that is not as it should be.
type decoder struct {
	row ledger.Row
	bad string
}

func field[T any](d *decoder, attr string) T {
	v, ok := d.row[attr].(T)
	if !ok && d.bad == "" {
		d.bad = attr
	}
	return v
}

func text(d *decoder, attr string) string  { return field[string](d, attr) }
func number(d *decoder, attr string) int64 { return field[int64](d, attr) }
func at(d *decoder, attr string) time.Time { return time.UnixMilli(number(d, attr)).UTC() }
