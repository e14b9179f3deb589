package seckill

import (
	"context"
	"slices"
	"time"
)

// Limits of webhooks.
const (
	// PostTimeout is the longest time that one post to the endpoint takes.
	PostTimeout = 5 * time.Second
	// WebhookLease is how long whoever posts an order's events keeps the order to itself; each acknowledged event
	// renews it. It is longer than a post with its write, so that two posters of an order do not overtake each other.
	WebhookLease = 30 * time.Second
	// WebhookPatience is how long an event is posted again, from its first failure on.
	WebhookPatience = 24 * time.Hour
)

// webhookWaits are the waits after the first failures of an event, in order. The last one repeats.
var webhookWaits = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute,
	30 * time.Minute, time.Hour}

// Webhook is how far an order's events have reached the shop's endpoint.
type Webhook struct {
	Order   string    `row:"order,key"`
	Known   int       `row:"known"`             // entries of the order's history that have to reach it
	Sent    int       `row:"sent"`              // those that the endpoint acknowledged, from the first one on
	Due     time.Time `row:"due_at,opt,sorted"` // of the next post; once given up, when that was; zero: all are sent
	GivenUp bool      // the next event was posted in vain for WebhookPatience
	Tries   int       `row:"tries"`     // posts of the next event in vain
	Since   time.Time `row:"since,opt"` // the first of these; zero without any
	Writes  int       `row:"writes"`    // of the row; a write requires the number that it read
}

// Grow records that the order's history has this many entries, and reports whether that is new. If nothing was due,
// the next post is due at the given time: a new change also opens an order that was given up, for another
// WebhookPatience.
func (w *Webhook) Grow(entries int, due time.Time) bool {
	if entries <= w.Known {
		return false
	}
	w.Known = entries
	if w.GivenUp || w.Due.IsZero() {
		w.open(due)
	}
	return true
}

func (w *Webhook) open(due time.Time) {
	w.Due, w.GivenUp, w.Tries, w.Since = due, false, 0, time.Time{}
}

// Resume makes an order that was given up due again, for another WebhookPatience.
func (w *Webhook) Resume(due time.Time) bool {
	resumed := w.GivenUp
	if resumed {
		w.open(due)
	}
	return resumed
}

// Acknowledged records that the endpoint has the next event. The poster keeps the order until the given time if more
// are to be sent.
func (w *Webhook) Acknowledged(until time.Time) {
	w.Sent++
	w.open(until)
	if w.Sent >= w.Known {
		w.Due = time.Time{}
	}
}

// Failed records that the next event was posted in vain.
func (w *Webhook) Failed(at time.Time) {
	wait := webhookWaits[min(w.Tries, len(webhookWaits)-1)]
	if w.Tries++; w.Since.IsZero() {
		w.Since = at
	}
	w.Due = at.Add(wait)
	if w.GivenUp = at.Sub(w.Since) >= WebhookPatience; w.GivenUp {
		w.Due = at
	}
}

// Next returns the next event to post, of the order as read, or false if the history, as read, does not have it.
func (w *Webhook) Next(o *Order) (OrderEvent, bool) {
	c := OrderChange{Order: *o, Before: w.Sent}
	c.Order.History = slices.Clip(o.History[:min(w.Sent+1, len(o.History))])
	events := c.Events()
	if len(events) == 0 {
		return OrderEvent{}, false
	}
	return events[0], true
}

// WebhookKeeper keeps a row per order: how far its events have reached the endpoint.
type WebhookKeeper interface {
	// Webhook reads an order's row; one with nothing but the order if there is none.
	Webhook(ctx context.Context, order string) (Webhook, error)
	// SaveWebhook writes the row that follows the one that was read, with w.Writes as read. It returns ErrStateChanged
	// if the row was written since.
	SaveWebhook(ctx context.Context, w Webhook) error
	// WebhooksDue pages through the rows that are due by now, oldest first. Index read.
	WebhooksDue(ctx context.Context, shard int, now time.Time, after string, limit int) (Page[Webhook], error)
	// WebhooksGivenUp pages through the rows that were given up, oldest first. Index read.
	WebhooksGivenUp(ctx context.Context, after string, limit int) (Page[Webhook], error)
}

// Endpoint is where the shop's own systems take the events of orders.
type Endpoint interface {
	// Post sends an event. It returns nil if the endpoint has acknowledged it. After an error its effect is unknown.
	Post(ctx context.Context, e *OrderEvent) error
}
