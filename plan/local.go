package plan

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"
)

// The crowd's arrivals and the order of work are checked here, where `seckill load` can be run against `seckill run`:
// one process, which has neither an API that throttles nor instances, so that calls wait in line instead of coming
// again. What only AWS has stays unchecked.

// Costs is what work costs on one machine that runs the sale and the crowd, in seconds of a processor.
type Costs struct {
	Cores   float64
	Call    float64 // a call, its caller's part included
	Reserve float64 // on top of it, units from the embedded stock
	Place   float64 // an order: message, rows, confirmed reservation
	Sign    float64 // the pay string that a page gets with its order, on top of the call
}

// Machine is the one of docs/PERFORMANCE.md. Call was measured in another crowd than those that it predicts (10,000
// shoppers for 50 units, November 2026): 62 µs in the sale's process and 53 µs in the crowd's; the others are
// benchmarks.
var Machine = Costs{Cores: 2, Call: 115e-6, Reserve: 25e-6, Place: 60e-6, Sign: 1.7e-3}

// Figures are those in which prediction and measurement are compared. Times are in seconds after the first press.
type Figures struct {
	SellOut       float64 `json:"sell_out_s"` // the first who is told so; 0: nobody is
	AnsweredAfter float64 `json:"answered_per_second_after_sell_out"`
	LastAnswer    float64 `json:"last_answer_s"`
	LongestWait   float64 `json:"longest_wait_s"` // for the answer to a press
	Placed        float64 `json:"placed_per_second"`
	LastPlaced    float64 `json:"last_placed_s"`
}

// Load is a crowd's report (`seckill load --json`), as far as it is needed here.
type Load struct {
	Options struct {
		Shoppers, Count int
		Ramp            string
		Repeat          float64
	} `json:"options"`
	Stock    int `json:"stock"`
	Outcomes []struct {
		Name string  `json:"name"`
		Max  float64 `json:"max_ms"`
	} `json:"outcomes"`
	Rates struct {
		Placed        float64 `json:"placed_per_second"`
		AnsweredAfter float64 `json:"answered_after_sell_out_per_second"`
		SellOut       float64 `json:"sell_out_seconds"`
		LastPlaced    float64 `json:"first_orders_placed_seconds"`
		LastAnswer    float64 `json:"last_answer_seconds"`
	} `json:"rates"`
	ramp time.Duration
}

// ReadLoad reads a report.
func ReadLoad(r io.Reader) (*Load, error) {
	var l Load
	if err := json.NewDecoder(r).Decode(&l); err != nil {
		return nil, fmt.Errorf("no report of seckill load: %w", err)
	}
	var err error
	if l.ramp, err = time.ParseDuration(l.Options.Ramp); err != nil || l.Options.Shoppers < 1 || l.Options.Count < 1 ||
		l.Stock < 1 || l.Options.Shoppers > MaxShoppers {
		return nil, fmt.Errorf("no report of seckill load: %d shoppers, %d units, ramp %q", l.Options.Shoppers, l.Stock,
			l.Options.Ramp)
	}
	return &l, nil
}

// Measured is what the crowd met.
func (l *Load) Measured() Figures {
	f := Figures{SellOut: l.Rates.SellOut, AnsweredAfter: l.Rates.AnsweredAfter, LastAnswer: l.Rates.LastAnswer,
		Placed: l.Rates.Placed, LastPlaced: l.Rates.LastPlaced}
	for _, o := range l.Outcomes {
		f.LongestWait = math.Max(f.LongestWait, o.Max/1000)
	}
	return f
}

// calls are those that came in one tick and wait in line.
type calls struct {
	at          float64
	press, look float64 // look: at an order that is placed by then
}

// pollFirst is how long a page waits that was told "queued", s (web/core.js).
const pollFirst = 0.5

// Predict plays the crowd against one process: what comes first is done first. Who got an order looks at it at once, is
// told that it is queued, and looks again.
func (l *Load) Predict(c Costs) (f Figures) {
	const tick = 0.001
	s := Sale{Shoppers: l.Options.Shoppers, First: 1, Within: l.ramp, Rest: time.Second}
	left := math.Floor(float64(l.Stock) / float64(l.Options.Count))
	orders := math.Min(left, float64(s.Shoppers))
	var line, due []calls
	seen, came, after := 0.0, 0.0, 0.0
	for t := tick; ; t += tick {
		all := s.arrived(t)
		line = append(line, calls{at: t, press: (all - came) * (1 + l.Options.Repeat)})
		for len(due) > 0 && due[0].at <= t {
			line[len(line)-1].look += due[0].look
			due = due[1:]
		}
		came = all
		work := c.Cores * tick
		for len(line) > 0 && work > 1e-12 {
			now := &line[0]
			if n := math.Min(now.look, work/(c.Call+c.Sign)); n > 0 {
				now.look -= n
				work -= n * (c.Call + c.Sign)
				seen += n
				f.LastPlaced = t
			}
			if n := math.Min(math.Min(now.press, left), work/(2*c.Call+c.Reserve+c.Place)); n > 0 {
				now.press -= n
				left -= n
				work -= n * (2*c.Call + c.Reserve + c.Place) // with the first look
				due = append(due, calls{at: t + pollFirst, look: n})
				f.LastAnswer, f.LongestWait = t, math.Max(f.LongestWait, t-now.at)
			} else if n := math.Min(now.press, work/c.Call); left <= 1e-9 && n > 0 {
				if f.SellOut == 0 {
					f.SellOut, after = t, seen
				}
				now.press -= n
				work -= n * c.Call
				f.LastAnswer, f.LongestWait = t, math.Max(f.LongestWait, t-now.at)
				f.AnsweredAfter += n + seen - after
				after = seen
			}
			if now.press > 1e-9 || now.look > 1e-9 {
				continue // more of it, or no more work in this tick
			}
			line = line[1:]
		}
		if came >= float64(s.Shoppers) && len(line)+len(due) == 0 {
			break
		}
	}
	f.AnsweredAfter /= math.Max(f.LastAnswer-f.SellOut, tick)
	if f.SellOut == 0 {
		f.AnsweredAfter = 0
	}
	f.Placed = orders / f.LastPlaced
	return f
}

// Compare prints prediction and measurement side by side.
func (l *Load) Compare(w io.Writer, c Costs) error {
	p, m := l.Predict(c), l.Measured()
	_, err := fmt.Fprintf(w,
		"%s shoppers, %s units, %d an order, ramp %s; %.0f cores, %.0f µs a call\n%-40s %12s %12s %8s\n",
		number(float64(l.Options.Shoppers)), number(float64(l.Stock)), l.Options.Count, l.Options.Ramp, c.Cores,
		c.Call*1e6, "", "predicted", "measured", "ratio")
	row := func(what string, p, m float64, format string) {
		ratio := "-"
		if p > 0 && m > 0 {
			ratio = text("%.2f", m/p)
		}
		if err == nil {
			_, err = fmt.Fprintf(w, "%-40s %12s %12s %8s\n", what, text(format, p), text(format, m), ratio)
		}
	}
	row("sold out after, s", p.SellOut, m.SellOut, "%.2f")
	row("answered a second after that", p.AnsweredAfter, m.AnsweredAfter, "%.0f")
	row("last press answered after, s", p.LastAnswer, m.LastAnswer, "%.2f")
	row("longest wait for an answer, s", p.LongestWait, m.LongestWait, "%.2f")
	row("orders placed a second, as pages see them", p.Placed, m.Placed, "%.0f")
	row("last order seen placed after, s", p.LastPlaced, m.LastPlaced, "%.2f")
	return err
}
