package repair

import (
	"context"
	"maps"

	"github.com/your-org/seckill/shared/seckill"
)

// drift compares the stock with the ledger, unit by unit and user by user, and corrects the differences. Each
// comparison reads the stock before the ledger, and the correction applies only if the stock is unchanged. If it read
// the ledger first, a unit that is sold in between would be freed.
func (f *Flow) drift(ctx context.Context, it seckill.Item) error {
	token := f.IDs.Token()
	pass, err := f.Stock.DriftBegin(ctx, it.ID, token)
	if err != nil {
		return err
	}
	// The stock may have lost N, too; "no unit left" is decided by it.
	if err := f.Stock.Assert(ctx, it); err != nil {
		return err
	}
	for b := range it.Buckets {
		if err := f.driftBucket(ctx, it, b); err != nil {
			return err
		}
	}
	for cursor := uint64(0); ; {
		page, next, err := f.Stock.Users(ctx, it.ID, cursor)
		if err != nil {
			return err
		}
		if err := f.driftUsers(ctx, it.ID, page); err != nil {
			return err
		}
		if cursor = next; cursor == 0 {
			break
		}
	}
	return f.Stock.DriftEnd(ctx, it.ID, token, pass)
}

func (f *Flow) driftBucket(ctx context.Context, it seckill.Item, bucket int) error {
	seen, err := f.Stock.Scan(ctx, it.ID, bucket, it.Buckets)
	if err != nil {
		return err
	}
	rows, err := f.Ledger.Units(ctx, it.ID, bucket)
	if err != nil {
		return err
	}
	owners := make(map[int]seckill.UnitRow, len(rows))
	for _, r := range rows {
		owners[r.Unit] = r
	}
	for _, s := range seen {
		own, owned := owners[s.Unit]
		delete(owners, s.Unit)
		switch {
		case s.Holder != "" && (s.Awaiting || s.Holder == own.Order):
			continue
		case s.Holder == "" && s.Free && !owned:
			continue
		}
		if err := f.correct(ctx, it.ID, seckill.Correction{Unit: s.Unit, Holder: s.Holder, Owner: own.Order,
			User: own.User}); err != nil {
			return err
		}
	}
	for _, r := range rows { // above high-water: sold, but the stock does not know
		if _, left := owners[r.Unit]; left {
			if err := f.correct(ctx, it.ID, seckill.Correction{Unit: r.Unit, Owner: r.Order,
				User: r.User}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *Flow) correct(ctx context.Context, item string, c seckill.Correction) error {
	changed, err := f.Stock.Correct(ctx, item, c)
	if changed {
		f.Meter.Count(seckill.EventDrift, 1)
	}
	return err
}

func (f *Flow) driftUsers(ctx context.Context, item string, page []seckill.UserEntries) error {
	var users []string
	for _, u := range page {
		if !u.Busy {
			users = append(users, u.User)
		}
	}
	quotas := map[string]seckill.Quota{}
	for len(users) > 0 {
		n := min(len(users), seckill.MaxQuotas)
		part, err := f.Ledger.Quotas(ctx, item, users[:n])
		if err != nil {
			return err
		}
		maps.Copy(quotas, part)
		users = users[n:]
	}
	for _, u := range page {
		want := quotas[u.User].Orders
		if u.Busy || maps.Equal(u.Orders, want) {
			continue
		}
		changed, err := f.Stock.CorrectUser(ctx, item, u, want)
		if err != nil {
			return err
		}
		if changed {
			f.Meter.Count(seckill.EventDrift, 1)
		}
	}
	return nil
}
