package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

type fixedClock struct{ at time.Time }

func (c fixedClock) Now() time.Time { return c.at }

var clock = fixedClock{time.UnixMilli(1_794_398_400_123).UTC()}

// events lists every declared seckill.Event and the meter's own.
func events(t testing.TB) []seckill.Event {
	t.Helper()
	f := must.Get(parser.ParseFile(token.NewFileSet(), "../../seckill/ports.go", nil, parser.SkipObjectResolution))
	out := []seckill.Event{telemetry.EventColdStart}
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			if typ, ok := v.Type.(*ast.Ident); ok && typ.Name == "Event" {
				name := must.Get(strconv.Unquote(v.Values[0].(*ast.BasicLit).Value))
				out = append(out, seckill.Event(name))
			}
		}
		return true
	})
	return out
}

// metrics parses a line by the rules of "Specification: Embedded metric format" (Amazon CloudWatch User Guide) and
// returns what CloudWatch extracts: values by namespace, dimensions and metric.
func metrics(line string) (map[string]float64, error) {
	root, err := object(line, "_aws")
	if err != nil {
		return nil, err
	}
	meta, err := object(string(root["_aws"]), "Timestamp", "CloudWatchMetrics")
	if err != nil {
		return nil, err
	}
	if _, err := strconv.ParseUint(string(meta["Timestamp"]), 10, 63); err != nil || len(meta) != 2 {
		return nil, fmt.Errorf("metadata %s", root["_aws"])
	}
	var directives []json.RawMessage
	if err := json.Unmarshal(meta["CloudWatchMetrics"], &directives); err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for _, raw := range directives {
		d, err := object(string(raw), "Namespace", "Dimensions", "Metrics")
		if err != nil || len(d) != 3 {
			return nil, fmt.Errorf("directive %s: %w", raw, err)
		}
		var namespace string
		var dimensions [][]string
		var definitions []map[string]any
		if err := errors.Join(json.Unmarshal(d["Namespace"], &namespace), json.Unmarshal(d["Dimensions"], &dimensions),
			json.Unmarshal(d["Metrics"], &definitions)); err != nil {
			return nil, err
		}
		if n := len(namespace); n < 1 || n > 255 || strings.HasPrefix(namespace, "AWS/") || len(dimensions) == 0 ||
			len(definitions) > 100 {
			return nil, fmt.Errorf("namespace %q, dimensions %v, %d metrics", namespace, dimensions, len(definitions))
		}
		for _, set := range dimensions {
			id := namespace
			if len(set) > 30 {
				return nil, fmt.Errorf("%d dimensions", len(set))
			}
			for _, name := range set {
				var value string // a dimension's target is a string
				if err := json.Unmarshal(root[name], &value); err != nil || name == "" || len(name) > 250 ||
					value == "" || len(value) > 1024 {
					return nil, fmt.Errorf("dimension %q is %s", name, root[name])
				}
				id += " " + name + "=" + value
			}
			for _, m := range definitions {
				name, _ := m["Name"].(string)
				var value float64 // a metric's target is a number
				if err := json.Unmarshal(root[name], &value); err != nil || name == "" || len(name) > 1024 ||
					m["Unit"] != "Count" || len(m) != 2 {
					return nil, fmt.Errorf("metric %v is %s", m, root[name])
				}
				out[id+" "+name] = value
			}
		}
	}
	return out, nil
}

// object decodes a JSON object without repeated members, which must have the given ones.
func object(text string, members ...string) (map[string]json.RawMessage, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	d := json.NewDecoder(strings.NewReader(text))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	seen := 0
	for ; d.More(); seen++ {
		var v json.RawMessage
		if _, err := d.Token(); err != nil {
			return nil, err
		}
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
	}
	if seen != len(m) {
		return nil, fmt.Errorf("%s repeats a member", text)
	}
	for _, name := range members {
		if m[name] == nil {
			return nil, fmt.Errorf("%s has no %s", text, name)
		}
	}
	return m, nil
}

