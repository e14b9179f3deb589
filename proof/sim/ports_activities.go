package sim

import (
	"context"

	"github.com/your-org/seckill/shared/seckill"
)

// Activity implements seckill.Activities.
func (l Ledger) Activity(ctx context.Context, id string) (seckill.Activity, error) {
	return get(l.Hook, "ledger.Activity", func() (seckill.Activity, error) { return l.Next.Activity(ctx, id) })
}

// ActivitiesOf implements seckill.Activities.
func (l Ledger) ActivitiesOf(ctx context.Context, items []string) (map[string]string, error) {
	return get(l.Hook, "ledger.ActivitiesOf", func() (map[string]string, error) {
		return l.Next.ActivitiesOf(ctx, items)
	})
}

// ListActivities implements seckill.Activities.
func (l Ledger) ListActivities(ctx context.Context, after string,
	limit int) (seckill.Page[seckill.Activity], error) {
	return get(l.Hook, "ledger.ListActivities", func() (seckill.Page[seckill.Activity], error) {
		return l.Next.ListActivities(ctx, after, limit)
	})
}

// SaveActivity implements seckill.Activities.
func (l Ledger) SaveActivity(ctx context.Context, a seckill.Activity, was *seckill.Activity) error {
	return l.Hook("ledger.SaveActivity", func() error { return l.Next.SaveActivity(ctx, a, was) })
}
