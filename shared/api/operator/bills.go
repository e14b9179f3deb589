package operator

import (
	"context"
	"log/slog"

	"github.com/your-org/seckill/shared/flow/money/reconcile"
	"github.com/your-org/seckill/shared/seckill"
)

// NewBillHandler returns a handler of the commands about the payment provider's bills. An answer is below 4 MiB.
func NewBillHandler(flow *reconcile.Flow) Handler {
	return handler(func(ctx context.Context, c does[*reconcile.Flow]) (Done, error) { return c.Do(ctx, flow) })
}

// Reconciled holds the results of earlier comparisons of a day's bill: the newest reconcile.MaxKept, oldest first.
type Reconciled struct {
	Day             string                   `json:"day"` // a seckill.Day
	Reconciliations []seckill.Reconciliation `json:"reconciliations"`
}

// Reconcile compares a day's bill with the ledger now, even if it was compared before, and keeps the result. Errors
// as reconcile.Flow.Day.
type Reconcile struct {
	Given
	Day string `json:"day" is:"day"`
}

func (*Reconcile) Spec() Spec {
	return Spec{Name: "reconcile", Path: "reconcile", Roles: financiers, In: "reconcile", // each comparison is kept
		Short: "Match a day's bill of the payment provider against the ledger"}
}

func (c *Reconcile) Do(ctx context.Context, flow *reconcile.Flow) (Done, error) {
	out, err := flow.Day(ctx, c.Day)
	more := slog.Int("differences", out.Count)
	if out.NoBill {
		more = slog.Bool("no_bill", true)
	}
	return Done{Result: out, Outcome: changed, More: []slog.Attr{more}}, err
}

// ListReconciled lists the stored results of a day. It compares nothing.
type ListReconciled struct {
	Given
	Day string `json:"day" is:"day"`
}

func (*ListReconciled) Spec() Spec {
	return Spec{Name: "reconciled", Roles: seeMoney, In: "reconcile", Short: "List the stored results of a day's bill"}
}

func (c *ListReconciled) Do(ctx context.Context, flow *reconcile.Flow) (Done, error) {
	list, err := flow.Kept(ctx, c.Day)
	return readDone(Reconciled{Day: c.Day, Reconciliations: append([]seckill.Reconciliation{}, list...)}, err)
}
