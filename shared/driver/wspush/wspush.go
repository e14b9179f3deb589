// Package wspush writes what shoppers' pages hear over their WebSocket connections, and sends it through the
// connections that Amazon API Gateway holds. In: a change of an order. Out: a text frame, which docs/openapi.yaml
// describes; one call for each connection, bounded in time and size. A table remembers who is connected.
package wspush

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// message is a frame. Its names are those of an order in the HTTP API.
type message struct {
	Order    string `json:"order_id"`
	State    string `json:"state"`
	Sequence int    `json:"sequence"` // a page ignores a change that is not newer than what it knows
	PayBy    string `json:"pay_by,omitempty"`
	Count    int    `json:"count,omitempty"`
	// Amount is what the shopper pays, in yuan.
	Amount seckill.Fen `json:"amount,omitempty"`
	Reason string      `json:"reason,omitempty"`
}

// Message returns a change as the text of a frame, some 160 bytes: enough for a page to show that an order can be paid.
func Message(e *seckill.OrderEvent) []byte {
	m := message{Order: e.Order, State: string(e.State), Sequence: e.Sequence, Count: e.Count,
		Amount: e.Amount, Reason: string(e.Reason)}
	if !e.PayBy.IsZero() {
		m.PayBy = e.PayBy.UTC().Format(time.RFC3339)
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // cannot happen: strings and integers always marshal
	}
	return b
}

// Offered returns the pass among the subprotocols that a page offers, as its header has them: the protocol and the
// pass, nothing else. The error is seckill.ErrPass.
func Offered(header string) (pass string, err error) {
	protocol, pass, both := strings.Cut(header, ",")
	if !both || strings.TrimSpace(protocol) != seckill.PushProtocol {
		return "", seckill.ErrPass
	}
	return strings.TrimSpace(pass), nil
}
