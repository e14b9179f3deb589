package acts

import (
	"sync"
	"time"
)

// ways is how many groups share a row of memory. When all of a row are in use, a new group takes the place of the
// smallest of the older half.
const ways = 8

// tally counts the members of groups within a window, exactly, up to one more than a limit. Its memory is fixed from
// the first call on. Groups and members are known by their hashes: two with the same hash count as one.
type tally struct {
	limit   int
	window  time.Duration
	rows    int  // a power of 2
	repeats bool // a member counts each time

	mu      sync.Mutex
	groups  []group
	members []uint32 // limit+1 of each group; none with repeats
}

type group struct {
	key   uint64
	began int64 // ns since 1970; 0 means no group
	n     int
}

// over counts a member of a group, and reports whether the group has more than limit.
func (t *tally) over(key uint64, member uint32, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.groups == nil {
		t.groups = make([]group, t.rows*ways)
		if !t.repeats {
			t.members = make([]uint32, len(t.groups)*(t.limit+1))
		}
	}
	at := t.find(key, now.UnixNano())
	g := &t.groups[at]
	if g.n > t.limit {
		return true
	}
	if !t.repeats {
		members := t.members[at*(t.limit+1):][:t.limit+1]
		for _, m := range members[:g.n] {
			if m == member {
				return false
			}
		}
		members[g.n] = member
	}
	g.n++
	return g.n > t.limit
}

// find returns where a group is, a new one if it is not there or its window is over.
func (t *tally) find(key uint64, now int64) int {
	first := int(key&uint64(t.rows-1)) * ways
	row := t.groups[first : first+ways]
	old := func(g *group) bool {
		age := now - g.began
		return g.began == 0 || age < 0 || age >= int64(t.window)
	}
	free := -1
	for i := range row {
		g := &row[i]
		switch {
		case g.began != 0 && g.key == key && !old(g):
			return first + i
		case g.began != 0 && g.key == key:
			*g = group{key: key, began: now}
			return first + i
		case free < 0 && old(g):
			free = i
		}
	}
	if free < 0 {
		free = least(row)
	}
	row[free] = group{key: key, began: now}
	return first + free
}

// least returns the place of the group with the fewest members among the older half of a row. So a script that makes
// many small groups pushes out small groups, not large ones, and a new group has time to get its second member.
func least(row []group) (at int) {
	at = -1
	for i := range row {
		older := 0
		for j := range row {
			if row[j].began < row[i].began || row[j].began == row[i].began && j < i {
				older++
			}
		}
		if g := &row[i]; older < ways/2 && (at < 0 || g.n < row[at].n || g.n == row[at].n && g.began < row[at].began) {
			at = i
		}
	}
	return at
}
