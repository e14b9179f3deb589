package operator

import (
	"context"

	"github.com/your-org/seckill/shared/flow/office/audit"
	"github.com/your-org/seckill/shared/seckill"
)

// NewAuditHandler returns a handler of the command that reads the audit log.
func NewAuditHandler(flow *audit.Flow) Handler {
	return handler(func(ctx context.Context, c does[*audit.Flow]) (Done, error) { return c.Do(ctx, flow) })
}

// AuditPage is a page of a day of the audit log.
type AuditPage struct {
	Entries []seckill.AuditEntry `json:"entries"`
	Next    string               `json:"next,omitempty"`
}

// ListAudit lists entries of a day of the audit log.
type ListAudit struct {
	Given
	Day    string `json:"day,omitempty" is:"day"`
	Cursor string `json:"cursor,omitempty" is:"cursor" log:"-"`
	Limit  int    `json:"limit" is:"page" log:"-"`
}

func (*ListAudit) Spec() Spec {
	return Spec{Name: "audit", Path: "audit list", Roles: auditors, In: itself, Short: "List what staff did on a day"}
}

func (c *ListAudit) Do(ctx context.Context, flow *audit.Flow) (Done, error) {
	list, next, err := flow.List(ctx, c.Day, c.Cursor, c.Limit)
	return readDone(AuditPage{Entries: list, Next: next}, err)
}
