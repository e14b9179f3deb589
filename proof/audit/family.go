package audit

import (
	"maps"
	"slices"
	"strconv"

	"github.com/your-org/seckill/shared/driver/ledger"
)

// spanPrefix begins the sort key of a quota row of a family.
const spanPrefix = "family#"

// span is what a user holds of all items of the family that the item's limit spans.
type span struct {
	held   int    // units, by orders
	holds  uint64 // sum of the hashes of the entries that these orders should have
	quota  int64  // by the quota row; -1 means no row
	listed uint64 // sum of the hashes of the entries that it has
}

func (s *sale) spanOf(user string) *span {
	if s.spans[user] == nil {
		s.spans[user] = &span{quota: -1}
	}
	return s.spans[user]
}

// addSpan adds the units of an order of this item, or of another item of the family.
func (s *sale) addSpan(d *decoder, id string) {
	if family, _ := d.row["span"].(string); family == "" || family != s.item.span {
		return
	}
	user, _ := d.row["user"].(string)
	if n := len(d.units("units")); n > 0 {
		u := s.spanOf(user)
		u.held += n
		u.holds += hashOf(id + ":" + strconv.Itoa(n))
	}
}

// addSpanQuota adds the quota row of the family.
func (s *sale) addSpanQuota(d *decoder) {
	d.ours = true
	name := d.text("user")
	u := s.spanOf(name)
	u.quota = d.number("units")
	entries, ok := d.row["orders"].(ledger.Set)
	if !ok && d.row["orders"] != nil {
		d.fail("orders", "a set of texts")
	}
	for _, e := range entries {
		u.listed += hashOf(e)
	}
	d.done(i2, "quotas "+name+"/"+spanPrefix+s.item.span)
}

// checkSpans checks I2 for a limit that spans a family.
func (s *sale) checkSpans() {
	if s.item.span == "" {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.spans)) {
		u := s.spans[name]
		row := "quotas " + name + "/" + spanPrefix + s.item.span
		if u.held > s.item.limit {
			s.broken(i2, row, "the user holds %d units of the family's items, but the limit is %d", u.held,
				s.item.limit)
		}
		switch {
		case u.quota < 0:
			s.broken(i2, row, "is missing, but the user holds %d units of the family's items", u.held)
		case u.quota != int64(u.held) || u.listed != u.holds:
			s.broken(i2, row, "counts %d units, or lists other orders than those that hold the user's %d", u.quota,
				u.held)
		}
	}
	s.note(i2, "the limit spans family %s: %d users who hold its items, or did", s.item.span, len(s.spans))
}
