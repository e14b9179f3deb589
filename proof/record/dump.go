package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/your-org/seckill/shared/driver/ledger"
)

// Parts of a sale other than the ledger's tables.
const (
	PartItems  = "items"          // the row of the items table
	PartTrades = "gateway_trades" // the fake gateway's trades: see package fakegateway
	PartRedis  = "redis"          // the item's keys
	PartQueues = "queues"
)

// Tables are the ledger's tables in the order that an audit needs.
var Tables = []string{ledger.TableOrders, ledger.TableUnits, ledger.TableQuotas, ledger.TablePayments,
	ledger.TableReturns, ledger.TableBlocks}

// Line is one row, entry or message from a source. Exactly one of Now, Table, Key, Queue, Missing and End is set.
type Line struct {
	Now     int64      `json:"now,omitempty"`   // the sale's clock, Unix milliseconds
	Table   string     `json:"table,omitempty"` // a row of a table: PartItems, PartTrades or one of ledger.Schema
	Row     ledger.Row `json:"-"`               // its attributes
	Key     string     `json:"key,omitempty"`   // a field of a hash in Redis, or a member of a sorted set
	Field   string     `json:"field,omitempty"`
	Value   string     `json:"value,omitempty"` // the field's value, or the member's score
	Queue   string     `json:"queue,omitempty"` // a queue: "orders", "closings"
	Depth              // the queue's depth
	Missing string     `json:"missing,omitempty"` // a part that cannot be read
	Why     string     `json:"why,omitempty"`     // what reading it would need
	End     string     `json:"end,omitempty"`     // a part that was read completely; without this line it counts as unread
	Count   int        `json:"count,omitempty"`   // lines of that part
}

// Depth is a queue's number of messages. Delayed ones are not due yet; Parked ones are in its dead-letter queue.
type Depth struct {
	Visible  int `json:"visible,omitempty"`
	InFlight int `json:"in_flight,omitempty"`
	Delayed  int `json:"delayed,omitempty"`
	Parked   int `json:"parked,omitempty"`
}

// wire is a line as JSON. A set of a row is {"set":["a"]}, and a list ["a"].
type wire struct {
	*Line
	Row map[string]any `json:"row,omitempty"`
}

// Append adds the line as JSON, with a newline.
func (l *Line) Append(b []byte) []byte {
	w := wire{l, make(map[string]any, len(l.Row))}
	for attr, v := range l.Row {
		if set, ok := v.(ledger.Set); ok {
			v = map[string][]string{"set": set}
		}
		w.Row[attr] = v
	}
	text, err := json.Marshal(w)
	if err != nil {
		panic(err) // rows have texts, numbers and lists of texts
	}
	return append(append(b, text...), '\n')
}

// Lines calls each with every line that Append wrote. It fails with the number of a malformed line. A stream that is
// cut off after a line is not an error, because parts without End count as unread.
func Lines(r io.Reader, each func(*Line) error) error {
	d := json.NewDecoder(r)
	d.UseNumber()
	d.DisallowUnknownFields()
	for n := 1; ; n++ {
		w := wire{Line: &Line{}}
		err := d.Decode(&w)
		if errors.Is(err, io.EOF) {
			return nil
		}
		w.Line.Row = w.Row
		for attr, v := range w.Row {
			if err == nil {
				w.Row[attr], err = valueOf(v)
			}
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := each(w.Line); err != nil {
			return err
		}
	}
}

// valueOf returns a row's value as the ledger has it.
func valueOf(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case json.Number:
		return v.Int64()
	case nil:
		return []string{}, nil
	case []any:
		return texts(v)
	case map[string]any:
		list, ok := v["set"].([]any)
		if set, has := v["set"]; !ok && (!has || set != nil) {
			return nil, errValue
		}
		set, err := texts(list)
		return ledger.Set(set), err
	}
	return nil, errValue
}

func texts(list []any) ([]string, error) {
	out := make([]string, len(list))
	for i, v := range list {
		text, ok := v.(string)
		if !ok {
			return nil, errValue
		}
		out[i] = text
	}
	return out, nil
}

var errValue = errors.New("not a value of a dump")
