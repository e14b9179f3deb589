// Package ledger implements the ledger (seckill.Ledger) once: every port method is one transaction or one read over a
// small port of rows that behaves like Amazon DynamoDB. So the conditions that prevent overselling are in one place
// and run in every test, whatever stores the rows: the embedded engine (memory.Rows) or a database.
//
// In: calls of seckill.Ledger. Out: conditional transactions and reads on Rows only. docs/DATA.md lists the tables,
// keys and attributes; Schema declares them.
package ledger

import (
	"context"
	"fmt"
	"strings"
)

// Limits of rows and transactions (Amazon DynamoDB, "Service, account, and table quotas").
const (
	MaxWrites      = 100       // writes per transaction
	MaxBatch       = 100       // rows per batch of reads
	MaxRow         = 400 << 10 // bytes per row, including attribute names
	MaxTransaction = 4 << 20   // bytes of all rows of a transaction
	MaxPK          = 2048      // bytes per partition key
	MaxSK          = 1024      // bytes per sort key
)

// Key identifies one row. SK is "" in a table without a sort key.
type Key struct{ Table, PK, SK string }

// Set is a set of strings, ascending and without repetitions. It is never empty: removing the last member removes the
// attribute.
type Set []string

// Row holds a row's attributes. A value is a string, an int64, a []string (a list) or a Set.
type Row map[string]any

// Foreign replaces a value whose type no row of the ledger has. Decoders treat it as a missing value, so that only its
// row is unreadable and not the other rows of the page.
type Foreign struct{}

// Op is the kind of a write.
type Op int

// The kinds of writes.
const (
	OpPut    Op = iota // replace the row with Row
	OpUpdate           // change the row; create it if it does not exist
	OpDelete           // delete the row; a missing row is not an error
	OpCheck            // write nothing; only check the conditions
)

// Write is the part of a transaction about one row. An update names each attribute in at most one field, and no key
// attribute.
type Write struct {
	Key
	Op     Op
	Row    Row                 // put: all attributes except the key's, which come from Key
	Set    Row                 // update: attributes to set
	Add    map[string]int64    // update: amounts to add; a missing attribute counts as 0
	AddSet map[string]Set      // update: members to add
	DelSet map[string]Set      // update: members to remove
	Append map[string][]string // update: entries to append to a list; a missing list is created
	Remove []string            // update: attributes to remove
	If     []Cond              // all must hold
}

// CondKind is the kind of a condition.
type CondKind int

// The kinds of conditions.
const (
	CondAbsent CondKind = iota // no row has this key
	CondEq                     // the attribute exists and equals Value
	CondAtMost                 // the attribute, 0 if missing, is at most Value
	CondHas                    // the attribute is a set that contains Value
)

// Cond is a condition on the row before the transaction.
type Cond struct {
	Kind  CondKind
	Attr  string
	Value any
}

// Absent requires that no row has this key.
func Absent() Cond { return Cond{Kind: CondAbsent} }

// Eq requires that the attribute exists and has this value: a string or an int64.
func Eq(attr string, value any) Cond { return Cond{Kind: CondEq, Attr: attr, Value: value} }

// AtMost requires that the attribute is at most n. A missing attribute counts as 0, so it fails for a negative n.
func AtMost(attr string, n int64) Cond { return Cond{Kind: CondAtMost, Attr: attr, Value: n} }

// Has requires that the attribute is a set with this member.
func Has(attr, member string) Cond { return Cond{Kind: CondHas, Attr: attr, Value: member} }

// ReasonCode is the outcome of one write in a cancelled transaction. The names are DynamoDB's.
type ReasonCode string

// The reasons.
const (
	ReasonNone      ReasonCode = "None"
	ReasonCondition ReasonCode = "ConditionalCheckFailed"
)

// Reason is the outcome of one write in a cancellation. Old is the row that the conditions were checked against, nil
// if there was none or if they held.
type Reason struct {
	Code ReasonCode
	Old  Row
}

// Canceled means that a condition did not hold and nothing was written. Reasons has the order of the writes. The
// first failure is certain: the conditions of all rows before it held. Later failures are listed, too, unless another
// transaction held that row at the moment. So a caller decides by the first failure that matters to it, and puts its
// writes in the order in which their refusals count.
type Canceled struct{ Reasons []Reason }

// Error lists only the codes: rows contain delivery addresses, which must not reach a log.
func (c *Canceled) Error() string {
	codes := make([]string, len(c.Reasons))
	for i, r := range c.Reasons {
		codes[i] = string(r.Code)
	}
	return fmt.Sprintf("ledger: transaction cancelled [%s]", strings.Join(codes, " "))
}

// failed reports whether the conditions of write i did not hold.
func (c *Canceled) failed(i int) bool {
	return i < len(c.Reasons) && c.Reasons[i].Code == ReasonCondition
}

// Rows stores rows like DynamoDB does. Rows that it returns include their key attributes and belong to the caller;
// the caller must not change a write after passing it. Any error except *Canceled is a fault: after a Transact its
// effect is unknown.
type Rows interface {
	// Transact executes 1 to MaxWrites writes on distinct keys, all or nothing. *Canceled if a condition does not
	// hold.
	Transact(ctx context.Context, writes []Write) error
	// Update executes one OpUpdate alone, at half the price of a transaction: after a lost answer a driver may execute
	// it twice. *Canceled as in Transact.
	Update(ctx context.Context, w Write) error
	// Get reads one row consistently; found reports whether it exists.
	Get(ctx context.Context, k Key) (row Row, found bool, err error)
	// GetBatch reads 1 to MaxBatch rows of distinct keys in any order; each read is consistent, but together they are
	// no snapshot. The result omits rows that do not exist.
	GetBatch(ctx context.Context, keys []Key) ([]Row, error)
	// PeekBatch reads as GetBatch does, at half the price: a row may be as it was a moment ago.
	PeekBatch(ctx context.Context, keys []Key) ([]Row, error)
	// Query reads at most limit rows of a partition consistently, ascending by sort key, after afterSK. Fewer than
	// limit rows means that there are no more.
	Query(ctx context.Context, table, pk, afterSK string, limit int) ([]Row, error)
	// Index reads at most limit rows of an index's partition, sorted by its sort key. It may lag behind the table.
	// after is "" or the next of an earlier page; next is "" if there are no more (a last page may still be empty).
	Index(ctx context.Context, index, pk, after string, limit int, descending bool) (rows []Row, next string, err error)
	// Newest reads at most limit rows of an index's partition with a sort key less than before, descending; before is
	// "" for the greatest. Fewer than limit rows means that there are no more. It lags as Index does.
	Newest(ctx context.Context, index, pk, before string, limit int) ([]Row, error)
}
