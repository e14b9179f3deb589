// Package push sends shoppers the outcome of their purchase. In: connect passes; changes of order rows, from the orders
// table's stream. Out: each order's newest change to the connections of its shopper, at most once for each; only a
// connection that opens meanwhile may hear a change twice. It touches only the connections.
//
// A missed push is not a missed outcome: the page asks once after it has connected, and polls without a connection. So
// nothing is sent again, and a fault holds up no batch.
package push

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/your-org/seckill/shared/seckill"
)

// Deps are the step's dependencies.
type Deps struct {
	Connections seckill.Connections
	Wire        seckill.Wire
	Clock       seckill.Clock
	Meter       seckill.Meter
	// Recent, if not nil, is for a wire that can send as soon as a connection is open (Opened): what happened to the
	// shopper's orders before is sent then, and a page need not ask whether it has missed anything.
	Recent seckill.Recent
	// Each calls do for 0 to n-1, several at once, and returns when all have ended.
	Each func(n int, do func(i int))
}

// Flow is one instance of the step. It has no memory.
type Flow struct{ Deps }

// New returns an instance.
func New(d Deps) *Flow { return &Flow{d} }

// Connect opens a connection with a pass that was checked. The error is seckill.ErrPass for a used pass.
func (f *Flow) Connect(ctx context.Context, p seckill.Pass, connection string) error {
	replaced, err := f.Connections.Open(ctx, p, seckill.Connection{ID: connection, User: p.User, Since: f.Clock.Now()})
	if err != nil {
		return err
	}
	f.Meter.Count(seckill.EventConnected, 1)
	if replaced != "" && f.Wire.Close(ctx, replaced) != nil {
		f.Meter.Count(seckill.EventPushFailed, 1) // it hears nothing more, and its page still asks now and then
	}
	return nil
}

// Opened sends the newest of what happened to each of a shopper's orders before a connection was open.
func (f *Flow) Opened(ctx context.Context, user, connection string) {
	if f.Recent == nil {
		return
	}
	newest := map[string]seckill.OrderEvent{}
	for _, e := range f.Recent.Of(user) {
		if e.Sequence > newest[e.Order].Sequence {
			newest[e.Order] = e
		}
	}
	for _, order := range slices.Sorted(maps.Keys(newest)) {
		e := newest[order]
		f.sendTo(ctx, connection, &e)
	}
}

// Disconnect forgets a connection that has ended.
func (f *Flow) Disconnect(ctx context.Context, connection string) error {
	return f.Connections.Forget(ctx, connection)
}

// Changes sends the newest change of each order. All changes are done, whatever happens.
func (f *Flow) Changes(ctx context.Context, changes []seckill.OrderChange) (done int, err error) {
	latest := newest(changes)
	f.Each(len(latest), func(i int) { f.send(ctx, &latest[i]) })
	return len(changes), nil
}

// Unreadable does nothing: the page asks by itself, and another step counts the change.
func (f *Flow) Unreadable() {}

// newest returns the last event of each order.
func newest(changes []seckill.OrderChange) []seckill.OrderEvent {
	var out []seckill.OrderEvent
	place := map[string]int{}
	for i := range changes {
		events := changes[i].Events()
		if len(events) == 0 {
			continue
		}
		last := events[len(events)-1]
		at, again := place[last.Order]
		switch {
		case !again:
			place[last.Order] = len(out)
			out = append(out, last)
		case last.Sequence > out[at].Sequence:
			out[at] = last
		}
	}
	return out
}

func (f *Flow) send(ctx context.Context, e *seckill.OrderEvent) {
	if f.Recent != nil { // first: a connection that Of does not return yet finds it when it is open
		f.Recent.Add(*e)
	}
	ids, err := f.Connections.Of(ctx, e.User)
	if err != nil {
		f.Meter.Count(seckill.EventPushFailed, 1)
		return
	}
	for _, id := range ids {
		f.sendTo(ctx, id, e)
	}
}

func (f *Flow) sendTo(ctx context.Context, connection string, e *seckill.OrderEvent) {
	switch err := f.Wire.Send(ctx, connection, e); {
	case err == nil:
		f.Meter.Count(seckill.EventPushed, 1)
	case errors.Is(err, seckill.ErrConnectionGone):
		// The connection has ended, or is not open yet: API Gateway opens it when Connect has returned. So nothing is
		// deleted here. A page asks once its connection is open; Disconnect deletes an ended connection, or its rows
		// expire.
	default:
		f.Meter.Count(seckill.EventPushFailed, 1)
	}
}
