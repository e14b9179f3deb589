package telemetry

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/your-org/seckill/shared/seckill"
)

// EventColdStart is counted once by every meter: a new instance.
const EventColdStart seckill.Event = "cold_starts"

// metricRefusals counts refused requests by reason.
const metricRefusals = "refusals"

// The metrics' dimensions: each additional value multiplies CloudWatch's bill. Only refusals have a reason, with the
// values in seckill.Reasons.
const (
	stepKey   = "step"
	reasonKey = "reason"
)

// Limits of CloudWatch ("PutMetricData" and "Dimension", Amazon CloudWatch API Reference), in characters.
const (
	maxNamespace = 255
	maxDimension = 1024 // characters of a dimension's value
)

// Meter sums events and writes them as one line of CloudWatch's embedded metric format, from which CloudWatch Logs
// extracts metrics without a call ("Specification: Embedded metric format", Amazon CloudWatch User Guide). It
// implements seckill.Meter and is safe for concurrent use.
type Meter struct {
	w               io.Writer
	clock           seckill.Clock
	namespace, step string // as JSON

	mu sync.Mutex
	counted
}

// counted holds the counts and gauges since the last Flush.
type counted struct {
	counts   map[seckill.Event]int
	refusals map[seckill.Reason]int
	gauges   map[string]int
}

// NewMeter returns a meter that has counted a cold start. namespace (the stack's name) separates deployments in one
// account; step is the dimension's value. It panics if either is empty or over its limit.
func NewMeter(w io.Writer, clock seckill.Clock, namespace, step string) *Meter {
	if namespace == "" || len(namespace) > maxNamespace || step == "" || len(step) > maxDimension {
		panic(fmt.Sprintf("telemetry: meter of namespace %q, step %q", namespace, step))
	}
	return &Meter{w: w, clock: clock, namespace: quote(namespace), step: quote(step),
		counted: counted{counts: map[seckill.Event]int{EventColdStart: 1}}}
}

// Count adds n to an event, until the next Flush.
func (m *Meter) Count(e seckill.Event, n int) {
	m.mu.Lock()
	add(&m.counts, e, n)
	m.mu.Unlock()
}

// Refused counts a refused request, until the next Flush.
func (m *Meter) Refused(r seckill.Reason) {
	m.mu.Lock()
	add(&m.refusals, r, 1)
	m.mu.Unlock()
}

// Gauge sets a value until the next Flush; zero is written, too.
func (m *Meter) Gauge(name string, n int) {
	m.mu.Lock()
	if m.gauges == nil {
		m.gauges = map[string]int{}
	}
	m.gauges[name] = n
	m.mu.Unlock()
}

func add[K comparable](to *map[K]int, key K, n int) {
	if n == 0 {
		return
	}
	if *to == nil {
		*to = map[K]int{}
	}
	(*to)[key] += n
}

// Flush writes the counts since the last Flush, with the context's trace as a property, and resets them. Call it at
// the end of each invocation. It omits events that were not counted, and writes nothing if there were none:
// CloudWatch bills per metric, and the sum over no data is 0. After an error the counts are kept for the next Flush.
func (m *Meter) Flush(ctx context.Context) error {
	m.mu.Lock()
	c := m.counted
	m.counted = counted{}
	m.mu.Unlock()
	if len(c.counts)+len(c.refusals)+len(c.gauges) == 0 {
		return nil
	}
	// One write, so that lines of several writers do not mix.
	if _, err := m.w.Write(m.lines(seckill.Trace(ctx), c)); err != nil {
		m.keep(c)
		return fmt.Errorf("telemetry: metrics: %w", err)
	}
	return nil
}

// keep adds back the counts that could not be written.
func (m *Meter) keep(c counted) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for e, n := range c.counts {
		add(&m.counts, e, n)
	}
	for r, n := range c.refusals {
		add(&m.refusals, r, n)
	}
	if c.gauges != nil {
		maps.Copy(c.gauges, m.gauges) // gauges set meanwhile are newer
		m.gauges = c.gauges
	}
}

// lines returns one line for all metrics with only the step, including the first reason, and one line per further
// reason, because a line has one value per dimension. A request has one reason, so each invocation of a function
// writes one line.
func (m *Meter) lines(trace string, c counted) []byte {
	reasons := slices.Sorted(maps.Keys(c.refusals))
	var first seckill.Reason
	if len(reasons) > 0 {
		first, reasons = reasons[0], reasons[1:]
	}
	b := m.line(make([]byte, 0, 512), trace, c, first)
	for _, r := range reasons {
		b = m.line(b, trace, counted{refusals: c.refusals}, r)
	}
	return b
}

// line appends the counts and gauges of c and, if reason is not "", its refusals for that reason. It builds the JSON
// by hand, because every refused purchase pays for it. Names of events, gauges and reasons are ours and need no
// quoting.
func (m *Meter) line(b []byte, trace string, c counted, reason seckill.Reason) []byte {
	events, gauges := slices.Sorted(maps.Keys(c.counts)), slices.Sorted(maps.Keys(c.gauges))
	b = append(b, `{"_aws":{"Timestamp":`...)
	b = strconv.AppendInt(b, m.clock.Now().UnixMilli(), 10)
	b = append(b, `,"CloudWatchMetrics":[`...)
	if len(events)+len(gauges) > 0 {
		b = append(append(append(b, `{"Namespace":`...), m.namespace...), `,"Dimensions":[["`+stepKey+
			`"]],"Metrics":[`...)
		for _, e := range events {
			b = append(append(append(b, `{"Name":"`...), e...), `","Unit":"Count"},`...)
		}
		for _, name := range gauges {
			b = append(append(append(b, `{"Name":"`...), name...), `","Unit":"None"},`...)
		}
		b = append(b[:len(b)-1], `]},`...)
	}
	if reason != "" {
		b = append(append(append(b, `{"Namespace":`...), m.namespace...), `,"Dimensions":[["`+stepKey+`","`+reasonKey+
			`"]],"Metrics":[`...)
		b = append(b, `{"Name":"`+metricRefusals+`","Unit":"Count"}]},`...)
	}
	b = append(b[:len(b)-1], `]},"`+stepKey+`":`...)
	b = append(b, m.step...)
	if reason != "" {
		b = append(append(append(b, `,"`+reasonKey+`":"`...), reason...), `","`+metricRefusals+`":`...)
		b = strconv.AppendInt(b, int64(c.refusals[reason]), 10)
	}
	for _, e := range events {
		b = append(append(append(b, `,"`...), e...), `":`...)
		b = strconv.AppendInt(b, int64(c.counts[e]), 10)
	}
	for _, name := range gauges {
		b = append(append(append(b, `,"`...), name...), `":`...)
		b = strconv.AppendInt(b, int64(c.gauges[name]), 10)
	}
	if trace != "" {
		b = append(append(b, `,"`+traceKey+`":`...), quote(trace)...)
	}
	return append(b, "}\n"...)
}

// quote returns a JSON string.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // cannot happen: a string always marshals
	}
	return string(b)
}

var _ seckill.Meter = (*Meter)(nil)
