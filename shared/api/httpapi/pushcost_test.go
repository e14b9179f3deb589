//go:build !race

package httpapi

import (
	"testing"

	"github.com/your-org/seckill/shared/driver/system"
)

// TestAPassCostsLittle: a pass must be cheap, because each accepted purchase has a pass.
func TestAPassCostsLittle(t *testing.T) {
	p := newPusher(pushing(system.NewIDs(nil)))
	body := make([]byte, 0, offerSize)
	n := testing.AllocsPerRun(100, func() { body = p.append(body[:0], alice) })
	if n > 3 || cap(body) != offerSize {
		t.Errorf("a pass takes %.0f allocations and %d bytes, want at most 3, in place", n, len(body))
	}
}