func TestLineIsExactlyThis(t *testing.T) {
	var b bytes.Buffer
	m := telemetry.NewMeter(&b, clock, "seckill-prod", "consume")
	m.Count(seckill.EventPlaced, 3)
	m.Count(seckill.EventCollided, 1)
	m.Count(seckill.EventPlaced, 2)
	must.OK(t, m.Flush(seckill.WithTrace(t.Context(), "Root=1-abc")))
	want :=
		`{"_aws":{"Timestamp":1794398400123,"CloudWatchMetrics":[{"Namespace":"seckill-prod","Dimensions":[["step"]],"Metrics":[` +
			`{"Name":"cold_starts","Unit":"Count"},{"Name":"collided","Unit":"Count"},{"Name":"placed","Unit":"Count"}]}]},` +
			`"step":"consume","cold_starts":1,"collided":1,"placed":5,"trace":"Root=1-abc"}` + "\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// TestRefusalsHaveTheirReason checks that a refused purchase writes one line with two directives and one reason.
func TestRefusalsHaveTheirReason(t *testing.T) {
	var b bytes.Buffer
	m := telemetry.NewMeter(&b, clock, "seckill-prod", "buy")
	must.OK(t, m.Flush(t.Context()))
	b.Reset()
	m.Count(seckill.EventRefused, 1)
	m.Refused(seckill.Reason(seckill.CodeSoldOut))
	must.OK(t, m.Flush(seckill.WithTrace(t.Context(), "Root=1-abc")))
	want :=
		`{"_aws":{"Timestamp":1794398400123,"CloudWatchMetrics":[{"Namespace":"seckill-prod","Dimensions":[["step"]],"Metrics":[{"Name":"refused","Unit":"Count"}]},` +
			`{"Namespace":"seckill-prod","Dimensions":[["step","reason"]],"Metrics":[{"Name":"refusals","Unit":"Count"}]}]},` +
			`"step":"buy","reason":"sold_out","refusals":1,"refused":1,"trace":"Root=1-abc"}` + "\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	b.Reset()
	for _, r := range seckill.Reasons() {
		m.Refused(r)
		m.Refused(r)
	}
	must.OK(t, m.Flush(t.Context()))
	got := sum(t, b.String())
	for _, r := range seckill.Reasons() {
		must.Equal(t, 2, got["seckill-prod step=buy reason="+string(r)+" refusals"])
	}
	must.Equal(t, len(seckill.Reasons()), len(got), "metrics", "reasons, whatever clients send")
}

func TestEveryEventIsAMetric(t *testing.T) {
	for _, name := range strings.Fields(
		"reserved placed collided redrawn rejected expired paid refunds_due unknown_payments resent returned drift " +
			"parked cold_starts") {
		if !slices.Contains(events(t), seckill.Event(name)) {
			t.Errorf("no event is named %s", name)
		}
	}
	var b bytes.Buffer
	m := telemetry.NewMeter(&b, clock, "n", "s")
	want := map[string]float64{}
	for i, e := range events(t) {
		m.Count(e, i+1)
		want["n step=s "+string(e)] = float64(i + 1)
	}
	want["n step=s cold_starts"]++
	must.OK(t, m.Flush(t.Context()))
	if got, err := metrics(b.String()); err != nil || !maps.Equal(got, want) {
		t.Errorf("metrics %v, error %v, want %v", got, err, want)
	}
}

// TestLinesAddUp checks that whatever is counted in whatever invocations, each line keeps the format's rules, and the
// lines add up to the counts.
func TestLinesAddUp(t *testing.T) {
	all := events(t)
	rapid.Check(t, func(rt *rapid.T) {
		var b bytes.Buffer
		m := telemetry.NewMeter(&b, clock, "n", "s")
		want := map[string]float64{"n step=s cold_starts": 1}
		lines := 0
		for range rapid.IntRange(1, 5).Draw(rt, "invocations") {
			for range rapid.IntRange(0, 8).Draw(rt, "counts") {
				e, n := rapid.SampledFrom(all).Draw(rt, "event"), rapid.IntRange(0, 1000).Draw(rt, "n")
				m.Count(e, n)
				if n > 0 {
					want["n step=s "+string(e)] += float64(n)
				}
			}
			reasons := rapid.SliceOfN(rapid.SampledFrom([]seckill.Reason{"sold_out", "ended", "token_expired"}), 0,
				5).Draw(rt, "refused")
			for _, r := range reasons {
				m.Refused(r)
				want["n step=s reason="+string(r)+" refusals"]++
			}
			if len(reasons) > 0 {
				lines += min(len(reasons), 3)
			} else {
				lines++
			}
			trace := rapid.StringMatching(`[ -~]{0,20}`).Draw(rt, "trace")
			must.OK(rt, m.Flush(seckill.WithTrace(context.Background(), trace)))
		}
		got := sum(rt, b.String())
		if n := strings.Count(b.String(), "\n"); !maps.Equal(got, want) || n > lines {
			rt.Errorf("%d lines add up to %v, want %v in at most %d", n, got, want, lines)
		}
	})
}

func sum(t interface{ Fatalf(string, ...any) }, text string) map[string]float64 {
	out := map[string]float64{}
	for line := range strings.Lines(text) {
		got, err := metrics(line)
		if err != nil || !strings.HasSuffix(line, "\n") {
			t.Fatalf("line %q: %v", line, err)
		}
		for k, v := range got {
			if v == 0 {
				t.Fatalf("line %q writes a zero", line)
			}
			out[k] += v
		}
	}
	return out
}

func TestNothingCountedWritesNothing(t *testing.T) {
	var b bytes.Buffer
	m := telemetry.NewMeter(&b, clock, "n", "s")
	m.Flush(t.Context())
	b.Reset()
	m.Count(seckill.EventResent, 0)
	if err := m.Flush(t.Context()); err != nil || b.Len() > 0 {
		t.Errorf("wrote %q, error %v, want nothing", b.String(), err)
	}
}

func TestCountsSurviveAFailedWrite(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	var b bytes.Buffer
	to := &switchable{w: w}
	m := telemetry.NewMeter(to, clock, "n", "s")
	m.Count(seckill.EventDrift, 2)
	m.Refused("sold_out")
	if err := m.Flush(t.Context()); !errors.Is(err, io.ErrClosedPipe) {
		t.Fatalf("Flush to a closed pipe: %v", err)
	}
	m.Count(seckill.EventDrift, 3)
	m.Refused("sold_out")
	to.w = &b
	must.OK(t, m.Flush(t.Context()))
	if got, want := sum(t, b.String()), map[string]float64{"n step=s cold_starts": 1, "n step=s drift": 5,
		"n step=s reason=sold_out refusals": 2}; !maps.Equal(got, want) {
		t.Errorf("metrics %v, want %v", got, want)
	}
}

type switchable struct{ w io.Writer }

func (s *switchable) Write(b []byte) (int, error) { return s.w.Write(b) }

func TestCountingInParallel(t *testing.T) {
	const goroutines, counts = 16, 1_000
	var mu sync.Mutex
	var b bytes.Buffer
	m := telemetry.NewMeter(&locked{&mu, &b}, clock, "n", "s")
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range counts {
				m.Count(seckill.EventReserved, 1)
				if i%100 == g {
					if err := m.Flush(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	must.OK(t, m.Flush(t.Context()))
	must.Equal(t, goroutines*counts, sum(t, b.String())["n step=s reserved"], "lines add up to")
}

type locked struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

func TestNewMeterRefusesNamesOutOfRange(t *testing.T) {
	for _, c := range [][2]string{{"", "s"}, {"n", ""}, {strings.Repeat("n", 256), "s"},
		{"n", strings.Repeat("s", 1025)}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("namespace %q, step %q: no panic", c[0], c[1])
				}
			}()
			telemetry.NewMeter(io.Discard, clock, c[0], c[1])
		}()
	}
}
