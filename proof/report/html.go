package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"zh": inChinese}).Parse(pageText))

// WriteHTML writes a checked report as one page, in English and Chinese, without scripts and without anything from
// elsewhere.
func WriteHTML(w io.Writer, c *Checked) error {
	type item struct {
		Tables []Table
		Curves []curve
		From   string
		Until  string
		Units  int
	}
	view := struct {
		*Checked
		MadeAt string
		OK     bool
		Sales  []item
	}{Checked: c, MadeAt: when(c.Made), OK: c.OK()}
	for i := range c.Items {
		s := &c.Items[i]
		it := item{Tables: s.Tables()}
		if n := len(s.Minutes); n > 0 {
			it.From, it.Until = when(s.Minutes[0].Minute), when(s.Minutes[n-1].Minute)
			it.Curves, it.Units = s.curves()
		}
		view.Sales = append(view.Sales, it)
	}
	return pageTemplate.Execute(w, view)
}

// The curves' area, in the units of the page's viewBox.
const width, height = 600, 180

// maxPoints bounds a curve's points: more than pixels show nothing.
const maxPoints = 1200

// curve is a line of units that rises over time.
type curve struct {
	Name, Points string
	Last         int
}

// curves returns how many units were placed, paid and given back up to each minute, and the largest of these numbers.
func (s *ItemState) curves() (list []curve, most int) {
	list = []curve{{Name: "placed"}, {Name: "paid"}, {Name: "given-back"}}
	values := make([][3]int, len(s.Minutes))
	var so [3]int
	for i, m := range s.Minutes {
		so = [3]int{so[0] + m.Placed, so[1] + m.Paid, so[2] + m.GivenBack}
		values[i] = so
	}
	most = max(so[0], so[1], so[2], 1)
	from := s.Minutes[0].Minute
	span := max(s.Minutes[len(s.Minutes)-1].Minute.Sub(from), time.Minute)
	step := max(1, len(values)/maxPoints)
	for k := range list {
		var b strings.Builder
		y := height
		fmt.Fprintf(&b, "0,%d", y)
		for i := 0; i < len(values); i += step {
			i := i
			if i+step >= len(values) {
				i = len(values) - 1
			}
			x := int(int64(width) * int64(s.Minutes[i].Minute.Sub(from)) / int64(span))
			fmt.Fprintf(&b, " %d,%d", x, y)
			y = height - height*values[i][k]/most
			fmt.Fprintf(&b, " %d,%d", x, y)
		}
		fmt.Fprintf(&b, " %d,%d", width, y)
		list[k].Points, list[k].Last = b.String(), so[k]
	}
	return list, most
}
