package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

// The table activities has two kinds of rows: activities, and for each item in an activity a row that names it.
const (
	activityPrefix = "activity#"
	memberPrefix   = "item#"
	allActivities  = "all" // the index's only partition: staff read it, and stage each minute
)

func activityKey(id string) Key { return Key{Table: TableActivities, PK: activityPrefix + id} }
func memberKey(item string) Key { return Key{Table: TableActivities, PK: memberPrefix + item} }

// Activity implements seckill.Activities in one read.
func (l *Ledger) Activity(ctx context.Context, id string) (seckill.Activity, error) {
	return get(ctx, l, "activity "+id, activityKey(id), seckill.ErrNoActivity, decodeActivity)
}

// ActivitiesOf implements seckill.Activities in one read for each hundred items.
func (l *Ledger) ActivitiesOf(ctx context.Context, items []string) (map[string]string, error) {
	in := map[string]string{}
	for part := range slices.Chunk(items, MaxBatch) {
		keys := make([]Key, len(part))
		for i, item := range part {
			keys[i] = memberKey(item)
		}
		rows, err := l.rows.GetBatch(ctx, keys)
		if err != nil {
			return nil, fmt.Errorf("ledger: activities of items: %w", err)
		}
		for _, row := range rows {
			d := decode(TableActivities, row)
			in[strings.TrimPrefix(d.text("id"), memberPrefix)] = d.text("activity")
			if d.err != nil {
				return nil, d.err
			}
		}
	}
	return in, nil
}

// ListActivities implements seckill.Activities.
func (l *Ledger) ListActivities(ctx context.Context, after string, limit int) (seckill.Page[seckill.Activity], error) {
	rows, next, err := l.rows.Index(ctx, IndexActivitiesListed, allActivities, after, limit, true)
	if err != nil {
		return seckill.Page[seckill.Activity]{}, fmt.Errorf("ledger: activities: %w", err)
	}
	return page(rows, next, decodeActivity), nil
}

// SaveActivity implements seckill.Activities in one transaction: the activity's row, and a row for each item that
// moves.
func (l *Ledger) SaveActivity(ctx context.Context, a seckill.Activity, was *seckill.Activity) error {
	if err := a.Check(); err != nil {
		return err
	}
	first, held := Absent(), []string(nil)
	if was != nil {
		first, held = Eq("version", was.Version), was.Members()
	}
	if was == nil && a.Version != 1 || was != nil && (was.ID != a.ID || a.Version != was.Version+1) {
		return seckill.ErrStateChanged
	}
	writes := []Write{{Key: activityKey(a.ID), Op: OpPut, Row: encodeActivity(&a), If: []Cond{first}}}
	var comes []string
	for _, item := range a.Members() {
		if !slices.Contains(held, item) {
			comes = append(comes, item)
			writes = append(writes, Write{Key: memberKey(item), Op: OpPut,
				Row: Row{"v": Version, "activity": a.ID}, If: []Cond{Absent()}})
		}
	}
	for _, item := range held {
		if !slices.Contains(a.Members(), item) {
			writes = append(writes, Write{Key: memberKey(item), Op: OpDelete, If: []Cond{Eq("activity", a.ID)}})
		}
	}
	if len(writes) > MaxWrites {
		return seckill.Invalid("items", fmt.Sprintf("at most %d that come or go in one save", MaxWrites-1))
	}
	c, err := l.transact(ctx, "save activity "+a.ID, writes)
	switch {
	case c == nil:
		return err
	case c.failed(0):
		return seckill.ErrStateChanged
	}
	for i, item := range comes {
		if c.failed(i + 1) {
			other, _ := c.Reasons[i+1].Old["activity"].(string)
			return &seckill.ItemTaken{Item: item, Activity: other}
		}
	}
	return fmt.Errorf("ledger: save activity %s: %w", a.ID, c)
}

var activityCodec = &codec[seckill.Activity]{table: TableActivities, more: 2}

func encodeActivity(a *seckill.Activity) Row {
	row := activityCodec.encode(a, 0)
	row["list"], row["end_id"] = allActivities, timeKey(a.End)+"#"+a.ID
	if a.Resumes != nil { // an empty list says something, too
		row["resumes"] = slices.Clone(a.Resumes)
	}
	return row
}

func decodeActivity(row Row) (seckill.Activity, error) {
	a, err := activityCodec.decode(row)
	a.ID = strings.TrimPrefix(a.ID, activityPrefix)
	return a, err
}
