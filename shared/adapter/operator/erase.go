package operator

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/your-org/seckill/shared/flow/erase"
	"github.com/your-org/seckill/shared/seckill"
)

// The command about a user.
const cmdErase = "erase"

var userCommands = []command{{name: cmdErase, has: []string{"user"}, may: []string{"cursor"}}}

const maxCursor = 2048 // bytes

// UserHandler carries out commands about a user. It is safe for concurrent use. No answer has an address.
type UserHandler struct{ erase *erase.Flow }

// NewUserHandler makes a handler that works by a flow.
func NewUserHandler(flow *erase.Flow) *UserHandler { return &UserHandler{flow} }

// Erased is what came of one step of an erasure.
type Erased struct {
	Orders int    `json:"orders"` // looked at
	Erased int    `json:"erased"` // whose address went
	Next   string `json:"next,omitempty"`
}

// Erase forgets where a user's next orders were to be sent; cursor is "" or the Next of the step before. Errors as
// erase.Flow.User; CodeInvalid.
func (d *UserHandler) Erase(ctx context.Context, user, cursor string) (Erased, error) {
	if !ValidUser(user) {
		return Erased{}, seckill.Invalid("user", userWanted)
	}
	step, err := d.erase.User(ctx, user, cursor)
	return Erased(step), err
}

// ValidUser says whether it is an id that a token can have: an integer of 64 bits.
func ValidUser(user string) bool {
	if user == "" || len(user) > seckill.MaxUser {
		return false
	}
	for i, c := range user {
		if (c < '0' || c > '9') && (c != '-' || i > 0) {
			return false
		}
	}
	return true
}

var userWanted = fmt.Sprintf("1..%d digits", seckill.MaxUser)

// Handler serves the operator events of the repair function. The audit log has the user's id, without which it would
// not say what was done.
func (d *UserHandler) Handler(audit *slog.Logger) func(ctx context.Context, event []byte) ([]byte, error) {
	return handler(audit, userCommands, d.do)
}

// do carries out a command.
func (d *UserHandler) do(ctx context.Context, r *request) (done, error) {
	out, err := d.Erase(ctx, r.User, r.Cursor)
	return done{out, changedIf(out.Erased > 0), []slog.Attr{slog.Int("orders", out.Orders),
		slog.Int("erased", out.Erased)}}, err
}

// UserClient gives commands to a UserHandler that is behind a Lambda function. Errors as those of Client.
type UserClient Client

// Erase forgets where a user's next orders were to be sent; cursor is "" or the Next of the step before.
func (c *UserClient) Erase(ctx context.Context, user, cursor string) (out Erased, err error) {
	err = (*Client)(c).send(ctx, userCommands, &request{Command: cmdErase, User: user, Cursor: cursor}, &out)
	return out, err
}
