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

// page is the result of an export: the items that follow the requested id After, in the order of their ids. If there
// are more items, Next is the last id of this page; the next page begins after it. Every page names all items with
// unreadable rows, and the items of its own range with unreadable descriptions.
type page struct {
	Items      json.RawMessage `json:"items"`
	Next       string          `json:"next,omitempty"`
	Unreadable []string        `json:"unreadable,omitempty"`
}

// ItemHandler executes commands about items. It is safe for concurrent use.
type ItemHandler struct {
	// Look returns the state of the stock's servers; nil if there are no servers.
	Look func(context.Context) []seckill.CacheNode
	// Imported is called after an import that wrote all its items; if nil, the schedule loads them.
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
	Lines []itemfile.Line // what is wrong, place by place; nil if the file as a whole is wrong
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
}

// Health is what only the handler can tell an operator before a sale.
type Health struct {
	Now   time.Time           `json:"now"` // by the handler's clock
	Redis []seckill.CacheNode `json:"redis"`
}

// ReadHealth reads the clock and the state of the stock's servers.
type ReadHealth struct{ Given }

func (*ReadHealth) Spec() Spec {
	return Spec{Name: "health", Roles: everybody, In: "stage", Short: "Show the clock, and the state of Redis"}
}

func (*ReadHealth) Do(ctx context.Context, d *ItemHandler) (Done, error) {
	h := Health{Now: d.stage.Clock.Now()}
	if d.Look != nil {
		h.Redis = d.Look(ctx)
	}
	return readDone(h, nil)
}

// Import creates or changes the items of a JSON items file (package itemfile); with dry it only checks them. After a
// *FileError nothing was written. After a fault some items may be written; repeating the import is harmless.
type Import struct {
	Given
	Items json.RawMessage `json:"items" log:"-" sample:"[]"`
	Dry   bool            `json:"dry,omitempty"`
}

func (*Import) Spec() Spec {
	return Spec{Name: "import", Path: "items import", Roles: editors, In: "stage", File: true,
		Short: "Create or change the items of a file: all of them, or none"}
}

func (c *Import) Do(ctx context.Context, d *ItemHandler) (Done, error) {
	items, places, err := itemfile.ParsePlaces("items.json", c.Items, d.stage.Clock.Now())
	var bad *itemfile.Error
	if err != nil && !errors.As(err, &bad) {
		return Done{}, &FileError{Err: err}
	}
	d.one.Lock()
	defer d.one.Unlock()
	plan, err := d.stage.Check(ctx, items) // although there are bad lines: staff see all faults at once
	if bad != nil {
		bad.Lines = append(bad.Lines, linesOf(err, items, places)...)
		slices.SortStableFunc(bad.Lines, func(a, b itemfile.Line) int { return cmp.Compare(a.N, b.N) })
		return Done{}, &FileError{bad, bad.Lines}
	}
	in := plan.Imported
	if err == nil && !c.Dry {
		if in, err = d.stage.Write(ctx, items); err == nil && d.Imported != nil {
			d.Imported(ctx)
		}
	}
	if lines := linesOf(err, items, places); len(lines) > 0 {
		err = &FileError{err, lines}
	}
	out := Done{Result: in, Outcome: changedIf(!c.Dry && len(in.Made)+len(in.Changed) > 0),
		More: []slog.Attr{slog.Any("made", in.Made), slog.Any("changed", in.Changed)}}
	if err == nil && out.Outcome == changed {
		out.Before, out.After = differences(plan.Changes, seckill.MaxAuditText-len(inLine(out.More)))
	}
	return out, err
}

// Stop stops an item's sale.
type Stop struct {
	Given
	Item string `json:"item" is:"item" arg:"ID"`
}

func (*Stop) Spec() Spec {
	return Spec{Name: "stop", Path: "items stop", Roles: operators, In: "stage", Short: "Stop an item's sale"}
}

func (c *Stop) Do(ctx context.Context, d *ItemHandler) (Done, error) {
	return d.setStopped(ctx, c.Item, true)
}

// Resume resumes an item's sale.
type Resume struct {
	Given
	Item string `json:"item" is:"item" arg:"ID"`
}

func (*Resume) Spec() Spec {
	return Spec{Name: "resume", Path: "items resume", Roles: operators, In: "stage", Short: "Resume an item's sale"}
}

func (c *Resume) Do(ctx context.Context, d *ItemHandler) (Done, error) {
	return d.setStopped(ctx, c.Item, false)
}

