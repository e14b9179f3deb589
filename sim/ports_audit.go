package sim

import (
	"context"

	"github.com/your-org/seckill/shared/seckill"
)

// AppendAudit implements seckill.AuditLog.
func (l Ledger) AppendAudit(ctx context.Context, e seckill.AuditEntry) error {
	return l.Hook("ledger.AppendAudit", func() error { return l.Next.AppendAudit(ctx, e) })
}

// AuditOn implements seckill.AuditLog.
func (l Ledger) AuditOn(ctx context.Context, day string, after, limit int) ([]seckill.AuditEntry, error) {
	return get(l.Hook, "ledger.AuditOn", func() ([]seckill.AuditEntry, error) {
		return l.Next.AuditOn(ctx, day, after, limit)
	})
}

// AuditHead implements seckill.AuditLog.
func (l Ledger) AuditHead(ctx context.Context) (seckill.AuditHead, error) {
	return get(l.Hook, "ledger.AuditHead", func() (seckill.AuditHead, error) { return l.Next.AuditHead(ctx) })
}
