package audit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/your-org/seckill/shared/driver/ledger"
)

// decoder reads a row's attributes by docs/DATA.md and remembers the first malformed attribute.
type decoder struct {
	sale   *sale
	row    ledger.Row
	newest int64 // the newest schema version that this code reads of the table
	bad    string
	ours   bool // the row is about the item
}

func (d *decoder) fail(attr, want string) {
	if d.bad == "" {
		d.bad = fmt.Sprintf("attribute %s is not %s", attr, want)
	}
}

func (d *decoder) text(attr string) string {
	s, ok := d.row[attr].(string)
	if !ok || s == "" {
		d.fail(attr, "a text")
	}
	return s
}

func (d *decoder) optional(attr string) string {
	if d.row[attr] == nil {
		return ""
	}
	return d.text(attr)
}

func (d *decoder) number(attr string) int64 {
	n, ok := d.row[attr].(int64)
	if !ok {
		d.fail(attr, "a number")
	}
	return n
}

// units reads distinct numbers such as "2,3,6", in any order.
func (d *decoder) units(attr string) []int32 {
	list := d.optional(attr)
	if list == "" {
		return nil
	}
	out := make([]int32, 0, strings.Count(list, ",")+1)
	for part := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseInt(part, 10, 32)
		if err != nil || n < 1 || slices.Contains(out, int32(n)) {
			d.fail(attr, "a list of different numbers")
			continue
		}
		out = append(out, int32(n))
	}
	return out
}

// stops reads periods such as "1794362400000-1794362460000", or "1794362400000-" for a period that has not ended.
func (d *decoder) stops() (out []stop, ok bool) {
	list, ok := d.row["stops"].([]string)
	if !ok {
		d.fail("stops", "a list of times")
	}
	for _, text := range list {
		from, to, _ := strings.Cut(text, "-")
		var s stop
		var err, ended error
		s.from, err = strconv.ParseInt(from, 10, 64)
		if to != "" {
			s.to, ended = strconv.ParseInt(to, 10, 64)
		}
		if err != nil || ended != nil {
			d.fail("stops", "a list of times")
			return nil, false
		}
		out = append(out, s)
	}
	return out, ok
}

// done reports a malformed row as a finding of g. A row of a newer schema version makes g and others unknown instead.
func (d *decoder) done(g int, row string, others ...int) {
	if v, ok := d.row["v"].(int64); ok && v > d.newest {
		for _, g := range append(others, g) {
			d.sale.needs(g, "a newer seckill: %s has schema version %d", row, v)
		}
		return
	}
	if d.row["v"] == nil {
		d.fail("v", "present")
	}
	if d.bad != "" {
		d.sale.broken(g, row, "%s", d.bad)
	}
}
