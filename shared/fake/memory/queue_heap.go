package memory

import (
	"cmp"
	"strconv"
	"time"
)

// queued is a message in the queue; it is in exactly one of the queue's two heaps.
type queued struct {
	id       string
	n        uint64 // sequence number of sending
	body     []byte
	due      time.Time // when it becomes, or became, visible
	receives int
	visible  bool // in the heap of visible messages
	index    int  // index in its heap
	repeated bool // was delivered a second time while in flight
	revived  bool // returned once after its deletion
}

// receipt returns the newest delivery's receipt.
func (m *queued) receipt() string { return m.id + "#" + strconv.Itoa(m.receives) }

// queueHeap is a container/heap of messages, earliest due first; ties keep the order of sending.
type queueHeap []*queued

func (h queueHeap) Len() int { return len(h) }

func (h queueHeap) Less(i, j int) bool {
	return cmp.Or(h[i].due.Compare(h[j].due), cmp.Compare(h[i].n, h[j].n)) < 0
}

func (h queueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *queueHeap) Push(x any) {
	m := x.(*queued)
	m.index = len(*h)
	*h = append(*h, m)
}

func (h *queueHeap) Pop() any {
	old := *h
	last := len(old) - 1
	m := old[last]
	old[last] = nil // free the message once it is deleted
	*h = old[:last]
	return m
}
