package operator

import (
	"context"
	"log/slog"
	"time"

	"github.com/your-org/seckill/shared/flow/office/session"
	"github.com/your-org/seckill/shared/seckill"
)

// maxSessions is how many sessions an answer has at most.
const maxSessions = 1000

// SessionHandler executes commands about staff who are signed in to the back office in a browser. It is safe for
// concurrent use.
type SessionHandler struct{ flow *session.Flow }

// NewSessionHandler returns a handler that uses the flow; nil: nobody signs in.
func NewSessionHandler(flow *session.Flow) *SessionHandler { return &SessionHandler{flow} }

// Session is a person of staff who is signed in.
type Session struct {
	Who       string         `json:"who"`
	Name      string         `json:"name"`
	Roles     []seckill.Role `json:"roles"`
	Began     time.Time      `json:"began"`
	Confirmed time.Time      `json:"confirmed"`
	Ends      time.Time      `json:"ends"`
}

// Sessions are the sessions that have not ended.
type Sessions struct {
	Sessions []Session `json:"sessions"`
	More     bool      `json:"more,omitempty"` // there are more than fit
}

// SessionsEnded is how many sessions of a person were ended.
type SessionsEnded struct {
	Ended int `json:"ended"`
}

func (h *SessionHandler) commands() []command { return sessionCommands }

// do executes a command.
func (h *SessionHandler) do(ctx context.Context, r *request) (done, error) {
	if h.flow == nil {
		return done{}, seckill.Refuse(seckill.CodeNotFound)
	}
	if r.Command == cmdEndSessions {
		n, err := h.flow.EndAll(ctx, r.Person)
		return done{result: SessionsEnded{n}, outcome: changedIf(n > 0), more: []slog.Attr{slog.Int("ended", n)}}, err
	}
	list, err := h.flow.List(ctx)
	out := Sessions{Sessions: make([]Session, 0, min(len(list), maxSessions)), More: len(list) > maxSessions}
	for i := range list[:min(len(list), maxSessions)] {
		s := &list[i]
		out.Sessions = append(out.Sessions, Session{s.Who, s.Name, s.Roles, s.Began, s.Confirmed, s.EndsAt()})
	}
	return done{result: out, outcome: read}, err
}

// Sessions lists who of the staff is signed in to the back office in a browser.
func (c *Client) Sessions(ctx context.Context) (out Sessions, err error) {
	err = c.give(ctx, &request{Command: cmdSessions}, &out)
	return out, err
}

// EndSessions ends all sessions of a person at once.
func (c *Client) EndSessions(ctx context.Context, who string) (out SessionsEnded, err error) {
	err = c.give(ctx, &request{Command: cmdEndSessions, Person: who}, &out)
	return out, err
}
