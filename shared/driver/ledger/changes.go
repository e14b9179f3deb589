package ledger

import (
	"maps"

	"github.com/your-org/seckill/shared/seckill"
)

// OrderChange reads a write of an order's row: the row before it, nil if there was none, and after it. The error is
// an ErrUnreadable that names the row.
func OrderChange(before, after Row) (seckill.OrderChange, error) {
	o, err := decodeOrder(after)
	if err != nil {
		return seckill.OrderChange{}, err
	}
	// The history only grows, so its length says enough about the row before.
	told, _ := before["history"].([]string)
	return seckill.OrderChange{Order: o, Before: len(told)}, nil
}

// OrderPut reads a put of a new order's row. The error is an ErrUnreadable that names the row.
func OrderPut(w *Write) (seckill.OrderChange, error) {
	row := maps.Clone(w.Row)
	row["id"] = w.PK
	return OrderChange(nil, row)
}
