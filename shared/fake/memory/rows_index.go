package memory

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// rowChange is a replaced row that the indexes have not applied yet.
type rowChange struct {
	at       time.Time
	table    *rowTable
	key      ledger.Key
	old, new ledger.Row // nil means no row
}

// rowIndex holds an index's partitions, each ascending by position.
type rowIndex struct {
	ledger.Index
	table      *rowTable
	partitions map[string][]indexEntry
}

// position orders an index's partition: its sort key, then the table's keys, so that the order is deterministic.
type position struct{ sk, tablePK, tableSK string }

type indexEntry struct {
	position
	row ledger.Row
}

func (a position) compare(b position) int {
	return cmp.Or(cmp.Compare(a.sk, b.sk), cmp.Compare(a.tablePK, b.tablePK), cmp.Compare(a.tableSK, b.tableSK))
}

func compareEntry(e indexEntry, p position) int { return e.compare(p) }

// locate returns a row's position in the index; ok is false if the index does not contain the row.
func (x *rowIndex) locate(k ledger.Key, row ledger.Row) (pk string, p position, ok bool) {
	pk, okPK := row[x.PK].(string)
	sk, okSK := row[x.SK].(string)
	return pk, position{sk, k.PK, k.SK}, okPK && okSK
}

func (x *rowIndex) apply(c rowChange) {
	if pk, p, ok := x.locate(c.key, c.old); ok {
		part := x.partitions[pk]
		if i, found := slices.BinarySearchFunc(part, p, compareEntry); found {
			x.partitions[pk] = slices.Delete(part, i, i+1)
		}
		if len(x.partitions[pk]) == 0 {
			delete(x.partitions, pk)
		}
	}
	if pk, p, ok := x.locate(c.key, c.new); ok {
		part := x.partitions[pk]
		i, _ := slices.BinarySearchFunc(part, p, compareEntry)
		x.partitions[pk] = slices.Insert(part, i, indexEntry{p, c.new})
	}
}

// project copies the attributes of a row that the index has.
func (x *rowIndex) project(row ledger.Row) ledger.Row {
	if !x.KeysOnly {
		return copyRow(row)
	}
	out := ledger.Row{}
	for _, attr := range []string{x.PK, x.SK, x.table.PK, x.table.SK} {
		if attr != "" {
			out[attr] = row[attr]
		}
	}
	return out
}

// catchUp brings the indexes to their state IndexLag ago.
func (m *Rows) catchUp() {
	upTo := m.clock.Now().Add(-m.lag)
	n := 0
	for n < len(m.pending) && !m.pending[n].at.After(upTo) {
		for _, x := range m.pending[n].table.indexes {
			x.apply(m.pending[n])
		}
		n++
	}
	m.pending = slices.Delete(m.pending, 0, n)
}

// Index implements ledger.Rows: it shows the state of RowsOptions.IndexLag ago. Like DynamoDB it returns a next
// whenever the page is full, even if nothing follows.
func (m *Rows) Index(ctx context.Context, index, pk, after string, limit int, descending bool) ([]ledger.Row, string,
	error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	x := m.indexes[index]
	if x == nil || pk == "" || limit < 1 {
		return nil, "", fmt.Errorf("memory: read of index %q, partition %q, limit %d", index, pk, limit)
	}
	m.catchUp()
	part := x.partitions[pk]
	from, step := 0, 1
	if descending {
		from, step = len(part)-1, -1
	}
	if after != "" {
		p, err := decodeCursor(after)
		if err != nil {
			return nil, "", err
		}
		i, found := slices.BinarySearchFunc(part, p, compareEntry)
		switch {
		case descending:
			from = i - 1
		case found:
			from = i + 1
		default:
			from = i
		}
	}
	var rows []ledger.Row
	for i := from; i >= 0 && i < len(part); i += step {
		rows = append(rows, x.project(part[i].row))
		if len(rows) == limit {
			return rows, encodeCursor(part[i].position), nil
		}
	}
	return rows, "", nil
}

// Newest implements ledger.Rows, as Index does.
func (m *Rows) Newest(ctx context.Context, index, pk, before string, limit int) ([]ledger.Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	x := m.indexes[index]
	if x == nil || pk == "" || limit < 1 {
		return nil, fmt.Errorf("memory: newest of index %q, partition %q, limit %d", index, pk, limit)
	}
	m.catchUp()
	part := x.partitions[pk]
	end := len(part)
	if before != "" {
		end, _ = slices.BinarySearchFunc(part, position{sk: before}, compareEntry)
	}
	var rows []ledger.Row
	for i := end - 1; i >= 0 && len(rows) < limit; i-- {
		rows = append(rows, x.project(part[i].row))
	}
	return rows, nil
}

func encodeCursor(p position) string {
	return base64.RawURLEncoding.EncodeToString([]byte(p.sk + "\x00" + p.tablePK + "\x00" + p.tableSK))
}

func decodeCursor(s string) (position, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	parts := strings.Split(string(b), "\x00")
	if err != nil || len(parts) != 3 {
		return position{}, seckill.Invalid("cursor", "")
	}
	return position{parts[0], parts[1], parts[2]}, nil
}
