package operator

import (
	"context"
	"log/slog"

	"github.com/your-org/seckill/shared/flow/money/reconcile"
	"github.com/your-org/seckill/shared/seckill"
)

// BillHandler executes commands about the payment provider's bills. It is safe for concurrent use. An answer is below
// 4 MiB.
type BillHandler struct{ reconcile *reconcile.Flow }

// NewBillHandler returns a handler that uses the flow.
func NewBillHandler(flow *reconcile.Flow) *BillHandler { return &BillHandler{flow} }

// Reconciled holds the results of earlier comparisons of a day's bill: the newest reconcile.MaxKept, oldest first.
type Reconciled struct {
	Day             string                   `json:"day"` // a seckill.Day
	Reconciliations []seckill.Reconciliation `json:"reconciliations"`
}

// Reconcile compares a day's bill with the ledger now, even if it was compared before, and keeps the result. Errors
// as reconcile.Flow.Day.
func (d *BillHandler) Reconcile(ctx context.Context, day string) (seckill.Reconciliation, error) {
	return d.reconcile.Day(ctx, day)
}

// Reconciled lists the stored results of a day. It compares nothing. CodeInvalid.
func (d *BillHandler) Reconciled(ctx context.Context, day string) (Reconciled, error) {
	all, err := d.reconcile.Kept(ctx, day)
	return Reconciled{Day: day, Reconciliations: append([]seckill.Reconciliation{}, all...)}, err
}

func (d *BillHandler) commands() []command { return billCommands }

// do executes a command.
func (d *BillHandler) do(ctx context.Context, r *request) (done, error) {
	switch r.Command {
	case cmdReconciled:
		all, err := d.Reconciled(ctx, r.Day)
		return done{result: all, outcome: read}, err
	default: // the only other command that check allows
		out, err := d.Reconcile(ctx, r.Day)
		more := slog.Int("differences", out.Count)
		if out.NoBill {
			more = slog.Bool("no_bill", true)
		}
		return done{result: out, outcome: changed, more: []slog.Attr{more}}, err
	}
}

// Reconcile compares a day's bill with the ledger now.
func (c *Client) Reconcile(ctx context.Context, day string) (out seckill.Reconciliation, err error) {
	err = c.give(ctx, &request{Command: cmdReconcile, Day: day}, &out)
	return out, err
}

// Reconciled lists the stored results of a day.
func (c *Client) Reconciled(ctx context.Context, day string) (out Reconciled, err error) {
	err = c.give(ctx, &request{Command: cmdReconciled, Day: day}, &out)
	return out, err
}
