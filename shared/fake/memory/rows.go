package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// RowsOptions are the settings of Rows.
type RowsOptions struct {
	Clock    seckill.Clock
	IndexLag time.Duration  // how far indexes lag behind their tables; 0 means not at all
	Tables   []ledger.Table // in addition to ledger.Schema
	// Watch, if set, receives every row that a transaction replaced, in the order of its writes: nil for no row. It
	// must neither change the rows nor call Rows.
	Watch func(table string, old, new ledger.Row)
}

// Rows stores the ledger's rows in memory and behaves like DynamoDB: conditional transactions that are all or nothing
// and report a reason per row, size limits, lagging indexes, pages whose cursor may lead to an empty page. It is the
// embedded driver of ledger.Rows and safe for concurrent use; each call is atomic.
//
// A stored row is never modified, only replaced: reads copy it under the lock, and indexes may hold older rows.
type Rows struct {
	clock seckill.Clock
	lag   time.Duration
	watch func(table string, old, new ledger.Row)

	mu      sync.Mutex
	tables  map[string]*rowTable
	indexes map[string]*rowIndex
	pending []rowChange // not yet in the indexes, oldest first
}

var _ ledger.Rows = (*Rows)(nil)

// rowTable holds a table's partitions, each ascending by sort key.
type rowTable struct {
	ledger.Table
	partitions map[string][]rowEntry
	indexes    []*rowIndex
}

type rowEntry struct {
	sk  string
	row ledger.Row
}

// NewRows returns the empty tables and indexes of ledger.Schema and RowsOptions.Tables.
func NewRows(o RowsOptions) *Rows {
	m := &Rows{clock: o.Clock, lag: o.IndexLag, watch: o.Watch, tables: map[string]*rowTable{},
		indexes: map[string]*rowIndex{}}
	for _, spec := range slices.Concat(ledger.Schema, o.Tables) {
		t := &rowTable{Table: spec, partitions: map[string][]rowEntry{}}
		for _, i := range spec.Indexes {
			index := &rowIndex{Index: i, table: t, partitions: map[string][]indexEntry{}}
			t.indexes = append(t.indexes, index)
			m.indexes[i.Name] = index
		}
		m.tables[spec.Name] = t
	}
	return m
}

func (t *rowTable) find(pk, sk string) (int, bool) {
	return slices.BinarySearchFunc(t.partitions[pk], sk, func(e rowEntry, sk string) int {
		return cmp.Compare(e.sk, sk)
	})
}

func (t *rowTable) get(k ledger.Key) ledger.Row {
	if i, found := t.find(k.PK, k.SK); found {
		return t.partitions[k.PK][i].row
	}
	return nil
}

// set replaces a row; nil removes it.
func (t *rowTable) set(k ledger.Key, row ledger.Row) {
	part := t.partitions[k.PK]
	i, found := t.find(k.PK, k.SK)
	switch {
	case found && row == nil:
		part = slices.Delete(part, i, i+1)
	case found:
		part[i].row = row
	case row != nil:
		part = slices.Insert(part, i, rowEntry{k.SK, row})
	}
	if len(part) == 0 {
		delete(t.partitions, k.PK)
		return
	}
	t.partitions[k.PK] = part
}

func (m *Rows) table(name string) (*rowTable, error) {
	t := m.tables[name]
	if t == nil {
		return nil, fmt.Errorf("memory: no table %q", name)
	}
	return t, nil
}

// read returns the row of a key after checking the key, or nil if there is no such row.
func (m *Rows) read(k ledger.Key) (ledger.Row, error) {
	t, err := m.table(k.Table)
	if err == nil {
		err = t.CheckKey(k)
	}
	if err != nil {
		return nil, err
	}
	return t.get(k), nil
}

// Get implements ledger.Rows.
func (m *Rows) Get(ctx context.Context, k ledger.Key) (ledger.Row, bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	row, err := m.read(k)
	if err != nil {
		return nil, false, err
	}
	return copyRow(row), row != nil, nil
}

// GetBatch implements ledger.Rows.
func (m *Rows) GetBatch(ctx context.Context, keys []ledger.Key) ([]ledger.Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(keys) < 1 || len(keys) > ledger.MaxBatch {
		return nil, fmt.Errorf("memory: batch of %d reads, want 1..%d", len(keys), ledger.MaxBatch)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := make(map[ledger.Key]bool, len(keys))
	var rows []ledger.Row
	for _, k := range keys {
		row, err := m.read(k)
		if err != nil {
			return nil, err
		}
		if seen[k] {
			return nil, fmt.Errorf("memory: batch with two reads of %s %s/%s", k.Table, k.PK, k.SK)
		}
		seen[k] = true
		if row != nil {
			rows = append(rows, copyRow(row))
		}
	}
	return rows, nil
}

// PeekBatch implements ledger.Rows. It does not lag.
func (m *Rows) PeekBatch(ctx context.Context, keys []ledger.Key) ([]ledger.Row, error) {
	return m.GetBatch(ctx, keys)
}

// Query implements ledger.Rows.
func (m *Rows) Query(ctx context.Context, table, pk, afterSK string, limit int) ([]ledger.Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tables[table]
	if t == nil || t.SK == "" || pk == "" || limit < 1 {
		return nil, fmt.Errorf("memory: query of table %q, partition %q, limit %d", table, pk, limit)
	}
	i, found := t.find(pk, afterSK)
	if found {
		i++
	}
	var rows []ledger.Row
	for _, e := range t.partitions[pk][i:] {
		if len(rows) == limit {
			break
		}
		rows = append(rows, copyRow(e.row))
	}
	return rows, nil
}

// Dump returns a copy of a table's current rows, ascending by keys, for tests and displays; nil for an unknown table.
func (m *Rows) Dump(table string) []ledger.Row {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tables[table]
	if t == nil {
		return nil
	}
	var rows []ledger.Row
	for _, pk := range slices.Sorted(maps.Keys(t.partitions)) {
		for _, e := range t.partitions[pk] {
			rows = append(rows, copyRow(e.row))
		}
	}
	return rows
}

func copyRow(row ledger.Row) ledger.Row {
	out := maps.Clone(row)
	for attr, v := range out {
		switch v := v.(type) {
		case []string:
			out[attr] = slices.Clone(v)
		case ledger.Set:
			out[attr] = slices.Clone(v)
		}
	}
	return out
}
