package ledger

import (
	"context"
	"fmt"

	"github.com/your-org/seckill/shared/seckill"
)

var auditCodec = &codec[seckill.AuditEntry]{table: TableAudit}

// AppendAudit implements seckill.AuditLog in one write. The id of an act is random, so a row that is already in an
// entry's place is the same entry.
func (l *Ledger) AppendAudit(ctx context.Context, e seckill.AuditEntry) error {
	c, err := l.transact(ctx, "append to the audit log", []Write{{Key: Key{TableAudit, e.Day, e.Seq}, Op: OpPut,
		If: []Cond{Absent()}, Row: auditCodec.encode(&e, 0)}})
	if c == nil {
		return err
	}
	if old, err := auditCodec.decode(c.Reasons[0].Old); err != nil || old != e {
		return fmt.Errorf("ledger: append to the audit log: another entry is %s/%s", e.Day, e.Seq)
	}
	return nil
}

// AuditOn implements seckill.AuditLog.
func (l *Ledger) AuditOn(ctx context.Context, day, after string, limit int) ([]seckill.AuditEntry, error) {
	return query(ctx, l, "audit log of "+day, TableAudit, day, after, limit, auditCodec.decode)
}
