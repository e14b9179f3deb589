package operator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/api/itemfile"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

// page is the result of an export: items after the id After in the order of ids, and the last id if there are more.
// Every page names all items with unreadable rows, and the items of its own range with unreadable descriptions.
type page struct {
	Items      json.RawMessage `json:"items"`
	Next       string          `json:"next,omitempty"`
	Unreadable []string        `json:"unreadable,omitempty"`
}

// ItemHandler executes commands about items. It is safe for concurrent use.
type ItemHandler struct {
	// Look returns the state of the stock's servers; nil: there are none.
	Look func(context.Context) []seckill.CacheNode
	// Imported is called after an import that wrote all its items; nil: the schedule loads them.
	Imported func(context.Context)

	stage *stage.Flow
	// one allows one import at a time, so that no other import of this process changes the rows that were checked.
	// Versions protect each item from other processes.
	one sync.Mutex
}

// NewItemHandler returns a handler that uses the flow.
func NewItemHandler(flow *stage.Flow) *ItemHandler { return &ItemHandler{stage: flow} }

// FileError is an error in an items file, with a text for its author. Nothing was written.
type FileError struct {
	Err   error
	Lines []itemfile.Line // what is wrong, place by place; nil: with the file as a whole
}

func (e *FileError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// ItemState is the current state of an item. Left, Held and Awaiting come from the stock; they are 0 while the stock
// does not have the item (Loaded is false).
type ItemState struct {
	ID       string            `json:"id"`
	Title    string            `json:"title"`
	State    seckill.ItemState `json:"state"`
	Stock    int               `json:"stock"`
	Left     int               `json:"left"`
	Held     int               `json:"held"`
	Awaiting int               `json:"awaiting"`
	Loaded   bool              `json:"installed"`
}

// ItemChange is an item after a command. Changed reports whether the command changed it.
type ItemChange struct {
	ItemState
	Changed bool `json:"changed"`

	before, after []slog.Attr // of the audit log
}

// Health is what only the handler can tell an operator before a sale.
type Health struct {
	Now   time.Time           `json:"now"` // by the handler's clock
	Redis []seckill.CacheNode `json:"redis"`
}

// Health reads the clock and the state of the stock's servers. It changes nothing.
func (d *ItemHandler) Health(ctx context.Context) Health {
	h := Health{Now: d.stage.Clock.Now()}
	if d.Look != nil {
		h.Redis = d.Look(ctx)
	}
	return h
}

// imports creates or changes the items of a JSON items file (package itemfile); dry: it checks them only. After a
// *FileError nothing was written. After a fault some items may be written; repeating the import is harmless.
func (d *ItemHandler) imports(ctx context.Context, data []byte, dry bool) (done, error) {
	items, places, err := itemfile.ParsePlaces("items.json", data, d.stage.Clock.Now())
	var bad *itemfile.Error
	if err != nil && !errors.As(err, &bad) {
		return done{}, &FileError{Err: err}
	}
	d.one.Lock()
	defer d.one.Unlock()
	plan, err := d.stage.Check(ctx, items) // also beside bad lines, so that all faults are told at once
	if bad != nil {
		bad.Lines = append(bad.Lines, linesOf(err, items, places)...)
		slices.SortStableFunc(bad.Lines, func(a, b itemfile.Line) int { return cmp.Compare(a.N, b.N) })
		return done{}, &FileError{bad, bad.Lines}
	}
	in := plan.Imported
	if err == nil && !dry {
		if in, err = d.stage.Write(ctx, items); err == nil && d.Imported != nil {
			d.Imported(ctx)
		}
	}
	if lines := linesOf(err, items, places); len(lines) > 0 {
		err = &FileError{err, lines}
	}
	out := done{result: in, outcome: changedIf(!dry && len(in.Made)+len(in.Changed) > 0),
		more: []slog.Attr{slog.Any("made", in.Made), slog.Any("changed", in.Changed)}}
	if err == nil && out.outcome == changed {
		out.before, out.after = differences(plan.Changes, seckill.MaxAuditText-len(inLine(out.more)))
	}
	return out, err
}

// SetStopped stops or resumes an item's sale. Errors as stage.Flow.SetStopped. It reads the stock's level at the same
// time, so that it waits only once for a slow Redis.
func (d *ItemHandler) SetStopped(ctx context.Context, id string, stopped bool) (ItemChange, error) {
	read := make(chan level, 1)
	go func() { read <- d.level(ctx, id) }()
	return d.change(ctx, id, func() error {
		return d.stage.SetStopped(ctx, id, stopped)
	}, func() level { return <-read })
}

// AddStock raises an item's stock to n units in total. Errors as stage.Flow.AddStock.
func (d *ItemHandler) AddStock(ctx context.Context, id string, n int) (ItemChange, error) {
	return d.change(ctx, id, func() error {
		return d.stage.AddStock(ctx, id, n)
	}, func() level { return d.level(ctx, id) })
}

func (d *ItemHandler) change(ctx context.Context, id string, edit func() error, look func() level) (ItemChange, error) {
	before, err := d.stage.Items.Get(ctx, id)
	if err != nil {
		return ItemChange{}, err
	}
	if err := edit(); err != nil {
		return ItemChange{}, err
	}
	after, err := d.stage.Items.Get(ctx, id)
	if err != nil {
		return ItemChange{}, err
	}
	return ItemChange{d.state(&after, look()), after.Version != before.Version, edited(&before), edited(&after)}, nil
}

// edited returns what these commands change of an item, and its version.
func edited(it *seckill.Item) []slog.Attr {
	return []slog.Attr{slog.Int("stock", it.Stock), slog.Bool("stopped", it.Stopped), slog.Any("version", it.Version)}
}

// done returns the result of a command that may have changed the item.
func (c *ItemChange) done() done {
	return done{result: c, outcome: changedIf(c.Changed), before: c.before, after: c.after}
}

// Level returns an item and its units, as this machine sees them.
func (d *ItemHandler) Level(ctx context.Context, id string) (seckill.LiveStock, error) {
	it, err := d.stage.Items.Get(ctx, id)
	if err != nil {
		return seckill.LiveStock{}, err
	}
	l, err := d.stage.Stock.Level(ctx, id)
	if err != nil && !errors.Is(err, seckill.ErrNotInstalled) {
		return seckill.LiveStock{}, err
	}
	now := d.stage.Clock.Now()
	return seckill.LiveStock{Title: it.Commodity.Title, State: it.StateAt(now), Opens: it.Start, Closes: it.End,
		Stock: it.Stock, Installed: err == nil, Left: l.Left, Held: l.Held, Awaiting: l.Awaiting, Clock: now}, nil
}

// State returns an item's current state.
func (d *ItemHandler) State(ctx context.Context, it *seckill.Item) ItemState {
	return d.state(it, d.level(ctx, it.ID))
}

func (d *ItemHandler) state(it *seckill.Item, l level) ItemState {
	return ItemState{ID: it.ID, Title: it.Commodity.Title, State: it.StateAt(d.stage.Clock.Now()), Stock: it.Stock,
		Left: l.Left, Held: l.Held, Awaiting: l.Awaiting, Loaded: l.loaded}
}

// level holds the stock's counts of an item; all are 0 while the stock does not have the item or does not answer.
type level struct {
	seckill.Level
	loaded bool
}

func (d *ItemHandler) level(ctx context.Context, id string) level {
	l, err := d.stage.Stock.Level(ctx, id)
	if err != nil {
		return level{}
	}
	return level{l, true}
}

// ItemView is an item as an editor sees it.
type ItemView struct {
	ItemState
	Item  json.RawMessage `json:"item"`  // as in an items file, with its version
	Rules []seckill.Rule  `json:"rules"` // how far a save may change each field now
}

// Item returns an item, with how far a save may change each field. CodeItemUnknown. An unreadable description is empty.
// Without answers, questions stand alone.
func (d *ItemHandler) Item(ctx context.Context, id string, answers bool) (ItemView, error) {
	l, err := d.stage.Listing(ctx, id)
	if err != nil {
		return ItemView{}, err
	}
	if !answers {
		l.Questions = alone(l.Questions)
	}
	return ItemView{d.State(ctx, &l.Item), asFile(l), l.Rules(d.stage.Clock.Now())}, nil
}

func (d *ItemHandler) commands() []command { return itemCommands }

// do executes a command.
func (d *ItemHandler) do(ctx context.Context, r *request) (done, error) {
	switch r.Command {
	case cmdImport:
		return d.imports(ctx, r.Items, r.Dry)
	case cmdItem:
		view, err := d.Item(ctx, r.Item, r.answers)
		return done{result: view, outcome: read}, err
	case cmdItems:
		list, err := d.list(ctx)
		return done{result: list, outcome: read}, err
	case cmdExport:
		p, err := d.export(ctx, r.After, r.answers)
		return done{result: p, outcome: read}, err
	case cmdHealth:
		return done{result: d.Health(ctx), outcome: read}, nil
	case cmdLevel:
		it, err := d.Level(ctx, r.Item)
		return done{result: it, outcome: read}, err
	case cmdAddStock:
		it, err := d.AddStock(ctx, r.Item, r.Stock)
		return it.done(), err
	default: // the only other command that check allows
		it, err := d.SetStopped(ctx, r.Item, r.Command == cmdStop)
		return it.done(), err
	}
}

// alone returns questions without their answers, which only editors see, as they may change them.
func alone(questions []seckill.Question) []seckill.Question {
	out := slices.Clone(questions)
	for i := range out {
		out[i].Answers = nil
	}
	return out
}

// ItemRow is an item in a list of items.
type ItemRow struct {
	ID        string            `json:"id"`
	Title     string            `json:"title"`
	State     seckill.ItemState `json:"state"`
	Price     seckill.Fen       `json:"price"`
	SalePrice seckill.Fen       `json:"sk_price"`
	Start     time.Time         `json:"start_time"`
	End       time.Time         `json:"end_time"`
	Stock     int               `json:"stock"`
	Limit     int               `json:"limit"`
	Checks    seckill.Checks    `json:"checks,omitempty"`
	Options   string            `json:"options,omitempty"`
	Spans     bool              `json:"limit_spans,omitempty"`
}

// ItemRows has every item whose row can be read, in the order of ids: at most seckill.MaxItems, which take 1.5 MB of an
// answer at most.
type ItemRows struct {
	Items      []ItemRow `json:"items"`
	Unreadable []string  `json:"unreadable,omitempty"`
}

// list returns the items without their descriptions and questions.
func (d *ItemHandler) list(ctx context.Context) (ItemRows, error) {
	items, err := d.stage.Items.List(ctx, time.Time{})
	unreadable, err := seckill.SplitUnreadable(err)
	if err != nil {
		return ItemRows{}, err
	}
	slices.SortFunc(items, func(a, b seckill.Item) int { return compareIDs(a.ID, b.ID) })
	out := ItemRows{Items: make([]ItemRow, len(items)), Unreadable: unreadable}
	for i := range items {
		it := &items[i]
		out.Items[i] = ItemRow{it.ID, it.Commodity.Title, it.StateAt(d.stage.Clock.Now()), it.Commodity.Price, it.Price,
			it.Start.UTC(), it.End.UTC(), it.Stock, it.Limit, it.Checks,
			it.Variant.Options.String(), it.Variant.LimitSpans}
	}
	return out, nil
}

// export returns the items after an id, as many as fit into an answer.
func (d *ItemHandler) export(ctx context.Context, after string, answers bool) (page, error) {
	items, err := d.stage.Items.List(ctx, time.Time{})
	unreadable, err := seckill.SplitUnreadable(err)
	if err != nil {
		return page{}, err
	}
	items = slices.DeleteFunc(items, func(it seckill.Item) bool { return after != "" && compareIDs(it.ID, after) <= 0 })
	slices.SortFunc(items, func(a, b seckill.Item) int { return compareIDs(a.ID, b.ID) })
	var out page
	var listings []seckill.Listing
	size := 0
	for _, it := range items {
		described, err := d.stage.Items.Description(ctx, it.ID, it.Described)
		bad, err := seckill.SplitUnreadable(err)
		if err != nil {
			return page{}, err
		}
		if bad != nil {
			unreadable = append(unreadable, bad...)
			continue
		}
		l := seckill.Listing{Item: it, Description: described, Base: it.Version,
			KeepsVariant: it.Variant.Family == ""}
		if l.Questions, err = d.stage.Questions.Questions(ctx, it.ID); err != nil {
			return page{}, err
		}
		if !answers {
			l.Questions = alone(l.Questions)
		}
		if size += TextSize(itemfile.Format([]seckill.Listing{l})); size > maxPage && len(listings) > 0 {
			out.Next = listings[len(listings)-1].ID
			break
		}
		listings = append(listings, l)
	}
	out.Items, out.Unreadable = itemfile.Format(listings), unreadable
	return out, nil
}

// compareIDs orders ids by number; they have no leading zeros.
func compareIDs(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }
