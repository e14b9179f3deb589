package ledger

import (
	"context"
	"fmt"
	"strconv"

	"github.com/your-org/seckill/shared/seckill"
)

// auditSeqDigits suffice for MaxAuditSeq.
const auditSeqDigits = 7

// auditHeadKey is the row that names the last entry. It is written with each entry, in one transaction, so that two
// who append at once never fork the chain.
var auditHeadKey = Key{Table: TableAudit, PK: "head", SK: "0000000"}

// AppendAudit implements seckill.AuditLog in two writes. An entry that Follow did not make is a programming error.
func (l *Ledger) AppendAudit(ctx context.Context, e seckill.AuditEntry) error {
	if !seckill.ValidDay(e.Day) || e.Seq < 1 || e.Seq > seckill.MaxAuditSeq || e.Hash != e.Sum() {
		return fmt.Errorf("ledger: audit entry %.20q/%d: it follows no head", e.Day, e.Seq)
	}
	isHead := Absent()
	if e.Prev != "" {
		isHead = Eq("hash", e.Prev)
	}
	c, err := l.transact(ctx, []Write{
		{Key: Key{TableAudit, e.Day, padded(int64(e.Seq), auditSeqDigits)}, Op: OpPut, If: []Cond{Absent()},
			Row: Row{"v": Version, "at": e.At.UnixMilli(), "kind": string(e.Kind), "id": e.ID, "who": e.Who,
				"roles": e.Roles, "act": e.Act, "subject": e.Subject, "before": e.Before, "after": e.After,
				"why": e.Why, "result": e.Result, "prev": e.Prev, "hash": e.Hash}},
		{Key: auditHeadKey, Op: OpPut, If: []Cond{isHead},
			Row: Row{"v": Version, "last_day": e.Day, "last_seq": int64(e.Seq), "hash": e.Hash}},
	})
	switch {
	case err != nil:
		return fmt.Errorf("ledger: append to the audit log: %w", err)
	case c == nil:
		return nil
	case c.failed(0) && c.Reasons[0].Old["hash"] == e.Hash: // a repeat of this one
		return nil
	}
	return seckill.ErrAuditMoved
}

// AuditOn implements seckill.AuditLog.
func (l *Ledger) AuditOn(ctx context.Context, day string, after, limit int) ([]seckill.AuditEntry, error) {
	from := ""
	if after > 0 {
		from = padded(int64(after), auditSeqDigits)
	}
	rows, err := l.rows.Query(ctx, TableAudit, day, from, limit)
	if err != nil {
		return nil, fmt.Errorf("ledger: audit log of %s: %w", day, err)
	}
	entries := make([]seckill.AuditEntry, len(rows))
	for i, row := range rows {
		if entries[i], err = decodeAudit(row); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// AuditHead implements seckill.AuditLog.
func (l *Ledger) AuditHead(ctx context.Context) (seckill.AuditHead, error) {
	row, found, err := l.rows.Get(ctx, auditHeadKey)
	if err != nil || !found {
		return seckill.AuditHead{}, err
	}
	d := decode(TableAudit, row)
	h := seckill.AuditHead{Day: d.text("last_day"), Seq: int(d.number("last_seq")), Hash: d.text("hash")}
	return h, d.err
}

func decodeAudit(row Row) (seckill.AuditEntry, error) {
	d := decode(TableAudit, row)
	seq, err := strconv.Atoi(d.text("seq"))
	if err != nil || padded(int64(seq), auditSeqDigits) != d.text("seq") {
		d.fail("seq", "a number of 7 digits")
	}
	e := seckill.AuditEntry{Day: d.text("day"), Seq: seq, At: d.time("at"), Kind: seckill.AuditKind(d.text("kind")),
		ID: d.text("id"), Who: d.text("who"), Roles: d.text("roles"), Act: d.text("act"), Subject: d.text("subject"),
		Before: d.text("before"), After: d.text("after"), Why: d.text("why"), Result: d.text("result"),
		Prev: d.text("prev"), Hash: d.text("hash")}
	return e, d.err
}
