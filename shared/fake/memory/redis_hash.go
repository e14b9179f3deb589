package memory

import (
	"maps"
	"slices"
	"sort"
)

// redisHash is a hash that keeps the order in which its fields were added. A nil one reads as empty.
//
// Every field gets a sequence number when it is added and keeps it until it is deleted. Entries are sorted by these
// numbers, so a scan's cursor (the number to continue from) stays valid whatever changes between two calls.
type redisHash struct {
	index   map[string]int // field to its index in entries
	entries []redisField   // deleted ones stay as gaps until compact
	last    uint64         // the highest sequence number so far
}

type redisField struct {
	name, value string
	number      uint64
	deleted     bool
}

func newRedisHash() *redisHash { return &redisHash{index: map[string]int{}} }

func (h *redisHash) len() int {
	if h == nil {
		return 0
	}
	return len(h.index)
}

func (h *redisHash) get(name string) (string, bool) {
	if h == nil {
		return "", false
	}
	i, ok := h.index[name]
	if !ok {
		return "", false
	}
	return h.entries[i].value, true
}

// set sets a field and reports whether it is new.
func (h *redisHash) set(name, value string) bool {
	if i, ok := h.index[name]; ok {
		h.entries[i].value = value
		return false
	}
	h.last++
	h.index[name] = len(h.entries)
	h.entries = append(h.entries, redisField{name: name, value: value, number: h.last})
	return true
}

// delete removes a field and reports whether it existed.
func (h *redisHash) delete(name string) bool {
	i, ok := h.index[name]
	if !ok {
		return false
	}
	delete(h.index, name)
	h.entries[i] = redisField{number: h.entries[i].number, deleted: true}
	// There are more gaps than fields, so compacting costs one move per deletion on average.
	if gaps := len(h.entries) - len(h.index); gaps > len(h.index)+16 {
		h.compact()
	}
	return true
}

func (h *redisHash) compact() {
	h.entries = slices.DeleteFunc(h.entries, func(f redisField) bool { return f.deleted })
	for i := range h.entries {
		h.index[h.entries[i].name] = i
	}
}

// each visits the fields from a cursor on, oldest first, until visit returns false; cursor 0 begins.
func (h *redisHash) each(cursor uint64, visit func(*redisField) bool) {
	if h == nil {
		return
	}
	from := sort.Search(len(h.entries), func(i int) bool { return h.entries[i].number >= cursor })
	for i := from; i < len(h.entries); i++ {
		if f := &h.entries[i]; !f.deleted && !visit(f) {
			return
		}
	}
}

func (h *redisHash) clone() *redisHash {
	return &redisHash{index: maps.Clone(h.index), entries: slices.Clone(h.entries), last: h.last}
}
