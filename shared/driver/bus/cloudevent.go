// Package bus writes order events as CloudEvents 1.0 in JSON, which docs/events/order.v1.json describes, publishes them
// on an Amazon EventBridge bus, and posts them to the shop's endpoint, signed as Standard Webhooks 1.0 has it. In: an
// event. Out: PutEvents calls, or one POST that only a 2xx status acknowledges, each bounded in time, size and
// attempts.
package bus

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Source is the event bus's name of who sends the events. CloudEvents adds the stack's name to it.
const Source = "seckill"

// timeLayout has milliseconds, as the ledger has.
const timeLayout = "2006-01-02T15:04:05.000Z07:00"

// Event is a CloudEvent about an order. Its names come from the CloudEvents specification, version 1.0.
type Event struct {
	SpecVersion     string `json:"specversion"`
	ID              string `json:"id"`     // the order's id and the sequence; a repetition has the same one
	Source          string `json:"source"` // the shop: with the id, it identifies the event
	Type            string `json:"type"`
	Subject         string `json:"subject"` // the order
	Time            string `json:"time"`    // of the change, not of the telling
	DataContentType string `json:"datacontenttype"`
	Sequence        string `json:"sequence"` // data.sequence with leading zeros, so that it sorts as a text
	Data            Data   `json:"data"`
}

// Data is what happened. Amounts are in fen.
type Data struct {
	Version  int    `json:"version"`
	Order    string `json:"order"`
	Sequence int    `json:"sequence"`
	Item     string `json:"item"`
	User     string `json:"user"`
	Title    string `json:"title"`
	Count    int    `json:"count"`
	Price    int64  `json:"price"`
	Amount   int64  `json:"amount"`
	From     string `json:"from,omitempty"`
	State    string `json:"state"`
	Cause    string `json:"cause,omitempty"`
	PayBy    string `json:"pay_by,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// Of returns the CloudEvent of an order event of the named shop.
func Of(shop string, e *seckill.OrderEvent) Event {
	d := Data{Version: seckill.OrderEventVersion, Order: e.Order, Sequence: e.Sequence, Item: e.Item, User: e.User,
		Title: e.Title, Count: e.Count, Price: int64(e.Price), Amount: int64(e.Amount), From: string(e.From),
		State: string(e.State), Cause: e.Cause, Reason: string(e.Reason)}
	if !e.PayBy.IsZero() {
		d.PayBy = format(e.PayBy)
	}
	return Event{SpecVersion: "1.0", ID: e.ID(), Source: "/" + Source + "/" + shop, Type: e.Kind(), Subject: e.Order,
		Time: format(e.At), DataContentType: "application/json", Sequence: padded(e.Sequence), Data: d}
}

// Encode returns the CloudEvent as JSON.
func Encode(shop string, e *seckill.OrderEvent) []byte {
	b, err := json.Marshal(Of(shop, e))
	if err != nil {
		panic(err) // cannot happen: strings and integers always marshal
	}
	return b
}

func format(t time.Time) string { return t.UTC().Format(timeLayout) }

// padded has five digits: no order has 100,000 changes.
func padded(n int) string {
	s := strconv.Itoa(n)
	return "00000"[:max(5-len(s), 0)] + s
}
