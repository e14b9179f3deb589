package audit

import (
	"context"
	"errors"

	"github.com/your-org/seckill/proof/record"
)

// Source reads the rows, keys and queues of a sale.
type Source interface {
	// Read calls each with Now, the items row, trades and orders, then with the ledger's other tables, keys and queues.
	// A part ends with End or is named as Missing. Rows of other items may be among them. An error means that the
	// source cannot be read.
	Read(ctx context.Context, each func(*record.Line) error) error
}

// SourceFunc adapts a function to Source.
type SourceFunc func(ctx context.Context, each func(*record.Line) error) error

// Read implements Source.
func (f SourceFunc) Read(ctx context.Context, each func(*record.Line) error) error {
	return f(ctx, each)
}

// ErrNoItem means that the source has no such item.
var ErrNoItem = errors.New("there is no such item")
