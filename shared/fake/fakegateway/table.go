package fakegateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// TableTrades is the table's name without the prefix, IndexNotificationsDue that of its index.
const (
	TableTrades           = "gateway_trades"
	IndexNotificationsDue = "notifications_due"
)

// Table declares the table. A write of a row requires the version that was read.
var Table = ledger.Table{Name: TableTrades, PK: "out_trade_no",
	Indexes: []ledger.Index{{Name: IndexNotificationsDue, PK: "notify_state", SK: "notify_at", KeysOnly: true}}}

// NotificationDue is a trade's notify_state while an attempt is pending. The index holds only those trades, all in
// one partition.
const NotificationDue = "due"

const (
	schemaVersion = int64(1) // a row's attribute v; another version is an error
	tablePage     = 100      // keys that one read of the index, and one call of Due, return
)

// TableStore stores trades in a table, so that all instances of the gateway's function act as one gateway: conditional
// transactions of a few rows, consistent reads and index reads. Only a sandbox has the table, and a local run on a real
// ledger. It is safe for concurrent use and caches nothing.
//
// A trade is a row: an order's first trade under the order's id, its second under the id with the suffix "#2". Two
// more kinds of rows, whose keys begin with "#", find trades by number and by the days on which their money moved.
type TableStore struct{ rows ledger.Rows }

var _ Store = (*TableStore)(nil)

// NewTable returns a store; rows must have Table.
func NewTable(rows ledger.Rows) *TableStore { return &TableStore{rows} }

func row(pk string) ledger.Key { return ledger.Key{Table: TableTrades, PK: pk} }

// RowName returns a trade's key in the table. An out_trade_no contains no "#".
func RowName(k Key) string {
	if k.N == 1 {
		return k.OutTradeNo
	}
	return k.OutTradeNo + "#" + strconv.Itoa(k.N)
}

func keyOf(name string) (Key, error) {
	no, n, second := strings.Cut(name, "#")
	k := Key{OutTradeNo: no, N: 1}
	var err error
	if second {
		k.N, err = strconv.Atoi(n)
	}
	if err != nil || no == "" || RowName(k) != name {
		return Key{}, fmt.Errorf("fakegateway: %q is not a trade's key", name)
	}
	return k, nil
}

// numberRow returns the key of the row that finds a trade by its number; moveRow that of the row that records that a
// trade's money moved on a day; the index has it under moveState.
func numberRow(tradeNo string) string { return "#number#" + tradeNo }
func moveRow(day, name string) string { return moveState(day) + "#" + name }
func moveState(day string) string     { return "#moved#" + day }

// Load implements Store.
func (s *TableStore) Load(ctx context.Context, k Key) (Record, bool, error) {
	if k.OutTradeNo == "" { // a table allows no empty key
		return Record{}, false, nil
	}
	found, ok, err := s.rows.Get(ctx, row(RowName(k)))
	if err != nil || !ok {
		return Record{}, false, err
	}
	r, err := DecodeRow(found)
	return r, err == nil, err
}

// Find implements Store.
func (s *TableStore) Find(ctx context.Context, tradeNo string) (Key, bool, error) {
	found, ok, err := s.rows.Get(ctx, row(numberRow(tradeNo)))
	if err != nil || !ok {
		return Key{}, false, err
	}
	d := decoder{row: found}
	k, err := keyOf(text(&d, "trade"))
	return k, err == nil, err
}

// Save implements Store; it never answers ErrFull. It uses a transaction even for one row: after a lost
// answer, the SDK's repeat of a plain put would find its own version and take it for another writer's.
func (s *TableStore) Save(ctx context.Context, r Record) error {
	name, cond := RowName(r.Key()), ledger.Eq("version", r.Version)
	var beside []ledger.Write
	if r.Version == 0 {
		cond = ledger.Absent()
		beside = append(beside, putRow(numberRow(r.TradeNo), ledger.Row{"v": schemaVersion, "trade": name}))
	}
	if at := r.Moved(); !at.IsZero() {
		beside = append(beside, putRow(moveRow(seckill.Day(at), name), ledger.Row{"v": schemaVersion, "trade": name,
			"notify_state": moveState(seckill.Day(at)), "notify_at": sortable(at)}))
	}
	r.Version++
	writes := append([]ledger.Write{putRow(name, encode(&r), cond)}, beside...)
	err := s.rows.Transact(ctx, writes)
	if errors.As(err, new(*ledger.Canceled)) {
		return ErrChanged
	}
	return err
}

