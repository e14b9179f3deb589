// Package operator is the operator's face of a system: import and export of items, stop, resume, more stock, and a look at clock and Redis. An operator's machine reaches no
// Redis, so a deployed system's stage function does it: Client makes an event of a command, Desk.Handler carries it out and answers. Both halves
// and their limits are here, so that they cannot drift apart; the routes of a local system use the same Desk. In: commands. Out:
// results, or refusals in the words of package httpapi. It touches what the flow of package stage touches: items and stock.
//
// Every command may be repeated: the second time there is nothing left to do. ADR 9 says why it is done so.
package operator

import (
	"context"
	"sync"
	"time"

	"seckill/shared/adapter/itemfile"
	"seckill/shared/adapter/redisconn"
	"seckill/shared/flow/stage"
	"seckill/shared/seckill"
)

// Desk carries out commands. It is safe for concurrent use.
type Desk struct {
	// Look asks the stock's servers about themselves; nil: there are none.
	Look func(context.Context) []redisconn.Node

	stage *stage.Flow
	// one import at a time: what one was judged by, another of this process does not change. Versions protect each item from other processes.
	one sync.Mutex
}

// NewDesk makes a desk that works by a flow.
func NewDesk(flow *stage.Flow) *Desk { return &Desk{stage: flow} }

// FileError is what is wrong with an items file, in words for its author. Nothing was written.
type FileError struct{ Err error }

func (e *FileError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *FileError) Unwrap() error { return e.Err }

// ItemState is an item as it is now. Left, Held and Awaiting are the stock's, 0 while the stock does not have the item (Loaded false).
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

// ItemChange is an item after a command. Changed: it was otherwise before.
type ItemChange struct {
	ItemState
	Changed bool `json:"changed"`
}

// Health is what only the function knows, and an operator wants to know before a sale.
type Health struct {
	Now   time.Time        `json:"now"` // by the function's clock
	Redis []redisconn.Node `json:"redis"`
}

// Health looks at the clock and at the stock's servers. It changes nothing.
func (d *Desk) Health(ctx context.Context) Health {
	h := Health{Now: d.stage.Clock.Now()}
	if d.Look != nil {
		h.Redis = d.Look(ctx)
	}
	return h
}

// Import makes or changes the items of a file (package itemfile; the name's ending tells its format). A *FileError or a *stage.ImportError: nothing
// was written. After a fault some may be; doing it again is harmless.
func (d *Desk) Import(ctx context.Context, name string, data []byte) (stage.Imported, error) {
	items, err := itemfile.Parse(name, data, d.stage.Clock.Now())
	if err != nil {
		return stage.Imported{}, &FileError{err}
	}
	d.one.Lock()
	defer d.one.Unlock()
	return d.stage.Import(ctx, items)
}

// SetStopped stops or resumes an item's sale. Errors as stage.Flow.SetStopped.
func (d *Desk) SetStopped(ctx context.Context, id string, stopped bool) (ItemChange, error) {
	return d.change(ctx, id, func() error { return d.stage.SetStopped(ctx, id, stopped) })
}

// AddStock raises an item's stock to n units in all. Errors as stage.Flow.AddStock.
func (d *Desk) AddStock(ctx context.Context, id string, n int) (ItemChange, error) {
	return d.change(ctx, id, func() error { return d.stage.AddStock(ctx, id, n) })
}

func (d *Desk) change(ctx context.Context, id string, edit func() error) (ItemChange, error) {
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
	return ItemChange{d.State(ctx, &after), after.Version != before.Version}, nil
}

// State says how an item is now.
func (d *Desk) State(ctx context.Context, it *seckill.Item) ItemState {
	out := ItemState{ID: it.ID, Title: it.Commodity.Title, State: it.StateAt(d.stage.Clock.Now()), Stock: it.Stock}
	if l, err := d.stage.Stock.Level(ctx, it.ID); err == nil {
		out.Left, out.Held, out.Awaiting, out.Loaded = l.Left, l.Held, l.Awaiting, true
	}
	return out
}
