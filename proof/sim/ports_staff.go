package sim

import (
	"context"
	"time"

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

// Propose implements seckill.Proposer.
func (l Ledger) Propose(ctx context.Context, p seckill.Proposal) error {
	return l.Hook("ledger.Propose", func() error { return l.Next.Propose(ctx, p) })
}

// Proposal implements seckill.Proposer.
func (l Ledger) Proposal(ctx context.Context, order string) (*seckill.Proposal, error) {
	return get(l.Hook, "ledger.Proposal", func() (*seckill.Proposal, error) { return l.Next.Proposal(ctx, order) })
}

// Proposals implements seckill.Proposer.
func (l Ledger) Proposals(ctx context.Context, after string, limit int) ([]seckill.Proposal, error) {
	return get(l.Hook, "ledger.Proposals", func() ([]seckill.Proposal, error) {
		return l.Next.Proposals(ctx, after, limit)
	})
}

// Withdraw implements seckill.Proposer.
func (l Ledger) Withdraw(ctx context.Context, p seckill.Proposal) error {
	return l.Hook("ledger.Withdraw", func() error { return l.Next.Withdraw(ctx, p) })
}

// Live implements seckill.LiveRows.
func (l Ledger) Live(ctx context.Context, item string) (seckill.LiveRow, error) {
	return get(l.Hook, "ledger.Live", func() (seckill.LiveRow, error) { return l.Next.Live(ctx, item) })
}

// LeaseLive implements seckill.LiveRows.
func (l Ledger) LeaseLive(ctx context.Context, r seckill.LiveRow, until time.Time) (seckill.LiveRow, error) {
	return get(l.Hook, "ledger.LeaseLive", func() (seckill.LiveRow, error) { return l.Next.LeaseLive(ctx, r, until) })
}

// KeepLive implements seckill.LiveRows.
func (l Ledger) KeepLive(ctx context.Context, r seckill.LiveRow, at time.Time) error {
	return l.Hook("ledger.KeepLive", func() error { return l.Next.KeepLive(ctx, r, at) })
}
