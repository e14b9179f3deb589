// Package system is what a process takes from its machine: the time and randomness. It is all that a Lambda needs of
// seckill.Clock and seckill.IDs, and links nothing but the standard library.
package system

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Clock is the machine's clock in UTC, cut to milliseconds, which is what tables and messages keep: a time that was
// stored and read back equals the one that was minted. It is wall time and may step when the machine's clock is set.
type Clock struct{}

// Now tells the time.
func (Clock) Now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

var began = time.Now()

// Monotonic is the time since the process began, by the machine's monotonic clock.
func (Clock) Monotonic() time.Duration { return time.Since(began) }

// IDs mints ids from a source of entropy. It is safe for use by several goroutines.
type IDs struct {
	mu      sync.Mutex // a reader given by a test need not be safe
	entropy io.Reader
}

// NewIDs takes the entropy from r, or from the operating system when r is nil. It buffers none: a process that is
// frozen and copied (a Lambda snapshot) must not mint the same id twice.
func NewIDs(r io.Reader) *IDs {
	if r == nil {
		r = rand.Reader
	}
	return &IDs{entropy: r}
}

// OrderID mints an order id of the item, of 130 random bits. It panics when the entropy ends, for there is no safe id
// without it.
func (s *IDs) OrderID(item string) string {
	var b [17]byte
	s.read(b[:])
	return seckill.RandomOrderID(item, b)
}

// Token mints 32 hex digits, 128 random bits. It panics when the entropy ends.
func (s *IDs) Token() string {
	var b [16]byte
	s.read(b[:])
	return hex.EncodeToString(b[:])
}

func (s *IDs) read(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := io.ReadFull(s.entropy, b); err != nil {
		panic(fmt.Sprintf("system: no entropy: %v", err))
	}
}

var (
	_ seckill.Clock = Clock{}
	_ seckill.IDs   = (*IDs)(nil)
)
