package plan

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// This file compares the model of arrivals with a crowd of `seckill load` at a `seckill run`. That is one process
// without throttles and instances, so calls queue instead of being retried. The parts of the model about AWS stay
// unchecked.

// Costs are the costs of work, in processor seconds, on one machine that runs both sale and crowd.
type Costs struct {
	Cores   float64
	Call    float64 // a call, the caller's part included
	Reserve float64 // reserving units in the embedded stock, in addition to the call
	Place   float64 // placing an order: message, rows, confirmation
	Sign    float64 // signing a pay string, in addition to the call
}

// Machine is the machine of docs/PERFORMANCE.md. Call was measured with a crowd that it does not predict (10,000
// shoppers for 50 units, November 2026): 62 µs in the sale's process and 53 µs in the crowd's. The others are
// benchmarks.
var Machine = Costs{Cores: 2, Call: 115e-6, Reserve: 25e-6, Place: 60e-6, Sign: 1.7e-3}

// Figures are the compared figures. Times are seconds after the first press.
type Figures struct {
	SellOut       float64 `json:"sell_out_s"` // first sold_out answer; 0: none
	AnsweredAfter float64 `json:"answered_per_second_after_sell_out"`
	LastAnswer    float64 `json:"last_answer_s"`
	LongestWait   float64 `json:"longest_wait_s"` // for an answer to a press
	Placed        float64 `json:"placed_per_second"`
	LastPlaced    float64 `json:"last_placed_s"`
}

// Load is the part of a crowd's report (`seckill load --json`) that a comparison needs.
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
		return nil, fmt.Errorf("not a report of seckill load: %w", err)
	}
	var err error
	if l.ramp, err = time.ParseDuration(l.Options.Ramp); err != nil || l.Options.Shoppers < 1 || l.Options.Count < 1 ||
		l.Stock < 1 || l.Options.Shoppers > MaxShoppers {
		return nil, fmt.Errorf("not a report of seckill load: %d shoppers, %d units, ramp %q", l.Options.Shoppers,
			l.Stock,
			l.Options.Ramp)
	}
	return &l, nil
}

// Measured returns the crowd's figures.
func (l *Load) Measured() Figures {
	f := Figures{SellOut: l.Rates.SellOut, AnsweredAfter: l.Rates.AnsweredAfter, LastAnswer: l.Rates.LastAnswer,
		Placed: l.Rates.Placed, LastPlaced: l.Rates.LastPlaced}
	for _, o := range l.Outcomes {
		f.LongestWait = max(f.LongestWait, o.Max/1000)
	}
	return f
}

// calls are the calls of one tick that wait in the queue.
type calls struct {
	at          float64
	press, look float64 // look: at an order that has been placed
}

// pollFirst is a page's delay after the answer "queued", s (web/src/core.js).
const pollFirst = 0.5

// Predict simulates the crowd at one process that serves calls in order. A shopper with an order looks at it at once,
// sees it queued, and looks again after pollFirst.
func (l *Load) Predict(c Costs) (f Figures) {
	const tick = 0.001
	s := Sale{Shoppers: l.Options.Shoppers, First: 1, Within: l.ramp, Rest: time.Second}
	left := math.Floor(float64(l.Stock) / float64(l.Options.Count))
	orders := min(left, float64(s.Shoppers))
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
			if n := min(now.look, work/(c.Call+c.Sign)); n > 0 {
				now.look -= n
				work -= n * (c.Call + c.Sign)
				seen += n
				f.LastPlaced = t
			}
			if n := min(now.press, left, work/(2*c.Call+c.Reserve+c.Place)); n > 0 {
				now.press -= n
				left -= n
				work -= n * (2*c.Call + c.Reserve + c.Place) // including the first look
				due = append(due, calls{at: t + pollFirst, look: n})
				f.LastAnswer, f.LongestWait = t, max(f.LongestWait, t-now.at)
			} else if n := min(now.press, work/c.Call); left <= 1e-9 && n > 0 {
				if f.SellOut == 0 {
					f.SellOut, after = t, seen
				}
				now.press -= n
				work -= n * c.Call
				f.LastAnswer, f.LongestWait = t, max(f.LongestWait, t-now.at)
				f.AnsweredAfter += n + seen - after
				after = seen
			}
			if now.press > 1e-9 || now.look > 1e-9 {
				continue // more of these calls, or the tick's work is used up
			}
			line = line[1:]
		}
		if came >= float64(s.Shoppers) && len(line)+len(due) == 0 {
			break
		}
	}
	f.AnsweredAfter /= max(f.LastAnswer-f.SellOut, tick)
	if f.SellOut == 0 {
		f.AnsweredAfter = 0
	}
	f.Placed = orders / f.LastPlaced
	return f
}

// Compare prints prediction and measurement.
func (l *Load) Compare(w io.Writer, c Costs) error {
	p, m := l.Predict(c), l.Measured()
	var b strings.Builder
	b.WriteString(text("%d shoppers, %d units, %d per order, ramp %s; %.0f cores, %.0f µs per call\n",
		l.Options.Shoppers, l.Stock, l.Options.Count, l.Options.Ramp, c.Cores, c.Call*1e6))
	b.WriteString(text("%-43s %12s %12s %8s\n", "", "predicted", "measured", "ratio"))
	for _, r := range []struct {
		what, format string
		p, m         float64
	}{
		{"sold out after, s", "%.2f", p.SellOut, m.SellOut},
		{"answered per second after that", "%.0f", p.AnsweredAfter, m.AnsweredAfter},
		{"last press answered after, s", "%.2f", p.LastAnswer, m.LastAnswer},
		{"longest wait for an answer, s", "%.2f", p.LongestWait, m.LongestWait},
		{"orders placed per second, as pages see them", "%.0f", p.Placed, m.Placed},
		{"last order seen placed after, s", "%.2f", p.LastPlaced, m.LastPlaced},
	} {
		ratio := "-"
		if r.p > 0 && r.m > 0 {
			ratio = text("%.2f", r.m/r.p)
		}
		b.WriteString(text("%-43s %12s %12s %8s\n", r.what, text(r.format, r.p), text(r.format, r.m), ratio))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
