package seckill

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// MessageVersion is the schema version of messages. Readers park a message of a newer version and do not guess at its
// content.
const MessageVersion = 1

// Limits of queues (Amazon SQS, "Amazon SQS message quotas").
const (
	MaxDelay       = 900 * time.Second // a message's delay
	MaxMessage     = 256 << 10         // bytes
	MaxReceives    = 100               // after that many receives the queue itself parks a message
	MaxBatch       = 10                // messages in one receive
	MaxBackoff     = 60 * time.Second  // longest wait that a flow sets after a transient fault
	DefaultVisible = 30 * time.Second  // visibility timeout
)

// MessageKind is the type of a message.
type MessageKind string

// The kinds of messages.
const (
	MessageOrder  MessageKind = "order"  // orders queue: place this reservation
	MessageReturn MessageKind = "return" // orders queue: an order has a return row
	// orders queue: an item is not installed or, with Look, holds units back after a rebuild
	MessageWake  MessageKind = "wake"
	MessageClose MessageKind = "close" // closings queue: check whether the order is due
)

// Message is one message on a queue.
type Message struct {
	Kind        MessageKind
	Reservation Reservation // set for MessageOrder
	Order       string      // set for MessageReturn and MessageClose
	Item        string      // set for MessageWake
	Build       string      // token of the build that holds units of the item back
	Look        int         // the number of the look at the queue, from 1; 0 if the message asks for none
	// the request id of the cause, for logs only; a MessageOrder has it in its Reservation
	Trace string
}

type wireMessage struct {
	Version int         `json:"v"`
	Kind    MessageKind `json:"kind"`
	Order   string      `json:"order,omitempty"`
	Item    string      `json:"item,omitempty"`
	Build   string      `json:"build,omitempty"`
	Look    int         `json:"look,omitempty"`
	User    string      `json:"user,omitempty"`
	Count   int         `json:"count,omitempty"`
	Given
	Created int64  `json:"created,omitempty"` // Unix milliseconds
	Units   []int  `json:"units,omitempty"`
	Trace   string `json:"trace,omitempty"`
}

// Encode writes the message as JSON.
func (m *Message) Encode() []byte {
	w := wireMessage{Version: MessageVersion, Kind: m.Kind, Order: m.Order, Item: m.Item, Build: m.Build, Look: m.Look,
		Trace: m.Trace}
	if m.Kind == MessageOrder {
		r := &m.Reservation
		w.Order, w.Item, w.User, w.Count, w.Given, w.Units = r.Order, r.Item, r.User, r.Count, r.Given, r.Units
		w.Created, w.Trace = r.Created.UnixMilli(), r.Trace
	}
	b, err := json.Marshal(w)
	if err != nil {
		panic(err) // cannot happen: strings and integers always marshal
	}
	// JSON does not escape these two code points, and SQS refuses them, because a body has to be XML 1.0 text. A
	// reservation whose address contains one could never be sent and would hold its units forever.
	if bytes.Contains(b, []byte("\xef\xbf")) {
		b = bytes.ReplaceAll(b, []byte("\ufffe"), []byte(`\ufffe`))
		b = bytes.ReplaceAll(b, []byte("\uffff"), []byte(`\uffff`))
	}
	return b
}

// DecodeMessage reads a message. The error says why it is unreadable; the caller parks such a message.
func DecodeMessage(b []byte) (Message, error) {
	var w wireMessage
	if len(b) > MaxMessage {
		return Message{}, fmt.Errorf("message of %d bytes", len(b))
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return Message{}, fmt.Errorf("not a message: %w", err)
	}
	if w.Version != MessageVersion {
		return Message{}, fmt.Errorf("message version %d, this code reads %d", w.Version, MessageVersion)
	}
	m := Message{Kind: w.Kind, Order: w.Order, Item: w.Item, Build: w.Build, Look: w.Look, Trace: w.Trace}
	switch w.Kind {
	case MessageOrder:
		r := Reservation{Request: Request{Order: w.Order, Item: w.Item, User: w.User, Count: w.Count,
			Given: w.Given, Created: time.UnixMilli(w.Created).UTC(), Trace: w.Trace}, Units: w.Units}
		if !ValidOrderID(r.Order) || w.Created <= 0 {
			return Message{}, fmt.Errorf("order message without a valid order id and time")
		}
		if err := r.shape(); err != nil {
			return Message{}, fmt.Errorf("order message: %w", err)
		}
		if !ascending(r.Units) || len(r.Units) > r.Count {
			return Message{}, fmt.Errorf("order message with units %v for a count of %d", r.Units, r.Count)
		}
		m = Message{Kind: w.Kind, Reservation: r}
	case MessageReturn, MessageClose:
		if !ValidOrderID(w.Order) {
			return Message{}, fmt.Errorf("%s message without a valid order id", w.Kind)
		}
	case MessageWake:
		if !ValidItemID(w.Item) {
			return Message{}, fmt.Errorf("wake message without a valid item id")
		}
		if w.Look < 0 {
			return Message{}, fmt.Errorf("wake message with look %d", w.Look)
		}
	default:
		return Message{}, fmt.Errorf("message of unknown kind %.40q", w.Kind)
	}
	return m, nil
}

func ascending(units []int) bool {
	last := 0
	for _, n := range units {
		if n <= last || n > MaxStock {
			return false
		}
		last = n
	}
	return true
}

// Delivery is one receipt of a message.
type Delivery struct {
	ID       string // the message's id
	Receipt  string // this delivery's handle
	Body     []byte
	Receives int // how often the message was received, including this time
}

// Subject returns the parts of a message's content that logs may contain: the order and the request id of the cause;
// "" if missing or unreadable.
func (d *Delivery) Subject() (order, trace string) {
	m, err := DecodeMessage(d.Body)
	switch {
	case err != nil:
		return "", ""
	case m.Kind == MessageOrder:
		return m.Reservation.Order, m.Reservation.Trace
	}
	return m.Order, m.Trace
}

// Backoff returns how long to hide the message after a fault: 1 s, 2 s, 4 s … MaxBackoff. MaxReceives of these take
// more than an hour and a half.
func (d *Delivery) Backoff() time.Duration {
	return min(time.Second<<min(max(d.Receives-1, 0), 10), MaxBackoff)
}

// Depth is the number of messages in a queue.
type Depth struct {
	Visible  int // can be received now
	InFlight int // received, not yet deleted
	Delayed  int
	Parked   int // in its dead-letter queue
}

// Queue delivers every message at least once, in any order, and again if it is not deleted within the visibility
// timeout. Any error is a fault: the effect is unknown.
type Queue interface {
	// Send enqueues a message. delay is at most MaxDelay.
	Send(ctx context.Context, m Message, delay time.Duration) error
	// Receive returns at most limit messages (1..MaxBatch). An empty result is not an error.
	Receive(ctx context.Context, limit int) ([]Delivery, error)
	// Delete acknowledges a delivery. Deleting it again is not an error.
	Delete(ctx context.Context, d Delivery) error
	// Delay hides a delivered message for the duration wait, from now on.
	Delay(ctx context.Context, d Delivery, wait time.Duration) error
	// Park copies a delivered message to the dead-letter queue with the reason. The caller deletes the original
	// afterwards.
	Park(ctx context.Context, d Delivery, reason string) error
	// Depth returns the counts; they may lag.
	Depth(ctx context.Context) (Depth, error)
}

// OperatedQueue is a queue as operators need it.
type OperatedQueue interface {
	Queue
	// Redrive begins to move the messages of the dead-letter queue back, and returns about how many they are. A move
	// that runs already goes on.
	Redrive(ctx context.Context) (messages int, err error)
}
