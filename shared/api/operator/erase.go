package operator

import (
	"context"
	"log/slog"

	"github.com/your-org/seckill/shared/flow/office/erase"
)

// NewUserHandler returns a handler of the commands about a user. No answer contains an address.
func NewUserHandler(flow *erase.Flow) Handler {
	return handler(func(ctx context.Context, c does[*erase.Flow]) (Done, error) { return c.Do(ctx, flow) })
}

// Erased is the result of one step of an erasure.
type Erased struct {
	Orders int    `json:"orders"` // read in this step
	Erased int    `json:"erased"` // whose address was erased
	Ended  int    `json:"ended"`  // sessions
	Next   string `json:"next,omitempty"`
}

// Erase erases the addresses of a user's next orders, and signs them out. Errors as erase.Flow.User.
type Erase struct {
	Given
	User   string `json:"user" is:"user" arg:"USER"`
	Cursor string `json:"cursor,omitempty" is:"cursor" log:"-"` // "" or the previous step's Next
}

func (*Erase) Spec() Spec {
	// it cannot be undone and concerns no money, so the role that answers shoppers may give it
	return Spec{Name: "erase", Path: "erase", Roles: operators, In: "repair",
		Short: "Erase the delivery addresses of a user's orders"}
}

func (c *Erase) Do(ctx context.Context, flow *erase.Flow) (Done, error) {
	step, err := flow.User(ctx, c.User, c.Cursor)
	return Done{Result: Erased(step), Outcome: changedIf(step.Erased+step.Ended > 0), More: []slog.Attr{
		slog.Int("orders", step.Orders), slog.Int("erased", step.Erased), slog.Int("ended", step.Ended)}}, err
}