// setStopped stops or resumes an item's sale. Errors as stage.Flow.SetStopped. It reads the stock's level at the same
// time, so that it waits only once for a slow Redis.
func (d *ItemHandler) setStopped(ctx context.Context, id string, stopped bool) (Done, error) {
	seen := make(chan level, 1)
	go func() { seen <- d.level(ctx, id) }()
	return d.change(ctx, id, func() error { return d.stage.SetStopped(ctx, id, stopped) },
		func() level { return <-seen })
}

// AddStock raises an item's stock to a total of units, sold ones included. Errors as stage.Flow.AddStock.
type AddStock struct {
	Given
	Item  string `json:"item" is:"item" arg:"ID"`
	Stock int    `json:"stock" is:"stock" arg:"N"`
}

func (*AddStock) Spec() Spec {
	return Spec{Name: "add-stock", Path: "items add-stock", Roles: operators, In: "stage",
		Short: "Raise an item's stock to a total of N units",
		Long: `Raise an item's stock to a total of N units, sold units included, also during the sale. N
is the new total, not the number to add, so that a repetition adds nothing. Stock never shrinks.`}
}

func (c *AddStock) Do(ctx context.Context, d *ItemHandler) (Done, error) {
	return d.change(ctx, c.Item, func() error { return d.stage.AddStock(ctx, c.Item, c.Stock) },
		func() level { return d.level(ctx, c.Item) })
}

func (d *ItemHandler) change(ctx context.Context, id string, edit func() error, look func() level) (Done, error) {
	before, err := d.stage.Items.Get(ctx, id)
	if err != nil {
		return Done{}, err
	}
	if err := edit(); err != nil {
		return Done{}, err
	}
	after, err := d.stage.Items.Get(ctx, id)
	if err != nil {
		return Done{}, err
	}
	is := after.Version != before.Version
	return Done{Result: ItemChange{d.state(&after, look()), is}, Outcome: changedIf(is), Before: edited(&before),
		After: edited(&after)}, nil
}

// edited returns what these commands change of an item, and its version.
func edited(it *seckill.Item) []slog.Attr {
	return []slog.Attr{slog.Int("stock", it.Stock), slog.Bool("stopped", it.Stopped), slog.Any("version", it.Version)}
}

// ReadLevel reads an item and its units, as this machine sees them.
type ReadLevel struct {
	Given
	Item string `json:"item" is:"item" arg:"ID"`
}

func (*ReadLevel) Spec() Spec {
	return Spec{Name: "level", Roles: everybody, In: "stage", Quiet: true, Short: "Show an item's units"}
}

func (c *ReadLevel) Do(ctx context.Context, d *ItemHandler) (Done, error) {
	it, err := d.stage.Items.Get(ctx, c.Item)
	if err != nil {
		return Done{}, err
	}
	l, err := d.stage.Stock.Level(ctx, c.Item)
	if err != nil && !errors.Is(err, seckill.ErrNotInstalled) {
		return Done{}, err
	}
	now := d.stage.Clock.Now()
	return readDone(seckill.LiveStock{Title: it.Commodity.Title, State: it.StateAt(now), Opens: it.Start,
		Closes: it.End, Stock: it.Stock, Installed: err == nil, Left: l.Left, Held: l.Held, Awaiting: l.Awaiting,
		Clock: now}, nil)
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
	silent bool // the stock did not answer
}

func (d *ItemHandler) level(ctx context.Context, id string) level {
	l, err := d.stage.Stock.Level(ctx, id)
	return level{l, err == nil, err != nil && !errors.Is(err, seckill.ErrNotInstalled)}
}

// ItemView is an item as an editor sees it.
type ItemView struct {
	ItemState
	Item  json.RawMessage `json:"item"`  // as in an items file, with its version
	Rules []seckill.Rule  `json:"rules"` // how far a save may change each field now
}

// ReadItem reads an item, with how far a save may change each field. CodeItemUnknown. An unreadable description is
// empty. Only callers who may see answers get the questions with their answers.
type ReadItem struct {
	Given
	Item string `json:"item" is:"item" arg:"ID"`
}

func (*ReadItem) Spec() Spec {
	return Spec{Name: "item", Path: "items show", Roles: everybody, In: "stage",
		Short: "Show an item, and which of its fields may change now",
		Long: `Show an item: its state, what is left, each field, and whether an import may change the field now.
--json has the item in full, as an items file has it.`}
}

