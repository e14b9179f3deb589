// Package ledger is the ledger (seckill.Ledger), written once: every port method is one transaction or one read over a
// small port of rows that has Amazon DynamoDB's manners. So the conditions that make overselling impossible stand in
// one place and run in every test, whatever keeps the rows: the embedded engine (memory.Rows) or a database.
//
// In: calls of seckill.Ledger. Out: conditional transactions and reads on Rows, and nothing else. docs/DATA.md lists
// the tables, keys and attributes; Schema declares them.
package ledger

import (
	"context"
	"fmt"
	"strings"
)

// Limits of rows and transactions (Amazon DynamoDB, "Service, account, and table quotas").
const (
	MaxWrites      = 100       // writes of one transaction
	MaxBatch       = 100       // rows of one batch of reads
	MaxRow         = 400 << 10 // bytes of one row, names of attributes included
	MaxTransaction = 4 << 20   // bytes of all rows of one transaction
	MaxPK          = 2048      // bytes of a partition key
	MaxSK          = 1024      // bytes of a sort key
)

// Key names one row. SK is "" in a table without a sort key.
type Key struct{ Table, PK, SK string }

// Set is a set of strings: ascending, without repeats. There is no empty set: taking the last member out removes the
// attribute.
type Set []string

// Row is a row's attributes. A value is a string, an int64, a []string (a list) or a Set.
type Row map[string]any

// Foreign is what a driver gives for a value that no row of the ledger has, of a type that Row does not know. What
// decodes a row takes it for none, so that the row cannot be read, and the others of its page can.
type Foreign struct{}

// Op is the kind of a write.
type Op int

// The kinds of writes.
const (
	OpPut    Op = iota // the row becomes Row
	OpUpdate           // the row is changed, and made when it does not exist
	OpDelete           // the row goes; none is no error
	OpCheck            // nothing; its conditions count
)

// Write is one row's part of a transaction. An update names an attribute in at most one of its fields, and no key.
type Write struct {
	Key
	Op     Op
	Row    Row                 // put: all attributes; the keys come from Key
	Set    Row                 // update: attributes to set
	Add    map[string]int64    // update: amounts to add; an attribute that is not there counts as 0
	AddSet map[string]Set      // update: members to put in
	DelSet map[string]Set      // update: members to take out
	Append map[string][]string // update: entries for the end of a list; a list that is not there is made
	Remove []string            // update: attributes to remove
	If     []Cond              // all must hold
}

// CondKind is the kind of a condition.
type CondKind int

// The kinds of conditions.
const (
	CondAbsent CondKind = iota // there is no row with this key
	CondEq                     // the attribute is there and equals Value
	CondAtMost                 // the attribute, 0 when it is not there, is at most Value
	CondHas                    // the attribute is a set with the member Value
)

// Cond is a condition on the row as it is before the transaction.
type Cond struct {
	Kind  CondKind
	Attr  string
	Value any
}

// Absent asks that there is no row with this key.
func Absent() Cond { return Cond{Kind: CondAbsent} }

// Eq asks that the attribute is there and has this value: a string or an int64.
func Eq(attr string, value any) Cond { return Cond{Kind: CondEq, Attr: attr, Value: value} }

// AtMost asks that the attribute is at most n, where one that is not there counts as 0: so it never holds for a
// missing attribute and a negative n.
func AtMost(attr string, n int64) Cond { return Cond{Kind: CondAtMost, Attr: attr, Value: n} }

// Has asks that the attribute is a set with this member.
func Has(attr, member string) Cond { return Cond{Kind: CondHas, Attr: attr, Value: member} }

// ReasonCode is the outcome of one write in a cancelled transaction. The names are DynamoDB's.
type ReasonCode string

// The reasons.
const (
	ReasonNone      ReasonCode = "None"
	ReasonCondition ReasonCode = "ConditionalCheckFailed"
)

// Reason is one write's part in a cancellation. Old is the row that its conditions met, nil when there was none or
// when they held.
type Reason struct {
	Code ReasonCode
	Old  Row
}

// Canceled says that a condition did not hold and nothing was written. Reasons follow the order of the writes, and the
// first that failed is certain: no row before it stands against the transaction. Each later one that failed is named,
// too, unless another transaction had that row at the moment; so a caller decides by the first that matters to it, and
// writes come in the order in which their refusals count.
type Canceled struct{ Reasons []Reason }

// Error names the codes only: rows carry addresses, which never reach a log.
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

// Rows keeps rows as DynamoDB does. Rows that it returns carry their key attributes and belong to the caller; what a
// write carries is handed over, and the caller changes it no more. Any error but *Canceled is a fault: after a Transact
// its effect is unknown.
type Rows interface {
	// Transact carries out 1 to MaxWrites writes on distinct keys, all or nothing. *Canceled when a condition does not
	// hold.
	Transact(ctx context.Context, writes []Write) error
	// Get reads one row consistently; found reports whether it is there.
	Get(ctx context.Context, k Key) (row Row, found bool, err error)
	// GetBatch reads 1 to MaxBatch rows of distinct keys, each consistently, not together, in any order; a row that is
	// not there is missing.
	GetBatch(ctx context.Context, keys []Key) ([]Row, error)
	// Query reads at most limit rows of a partition consistently, ascending by sort key and beyond afterSK. Fewer than
	// limit means that there are no more.
	Query(ctx context.Context, table, pk, afterSK string, limit int) ([]Row, error)
	// Index reads at most limit rows of an index's partition by its sort key. It may lag behind the table. after is ""
	// or the next of an earlier page; next is "" when there are no more (a last page may still be empty).
	Index(ctx context.Context, index, pk, after string, limit int, descending bool) (rows []Row, next string, err error)
}
