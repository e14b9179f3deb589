package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// CheckKey returns an error for a key that the table cannot have.
func (t *Table) CheckKey(k Key) error {
	switch {
	case k.PK == "" || len(k.PK) > MaxPK:
		return fmt.Errorf("ledger: %s: partition key of %d bytes", t.Name, len(k.PK))
	case (k.SK == "") != (t.SK == "") || len(k.SK) > MaxSK:
		return fmt.Errorf("ledger: %s: sort key of %d bytes", t.Name, len(k.SK))
	}
	return nil
}

// CheckWrite returns an error for a write that no row allows: a wrong key or shape, or an update that names a key or
// the same attribute twice. Every driver calls it, so that all refuse the same writes.
func (t *Table) CheckWrite(w *Write) error {
	if err := t.CheckKey(w.Key); err != nil {
		return err
	}
	bad := func(why string) error { return fmt.Errorf("ledger: %s %s/%s: %s", w.Table, w.PK, w.SK, why) }
	if w.Op < OpPut || w.Op > OpCheck {
		return bad("unknown op " + strconv.Itoa(int(w.Op)))
	}
	if w.Op == OpCheck && len(w.If) == 0 {
		return bad("a check without a condition")
	}
	for _, c := range w.If {
		if !validCond(c) {
			return bad("condition on " + c.Attr + " that means nothing")
		}
	}
	if w.Op != OpPut && w.Row != nil {
		return bad("attributes of a put in another write")
	}
	attrs := updated(w)
	if (w.Op == OpUpdate) != (len(attrs) > 0) {
		return bad("an update of nothing, or fields of an update in another write")
	}
	for i, attr := range attrs {
		if attr == t.PK || attr == t.SK || slices.Contains(attrs[:i], attr) {
			return bad("update of key or twice of attribute " + attr)
		}
	}
	return nil
}

func validCond(c Cond) bool {
	switch v := c.Value.(type) {
	case nil:
		return c.Kind == CondAbsent
	case string:
		return c.Attr != "" && (c.Kind == CondEq || c.Kind == CondHas && v != "")
	case int64:
		return c.Attr != "" && (c.Kind == CondEq || c.Kind == CondAtMost)
	}
	return false
}

// updated lists the attributes that an update names, with repetitions.
func updated(w *Write) []string {
	n := len(w.Set) + len(w.Add) + len(w.AddSet) + len(w.DelSet) + len(w.Append) + len(w.Remove)
	if n == 0 {
		return nil
	}
	attrs := make([]string, 0, n)
	attrs = slices.AppendSeq(attrs, maps.Keys(w.Set))
	attrs = slices.AppendSeq(attrs, maps.Keys(w.Add))
	attrs = slices.AppendSeq(attrs, maps.Keys(w.AddSet))
	attrs = slices.AppendSeq(attrs, maps.Keys(w.DelSet))
	attrs = slices.AppendSeq(attrs, maps.Keys(w.Append))
	return append(attrs, w.Remove...)
}
