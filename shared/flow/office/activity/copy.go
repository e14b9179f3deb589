package activity

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// copiedID returns the id of a copy. The same source and start always give the same id, so that a repetition finds the
// copy. In a shop of a million items, two ids of 18 digits are equal with a chance of 1 in two million.
func copiedID(of, id string, start time.Time) string {
	sum := sha256.Sum256([]byte("copy\x00" + of + "\x00" + id + "\x00" + strconv.FormatInt(start.UnixMilli(), 10)))
	const least = 100_000_000_000_000_000
	return strconv.FormatUint(least+binary.BigEndian.Uint64(sum[:])%(9*least), 10)
}

// Copy makes an activity like another one that begins at start, with copies of its items: with new ids, as much later
// or earlier, not stopped, with their whole stock, description and questions. A repetition finishes what is left and
// changes nothing that is there. Errors as Delete.
func (f *Flow) Copy(ctx context.Context, id string, start time.Time, by, from string) (Done, error) {
	source, err := f.Activities.Activity(ctx, id)
	if err != nil {
		return Done{}, err
	}
	if !source.Deleted.IsZero() {
		return Done{}, refuse("", "activity %s is deleted: undelete it first", id)
	}
	start = whole(start)
	now := whole(f.Clock.Now())
	if !start.After(now) {
		return Done{}, refuse("start", "%s: the copy must begin in the future", start.Format(time.RFC3339))
	}
	next := seckill.Activity{ID: copiedID("activity", id, start), Title: source.Title, Start: start,
		End: start.Add(source.End.Sub(source.Start)), Version: 1, MadeBy: by, MadeFrom: from, Made: now}
	if err := next.Check(); err != nil {
		return Done{}, err
	}
	there, err := f.Activities.Activity(ctx, next.ID)
	if err == nil && !there.Deleted.IsZero() {
		return Done{}, refuse("start", "activity %s is the copy of %s from then on, and is deleted: undelete it, or "+
			"take another start", there.ID, id)
	}
	if err == nil {
		return Done{Before: there, After: there}, nil // the activity is written last
	}
	if !errors.Is(err, seckill.ErrNoActivity) {
		return Done{}, err
	}
	made := 0
	for _, item := range source.Items {
		copied, is, err := f.copyItem(ctx, item, &source, start, now)
		if err != nil {
			return Done{Items: made}, fmt.Errorf("item %s: %w", item, err)
		}
		if is {
			made++
		}
		next.Items = append(next.Items, copied)
	}
	done, err := f.write(ctx, next.ID, func(old *seckill.Activity) (seckill.Activity, error) {
		if old != nil { // another call has made it meanwhile
			return *old, nil
		}
		return next, nil
	})
	done.Items = made
	return done, err
}

// copyItem copies one item unless its copy is there, and reports whether it made the copy.
func (f *Flow) copyItem(ctx context.Context, id string, from *seckill.Activity, start, now time.Time) (copied string,
	made bool, err error) {
	it, err := f.Items.Get(ctx, id)
	if err != nil {
		return "", false, err
	}
	d, err := f.Items.Description(ctx, id, it.Described)
	if err != nil {
		return "", false, err
	}
	asked, err := f.Questions.Questions(ctx, id)
	if err != nil {
		return "", false, err
	}
	shift := start.Sub(from.Start)
	next := seckill.Item{ID: copiedID(from.ID, id, start), Commodity: it.Commodity, Price: it.Price,
		Start: it.Start.Add(shift), End: it.End.Add(shift), CreateTime: now, Stock: it.Stock, Limit: it.Limit,
		Buckets: seckill.BucketsFor(it.Stock), Checks: it.Checks, Variant: it.Variant, Version: 1}
	if it.Variant.Family != "" { // a limit that spans it counts the units of one sale
		next.Variant.Family = copiedID(from.ID, "family "+it.Variant.Family, start)
	}
	_, err = f.Items.Get(ctx, next.ID)
	if err == nil || !errors.Is(err, seckill.Refuse(seckill.CodeItemUnknown)) {
		return next.ID, false, err
	}
	for _, q := range asked { // before the item: no item is without its questions
		if err := f.Questions.PutQuestion(ctx, next.ID, q); err != nil {
			return "", false, err
		}
	}
	err = f.Items.Put(ctx, next, &d)
	if errors.Is(err, seckill.ErrStateChanged) { // another call has made it meanwhile
		return next.ID, false, nil
	}
	return next.ID, true, err
}
