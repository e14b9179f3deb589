package audit

import (
	"strconv"
	"strings"

	"github.com/your-org/seckill/shared/driver/ledger"
)

// unitDigits is the length of a unit's number in its row's key.
const unitDigits = 7

// addUnit adds a unit row and checks I1, and what the row alone shows of I3.
func (s *sale) addUnit(d *decoder) {
	bucket, unit := d.text("bucket"), d.text("unit")
	of, place, ok := strings.Cut(bucket, "#")
	if ok && of != s.id {
		return
	}
	d.ours = true
	row := "units " + bucket + "/" + unit
	if !ok {
		d.fail("bucket", "item#number")
	}
	n, err := strconv.Atoi(unit)
	if err != nil || len(unit) != unitDigits {
		d.fail("unit", "a number of 7 digits")
	}
	id, holder := d.text("order"), d.text("user")
	if d.done(i3, row, i1, i2, i6, i8, l3); d.bad != "" {
		return
	}
	if n < 1 || n > s.item.stock {
		s.broken(i3, row, "is outside 1..%d", s.item.stock)
	} else if b, err := strconv.Atoi(place); err != nil || b != n%max(s.item.buckets, 1) {
		s.broken(i3, row, "is in the wrong bucket for unit %d of %d buckets", n, s.item.buckets)
	}
	s.userOf(holder).units++
	o := s.byID[id]
	if o == nil {
		s.broken(i3, row, "names %s", s.nameOf(id))
		return
	}
	o.rows++
	if o.user.id != holder {
		s.broken(i3, row, "names user %s, but its order %s is user %s's", holder, o.id, o.user.id)
	}
	if n < 1 || n > s.item.stock {
		return
	}
	if other := s.owner[n]; other != nil {
		s.broken(i1, row, "names order %s, but another row of the unit names order %s", o.id, other.id)
		return
	}
	s.owner[n] = o
	if s.lister[n] != o {
		s.broken(i3, row, "names order %s (%s), which does not list it", o.id, o.state)
	}
}

// addQuota adds a quota row and checks I2. checkHolder compares it with the unit rows.
func (s *sale) addQuota(d *decoder) {
	of, _ := d.row["item"].(string)
	if family, is := strings.CutPrefix(of, spanPrefix); is && family == s.item.span {
		s.addSpanQuota(d)
	}
	if of != s.id {
		return
	}
	d.ours = true
	name := d.text("user")
	row := "quotas " + name + "/" + s.id
	u := s.userOf(name)
	u.quota = 0
	if d.row["units"] != nil {
		u.quota = d.number("units")
	}
	entries, ok := d.row["orders"].(ledger.Set)
	if !ok && d.row["orders"] != nil {
		d.fail("orders", "a set of texts")
	}
	for _, e := range entries {
		id, count, _ := strings.Cut(e, ":")
		n, err := strconv.ParseInt(count, 10, 32)
		if err != nil {
			d.fail("orders", "a set of order:count")
			continue
		}
		switch o := s.byID[id]; {
		case o == nil:
			s.broken(i2, row, "lists %s", s.nameOf(id))
		case o.user.id != name:
			s.broken(i2, row, "lists order %s, which is user %s's", id, o.user.id)
		default:
			o.quota = int32(n)
		}
	}
	newest := d.text("newest")
	if o := s.byID[newest]; newest != "" && o == nil {
		s.broken(i2, row, "has as newest %s", s.nameOf(newest))
	} else if o != nil && o.user.id != name {
		s.broken(i2, row, "has as newest order %s, which is user %s's", newest, o.user.id)
	}
	d.done(i2, row)
}

// checkUnits checks what needs all rows: I1, I2 and I3.
func (s *sale) checkUnits() {
	rows := s.read[ledger.TableUnits]
	for _, g := range []int{i1, i2, i3} {
		if s.use(g, ledger.TableOrders, ledger.TableUnits) {
			s.looked(g, rows, "unit rows")
		}
	}
	if !s.whole[ledger.TableOrders] || !s.whole[ledger.TableUnits] {
		return
	}
	holding := 0
	for _, o := range s.orders {
		holding += s.checkHolder(o)
	}
	s.looked(i1, holding, "orders that hold units")
	s.looked(i3, len(s.orders), "orders")
	if s.use(i2, ledger.TableQuotas) {
		s.checkQuotas()
	}
}

// checkHolder checks I3 from the order's side, and the order's entry in the quota row. It returns 1 for an order that
// holds units, else 0.
func (s *sale) checkHolder(o *order) int {
	row := "orders " + o.id
	if s.whole[ledger.TableQuotas] && o.quota != o.rows {
		s.broken(i2, row, "has %d unit rows, but its user's quota row counts %d for it", o.rows, o.quota)
	}
	may, holds := o.state.MayHold(len(o.units), int(o.count)), info[o.state].Holds
	switch {
	case !may && holds:
		s.broken(i3, row, "of %d units lists %d", o.count, len(o.units))
	case !may:
		s.broken(i3, row, "is %s but lists units %v", o.state, o.units)
	}
	if !holds && (!may || len(o.units) == 0) {
		return 0
	}
	for _, n := range o.units {
		if int(n) <= s.item.stock && s.owner[n] != o {
			s.broken(i3, row, "lists unit %d, whose row %s", n, s.rowOf(n))
		}
	}
	return 1
}

func (s *sale) rowOf(n int32) string {
	if o := s.owner[n]; o != nil {
		return "names order " + o.id
	}
	return "is missing"
}

// checkQuotas checks I2.
func (s *sale) checkQuotas() {
	for _, u := range s.users {
		row := "quotas " + u.id + "/" + s.id
		if int(u.units) > s.item.limit {
			s.broken(i2, row, "the user holds %d units, but the limit is %d", u.units, s.item.limit)
		}
		switch {
		case u.quota < 0 && u.units > 0:
			s.broken(i2, row, "is missing, but the user holds %d units", u.units)
		case u.quota >= 0 && u.quota != int64(u.units):
			s.broken(i2, row, "counts %d units, but the user holds %d", u.quota, u.units)
		}
	}
	s.checkSpans()
	s.looked(i2, s.read[ledger.TableQuotas], "quota rows")
}
