package operator

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Outcomes of a command, as the audit log names them.
const (
	read      = "read"
	changed   = "changed"
	unchanged = "unchanged"
	waits     = "waits" // for a second person
)

// done is the result of a command.
type done struct {
	result  any
	outcome string      // read, changed, unchanged or waits
	more    []slog.Attr // further fields of the log line, also for a command that failed halfway
	// states and numbers before and after, of the audit log; more belongs to those after
	before, after []slog.Attr
}

// changedIf returns the outcome changed or unchanged.
func changedIf(is bool) string {
	if is {
		return changed
	}
	return unchanged
}

// Handler executes the commands about one subject. It is safe for concurrent use.
type Handler interface {
	commands() []command
	do(context.Context, *request) (done, error)
}

// Serve returns a function that handles operators' events with these handlers. It answers a refused or failed command
// with a problem document. For an event of another kind it returns an error and does nothing. It writes one line to the
// audit log per event that is not quiet: who, which command, which item, order or day, and the outcome. Of items and
// orders the line has only ids and numbers.
func Serve(audit *slog.Logger, handlers ...Handler) func(ctx context.Context, event []byte) ([]byte, error) {
	serve := serveAs(audit, handlers...)
	return func(ctx context.Context, event []byte) ([]byte, error) {
		return serve(ctx, seckill.RoleEditor, event) // who calls it without a signature owns the machine
	}
}

// serveAs is Serve with the role that gives a command. The role says what is shown, not what is executed.
func serveAs(audit *slog.Logger, handlers ...Handler) func(ctx context.Context, role seckill.Role,
	event []byte) ([]byte, error) {
	var commands []command
	for _, h := range handlers {
		commands = append(commands, h.commands()...)
	}
	do := func(ctx context.Context, r *request) (done, error) {
		at := slices.IndexFunc(handlers, func(h Handler) bool {
			return slices.ContainsFunc(h.commands(), func(c command) bool { return c.name == r.Command })
		})
		return handlers[at].do(ctx, r) // decode refuses commands that no handler has
	}
	return func(ctx context.Context, role seckill.Role, event []byte) ([]byte, error) {
		r, err := decode(commands, event)
		if err == errNotOurs { //nolint:errorlint // decode wraps nothing
			audit.WarnContext(ctx, "event refused", "err", err)
			return nil, err
		}
		var what []slog.Attr
		if r != nil {
			what = r.attrs()
			r.answers = role.May(cmdImport)
		}
		var d done
		if err == nil {
			d, err = do(ctx, r)
		}
		what = append(what, d.more...)
		if err != nil {
			audit.LogAttrs(ctx, slog.LevelWarn, "operator", append(what, slog.String("result", string(CodeOf(err))),
				slog.Any("err", err))...)
			return marshal(answer{Problem: document(err), Did: d.did()})
		}
		if at := slices.IndexFunc(commands, func(c command) bool { return c.name == r.Command }); !commands[at].quiet {
			audit.LogAttrs(ctx, slog.LevelInfo, "operator", append(what, slog.String("result", d.outcome))...)
		}
		b, err := marshal(d.result)
		if err != nil {
			return nil, err
		}
		return marshal(answer{Result: b, Did: d.did()})
	}
}

// did returns nil for a command that did nothing.
func (d *done) did() *did {
	w := did{d.outcome, inLine(d.before), inLine(append(d.after, d.more...))}
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

// attrs returns the audit log's fields of a request. It truncates their texts, because invalid requests are logged,
// too. It omits the operator's reason, which the order's history records.
func (r *request) attrs() []slog.Attr {
	what := []slog.Attr{slog.String("who", short(r.Who)), slog.String("command", short(r.Command))}
	if r.Item != "" {
		what = append(what, slog.String("item", short(r.Item)))
	}
	if r.Stock != 0 {
		what = append(what, slog.Int("stock", r.Stock))
	}
	if r.Activity != "" {
		what = append(what, slog.String("activity", short(r.Activity)))
	}
	if r.Save != nil {
		what = append(what, slog.String("activity", short(r.Save.ID)))
	}
	if !r.Start.IsZero() {
		what = append(what, slog.String("start", r.Start.UTC().Format(time.RFC3339)))
	}
	if r.Order != "" {
		what = append(what, slog.String("order", short(r.Order)))
	}
	if r.Day != "" {
		what = append(what, slog.String("day", short(r.Day)))
	}
	if r.Subject != "" {
		what = append(what, slog.String("subject", short(r.Subject)))
	}
	if n := len(r.Blocks); n == 1 {
		what = append(what, slog.String("subject", short(r.Blocks[0].Subject)), slog.String("item",
			short(r.Blocks[0].Item)))
	} else if n > 1 {
		what = append(what, slog.Int("blocks", n))
	}
	if n := len(r.Parcels); n == 1 {
		what = append(what, slog.String("order", short(r.Parcels[0].Order)))
	} else if n > 1 {
		what = append(what, slog.Int("parcels", n))
	}
	if r.User != "" {
		what = append(what, slog.String("user", short(r.User)))
	}
	if r.Act != "" {
		what = append(what, slog.String("act", short(r.Act)))
	}
	if r.Person != "" {
		what = append(what, slog.String("person", short(r.Person)))
	}
	if r.Queue != "" {
		what = append(what, slog.String("queue", short(r.Queue)))
	}
	if len(r.Data) > 0 {
		what = append(what, slog.Int("bytes", len(r.Data)))
	}
	if r.TradeNo != "" {
		what = append(what, slog.String("trade_no", short(r.TradeNo)))
	}
	if r.Dry {
		what = append(what, slog.Bool("dry", true))
	}
	if r.Restock {
		what = append(what, slog.Bool("restock", true))
	}
	if r.Undo {
		what = append(what, slog.Bool("undo", true))
	}
	if r.Raw {
		what = append(what, slog.Bool("raw", true))
	}
	return what
}

func short(s string) string { return s[:min(len(s), maxWho)] }
