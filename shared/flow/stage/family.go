package stage

import (
	"context"
	"errors"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// familyMemory is how long after its end an item still keeps others out of its family: a limit that spans the family
// would count the units of both sales.
const familyMemory = 30 * 24 * time.Hour

// misfits names the items that cannot be variants beside the others of their family, in the file or stored. Two imports
// at the same moment do not see each other.
func (f *Flow) misfits(ctx context.Context, items []seckill.Listing) (faults []ImportFault, err error) {
	families, replaced := map[string][]*seckill.Item{}, map[string]bool{}
	since := f.Clock.Now().Add(-familyMemory)
	for i := range items {
		it := &items[i].Item
		replaced[it.ID] = true
		if it.Variant.Family != "" {
			families[it.Variant.Family] = nil
			if it.End.Before(since) {
				since = it.End
			}
		}
	}
	if len(families) == 0 {
		return nil, nil
	}
	stored, err := f.Items.List(ctx, since.Add(-time.Millisecond))
	if err != nil && !errors.Is(err, seckill.ErrUnreadable) {
		return nil, err
	}
	for i := range stored {
		it := &stored[i]
		if members, ok := families[it.Variant.Family]; ok && !replaced[it.ID] {
			families[it.Variant.Family] = append(members, it)
		}
	}
	for i := range items {
		it := &items[i].Item
		if it.Variant.Family == "" {
			continue
		}
		members := families[it.Variant.Family]
		if field, why := it.Joins(members); why != "" {
			faults = append(faults, ImportFault{Item: it.ID, What: field + ": " + why, Fields: []Fault{{field, why}}})
		}
		families[it.Variant.Family] = append(members, it)
	}
	return faults, nil
}
