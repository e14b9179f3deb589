package operator

import (
	"context"
	"log/slog"

	"github.com/your-org/seckill/shared/flow/office/erase"
)

// SignOut ends all sessions of a shopper at once. Errors as erase.Flow.SignOut.
type SignOut struct {
	Given
	User string `json:"user" is:"user" arg:"USER"`
}

func (*SignOut) Spec() Spec {
	return Spec{Name: "sign-out", Path: "sign-out", Roles: operators, In: "repair",
		Short: "Sign a shopper out everywhere at once",
		Long: `End all sessions of a shopper at once. Purchases that are not placed yet are rejected. The shopper can sign
in again: to keep them away, block them ("seckill blocks add").`}
}

func (c *SignOut) Do(ctx context.Context, flow *erase.Flow) (Done, error) {
	n, err := flow.SignOut(ctx, c.User)
	return Done{Result: SessionsEnded{n}, Outcome: changedIf(n > 0), More: []slog.Attr{slog.Int("ended", n)}}, err
}
