package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"golang.org/x/mod/sumdb/tlog"
)

// Proof shows that one order is in a report: the order's line, and the hashes that lead from it to the signed root.
type Proof struct {
	Line string      `json:"line"` // the line's leaf: the line without its hash
	N    int64       `json:"n"`    // its place
	Size int64       `json:"size"` // lines of the tree
	Path []tlog.Hash `json:"path"`
	Note string      `json:"note"`
}

// maxProved bounds the lines of a report of which Prove makes proofs: it keeps 32 bytes per line.
const maxProved = 20_000_000

// Prove checks a report and returns the proof of an order; ErrNoOrder if the report does not have the order.
func Prove(r io.Reader, verifier, order string) (*Proof, *Checked, error) {
	p := &Proof{N: -1}
	var leaves []tlog.Hash
	c := &checker{out: &Checked{Verifier: verifier, Known: verifier != "", Findings: []Finding{}}}
	in, err := newLines(r)
	if err != nil {
		return nil, nil, err
	}
	c.each = func(line []byte, leaf tlog.Hash) error {
		if len(leaves) == maxProved {
			return fmt.Errorf("the report has more than %d lines", maxProved)
		}
		leaves = append(leaves, leaf)
		if p.N >= 0 {
			return nil
		}
		var o struct{ Kind, Order string }
		if json.Unmarshal(line, &o) == nil && o.Kind == kindOrder && o.Order == order {
			p.Line, p.N = string(line), int64(len(leaves)-1)
		}
		return nil
	}
	if err := c.run(in); err != nil {
		return nil, nil, err
	}
	switch {
	case !c.out.OK():
		return nil, c.out, nil
	case p.N < 0:
		return nil, c.out, ErrNoOrder
	}
	p.Size, p.Note = int64(len(leaves)), c.note
	p.Path = path(leaves, p.N)
	return p, c.out, nil
}

// path returns the hashes beside the way from a leaf to the root, the lowest first (RFC 6962, 2.1.1).
func path(leaves []tlog.Hash, n int64) []tlog.Hash {
	if len(leaves) == 1 {
		return []tlog.Hash{}
	}
	k := int64(1)
	for k*2 < int64(len(leaves)) {
		k *= 2
	}
	if n < k {
		return append(path(leaves[:k], n), rootOf(leaves[k:]))
	}
	return append(path(leaves[k:], n-k), rootOf(leaves[:k]))
}

func rootOf(leaves []tlog.Hash) tlog.Hash {
	var t tree
	for _, h := range leaves {
		t.add(h)
	}
	return t.root()
}

// Check checks a proof alone, by the shop's public key: it needs no report.
func (p *Proof) Check(verifier string) error {
	c := &checker{out: &Checked{Verifier: verifier}, note: p.Note}
	size, root, err := c.open()
	switch {
	case err != nil:
		return err
	case size != p.Size:
		return errors.New("the proof and its signature are of different reports")
	}
	return tlog.CheckRecord(p.Path, size, root, p.N, tlog.RecordHash([]byte(p.Line)))
}

// IsBuyer reports whether the proof's order belongs to a user. salt is the order's salt.
func (p *Proof) IsBuyer(salt, user string) bool {
	var o Order
	buyer := Buyer(salt, user)
	return buyer != "" && json.Unmarshal([]byte(p.Line), &o) == nil && o.Buyer == buyer
}
