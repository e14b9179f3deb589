package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// attrExpires is when DynamoDB may delete a notification's row, in seconds: the only time not in milliseconds,
// because DynamoDB reads it.
const attrExpires = "expires"

// KeepNotification implements seckill.Ledger in one write. A stored notification stays as it first arrived.
func (l *Ledger) KeepNotification(ctx context.Context, n seckill.KeptNotification) error {
	row := Row{"v": Version, "trade_no": n.TradeNo, "amount": int64(n.Amount), "at": n.At.UnixMilli(),
		"outcome": n.Outcome, "raw": n.Raw}
	if !n.Expires.IsZero() {
		row[attrExpires] = n.Expires.Unix()
	}
	_, err := l.transact(ctx, []Write{{Key: Key{TableNotifications, n.Order, n.ID}, Op: OpPut, If: []Cond{Absent()},
		Row: row}})
	if err != nil {
		return fmt.Errorf("ledger: keep a notification of %s: %w", n.Order, err)
	}
	return nil
}

// Notifications implements seckill.Ledger.
func (l *Ledger) Notifications(ctx context.Context, order string) ([]seckill.KeptNotification, error) {
	rows, err := l.partition(ctx, TableNotifications, order, "id")
	if err != nil {
		return nil, fmt.Errorf("ledger: notifications of %s: %w", order, err)
	}
	return decodeAll(rows, func(row Row) (seckill.KeptNotification, error) {
		d := decode(TableNotifications, row)
		n := seckill.KeptNotification{Order: d.text("order"), ID: d.text("id"), TradeNo: d.text("trade_no"),
			Amount: seckill.Fen(d.number("amount")),
			At:     d.time("at"), Outcome: d.text("outcome"), Raw: d.text("raw")}
		if _, ok := row[attrExpires]; ok {
			n.Expires = time.Unix(d.number(attrExpires), 0).UTC()
		}
		return n, d.err
	})
}

// KeepReconciliation implements seckill.Ledger in one write. More than seckill.MaxDifferences is a programming error.
func (l *Ledger) KeepReconciliation(ctx context.Context, r seckill.Reconciliation) error {
	if len(r.Differences) > seckill.MaxDifferences || r.Day == "" || r.At.UnixMilli() <= 0 {
		return fmt.Errorf("ledger: keep the reconciliation of %q at %s with %d differences", r.Day, r.At,
			len(r.Differences))
	}
	row := Row{"v": Version, "payments": int64(r.Payments), "captured": int64(r.Captured), "refunds": int64(r.Refunds),
		"returned": int64(r.Returned),
		"others":   int64(r.Others), "count": int64(r.Count)}
	if r.NoBill {
		row["no_bill"] = int64(1)
	}
	var list []string
	for i := range r.Differences {
		b, err := json.Marshal(encodeDifference(&r.Differences[i]))
		if err != nil {
			return fmt.Errorf("ledger: keep the reconciliation of %s: %w", r.Day, err)
		}
		list = append(list, string(b))
	}
	if len(list) > 0 {
		row["differences"] = list
	}
	_, err := l.transact(ctx, []Write{{Key: Key{TableReconciliations, r.Day, timeKey(r.At)}, Op: OpPut, Row: row}})
	if err != nil {
		return fmt.Errorf("ledger: keep the reconciliation of %s: %w", r.Day, err)
	}
	return nil
}

// Reconciliations implements seckill.Ledger.
func (l *Ledger) Reconciliations(ctx context.Context, day string) ([]seckill.Reconciliation, error) {
	rows, err := l.partition(ctx, TableReconciliations, day, "at")
	if err != nil {
		return nil, fmt.Errorf("ledger: reconciliations of %s: %w", day, err)
	}
	return decodeAll(rows, decodeReconciliation)
}

func decodeReconciliation(row Row) (seckill.Reconciliation, error) {
	d := decode(TableReconciliations, row)
	r := seckill.Reconciliation{Day: d.text("day"), At: d.sortable("at"), Payments: int(d.number("payments")),
		Captured: seckill.Fen(d.number("captured")),
		Refunds:  int(d.number("refunds")), Returned: seckill.Fen(d.number("returned")),
		Others: int(d.number("others")),
		Count:  int(d.number("count"))}
	_, r.NoBill = row["no_bill"]
	list, ok := row["differences"].([]string)
	r.Differences = make([]seckill.Difference, len(list))
	for i := range list {
		var row differenceRow
		if json.Unmarshal([]byte(list[i]), &row) != nil {
			d.fail("differences", "a list of differences")
		}
		r.Differences[i] = seckill.Difference{Kind: row.Kind, Order: row.Order, TradeNo: row.TradeNo,
			RefundID: row.RefundID, Here: seckill.Fen(row.Here), There: seckill.Fen(row.There)}
	}
	if !ok && row["differences"] != nil {
		d.fail("differences", "a list")
	}
	return r, d.err
}

// differenceRow is a stored difference: amounts are fen, as everywhere in the ledger.
type differenceRow struct {
	Kind     seckill.DifferenceKind `json:"kind"`
	Order    string                 `json:"order"`
	TradeNo  string                 `json:"trade_no"`
	RefundID string                 `json:"refund_id,omitempty"`
	Here     int64                  `json:"here"`
	There    int64                  `json:"there"`
}

func encodeDifference(d *seckill.Difference) differenceRow {
	return differenceRow{d.Kind, d.Order, d.TradeNo, d.RefundID, int64(d.Here), int64(d.There)}
}
