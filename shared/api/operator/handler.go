package operator

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

// Outcomes of a command, as the audit log names them.
const (
	read      = "read"
	changed   = "changed"
	unchanged = "unchanged"
	waits     = "waits" // for a second person
)

// Done is what a command did.
type Done struct {
	Result  any
	Outcome string      // read, changed, unchanged or waits
	More    []slog.Attr // further fields of the log line, also for a command that failed halfway
	// states and numbers before and after, for the audit log; More belongs to those after
	Before, After []slog.Attr
}

// readDone returns what a command did that changes nothing.
func readDone(result any, err error) (Done, error) { return Done{Result: result, Outcome: read}, err }

// changedIf returns the outcome changed or unchanged.
func changedIf(is bool) string {
	if is {
		return changed
	}
	return unchanged
}

// Handler executes the commands about one subject. It is safe for concurrent use.
type Handler interface {
	// run returns the function that executes a command, or nil if the command is about another subject.
	run(c Command) func(context.Context) (Done, error)
}

// does is a command that a D executes.
type does[D any] interface {
	Do(ctx context.Context, with D) (Done, error)
}

// on is a handler of the commands that are a C.
type on[C any] func(ctx context.Context, c C) (Done, error)

// handler is a handler of the commands that are a C. The call of their method Do is in the function that it gets, where
// C is known: a generic call of a method would keep every method of that name in every Lambda function.
func handler[C any](do on[C]) Handler { return do }

func (do on[C]) run(c Command) func(context.Context) (Done, error) {
	own, ok := c.(C)
	if !ok {
		return nil
	}
	return func(ctx context.Context) (Done, error) { return do(ctx, own) }
}

// server executes commands with handlers.
type server struct {
	audit    *slog.Logger
	handlers []Handler
	commands []Command // that one of the handlers executes
}

func newServer(audit *slog.Logger, handlers []Handler) *server {
	s := &server{audit: audit, handlers: handlers}
	for _, c := range all {
		if s.runs(c) != nil {
			s.commands = append(s.commands, c)
		}
	}
	return s
}

func (s *server) runs(c Command) func(context.Context) (Done, error) {
	for _, h := range s.handlers {
		if run := h.run(c); run != nil {
			return run
		}
	}
	return nil
}

// Serve returns a function that handles operators' events with these handlers. It answers a refused or failed command
// with a problem document. For an event of another kind it returns an error and does nothing. It writes one line to the
// audit log per event that is not quiet: who, which command, which item, order or day, and the outcome. Of items and
// orders the line has only ids and numbers.
func Serve(audit *slog.Logger, handlers ...Handler) func(ctx context.Context, event []byte) ([]byte, error) {
	s := newServer(audit, handlers)
	return func(ctx context.Context, event []byte) ([]byte, error) {
		return s.serve(ctx, seckill.RoleEditor, event) // only the machine's owner can call it without a signature
	}
}

// serve executes an event's command. The role says what is shown, not what is executed.
func (s *server) serve(ctx context.Context, role seckill.Role, event []byte) ([]byte, error) {
	c, err := decode(s.commands, event)
	return s.answer(ctx, role, c, err)
}

// answer executes a command, unless reading it gave an error, and answers.
func (s *server) answer(ctx context.Context, role seckill.Role, c Command, err error) ([]byte, error) {
	if err == errNotOurs { //nolint:errorlint // decode wraps nothing
		s.audit.WarnContext(ctx, "event refused", "err", err)
		return nil, err
	}
	var what []slog.Attr
	if c != nil {
		what = attrs(c)
	}
	var d Done
	if err == nil {
		c.given().answers = slices.Contains(editors, role)
		d, err = s.runs(c)(ctx) // decode refuses commands that no handler has
	}
	what = append(what, d.More...)
	if err != nil {
		s.audit.LogAttrs(ctx, slog.LevelWarn, "operator", append(what, slog.String("result", string(CodeOf(err))),
			slog.Any("err", err))...)
		return marshal(answer{Problem: document(err), Did: d.did()})
	}
	if !c.Spec().Quiet {
		s.audit.LogAttrs(ctx, slog.LevelInfo, "operator", append(what, slog.String("result", d.Outcome))...)
	}
	b, err := marshal(d.Result)
	if err != nil {
		return nil, err
	}
	return marshal(answer{Result: b, Did: d.did()})
}

// did returns nil for a command that did nothing.
func (d *Done) did() *did {
	w := did{d.Outcome, inLine(d.Before), inLine(append(d.After, d.More...))}
	if w == (did{}) {
		return nil
	}
	return &w
}

const maxToldIDs = 5 // of a list, in the audit log

// inLine writes fields as the audit log has them: "stock=5 stopped=true". Of a long list it has the beginning.
func inLine(attrs []slog.Attr) string {
	words := make([]string, len(attrs))
	for i, a := range attrs {
		words[i] = a.Key + "=" + a.Value.String()
		if ids, ok := a.Value.Any().([]string); ok && len(ids) > maxToldIDs {
			words[i] = fmt.Sprintf("%s=[%s and %d more]", a.Key, strings.Join(ids[:maxToldIDs], " "),
				len(ids)-maxToldIDs)
		}
	}
	return strings.Join(words, " ")
}
