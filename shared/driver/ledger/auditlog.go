package ledger

import (
	"context"
	"fmt"

	"github.com/your-org/seckill/shared/seckill"
)

// AppendAudit implements seckill.AuditLog in one write. The id of an act is random, so that the row in an entry's place
// is a repeat of it.
func (l *Ledger) AppendAudit(ctx context.Context, e seckill.AuditEntry) error {
	c, err := l.transact(ctx, "append to the audit log", []Write{{Key: Key{TableAudit, e.Day, e.Seq}, Op: OpPut,
		If: []Cond{Absent()},
		Row: Row{"v": Version, "at": e.At.UnixMilli(), "kind": string(e.Kind), "id": e.ID, "who": e.Who,
			"roles": e.Roles, "act": e.Act, "subject": e.Subject, "before": e.Before, "after": e.After, "why": e.Why,
			"result": e.Result}}})
	if c == nil {
		return err
	}
	if old, err := decodeAudit(c.Reasons[0].Old); err != nil || old != e {
		return fmt.Errorf("ledger: append to the audit log: another entry is %s/%s", e.Day, e.Seq)
	}
	return nil
}

// AuditOn implements seckill.AuditLog.
func (l *Ledger) AuditOn(ctx context.Context, day, after string, limit int) ([]seckill.AuditEntry, error) {
	return query(ctx, l, "audit log of "+day, TableAudit, day, after, limit, decodeAudit)
}

func decodeAudit(row Row) (seckill.AuditEntry, error) {
	d := decode(TableAudit, row)
	e := seckill.AuditEntry{Day: d.text("day"), Seq: d.text("seq"), At: d.time("at"),
		Kind: seckill.AuditKind(d.text("kind")), ID: d.text("id"), Who: d.text("who"), Roles: d.text("roles"),
		Act: d.text("act"), Subject: d.text("subject"), Before: d.text("before"), After: d.text("after"),
		Why: d.text("why"), Result: d.text("result")}
	return e, d.err
}
