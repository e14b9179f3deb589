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

// NewSessionHandler returns a handler of the commands about staff who are signed in to the back office in a browser. It
// uses the flow; if the flow is nil, nobody signs in.
func NewSessionHandler(flow *session.Flow) Handler {
	return handler(func(ctx context.Context, c does[*session.Flow]) (Done, error) {
		if flow == nil {
			return Done{}, seckill.Refuse(seckill.CodeNotFound)
		}
		return c.Do(ctx, flow)
	})
}

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

// SessionsEnded is how many sessions of a person, or of a shopper, were ended.
type SessionsEnded struct {
	Ended int `json:"ended"`
}

// ListSessions lists the staff who are signed in in a browser.
type ListSessions struct{ Given }

func (*ListSessions) Spec() Spec {
	return Spec{Name: "sessions", Path: "staff sessions", Roles: seeShoppers, In: itself,
		Short: "List who of the staff is signed in in a browser",
		Long: `List who of the staff is signed in in a browser, with roles, and until when unless the sign-in is
confirmed before. Times are in UTC+8.`}
}

func (*ListSessions) Do(ctx context.Context, flow *session.Flow) (Done, error) {
	list, err := flow.List(ctx)
	out := Sessions{Sessions: make([]Session, 0, min(len(list), maxSessions)), More: len(list) > maxSessions}
	for i := range list[:min(len(list), maxSessions)] {
		s := &list[i]
		out.Sessions = append(out.Sessions, Session{s.Who, s.Name, s.Roles, s.Began, s.Confirmed, s.EndsAt()})
	}
	return readDone(out, err)
}

// EndSessions ends all sessions of a person at once.
type EndSessions struct {
	Given
	Person string `json:"person" is:"who" arg:"WHO" sample:"id.example.com/9f3c"` // as ListSessions names them
}

func (*EndSessions) Spec() Spec {
	// operators: whoever is awake when somebody's laptop is stolen
	return Spec{Name: "end-sessions", Path: "staff end", Roles: operators, In: itself,
		Short: "End all sign-ins of a person at once",
		Long: `End all sign-ins of a person in browsers at once. WHO is as "sessions" prints it. Take their roles
away at the issuer first: until then they can sign in again.`}
}

func (c *EndSessions) Do(ctx context.Context, flow *session.Flow) (Done, error) {
	n, err := flow.EndAll(ctx, c.Person)
	return Done{Result: SessionsEnded{n}, Outcome: changedIf(n > 0), More: []slog.Attr{slog.Int("ended", n)}}, err
}
