package system_test

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/seckill"
)

func TestClockIsUTCInMillisecondsWithoutMonotonicPart(t *testing.T) {
	before := time.Now().Add(-time.Millisecond)
	now := system.Clock{}.Now()
	after := time.Now()
	if now.Before(before) || now.After(after) {
		t.Errorf("now %v, want between %v and %v", now, before, after)
	}
	if now.Location() != time.UTC {
		t.Errorf("location %v, want UTC", now.Location())
	}
	// == compares every field: a monotonic part or finer digits would not survive storage as milliseconds.
	if back := time.UnixMilli(now.UnixMilli()).UTC(); now != back {
		t.Errorf("now %#v, want it to equal what storage gives back, %#v", now, back)
	}
}

func TestIDsAreWellFormedAndDistinct(t *testing.T) {
	const goroutines, each = 8, 500
	tests := []struct {
		name string
		ids  *system.IDs
	}{
		{"the system's entropy", system.NewIDs(nil)},
		{"a reader that is not safe for several goroutines", system.NewIDs(rand.NewChaCha8([32]byte{1}))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			minted := make([][]string, goroutines)
			var wg sync.WaitGroup
			for g := range goroutines {
				wg.Go(func() {
					for range each {
						minted[g] = append(minted[g], tt.ids.OrderID("1001"), tt.ids.Token())
					}
				})
			}
			wg.Wait()
			seen := map[string]bool{}
			for _, list := range minted {
				for i, id := range list {
					if i%2 == 0 && !seckill.ValidOrderID(id) {
						t.Fatalf("order id %q is not valid", id)
					}
					if i%2 == 1 && !lettersAndDigits(id) {
						t.Fatalf("token %q, want 1 to 64 letters and digits", id)
					}
					if seen[id] {
						t.Fatalf("%q was minted twice", id)
					}
					seen[id] = true
				}
			}
		})
	}
}

func TestIDsFollowTheirEntropy(t *testing.T) {
	a, b := system.NewIDs(rand.NewChaCha8([32]byte{7})), system.NewIDs(rand.NewChaCha8([32]byte{7}))
	other := system.NewIDs(rand.NewChaCha8([32]byte{8}))
	for range 10 {
		x, y, z := a.OrderID("1001"), b.OrderID("1001"), other.OrderID("1001")
		if x != y || x == z {
			t.Fatalf("order ids %q and %q from one seed, %q from another", x, y, z)
		}
		if x, y := a.Token(), b.Token(); x != y {
			t.Fatalf("tokens %q and %q from one seed", x, y)
		}
	}
}

func TestIDsPanicWithoutEntropy(t *testing.T) {
	mints := map[string]func(*system.IDs) string{"OrderID": func(s *system.IDs) string {
		return s.OrderID("1001")
	}, "Token": (*system.IDs).Token, "Bytes": func(s *system.IDs) string {
		return string(s.Bytes(16))
	}}
	for name, mint := range mints {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic: an id without entropy could be guessed")
				}
			}()
			id := mint(system.NewIDs(bytes.NewReader(make([]byte, 15))))
			t.Errorf("minted %q from 15 bytes", id)
		})
	}
}

func lettersAndDigits(s string) bool {
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 64
}
