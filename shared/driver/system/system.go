// Package system provides a process with its machine's time and randomness. It is all that a Lambda needs of
// seckill.Clock and seckill.IDs, and links only the standard library.
package system

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Clock is the machine's clock in UTC, truncated to milliseconds, the resolution of tables and messages: a time that
// was stored and read back equals the original. It is wall time and may jump when the machine's clock is set.
type Clock struct{}

// Now returns the time.
func (Clock) Now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

var began = time.Now()

// Monotonic returns the time since the process began, by the machine's monotonic clock.
func (Clock) Monotonic() time.Duration { return time.Since(began) }

// IDs makes ids from a source of entropy. It is safe for concurrent use.
type IDs struct {
	mu      sync.Mutex // a test's reader need not be safe for concurrent use
	entropy io.Reader
}

// NewIDs reads entropy from r, or from the operating system if r is nil. It buffers none: a process that is frozen
// and copied (a Lambda snapshot) must not make the same id twice.
func NewIDs(r io.Reader) *IDs {
	if r == nil {
		r = rand.Reader
	}
	return &IDs{entropy: r}
}

// OrderID returns a new order id of the item, with 130 random bits. It panics if the entropy fails, because no safe
// id exists without it.
func (s *IDs) OrderID(item string) string {
	var b [17]byte
	s.read(b[:])
	return seckill.RandomOrderID(item, b)
}

// Token returns 32 hex digits, 128 random bits. It panics if the entropy fails.
func (s *IDs) Token() string {
	var b [16]byte
	s.read(b[:])
	return hex.EncodeToString(b[:])
}

// UserID returns a random user id, 1 to 2^63-1 in decimal digits. It panics if the entropy fails.
func (s *IDs) UserID() string {
	for {
		var b [8]byte
		s.read(b[:])
		if n := binary.BigEndian.Uint64(b[:]) >> 1; n > 0 {
			return strconv.FormatUint(n, 10)
		}
	}
}

// Bytes returns n random bytes. It panics if the entropy fails.
func (s *IDs) Bytes(n int) []byte {
	b := make([]byte, n)
	s.read(b)
	return b
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

	_ seckill.UserIDs = (*IDs)(nil)
)
