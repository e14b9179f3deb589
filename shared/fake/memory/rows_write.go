package memory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/your-org/seckill/shared/driver/ledger"
)

// Transact implements ledger.Rows.
func (m *Rows) Transact(ctx context.Context, writes []ledger.Write) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(writes) < 1 || len(writes) > ledger.MaxWrites {
		return fmt.Errorf("memory: transaction of %d writes, want 1..%d", len(writes), ledger.MaxWrites)
	}
	seen := make(map[ledger.Key]bool, len(writes))
	changes := make([]rowChange, len(writes))
	for i := range writes {
		w := &writes[i]
		t, err := m.table(w.Table)
		if err == nil {
			err = t.CheckWrite(w)
		}
		if err != nil {
			return err
		}
		if seen[w.Key] {
			return fmt.Errorf("memory: transaction with two writes of %s %s/%s", w.Table, w.PK, w.SK)
		}
		seen[w.Key] = true
		changes[i] = rowChange{table: t, key: w.Key, old: t.get(w.Key)}
	}
	if err := check(writes, changes); err != nil {
		return err
	}
	size := 0
	for i := range writes {
		c := &changes[i]
		row, err := applyWrite(c.table, &writes[i], c.old)
		bytes := 0
		if err == nil {
			bytes, err = weigh(c.table, row)
		}
		if err != nil {
			return fmt.Errorf("memory: %s %s/%s: %w", c.key.Table, c.key.PK, c.key.SK, err)
		}
		c.new = row
		size += bytes
	}
	if size > ledger.MaxTransaction {
		return fmt.Errorf("memory: transaction of %d bytes", size)
	}
	now := m.clock.Now()
	for i, c := range changes {
		if writes[i].Op == ledger.OpCheck {
			continue
		}
		c.table.set(c.key, c.new)
		if m.watch != nil {
			m.watch(c.table.Name, c.old, c.new)
		}
		if len(c.table.indexes) > 0 {
			c.at = now
			m.pending = append(m.pending, c)
		}
	}
	return nil
}

// Update implements ledger.Rows.
func (m *Rows) Update(ctx context.Context, w ledger.Write) error {
	if w.Op != ledger.OpUpdate {
		return fmt.Errorf("memory: %s %s/%s is not an update", w.Table, w.PK, w.SK)
	}
	return m.Transact(ctx, []ledger.Write{w})
}

// check evaluates every condition; *ledger.Canceled if one does not hold.
func check(writes []ledger.Write, changes []rowChange) error {
	var c *ledger.Canceled
	for i := range writes {
		for _, cond := range writes[i].If {
			if holds(cond, changes[i].old) {
				continue
			}
			if c == nil {
				c = &ledger.Canceled{Reasons: make([]ledger.Reason, len(writes))}
				for j := range c.Reasons {
					c.Reasons[j].Code = ledger.ReasonNone
				}
			}
			c.Reasons[i] = ledger.Reason{Code: ledger.ReasonCondition, Old: copyRow(changes[i].old)}
			break
		}
	}
	if c == nil {
		return nil
	}
	return c
}

func holds(c ledger.Cond, row ledger.Row) bool {
	switch c.Kind {
	case ledger.CondAbsent:
		return row == nil
	case ledger.CondEq:
		return row[c.Attr] == c.Value
	case ledger.CondAtMost:
		n, ok := row[c.Attr].(int64)
		return (ok || row[c.Attr] == nil) && n <= c.Value.(int64)
	default: // CondHas: CheckWrite allows no other kind
		set, _ := row[c.Attr].(ledger.Set)
		_, found := slices.BinarySearch(set, c.Value.(string))
		return found
	}
}

// applyWrite returns the row after the write, or nil if there is no row then.
func applyWrite(t *rowTable, w *ledger.Write, old ledger.Row) (ledger.Row, error) {
	var row ledger.Row
	switch w.Op {
	case ledger.OpCheck:
		return old, nil
	case ledger.OpDelete:
		return nil, nil
	case ledger.OpPut:
		row = w.Row
	case ledger.OpUpdate:
		row = maps.Clone(old)
	}
	if row == nil {
		row = ledger.Row{}
	}
	if w.Op == ledger.OpUpdate {
		if err := update(row, w); err != nil {
			return nil, err
		}
	}
	row[t.PK] = w.PK
	if t.SK != "" {
		row[t.SK] = w.SK
	}
	return row, nil
}

var errType = errors.New("attribute of another type")

// update applies an update. It replaces lists and sets, because it shares them with the stored row.
func update(row ledger.Row, w *ledger.Write) error {
	maps.Copy(row, w.Set)
	for attr, n := range w.Add {
		have, ok := row[attr].(int64)
		if !ok && row[attr] != nil {
			return fmt.Errorf("add to %s: %w", attr, errType)
		}
		row[attr] = have + n
	}
	for attr, members := range w.AddSet {
		have, ok := row[attr].(ledger.Set)
		if !ok && row[attr] != nil {
			return fmt.Errorf("put into %s: %w", attr, errType)
		}
		all := slices.Concat(have, members)
		slices.Sort(all)
		row[attr] = slices.Compact(all)
	}
	for attr, members := range w.DelSet {
		have, ok := row[attr].(ledger.Set)
		if !ok && row[attr] != nil {
			return fmt.Errorf("take out of %s: %w", attr, errType)
		}
		left := slices.DeleteFunc(slices.Clone(have), func(m string) bool { return slices.Contains(members, m) })
		if len(left) == 0 {
			delete(row, attr)
		} else {
			row[attr] = left
		}
	}
	for attr, entries := range w.Append {
		have, ok := row[attr].([]string)
		if !ok && row[attr] != nil {
			return fmt.Errorf("append to %s: %w", attr, errType)
		}
		row[attr] = slices.Concat(have, entries)
	}
	for _, attr := range w.Remove {
		delete(row, attr)
	}
	return nil
}

// weigh returns a row's size in bytes by DynamoDB's rules (Developer Guide, "Item sizes and formats": names and
// values, a number at most 11, a list or set 3 more, each of its entries 1 more). It returns an error for a value
// that DynamoDB could not store, a row that is too large, or an index key that is not a string.
func weigh(t *rowTable, row ledger.Row) (int, error) {
	size := 0
	for attr, v := range row {
		size += len(attr)
		switch v := v.(type) {
		case string:
			size += len(v)
		case int64:
			size += 11
		case []string:
			size += weighTexts(v)
		case ledger.Set:
			size += weighTexts(v)
			if !validSet(v) {
				return 0, fmt.Errorf("attribute %s is not a set: ascending, no repeats, not empty", attr)
			}
		default:
			return 0, fmt.Errorf("attribute %s of type %T", attr, v)
		}
	}
	if size > ledger.MaxRow {
		return 0, fmt.Errorf("row of %d bytes", size)
	}
	for _, x := range t.indexes {
		for _, attr := range [2]string{x.PK, x.SK} {
			if v, there := row[attr]; there {
				if s, ok := v.(string); !ok || s == "" {
					return 0, fmt.Errorf("attribute %s is a key of index %s: want a text, not empty", attr, x.Name)
				}
			}
		}
	}
	return size, nil
}

func validSet(set ledger.Set) bool {
	for i := 1; i < len(set); i++ {
		if set[i] <= set[i-1] {
			return false
		}
	}
	return len(set) > 0
}

func weighTexts(texts []string) int {
	size := 3
	for _, s := range texts {
		size += 1 + len(s)
	}
	return size
}
