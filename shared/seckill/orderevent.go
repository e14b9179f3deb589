package seckill

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// OrderEventVersion is the schema version of order events. docs/events/order.v1.json describes them.
const OrderEventVersion = 1

// MaxEvents is the largest number of events that one call of a bus takes (a PutEvents call's limit, Amazon
// EventBridge).
const MaxEvents = 10

// OrderEvent tells other systems one change of an order: an entry of the order's history. It has neither address nor
// phone number.
type OrderEvent struct {
	Order    string
	Sequence int // place of the change in the order's history, from 1, without a gap
	Item     string
	User     string
	Count    int
	Price    Fen // per unit
	Amount   Fen
	Title    string
	From     State // before the change; "" for the first
	State    State // after it; From if the history only notes something, such as a second payment
	At       time.Time
	Cause    string
	PayBy    time.Time // end of the hold; zero when rejected
	Reason   Code      // rejected: the reason
}

// ID returns the event's id, the same however often the change is told.
func (e *OrderEvent) ID() string { return e.Order + "." + strconv.Itoa(e.Sequence) }

// EventNoted is the kind of an entry of the history that leaves the state as it was.
const EventNoted = "order.noted"

// Kind returns what happened, such as order.paid.
func (e *OrderEvent) Kind() string {
	if e.From == e.State {
		return EventNoted
	}
	return e.State.EventKind()
}

// EventKind returns the kind of the event of a change to this state.
func (s State) EventKind() string {
	if s == PendingPayment {
		return "order.placed"
	}
	return "order." + string(s)
}

// ParseEventID returns the order and the sequence of an event's id.
func ParseEventID(id string) (order string, sequence int, err error) {
	order, number, _ := strings.Cut(id, ".")
	sequence, err = strconv.Atoi(number)
	if err != nil || sequence < 1 || strconv.Itoa(sequence) != number || !ValidOrderID(order) {
		return "", 0, fmt.Errorf("event id %.60q: want an order's id, a dot and a number", id)
	}
	return order, sequence, nil
}

// OrderChange is one write of an order's row.
type OrderChange struct {
	Order  Order // after the write
	Before int   // entries of the history before the write; 0 if the write made the row
}

// Events returns the events of the change, oldest first; none if the history did not grow, as when an address is
// erased.
func (c *OrderChange) Events() []OrderEvent {
	o := &c.Order
	var events []OrderEvent
	for i := max(c.Before, 0); i < len(o.History); i++ {
		e := OrderEvent{Order: o.ID, Sequence: i + 1, Item: o.Item, User: o.User, Count: o.Count, Price: o.Price,
			Amount: o.Amount, Title: o.Title, State: o.History[i].State, At: o.History[i].At, Cause: o.History[i].Cause}
		if i > 0 {
			e.From = o.History[i-1].State
		}
		if e.State == Rejected {
			e.Reason = o.Reason
		} else {
			e.PayBy = o.PayBy
		}
		events = append(events, e)
	}
	return events
}

// Bus passes events on to other systems, at least once and in any order.
type Bus interface {
	// Publish sends 1 to MaxEvents events. It returns one error per event, nil for an event that the bus keeps. After
	// an error the effect is unknown. The slice is nil if the bus keeps all of them.
	Publish(ctx context.Context, events []OrderEvent) []error
}