func putRow(pk string, attrs ledger.Row, conds ...ledger.Cond) ledger.Write {
	return ledger.Write{Key: row(pk), Op: ledger.OpPut, Row: attrs, If: conds}
}

// Due implements Store: at most 100 keys, from an index that may lag.
func (s *TableStore) Due(ctx context.Context, by time.Time) ([]Key, error) {
	rows, _, err := s.rows.Index(ctx, IndexNotificationsDue, NotificationDue, "", tablePage, false)
	if err != nil {
		return nil, err
	}
	var out []Key
	for _, r := range rows {
		d := decoder{row: r}
		at := text(&d, "notify_at")
		if at > sortable(by) {
			break
		}
		k, err := keyOf(text(&d, Table.PK))
		if err != nil || d.bad != "" {
			return nil, d.err("index "+IndexNotificationsDue, err)
		}
		out = append(out, k)
	}
	return out, nil
}

// Moved implements Store with an index that may lag.
func (s *TableStore) Moved(ctx context.Context, day string) ([]Key, error) {
	var out []Key
	for after := ""; ; {
		rows, next, err := s.rows.Index(ctx, IndexNotificationsDue, moveState(day), after, tablePage, false)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			d := decoder{row: r}
			name, ours := strings.CutPrefix(text(&d, Table.PK), moveRow(day, ""))
			k, err := keyOf(name)
			if err != nil || !ours || d.bad != "" {
				return nil, d.err("index "+IndexNotificationsDue, err)
			}
			out = append(out, k)
		}
		if next == "" {
			return out, nil
		}
		after = next
	}
}

// sortable formats a time so that an index sorts it.
func sortable(t time.Time) string { return fmt.Sprintf("%015d", t.UnixMilli()) }

// moved is a refund as an entry of the attribute refunds; back adds the delivery state of its notification.
type (
	moved struct {
		RequestNo string `json:"request_no"`
		Amount    int64  `json:"amount"` // fen
		At        int64  `json:"at"`     // ms, as the rest
	}
	back struct {
		moved
		NotifyID string `json:"notify_id"`
		Attempts int    `json:"attempts"`
		Next     int64  `json:"next,omitempty"`
	}
)

func movedOf(f *Refund) moved {
	return moved{f.RequestNo, int64(f.Amount), f.At.UnixMilli()}
}

// entry encodes a moved or a back.
func entry(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot happen: strings and numbers always marshal
	}
	return string(raw)
}

// TradeRow returns the attributes about a trade's money, without the key (RowName) and without what only the gateway
// needs: the page's texts, the expiry, and the notifications.
func TradeRow(t *Trade) ledger.Row {
	out := ledger.Row{"v": schemaVersion, "trade_no": t.TradeNo, "amount": int64(t.Amount), "status": string(t.Status)}
	if !t.Paid.IsZero() {
		out["paid"] = t.Paid.UnixMilli()
	}
	if len(t.Refunds) > 0 {
		refunds := make([]string, len(t.Refunds))
		for i := range t.Refunds {
			refunds[i] = entry(movedOf(&t.Refunds[i]))
		}
		out["refunds"] = refunds
	}
	return out
}

func encode(r *Record) ledger.Row {
	out := TradeRow(&r.Trade)
	maps.Copy(out, ledger.Row{"version": r.Version, "subject": r.Subject, "created": r.Created.UnixMilli(),
		"expires": r.Expires.UnixMilli(),
		"lapses":  r.Lapses.UnixMilli(), "notify_url": r.NotifyURL, "token": r.Token})
	if next := r.Next(); !next.IsZero() {
		out["notify_state"], out["notify_at"] = NotificationDue, sortable(next)
	}
	if r.Paid.IsZero() {
		return out
	}
	first := r.Notifications[0]
	out["notify_id"], out["notify_attempts"] = first.ID, int64(first.Attempts)
	if len(r.Refunds) == 0 {
		return out // notify_at is an attribute of the payment
	}
	if !first.Next.IsZero() {
		out["notify_next"] = first.Next.UnixMilli()
	}
	refunds := make([]string, len(r.Refunds))
	for i := range r.Refunds {
		n := r.Notifications[i+1]
		b := back{movedOf(&r.Refunds[i]), n.ID, n.Attempts, 0}
		if !n.Next.IsZero() {
			b.Next = n.Next.UnixMilli()
		}
		refunds[i] = entry(b)
	}
	out["refunds"] = refunds
	return out
}

