package operator

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"seckill/shared/adapter/itemfile"
	"seckill/shared/flow/stage"
	"seckill/shared/seckill"
)

// Handler serves a function's operator events. A command that is refused or fails is answered by a problem document; an event that
// is no operator's is an error, and nothing is done. Each gets one line of the audit log: who, which command, which item, what came of it.
// Of items it holds ids and numbers only.
func (d *Desk) Handler(audit *slog.Logger) func(ctx context.Context, event []byte) ([]byte, error) {
	return func(ctx context.Context, event []byte) ([]byte, error) {
		r, err := decode(event)
		if err == errNotOurs { //nolint:errorlint // decode wraps nothing
			audit.WarnContext(ctx, "event refused", "err", err)
			return nil, err
		}
		var what []slog.Attr
		if r != nil {
			what = r.attrs()
		}
		var result any
		if err == nil {
			result, err = d.do(ctx, r)
		}
		if done, ok := result.(stage.Imported); ok { // also after a fault: these were written
			what = append(what, slog.Any("made", done.Made), slog.Any("changed", done.Changed))
		}
		if err != nil {
			audit.LogAttrs(ctx, slog.LevelWarn, "operator", append(what, slog.String("result", string(CodeOf(err))), slog.Any("err", err))...)
			return marshal(answer{Problem: document(err)})
		}
		audit.LogAttrs(ctx, slog.LevelInfo, "operator", append(what, slog.String("result", outcome(result)))...)
		b, err := marshal(result)
		if err != nil {
			return nil, err
		}
		return marshal(answer{Result: b})
	}
}

// attrs says what is asked for, and by whom. A request that is refused for what it says is logged all the same: so its texts are cut.
func (r *request) attrs() []slog.Attr {
	what := []slog.Attr{slog.String("who", short(r.Who)), slog.String("command", short(r.Command))}
	if r.Item != "" {
		what = append(what, slog.String("item", short(r.Item)))
	}
	if r.Stock != 0 {
		what = append(what, slog.Int("stock", r.Stock))
	}
	return what
}

func short(s string) string { return s[:min(len(s), maxWho)] }

// do carries out a command.
func (d *Desk) do(ctx context.Context, r *request) (any, error) {
	switch r.Command {
	case cmdImport:
		return d.Import(ctx, "items.json", r.Items)
	case cmdExport:
		return d.export(ctx, r.After)
	case cmdHealth:
		return d.Health(ctx), nil
	case cmdAddStock:
		return d.AddStock(ctx, r.Item, r.Stock)
	default: // check let no other pass
		return d.SetStopped(ctx, r.Item, r.Command == cmdStop)
	}
}

// outcome is what the audit log says of a command that was carried out.
func outcome(result any) string {
	changed := false
	switch r := result.(type) {
	case page, Health:
		return "read"
	case stage.Imported:
		changed = len(r.Made)+len(r.Changed) > 0
	case ItemChange:
		changed = r.Changed
	}
	if changed {
		return "changed"
	}
	return "unchanged"
}

// export gives the items beyond an id, as many as fit into an answer.
func (d *Desk) export(ctx context.Context, after string) (page, error) {
	items, err := d.stage.Items.List(ctx, time.Time{})
	if err != nil {
		return page{}, err
	}
	items = slices.DeleteFunc(items, func(it seckill.Item) bool { return after != "" && compareIDs(it.ID, after) <= 0 })
	slices.SortFunc(items, func(a, b seckill.Item) int { return compareIDs(a.ID, b.ID) })
	size, n := 0, 0
	for ; n < len(items); n++ {
		size += len(itemfile.Format(items[n : n+1]))
		if size > maxPage && n > 0 {
			break
		}
	}
	out := page{Items: itemfile.Format(items[:n])}
	if n < len(items) {
		out.Next = items[n-1].ID
	}
	return out, nil
}

// compareIDs orders ids by number; they have no leading zeros.
func compareIDs(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }
