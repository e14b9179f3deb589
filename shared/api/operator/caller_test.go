package operator

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"net/http"
	"testing"

	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// TestCallers: a caller may do what one of their roles may do. One whose roles nobody confirms may change nothing, and
// is told to come back.
func TestCallers(t *testing.T) {
	t.Parallel()
	called := 0
	office := &Office{Stack: officeStack, Clock: memory.NewClock(officeNow),
		Key: func() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32)) },
		Invoke: func(context.Context, string, []byte) ([]byte, error) {
			called++
			return []byte(`{"result":true}`), nil
		}}
	for _, roles := range [][]seckill.Role{nil, {"admin", ""}, {seckill.RoleViewer, seckill.RoleFinance},
		{seckill.RoleAuditor, seckill.RoleEditor, seckill.RoleOperator}, seckill.Roles()} {
		for _, c := range Names() {
			may := false
			for _, r := range roles {
				may = may || May(r, c)
			}
			changes := !May(seckill.RoleViewer, c) && !May(seckill.RoleAuditor, c)
			for _, stale := range []bool{false, true} {
				called = 0
				status, body := office.Do(t.Context(), Caller{Who: officeARN, Roles: roles, Stale: stale},
					[]byte(Sample(c)))
				want, calls := http.StatusOK, 1
				switch {
				case !may:
					want, calls = http.StatusForbidden, 0
				case stale && changes:
					want, calls = http.StatusServiceUnavailable, 0
				case New(c).Spec().In == itself: // without an audit log and sessions there are no such commands
					want, calls = http.StatusNotFound, 0
				}
				if status != want || called != calls {
					t.Errorf("roles %v, stale %v, %s: %d %s, %d calls; want %d, %d", roles, stale, c, status, body,
						called, want, calls)
				}
			}
		}
	}
}
