package operator

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"net/http"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// TestCallers: a caller may do what one of their roles may do. One whose roles nobody confirms may change nothing, and
// is told to come back; one who signed in long ago moves no money, and is told to sign in again.
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
			for _, is := range []Caller{{}, {Stale: true}, {Old: true}} {
				called = 0
				is.Who, is.Roles = officeARN, roles
				status, body := office.Do(t.Context(), is, []byte(Sample(c)))
				want, calls := http.StatusOK, 1
				switch {
				case is.Old && may && New(c).Spec().Money:
					want, calls = http.StatusForbidden, 0
					if !strings.Contains(string(body), `"code":"sign_in_again"`) {
						t.Errorf("%s: %s", c, body)
					}
				case !may:
					want, calls = http.StatusForbidden, 0
				case is.Stale && changes:
					want, calls = http.StatusServiceUnavailable, 0
				case New(c).Spec().In == itself: // without an audit log and sessions there are no such commands
					want, calls = http.StatusNotFound, 0
				}
				if status != want || called != calls {
					t.Errorf("%+v, %s: %d %s, %d calls; want %d, %d", is, c, status, body, called, want, calls)
				}
			}
		}
	}
}
