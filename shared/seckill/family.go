package seckill

import (
	"fmt"
	"slices"
)

const anotherWindow = "item %s of the family has another: variants are sold at the same time"

// Fits returns why both items cannot be variants of one family, by the field at fault, or "" if they can.
func (it *Item) Fits(other *Item) (field, why string) {
	a, b := &it.Variant, &other.Variant
	same := func(x, y Option) bool { return x.Name == y.Name }
	switch {
	case !slices.EqualFunc(a.Options, b.Options, same):
		return "options", fmt.Sprintf("item %s of the family has the options %s: want the same names in the same "+
			"order", other.ID, b.Options)
	case slices.Equal(a.Options, b.Options):
		return "options", fmt.Sprintf("item %s of the family has the same: %s", other.ID, b.Options)
	case !it.Start.Equal(other.Start):
		return "start_time", fmt.Sprintf(anotherWindow, other.ID)
	case !it.End.Equal(other.End):
		return "end_time", fmt.Sprintf(anotherWindow, other.ID)
	case a.LimitSpans != b.LimitSpans:
		return "limit_spans", fmt.Sprintf("item %s of the family has %t", other.ID, b.LimitSpans)
	case a.LimitSpans && it.Limit != other.Limit:
		return "limit", fmt.Sprintf("it spans the family, and item %s has %d", other.ID, other.Limit)
	}
	return "", ""
}

// Joins returns why the item cannot be a variant beside the others of its family, by the field at fault, or "" if it
// can.
func (it *Item) Joins(members []*Item) (field, why string) {
	if len(members) >= MaxFamily {
		return "family", fmt.Sprintf("%s has %d items already, the most", it.Variant.Family, MaxFamily)
	}
	for _, other := range members {
		if field, why = it.Fits(other); why != "" {
			return field, why
		}
	}
	return "", ""
}
