package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/slogtest"
	"time"

	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// record logs once and decodes the line.
func record(t *testing.T, ctx context.Context, say func(ctx context.Context, l *slog.Logger)) map[string]any {
	t.Helper()
	var b bytes.Buffer
	say(ctx, telemetry.NewLog(&b, slog.LevelInfo))
	if strings.Count(b.String(), "\n") != 1 || !strings.HasSuffix(b.String(), "\n") {
		t.Fatalf("wrote %q, want one line", b.String())
	}
	var m map[string]any
	if err := json.Unmarshal(b.Bytes(), &m); err != nil {
		t.Fatalf("%s: %v", b.String(), err)
	}
	return m
}

func TestHandlerKeepsSlogsRules(t *testing.T) {
	var b bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		b.Reset()
		return telemetry.NewLog(&b, slog.LevelInfo).Handler()
	}, func(t *testing.T) map[string]any {
		var m map[string]any
		if err := json.Unmarshal(b.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		if at, ok := m["timestamp"]; ok {
			m[slog.TimeKey] = at
		}
		return m
	})
}

func TestRecordsCarryTheTrace(t *testing.T) {
	ctx := seckill.WithTrace(t.Context(), "Root=1-abc")
	group := func(pairs ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	for _, c := range []struct {
		name string
		ctx  context.Context
		say  func(ctx context.Context, l *slog.Logger)
		want map[string]any
	}{
		{"from the context", ctx, func(ctx context.Context, l *slog.Logger) {
			l.InfoContext(ctx, "m", "a", 1)
		}, group("trace", "Root=1-abc", "a", 1.0)},
		{"no context's", t.Context(), func(ctx context.Context, l *slog.Logger) {
			l.InfoContext(ctx, "m", "a", 1)
		}, group("a", 1.0)},
		{"the record's own", ctx, func(ctx context.Context, l *slog.Logger) {
			l.InfoContext(ctx, "m", "trace", "own")
		}, group("trace", "own")},
		{"the logger's own", ctx, func(ctx context.Context, l *slog.Logger) {
			l.With("trace", "own").InfoContext(ctx, "m")
		}, group("trace", "own")},
		{"beside a logger's attributes", ctx, func(ctx context.Context, l *slog.Logger) {
			l.With("a", 1).InfoContext(ctx, "m")
		}, group("trace", "Root=1-abc", "a", 1.0)},
		{"above groups", ctx, func(ctx context.Context, l *slog.Logger) {
			l.With("a", 1).WithGroup("g").With("b", 2).WithGroup("h").InfoContext(ctx, "m", "trace", "of h")
		}, group("trace", "Root=1-abc", "a", 1.0, "g", group("b", 2.0, "h", group("trace", "of h")))},
		{"above groups, none", t.Context(), func(ctx context.Context, l *slog.Logger) {
			l.WithGroup("g").InfoContext(ctx, "m", "b", 2)
		}, group("g", group("b", 2.0))},
	} {
		got := record(t, c.ctx, c.say)
		at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(got["timestamp"]))
		if err != nil || time.Since(at).Abs() > time.Minute || got["level"] != "INFO" || got["msg"] != "m" {
			t.Errorf("%s: %v, want timestamp, level INFO and msg m", c.name, got)
		}
		for _, k := range []string{"timestamp", "level", "msg"} {
			delete(got, k)
		}
		must.Equal(t, c.want, got, c.name)
	}
}

// TestLoggersShareNothing checks that attributes of one logger do not appear in another derived from the same parent.
func TestLoggersShareNothing(t *testing.T) {
	var b bytes.Buffer
	ctx := seckill.WithTrace(t.Context(), "t")
	// Two attributes, so that the slice that holds them has room for a third.
	base := telemetry.NewLog(&b, slog.LevelInfo).WithGroup("g").With("a", 1).With("b", 2)
	one, two := base.With("one", 1), base.With("two", 2)
	one.InfoContext(ctx, "m")
	two.InfoContext(ctx, "m")
	for _, want := range []string{`"trace":"t","g":{"a":1,"b":2,"one":1}}`, `"trace":"t","g":{"a":1,"b":2,"two":2}}`} {
		line, err := b.ReadString('\n')
		if err != nil || !strings.HasSuffix(strings.TrimSpace(line), want) {
			t.Errorf("line %s, error %v, want it to end with %s", line, err, want)
		}
	}
}

type resolver struct{}

func (resolver) LogValue() slog.Value {
	return slog.GroupValue(slog.String("address", "杭州"), slog.String("id", "7"))
}

func TestSecretsAreNeverLogged(t *testing.T) {
	type inner struct {
		Phone string `json:"phone"`
		ID    int64
	}
	for _, c := range []struct {
		name string
		attr slog.Attr
		want string // the end of the line
	}{
		{"address", slog.String("address", "杭州市"), `"address":"[redacted]"`},
		{"any case", slog.String("Authorization", "Bearer 杭州市"), `"Authorization":"[redacted]"`},
		{"no string", slog.Int("phone", 13800138000), `"phone":"[redacted]"`},
		{"a structure", slog.Any("token", struct{ A string }{"杭州市"}), `"token":"[redacted]"`},
		{"in a group", slog.Group("request", "id", 7, "token", "杭州市"), `"request":{"id":7,"token":"[redacted]"}`},
		{"a group itself", slog.Group("address", "city", "杭州市", slog.Group("g", "street", "杭州市")),
			`"address":{"city":"[redacted]","g":{"street":"[redacted]"}}`},
		{"a value that resolves", slog.Any("request", resolver{}), `"request":{"address":"[redacted]","id":"7"}`},
		{"within a value", slog.Any("request", &seckill.Request{Order: "o1", Given: seckill.Given{Address: "杭州市"}}),
			`"address":"[redacted]"`},
		{"deep within", slog.Any("all", []any{map[string]any{"x": inner{"杭州市", 9223372036854775807}}}),
			`"all":[{"x":{"ID":9223372036854775807,"phone":"[redacted]"}}]`},
		{"what is no secret", slog.Any("all", map[string]any{"ids": []int64{9223372036854775807}}),
			`"all":{"ids":[9223372036854775807]}`},
		{"an error", slog.Any("error", errors.New("no answer")), `"error":"no answer"`},
		{"an error with fields", slog.Any("error", &seckill.Error{Code: seckill.CodeUnavailable, Err: errors.New("x")}),
			`"error":"seckill: unavailable: x"`},
		{"nothing", slog.Any("x", nil), `"x":null`},
		{"what JSON has not", slog.Any("x", func() {}), `unsupported type`},
	} {
		var b bytes.Buffer
		telemetry.NewLog(&b, slog.LevelInfo).LogAttrs(t.Context(), slog.LevelInfo, "m", c.attr)
		if line := b.String(); !strings.Contains(line, c.want) || strings.Contains(line, "杭州") {
			t.Errorf("%s: line %s, want %s in it and no address", c.name, line, c.want)
		}
		b.Reset()
		telemetry.NewLog(&b, slog.LevelInfo).With(c.attr).InfoContext(seckill.WithTrace(t.Context(), "t"), "m")
		if line := b.String(); !strings.Contains(line, c.want) || strings.Contains(line, "杭州") {
			t.Errorf("%s, given to the logger: line %s, want %s in it and no address", c.name, line, c.want)
		}
		b.Reset()
		telemetry.NewTextLog(&b, slog.LevelInfo).With(c.attr).InfoContext(seckill.WithTrace(t.Context(), "t"), "m")
		if line := b.String(); !strings.Contains(line, " trace=t") || strings.Contains(line, "杭州") {
			t.Errorf("%s, as text: line %s, want the trace and no address", c.name, line)
		}
	}
}

func TestLevel(t *testing.T) {
	for _, c := range []struct {
		own, lambda string
		want        slog.Level
		blames      string
	}{
		{"", "", slog.LevelInfo, ""},
		{"debug", "", slog.LevelDebug, ""},
		{"WARN", "DEBUG", slog.LevelWarn, ""},
		{"", "ERROR", slog.LevelError, ""},
		{"", "TRACE", slog.LevelDebug, ""},
		{"", "FATAL", slog.LevelError, ""},
		{"loud", "INFO", 0, "LOG_LEVEL"},
		{"", "8", 0, "AWS_LAMBDA_LOG_LEVEL"},
	} {
		env := map[string]string{"LOG_LEVEL": c.own, "AWS_LAMBDA_LOG_LEVEL": c.lambda}
		got, err := telemetry.Level(func(name string) string { return env[name] })
		if got != c.want || (err == nil) != (c.blames == "") || err != nil &&
			!strings.HasPrefix(err.Error(), c.blames+" is ") {
			t.Errorf("%v: level %v, error %v, want %v, %q", env, got, err, c.want, c.blames)
		}
	}
}

func TestLevelLimitsTheLog(t *testing.T) {
	var b bytes.Buffer
	level := new(slog.LevelVar)
	level.Set(slog.LevelWarn)
	l := telemetry.NewLog(&b, level)
	l.Info("not this")
	if b.Len() != 0 {
		t.Errorf("logged %s", b.String())
	}
	level.Set(slog.LevelInfo)
	if l.Info("this"); b.Len() == 0 {
		t.Error("logged nothing")
	}
}

func BenchmarkLog(b *testing.B) {
	var buf bytes.Buffer
	l := telemetry.NewLog(&buf, slog.LevelInfo)
	ctx := seckill.WithTrace(b.Context(), "Root=1-abc")
	b.ReportAllocs()
	for b.Loop() {
		buf.Reset()
		l.LogAttrs(ctx, slog.LevelInfo, "message comes back", slog.String("order", "o1"), slog.Int("receives", 3))
	}
}
