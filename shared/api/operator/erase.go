package operator

import (
	"context"
	"log/slog"

	"github.com/your-org/seckill/shared/flow/office/erase"
	"github.com/your-org/seckill/shared/seckill"
)

// UserHandler executes commands about a user. It is safe for concurrent use. No answer contains an address.
type UserHandler struct{ erase *erase.Flow }

// NewUserHandler returns a handler that uses the flow.
func NewUserHandler(flow *erase.Flow) *UserHandler { return &UserHandler{flow} }

// Erased is the result of one step of an erasure.
type Erased struct {
	Orders int    `json:"orders"` // read in this step
	Erased int    `json:"erased"` // whose address was erased
	Next   string `json:"next,omitempty"`
}

// Erase erases the addresses of a user's next orders; cursor is "" or the previous step's Next. Errors as
// erase.Flow.User; CodeInvalid.
func (d *UserHandler) Erase(ctx context.Context, user, cursor string) (Erased, error) {
	if !ValidUser(user) {
		return Erased{}, seckill.Invalid("user", userWanted)
	}
	step, err := d.erase.User(ctx, user, cursor)
	return Erased(step), err
}

func (d *UserHandler) commands() []command { return userCommands }

// do executes a command.
func (d *UserHandler) do(ctx context.Context, r *request) (done, error) {
	out, err := d.Erase(ctx, r.User, r.Cursor)
	return done{result: out, outcome: changedIf(out.Erased > 0), more: []slog.Attr{slog.Int("orders", out.Orders),
		slog.Int("erased", out.Erased)}}, err
}

// Erase erases the addresses of a user's next orders; cursor is "" or the previous step's Next.
func (c *Client) Erase(ctx context.Context, user, cursor string) (out Erased, err error) {
	err = c.give(ctx, &request{Command: cmdErase, User: user, Cursor: cursor}, &out)
	return out, err
}