func (c *ReadItem) Do(ctx context.Context, d *ItemHandler) (Done, error) {
	l, err := d.stage.Listing(ctx, c.Item)
	if err != nil {
		return Done{}, err
	}
	if !c.answers {
		l.Questions = alone(l.Questions)
	}
	return readDone(ItemView{d.State(ctx, &l.Item), asFile(l), l.Rules(d.stage.Clock.Now())}, nil)
}

func (d *ItemHandler) run(c Command) func(context.Context) (Done, error) {
	return handler(func(ctx context.Context, c does[*ItemHandler]) (Done, error) { return c.Do(ctx, d) }).run(c)
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
	Left      *int              `json:"left,omitempty"` // nil if it was not asked for, or Redis does not have the item
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

// ListItems lists the items without their descriptions and questions.
type ListItems struct {
	Given
	NoLeft bool `json:"no_left,omitempty" flag:"no-left" log:"-" help:"without what is left of each item"`
}

func (*ListItems) Spec() Spec {
	return Spec{Name: "items", Path: "items list", Roles: everybody, In: "stage", Short: "List the items",
		Long: `List all items: state, what is left, start and end. "seckill items show" shows one item.`}
}

func (c *ListItems) Do(ctx context.Context, d *ItemHandler) (Done, error) {
	items, err := d.stage.Items.List(ctx, time.Time{})
	unreadable, err := seckill.SplitUnreadable(err)
	if err != nil {
		return Done{}, err
	}
	slices.SortFunc(items, func(a, b seckill.Item) int { return compareIDs(a.ID, b.ID) })
	out := ItemRows{Items: make([]ItemRow, len(items)), Unreadable: unreadable}
	silent := false // the stock does not answer: it is not asked again
	for i := range items {
		it := &items[i]
		out.Items[i] = ItemRow{it.ID, it.Commodity.Title, it.StateAt(d.stage.Clock.Now()), it.Commodity.Price, it.Price,
			it.Start.UTC(), it.End.UTC(), it.Stock, nil, it.Limit, it.Checks,
			it.Variant.Options.String(), it.Variant.LimitSpans}
		if c.NoLeft || silent {
			continue
		}
		l := d.level(ctx, it.ID)
		if silent = l.silent; l.loaded {
			out.Items[i].Left = &l.Left
		}
	}
	return readDone(out, nil)
}

// Export returns the items after an id, as many as fit into an answer.
type Export struct {
	Given
	After string `json:"after,omitempty" is:"item" log:"-"` // the last item of the page before
}

func (*Export) Spec() Spec {
	return Spec{Name: "export", Path: "items export", Roles: everybody, In: "stage",
		Short: "Write all items to standard output, as a JSON file for import"}
}

func (c *Export) Do(ctx context.Context, d *ItemHandler) (Done, error) {
	items, err := d.stage.Items.List(ctx, time.Time{})
	unreadable, err := seckill.SplitUnreadable(err)
	if err != nil {
		return Done{}, err
	}
	items = slices.DeleteFunc(items, func(it seckill.Item) bool {
		return c.After != "" && compareIDs(it.ID, c.After) <= 0
	})
	slices.SortFunc(items, func(a, b seckill.Item) int { return compareIDs(a.ID, b.ID) })
	var out page
	var listings []seckill.Listing
	size := 0
	for _, it := range items {
		described, err := d.stage.Items.Description(ctx, it.ID, it.Described)
		bad, err := seckill.SplitUnreadable(err)
		if err != nil {
			return Done{}, err
		}
		if bad != nil {
			unreadable = append(unreadable, bad...)
			continue
		}
		l := seckill.Listing{Item: it, Description: described, Base: it.Version,
			KeepsVariant: it.Variant.Family == ""}
		if l.Questions, err = d.stage.Questions.Questions(ctx, it.ID); err != nil {
			return Done{}, err
		}
		if !c.answers {
			l.Questions = alone(l.Questions)
		}
		if size += TextSize(itemfile.Format([]seckill.Listing{l})); size > maxPage && len(listings) > 0 {
			out.Next = listings[len(listings)-1].ID
			break
		}
		listings = append(listings, l)
	}
	out.Items, out.Unreadable = itemfile.Format(listings), unreadable
	return readDone(out, nil)
}

// compareIDs orders ids by number; they have no leading zeros.
func compareIDs(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }
