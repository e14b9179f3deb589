// Package telemetry reports to operators what the system does: log lines, each with the id of its request, and event
// counts in CloudWatch's embedded metric format. In: log records and events. Out: lines on a writer, which on Lambda
// is standard output. It uses no network.
package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

// traceKey is the key of the request id in log records and metric lines.
const traceKey = "trace"

// NewLog returns a logger that writes one JSON line per record: timestamp (RFC 3339), level, msg, trace if the
// context or the record has one, then the other attributes. It replaces what must not be logged; see redact.
func NewLog(w io.Writer, level slog.Leveler) *slog.Logger {
	return slog.New(&handler{Handler: slog.NewJSONHandler(w, options(level))})
}

// NewTextLog is NewLog for a terminal: key=value pairs instead of JSON.
func NewTextLog(w io.Writer, level slog.Leveler) *slog.Logger {
	return slog.New(&handler{Handler: slog.NewTextHandler(w, options(level))})
}

func options(level slog.Leveler) *slog.HandlerOptions {
	return &slog.HandlerOptions{Level: level, ReplaceAttr: redact}
}

// LevelVariables are the environment variables that Level reads; the first that is set counts. The second is Lambda's
// own ("Log-level filtering", AWS Lambda Developer Guide).
var LevelVariables = []string{"LOG_LEVEL", "AWS_LAMBDA_LOG_LEVEL"}

// Level reads the log level from the environment: trace, debug, info, warn, error or fatal, in any case; default
// info. An error names the variable.
func Level(getenv func(string) string) (slog.Level, error) {
	for _, name := range LevelVariables {
		text := getenv(name)
		if text == "" {
			continue
		}
		level, ok := levels[strings.ToLower(text)]
		if !ok {
			return 0, fmt.Errorf("%s is %q, want trace, debug, info, warn, error or fatal", name, text)
		}
		return level, nil
	}
	return slog.LevelInfo, nil
}

// levels maps Lambda's names; slog has none below debug and above error.
var levels = map[string]slog.Level{"trace": slog.LevelDebug, "debug": slog.LevelDebug, "info": slog.LevelInfo,
	"warn":  slog.LevelWarn,
	"error": slog.LevelError, "fatal": slog.LevelError}

// handler adds the context's trace to each record, beside the message even if the logger has groups.
type handler struct {
	slog.Handler // with everything that the logger was given
	// traced: the logger was given its own trace.
	traced bool
	// top and rest are Handler split at the first group: top has what came before, rest applies what came after.
	// Without a group top is nil.
	top  slog.Handler
	rest []func(slog.Handler) slog.Handler
}

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	trace := seckill.Trace(ctx)
	if trace == "" || h.traced {
		return h.Handler.Handle(ctx, r)
	}
	if h.top == nil {
		if !has(r) {
			r = r.Clone()
			r.AddAttrs(slog.String(traceKey, trace))
		}
		return h.Handler.Handle(ctx, r)
	}
	grouped := h.top.WithAttrs([]slog.Attr{slog.String(traceKey, trace)})
	for _, give := range h.rest {
		grouped = give(grouped)
	}
	return grouped.Handle(ctx, r)
}

func has(r slog.Record) (found bool) {
	r.Attrs(func(a slog.Attr) bool {
		found = a.Key == traceKey
		return !found
	})
	return found
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	next.Handler = h.Handler.WithAttrs(attrs)
	if h.top == nil {
		next.traced = h.traced || slices.ContainsFunc(attrs, func(a slog.Attr) bool { return a.Key == traceKey })
		return &next
	}
	next.rest = append(slices.Clone(h.rest), func(g slog.Handler) slog.Handler { return g.WithAttrs(attrs) })
	return &next
}

func (h *handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	next := *h
	next.Handler = h.Handler.WithGroup(name)
	if h.top == nil {
		next.top = h.Handler
	}
	next.rest = append(slices.Clone(h.rest), func(g slog.Handler) slog.Handler { return g.WithGroup(name) })
	return &next
}