// IsTrade reports whether a row of the table is a trade; the other rows only serve to find a trade.
func IsTrade(row ledger.Row) bool {
	name, _ := row[Table.PK].(string)
	return !strings.HasPrefix(name, "#")
}

// DecodeRow decodes a trade's row. A missing attribute, or an attribute of another type, is an error that names it.
func DecodeRow(found ledger.Row) (Record, error) {
	name, _ := found[Table.PK].(string)
	k, err := keyOf(name)
	if err != nil {
		return Record{}, err
	}
	if v, ok := found["v"].(int64); !ok || v != schemaVersion {
		return Record{}, fmt.Errorf("fakegateway: row %s has version v=%v, this code reads %d", name,
			found["v"], schemaVersion)
	}
	d := decoder{row: found}
	r := Record{
		Trade: Trade{OutTradeNo: k.OutTradeNo, TradeNo: text(&d, "trade_no"), Subject: text(&d, "subject"),
			Amount: seckill.Fen(number(&d, "amount")),
			Status: Status(text(&d, "status")), Created: at(&d, "created"), Expires: at(&d, "expires")},
		N: k.N, Lapses: at(&d, "lapses"), NotifyURL: text(&d, "notify_url"), Token: text(&d, "token"),
		Version: number(&d, "version"),
	}
	if found["paid"] != nil {
		r.Paid = at(&d, "paid")
		r.Notifications = []Notification{{ID: text(&d, "notify_id"),
			Attempts: int(number(&d, "notify_attempts")), Next: d.first()}}
	}
	if found["refunds"] != nil {
		for _, raw := range field[[]string](&d, "refunds") {
			var b back
			if json.Unmarshal([]byte(raw), &b) != nil {
				d.fail("refunds")
			}
			r.Refunds = append(r.Refunds, Refund{RequestNo: b.RequestNo, Amount: seckill.Fen(b.Amount),
				At: time.UnixMilli(b.At).UTC()})
			r.Notifications = append(r.Notifications, Notification{ID: b.NotifyID, Attempts: b.Attempts,
				Next: moment(b.Next)})
		}
	}
	if d.bad != "" {
		return Record{}, d.err("row "+name, nil)
	}
	return r, nil
}

// first returns when the next attempt of the payment's notification is due.
func (d *decoder) first() time.Time {
	switch {
	case d.row["refunds"] != nil && d.row["notify_next"] != nil:
		return at(d, "notify_next")
	case d.row["refunds"] != nil || d.row["notify_at"] == nil:
		return time.Time{}
	}
	ms, err := strconv.ParseInt(text(d, "notify_at"), 10, 64)
	if err != nil {
		d.fail("notify_at")
	}
	return moment(ms)
}

func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// decoder decodes attributes and keeps the first error.
type decoder struct {
	row ledger.Row
	bad string
}

func (d *decoder) fail(attr string) {
	if d.bad == "" {
		d.bad = attr
	}
}

// err returns an error about the row; cause may add to it.
func (d *decoder) err(where string, cause error) error {
	if d.bad == "" {
		return cause
	}
	return fmt.Errorf("fakegateway: %s: attribute %s is missing or of another type", where, d.bad)
}

func field[T any](d *decoder, attr string) T {
	v, ok := d.row[attr].(T)
	if !ok {
		d.fail(attr)
	}
	return v
}

func text(d *decoder, attr string) string  { return field[string](d, attr) }
func number(d *decoder, attr string) int64 { return field[int64](d, attr) }
func at(d *decoder, attr string) time.Time { return time.UnixMilli(number(d, attr)).UTC() }
