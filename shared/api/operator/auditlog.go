package operator

import (
	"context"

	"github.com/your-org/seckill/shared/flow/office/audit"
	"github.com/your-org/seckill/shared/seckill"
)

// AuditHandler executes commands that read the audit log. It is safe for concurrent use.
type AuditHandler struct{ audit *audit.Flow }

// NewAuditHandler returns a handler that uses the flow.
func NewAuditHandler(flow *audit.Flow) *AuditHandler { return &AuditHandler{flow} }

// AuditPage is a page of a day of the audit log.
type AuditPage struct {
	Entries []seckill.AuditEntry `json:"entries"`
	Next    string               `json:"next,omitempty"`
}

func (h *AuditHandler) commands() []command { return auditCommands }

// do executes a command.
func (h *AuditHandler) do(ctx context.Context, r *request) (done, error) {
	list, next, err := h.audit.List(ctx, r.Day, r.Cursor, r.Limit)
	return done{result: AuditPage{Entries: list, Next: next}, outcome: read}, err
}

// Audit lists entries of a day of the audit log, at most seckill.MaxAuditPage; day "" is today, cursor "" or the Next
// of an earlier page.
func (c *Client) Audit(ctx context.Context, day, cursor string, limit int) (out AuditPage, err error) {
	err = c.give(ctx, &request{Command: cmdAudit, Day: day, Cursor: cursor, Limit: limit}, &out)
	return out, err
}
