package report

import (
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"
)

// tree computes a Merkle tree's root (RFC 6962) from its leaves in order. It keeps one hash per full subtree, so its
// memory grows with the logarithm of the size.
type tree struct {
	size  int64
	stack []tlog.Hash // roots of full subtrees, largest first
}

func (t *tree) add(leaf tlog.Hash) {
	t.stack = append(t.stack, leaf)
	t.size++
	for range bits.TrailingZeros64(uint64(t.size)) {
		last := len(t.stack) - 1
		t.stack[last-1] = tlog.NodeHash(t.stack[last-1], t.stack[last])
		t.stack = t.stack[:last]
	}
}

// root of an empty tree is all zeros; no report has an empty tree.
func (t *tree) root() (h tlog.Hash) {
	for i := len(t.stack) - 1; i >= 0; i-- {
		if i == len(t.stack)-1 {
			h = t.stack[i]
			continue
		}
		h = tlog.NodeHash(t.stack[i], h)
	}
	return h
}
