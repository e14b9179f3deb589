// Package bucket bounds how often each caller may call: a token bucket per caller, in the memory of one process. In: a
// caller's key and the time. Out: whether to go on, or how long to wait. Its memory is fixed.
//
// A bucket is one number, the time at which it will be full again (the generic cell rate algorithm, ITU-T I.371), so a
// bucket that is full needs no memory.
package bucket

import (
	"hash/maphash"
	"sync"
	"time"
)

// ways is how many buckets share a row of memory. When all of a row are in use, a new caller takes the place of the one
// that is nearest to full: too many callers make the bound looser, never stricter.
const ways = 8

// Rate is what a caller may do.
type Rate struct {
	Every time.Duration // one call each so often
	Burst int           // calls at once after a long silence, at least 1
}

// Buckets are the buckets of one rate. They are safe for concurrent use.
type Buckets struct {
	every, depth int64 // ns
	seed         maphash.Seed
	rows         []row
}

type row struct {
	mu   sync.Mutex
	hash [ways]uint64
	full [ways]int64 // ns since 1970; 0 means no bucket
}

// New returns buckets for about that many callers at the same time.
func New(r Rate, callers int) *Buckets {
	n := 1
	for n*ways < callers {
		n *= 2
	}
	return &Buckets{every: int64(r.Every), depth: int64(r.Every) * int64(r.Burst), seed: maphash.MakeSeed(),
		rows: make([]row, n)}
}

// Take takes a call from a caller's bucket and returns 0, or how long the caller has to wait for the next one. A
// refused call costs nothing. It allocates nothing.
func (b *Buckets) Take(caller string, now time.Time) (wait time.Duration) {
	return b.take(maphash.String(b.seed, caller), now)
}

// TakeBytes is Take for a caller whose key is bytes.
func (b *Buckets) TakeBytes(caller []byte, now time.Time) (wait time.Duration) {
	return b.take(maphash.Bytes(b.seed, caller), now)
}

func (b *Buckets) take(h uint64, now time.Time) (wait time.Duration) {
	r := &b.rows[h&uint64(len(b.rows)-1)]
	t := now.UnixNano()
	r.mu.Lock()
	defer r.mu.Unlock()
	at := 0
	for i := range ways {
		if r.hash[i] == h {
			at = i
			break
		}
		if r.full[i] < r.full[at] {
			at = i
		}
	}
	full := t
	// A bucket never lacks more than its depth, unless the clock was set back.
	if r.hash[at] == h && r.full[at] > t && r.full[at] <= t+b.depth {
		full = r.full[at]
	}
	if full += b.every; full > t+b.depth {
		return time.Duration(full - t - b.depth)
	}
	r.hash[at], r.full[at] = h, full
	return 0
}
