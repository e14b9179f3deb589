package crowd

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
)

var (
	//go:embed page/report.html
	pageHTML string
	//go:embed page/report.css
	pageCSS string
	//go:embed page/report.js
	pageJS string
	// uPlot is by Leon Sorokin, under the MIT licence beside it; the file's first line says so in every report.
	//go:embed page/uplot-1.6.32/uPlot.iife.min.js
	chartJS string
	//go:embed page/uplot-1.6.32/uPlot.min.css
	chartCSS string
	//go:embed page/uplot-1.6.32/LICENSE
	chartLicence string
)

var page = template.Must(template.New("report").Funcs(template.FuncMap{"ms": ms}).Parse(pageHTML))

// tile is a figure to see first.
type tile struct {
	Value, Label string
	Bad          bool
}

// bar is a row of a bar chart.
type bar struct {
	Label, Class string
	Value        int64
	Percent      float64
}

// pageParts are what the page needs besides the report.
type pageParts struct {
	CSS, ChartCSS  template.CSS
	JS, ChartJS    template.JS
	Data           any
	Text           string
	Tiles          []tile
	Funnel, Causes []bar
}

// HTML writes the report as one page with pictures that needs nothing else, no network either.
func (r *Report) HTML(w io.Writer) error {
	var text strings.Builder
	if err := r.Text(&text); err != nil {
		return err
	}
	parts := pageParts{CSS: template.CSS(pageCSS), ChartCSS: template.CSS(chartCSS), JS: template.JS(pageJS),
		ChartJS: template.JS("/*\n" + chartLicence + "*/\n" + chartJS), Text: text.String(),
		Data:  map[string]any{"series": r.Series, "latencies": append([]Histogram{}, r.Latencies...)},
		Tiles: r.tiles(), Funnel: r.funnel(), Causes: r.causes()}
	return page.Execute(w, struct {
		*Report
		Page pageParts
	}{r, parts})
}

func (r *Report) tiles() []tile {
	seconds := func(v float64) string {
		if v == 0 {
			return "–"
		}
		return fmt.Sprintf("%.2f s", v)
	}
	figure := func(v float64) string {
		if v == 0 {
			return "–"
		}
		return fmt.Sprintf("%.0f", v)
	}
	failures := r.Count(string(failed))
	out := []tile{
		{fmt.Sprint(r.Count(string(placed))), "orders placed", false},
		{figure(r.Rates.Placed), fmt.Sprintf("placed per second, over the first %d", r.Rates.FirstOrders), false},
		{seconds(r.Rates.SellOutSeconds), "to the first “sold out”", false},
		{fmt.Sprint(r.Orders.Paid), "orders paid", false},
		{figure(r.Rates.Answered), "requests answered per second, refusals included", false},
		{fmt.Sprint(failures), "shoppers without an answer", failures > 0},
	}
	if r.Server.Known {
		out = append(out, tile{mib(r.Server.PeakRSS), "memory of the run, at most", false},
			tile{fmt.Sprintf("%.1f s", r.Server.CPUSeconds), "processor time of the run", false})
	}
	return out
}

// funnel is how far the shoppers came.
func (r *Report) funnel() []bar {
	o := &r.Orders
	answered := int64(r.Arrived) - r.Count(string(failed)) - r.Count(string(brokenOff))
	all := []bar{
		{"came", "sold", int64(r.Arrived), 0},
		{"had an answer", "sold", answered, 0},
		{"were accepted", "good", r.Count(string(placed)) + r.Count(string(accepted)) + r.Count(string(rejected)), 0},
		{"had an order placed", "good", int64(o.Placed), 0},
		{"paid", "paid", int64(o.Paid), 0},
	}
	for i := range all {
		all[i].Percent = percent(all[i].Value, int64(r.Arrived))
	}
	return all
}

// causes are the outcomes that are no order.
func (r *Report) causes() (out []bar) {
	classes := map[string]string{string(soldOut): "warn", string(refused): "paid", string(rejected): "paid",
		string(failed): "bad", string(brokenOff): "bad"}
	for _, x := range r.Outcomes {
		if class := classes[x.Name]; class != "" {
			out = append(out, bar{x.Words(), class, x.Count, percent(x.Count, int64(r.Arrived))})
		}
	}
	return out
}

func percent(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}
