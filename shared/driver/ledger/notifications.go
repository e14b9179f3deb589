package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/your-org/seckill/shared/seckill"
)

// attrExpires is when DynamoDB may delete a notification's row, in seconds: the only time not in milliseconds,
// because DynamoDB reads it.
const attrExpires = "expires"

var (
	notificationCodec   = &codec[seckill.KeptNotification]{table: TableNotifications}
	reconciliationCodec = &codec[seckill.Reconciliation]{table: TableReconciliations}
)

// KeepNotification implements seckill.Ledger in one write. A stored notification stays as it first arrived.
func (l *Ledger) KeepNotification(ctx context.Context, n seckill.KeptNotification) error {
	return l.change(ctx, "keep a notification of "+n.Order, nil, Write{Key: Key{TableNotifications, n.Order, n.ID},
		Op: OpPut, If: []Cond{Absent()}, Row: notificationCodec.encode(&n, 0)})
}

// Notifications implements seckill.Ledger.
func (l *Ledger) Notifications(ctx context.Context, order string) ([]seckill.KeptNotification, error) {
	return all(ctx, l, "notifications of "+order, TableNotifications, order, "id", notificationCodec.decode)
}

// KeepReconciliation implements seckill.Ledger in one write. More than seckill.MaxDifferences is a programming error.
func (l *Ledger) KeepReconciliation(ctx context.Context, r seckill.Reconciliation) error {
	if len(r.Differences) > seckill.MaxDifferences || r.Day == "" || r.At.UnixMilli() <= 0 {
		return fmt.Errorf("ledger: keep the reconciliation of %q at %s with %d differences", r.Day, r.At,
			len(r.Differences))
	}
	return l.change(ctx, "keep the reconciliation of "+r.Day, nil, Write{Op: OpPut,
		Key: Key{TableReconciliations, r.Day, timeKey(r.At)}, Row: reconciliationCodec.encode(&r, 0)})
}

// Reconciliations implements seckill.Ledger.
func (l *Ledger) Reconciliations(ctx context.Context, day string) ([]seckill.Reconciliation, error) {
	return all(ctx, l, "reconciliations of "+day, TableReconciliations, day, "at", decodeReconciliation)
}

func decodeReconciliation(row Row) (seckill.Reconciliation, error) {
	r, err := reconciliationCodec.decode(row)
	if r.Differences == nil {
		r.Differences = []seckill.Difference{}
	}
	return r, err
}

// differenceRow is a stored difference: amounts are fen, as everywhere in the ledger.
type differenceRow struct {
	Kind     seckill.DifferenceKind `json:"kind"`
	Order    string                 `json:"order"`
	TradeNo  string                 `json:"trade_no"`
	RefundID string                 `json:"refund_id,omitempty"`
	Here     int64                  `json:"here"`
	There    int64                  `json:"there"`
	Line     int                    `json:"line,omitempty"`
	Why      string                 `json:"why,omitempty"`
}

func encodeDifference(d seckill.Difference) string {
	b, err := json.Marshal(differenceRow{d.Kind, d.Order, d.TradeNo, d.RefundID, int64(d.Here), int64(d.There), d.Line,
		d.Why})
	if err != nil {
		panic(err) // cannot happen: texts and numbers always marshal
	}
	return string(b)
}

func decodeDifference(s string) (seckill.Difference, error) {
	var row differenceRow
	err := json.Unmarshal([]byte(s), &row)
	return seckill.Difference{Kind: row.Kind, Order: row.Order, TradeNo: row.TradeNo, RefundID: row.RefundID,
		Here: seckill.Fen(row.Here), There: seckill.Fen(row.There), Line: row.Line, Why: row.Why}, err
}
