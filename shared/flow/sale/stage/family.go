package stage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// misfits names the items that cannot be variants beside the others of their family, in the file or stored, however
// long ago these ended: the quota of a family outlives its sale. Two imports at the same moment do not see each other.
func (f *Flow) misfits(ctx context.Context, items []seckill.Listing) (faults []ImportFault, err error) {
	families, replaced := map[string][]*seckill.Item{}, map[string]bool{}
	for i := range items {
		it := &items[i].Item
		replaced[it.ID] = true
		if it.Variant.Family != "" {
			families[it.Variant.Family] = nil
		}
	}
	if len(families) == 0 {
		return nil, nil
	}
	stored, err := f.Items.List(ctx, time.Time{})
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
		field, why := it.Joins(members)
		if len(stored) >= seckill.MaxItems { // the list may lack members
			field, why = "family", fmt.Sprintf("a shop with %d items or more takes no variants: it cannot list all "+
				"items of a family", seckill.MaxItems)
		}
		if why != "" {
			faults = append(faults, ImportFault{Item: it.ID, What: field + ": " + why, Fields: []Fault{{field, why}}})
		}
		families[it.Variant.Family] = append(members, it)
	}
	return faults, nil
}
