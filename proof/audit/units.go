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
	s.users[s.userOf(holder)].units++
	i, _ := s.orderOf(id)
	if i < 0 {
		s.broken(i3, row, "names %s", s.nameOf(id))
		return
	}
	o := s.orders[i]
	o.rows++
	if s.buyer(o) != holder {
		s.broken(i3, row, "names user %s, but its order %s is user %s's", holder, o.id, s.buyer(o))
	}
	if n < 1 || n > s.item.stock {
		return
	}
	if other := s.owner[n]; other != 0 {
		s.broken(i1, row, "names order %s, but another row of the unit names order %s", o.id, s.orders[other-1].id)
		return
	}
	s.owner[n] = i + 1
	if s.lister[n] != i+1 {
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
	u := &s.users[s.userOf(name)]
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
		i, _ := s.orderOf(id)
		switch {
		case i < 0:
			s.broken(i2, row, "lists %s", s.nameOf(id))
		case s.buyer(s.orders[i]) != name:
			s.broken(i2, row, "lists order %s, which is user %s's", id, s.buyer(s.orders[i]))
		default:
			s.orders[i].quota = int32(n)
		}
	}
	newest := d.text("newest")
	if i, _ := s.orderOf(newest); newest != "" && i < 0 {
		s.broken(i2, row, "has as newest %s", s.nameOf(newest))
	} else if i >= 0 && s.buyer(s.orders[i]) != name {
		s.broken(i2, row, "has as newest order %s, which is user %s's", newest, s.buyer(s.orders[i]))
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
	for i := range s.orders {
		holding += s.checkHolder(s.orders[i], int32(i+1))
	}
	s.looked(i1, holding, "orders that hold units")
	s.looked(i3, len(s.orders), "orders")
	if s.use(i2, ledger.TableQuotas) {
		s.checkQuotas()
	}
}

// checkHolder checks I3 from the order's side, and the order's entry in the quota row. It returns 1 for an order that
// holds units, else 0.
func (s *sale) checkHolder(o *order, index int32) int {
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
		if int(n) <= s.item.stock && s.owner[n] != index {
			s.broken(i3, row, "lists unit %d, whose row %s", n, s.rowOf(n))
		}
	}
	return 1
}

func (s *sale) rowOf(n int32) string {
	if i := s.owner[n]; i != 0 {
		return "names order " + s.orders[i-1].id
	}
	return "is missing"
}

// checkQuotas checks I2.
func (s *sale) checkQuotas() {
	for i := range s.users {
		u := &s.users[i]
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
