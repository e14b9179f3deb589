package telemetry

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"seckill/shared/seckill"
)

// EventColdStart is counted once by every meter: a new instance.
const EventColdStart seckill.Event = "cold_starts"

// stepKey is the metrics' only dimension: each further one multiplies what CloudWatch bills.
const stepKey = "step"

// Limits of CloudWatch ("PutMetricData" and "Dimension", Amazon CloudWatch API Reference), in characters.
const (
	maxNamespace = 255
	maxDimension = 1024 // of a dimension's value
)

// Meter adds events up and writes them as one line of CloudWatch's embedded metric format, from which CloudWatch Logs makes
// metrics without a call ("Specification: Embedded metric format", Amazon CloudWatch User Guide). It implements seckill.Meter and is safe for use by several goroutines.
type Meter struct {
	w               io.Writer
	clock           seckill.Clock
	namespace, step string

	mu     sync.Mutex
	counts map[seckill.Event]int
	gauges map[string]int
}

// NewMeter makes a meter that has counted a cold start. namespace keeps deployments in one account apart (the stack's name),
// step is the dimension's value. It panics when either is empty or over its limit.
func NewMeter(w io.Writer, clock seckill.Clock, namespace, step string) *Meter {
	if namespace == "" || len(namespace) > maxNamespace || step == "" || len(step) > maxDimension {
		panic(fmt.Sprintf("telemetry: meter of namespace %q, step %q", namespace, step))
	}
	return &Meter{w: w, clock: clock, namespace: namespace, step: step, counts: map[seckill.Event]int{EventColdStart: 1}}
}

// Count adds n to an event, until the next Flush.
func (m *Meter) Count(e seckill.Event, n int) {
	m.mu.Lock()
	m.counts[e] += n
	m.mu.Unlock()
}

// Gauge notes how something stands, until the next Flush; zero counts, too.
func (m *Meter) Gauge(name string, n int) {
	m.mu.Lock()
	if m.gauges == nil {
		m.gauges = map[string]int{}
	}
	m.gauges[name] = n
	m.mu.Unlock()
}

// Flush writes what was counted since the last one, with the context's trace as a property, and begins again at zero; it
// belongs at the end of each invocation. An event that was not counted is left out, and nothing is written when none was:
// CloudWatch bills what is written, and a sum over no data is 0. After an error the counts are kept for the next Flush.
func (m *Meter) Flush(ctx context.Context) error {
	m.mu.Lock()
	counts := m.counts
	m.counts = map[seckill.Event]int{}
	gauges := m.gauges
	m.gauges = nil
	m.mu.Unlock()

	maps.DeleteFunc(counts, func(_ seckill.Event, n int) bool { return n == 0 })
	if len(counts)+len(gauges) == 0 {
		return nil
	}
	// One write, so that lines of several writers do not mix.
	if _, err := m.w.Write(m.line(seckill.Trace(ctx), counts, gauges)); err != nil {
		for e, n := range counts {
			m.Count(e, n)
		}
		for name, n := range gauges {
			m.Gauge(name, n)
		}
		return fmt.Errorf("telemetry: metrics: %w", err)
	}
	return nil
}

type metadata struct {
	Timestamp         int64 // Unix milliseconds
	CloudWatchMetrics []directive
}

type directive struct {
	Namespace  string
	Dimensions [][]string
	Metrics    []metric
}

type metric struct{ Name, Unit string }

func (m *Meter) line(trace string, counts map[seckill.Event]int, gauges map[string]int) []byte {
	d := directive{Namespace: m.namespace, Dimensions: [][]string{{stepKey}}}
	root := map[string]any{stepKey: m.step}
	if trace != "" {
		root[traceKey] = trace
	}
	for _, e := range slices.Sorted(maps.Keys(counts)) {
		d.Metrics = append(d.Metrics, metric{string(e), "Count"})
		root[string(e)] = counts[e]
	}
	for _, name := range slices.Sorted(maps.Keys(gauges)) {
		d.Metrics = append(d.Metrics, metric{name, "None"})
		root[name] = gauges[name]
	}
	root["_aws"] = metadata{m.clock.Now().UnixMilli(), []directive{d}}
	b, err := json.Marshal(root)
	if err != nil {
		panic(err) // strings and integers always marshal
	}
	return append(b, '\n')
}

var _ seckill.Meter = (*Meter)(nil)
