package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/your-org/seckill/shared/seckill"
)

// Finding is a row of the log that is not as it was written.
type Finding struct {
	Day  string `json:"day"`
	Seq  int    `json:"seq"`
	What string `json:"what"`
}

// Report is what Check found.
type Report struct {
	First    seckill.AuditHead    `json:"first"` // the first entry that was read
	Last     seckill.AuditHead    `json:"last"`
	Since    string               `json:"since"` // hash of the entry before the first; "": the log begins there
	Entries  int                  `json:"entries"`
	Heads    int                  `json:"heads"`    // that were compared
	Open     []seckill.AuditEntry `json:"open"`     // acts that began and have not ended
	Findings []Finding            `json:"findings"` // empty: the chain holds
}

// Check verifies a chain of entries. Give it entries of whole days, ascending, to Add, then End.
type Check struct {
	report Report
	heads  map[place]string // to compare
	open   map[string]seckill.AuditEntry
	// the last entry is not what its hash says, so its link to the next one says nothing
	changed bool
}

// place is where an entry stands.
type place struct {
	day string
	seq int
}

// NewCheck returns a check that also compares entries with heads that were kept apart.
func NewCheck(heads []seckill.AuditHead) *Check {
	c := &Check{heads: map[place]string{}, open: map[string]seckill.AuditEntry{}}
	for _, h := range heads {
		if kept, has := c.heads[place{h.Day, h.Seq}]; has && kept != h.Hash {
			c.found(h.Day, h.Seq, "two heads that were kept differ")
		}
		c.heads[place{h.Day, h.Seq}] = h.Hash
	}
	return c
}

func (c *Check) found(day string, seq int, format string, args ...any) {
	c.report.Findings = append(c.report.Findings, Finding{day, seq, fmt.Sprintf(format, args...)})
}

// Add checks the next entry.
func (c *Check) Add(e seckill.AuditEntry) {
	last := c.report.Last
	want := 1
	if e.Day == last.Day {
		want = last.Seq + 1
	}
	changed := e.Hash != e.Sum()
	switch {
	case e.Day < last.Day || e.Seq < want:
		c.found(e.Day, e.Seq, "out of order: it stands after %s/%d", last.Day, last.Seq)
	case e.Seq > want:
		c.found(e.Day, want, "missing: the next entry is %d", e.Seq)
	case c.report.Entries > 0 && e.Prev != last.Hash && !changed && !c.changed:
		c.found(last.Day, last.Seq, "not the entry that %s/%d follows: one of the two was replaced, or entries "+
			"between them are missing", e.Day, e.Seq)
	}
	if c.changed = changed; changed {
		c.found(e.Day, e.Seq, "changed: its content does not have its hash")
	}
	at := place{e.Day, e.Seq}
	if kept, has := c.heads[at]; has {
		c.report.Heads++
		if kept != e.Hash {
			c.found(e.Day, e.Seq, "replaced: the head that was kept has another hash")
		}
		delete(c.heads, at)
	}
	switch e.Kind {
	case seckill.AuditBegun:
		c.open[e.ID] = e
	case seckill.AuditEnded:
		delete(c.open, e.ID)
	}
	if c.report.Entries == 0 {
		c.report.First, c.report.Since = e.Head(), e.Prev
	}
	c.report.Last = e.Head()
	c.report.Entries++
}

// End compares the log with its own head, as read after the last entry, and returns the report. An entry after that
// head was inserted: head and entry are written together. Heads to compare that no entry had are missing entries.
func (c *Check) End(head seckill.AuditHead) Report {
	r := &c.report
	if r.Entries > 0 && (r.Last.Day > head.Day || r.Last.Day == head.Day && r.Last.Seq > head.Seq) {
		c.found(r.Last.Day, r.Last.Seq, "inserted: the log's head is %s/%d", head.Day, head.Seq)
	}
	for _, at := range slices.SortedFunc(maps.Keys(c.heads), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.seq, b.seq))
	}) {
		if r.Entries == 0 || at.day >= r.First.Day {
			c.found(at.day, at.seq, "missing: a head of it was kept")
		}
	}
	r.Open = slices.SortedFunc(maps.Values(c.open), func(a, b seckill.AuditEntry) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Seq, b.Seq))
	})
	return *r
}
