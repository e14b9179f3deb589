// Package signin signs shoppers in and out: it takes what an issuer of OpenID Connect has confirmed and gives the
// shop's own token, which other steps accept. In: a code, a refresh token or a token of an issuer. Out: a token of a
// session, which ends after an hour at most, and never after the issuer's proof. It touches the issuers, and the
// ledger's identities and sessions.
package signin

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// tries is how often a sign-in asks the ledger. A code or refresh token is spent by then: after a fault the shopper
// would have to sign in anew.
const tries = 3

// Deps are the step's dependencies.
type Deps struct {
	Issuers    seckill.Issuers
	Pages      seckill.ReturnPages
	Identities seckill.Identities
	Sessions   seckill.Sessions
	IDs        IDs
	Signer     seckill.TokenSigner
	Clock      seckill.Clock
	Meter      seckill.Meter
}

// IDs makes ids that nobody can guess.
type IDs interface {
	seckill.UserIDs
	Token() string // as seckill.ValidSession
}

// Flow is one instance of the step. It has no memory.
type Flow struct{ Deps }

// New returns an instance.
func New(d Deps) *Flow { return &Flow{d} }

// Session is a shopper who is signed in.
type Session struct {
	Token   string // the shop's own
	User    string
	ID      string    // the session that Token is of
	Expires time.Time // of Token; whole seconds
	Refresh string    // the issuer's refresh token; "" if there is none, or the earlier token stays valid
}

// List returns the issuers that a page can send a shopper to. The error is an *seckill.Error: CodeUnavailable.
func (f *Flow) List(ctx context.Context) ([]seckill.Issuer, error) {
	list, err := f.Issuers.List(ctx)
	if err != nil {
		f.Meter.Count(seckill.EventIssuerFault, 1)
		return nil, seckill.AsError(err)
	}
	return list, nil
}

// SignIn signs a shopper in. The error is an *seckill.Error: CodeInvalid, also for the address of another website,
// CodeSignIn, CodeSignInBroken if the issuer refuses the shop, or CodeUnavailable if the issuer or the ledger does not
// answer. What an issuer refuses may be the caller's own redirect address: only with the shop's is it a fault.
func (f *Flow) SignIn(ctx context.Context, g seckill.Grant) (Session, error) {
	if err := g.Check(); err != nil {
		return Session{}, err
	}
	own, elsewhere := f.Pages.Of(g.RedirectURI)
	if g.Kind == seckill.GrantCode && elsewhere {
		return Session{}, seckill.Invalid("redirect_uri", "")
	}
	p, err := f.Issuers.Redeem(ctx, g)
	if err != nil {
		code := seckill.CodeOf(err)
		if code == seckill.CodeUnavailable || code == seckill.CodeSignInBroken && (own || g.Kind != seckill.GrantCode) {
			f.Meter.Count(seckill.EventIssuerFault, 1)
		}
		return Session{}, seckill.AsError(err)
	}
	user, err := f.user(ctx, p.Identity, p.Checked)
	if err != nil {
		return Session{}, seckill.AsError(err)
	}
	// The lifetime counts from the moment of the check: whatever took time since then must not make the token outlive
	// the proof.
	expires := p.Checked.Add(seckill.MaxSession)
	if p.Expires.Before(expires) {
		expires = p.Expires
	}
	expires = expires.Truncate(time.Second)
	if !expires.After(f.Clock.Now()) {
		return Session{}, &seckill.Error{Code: seckill.CodeSignIn, Token: seckill.TokenExpired}
	}
	id, err := f.session(ctx, &g, user)
	if err != nil {
		return Session{}, seckill.AsError(err)
	}
	token, err := f.Signer.SignToken(seckill.Claims{User: user, Session: id, Name: p.Name, Created: p.Created,
		Expires: expires})
	if err != nil {
		return Session{}, &seckill.Error{Code: seckill.CodeInternal, Err: err}
	}
	if g.Earlier.Session != "" && g.Earlier.Session != id {
		f.leave(ctx, &g.Earlier)
	}
	f.Meter.Count(seckill.EventSignedIn, 1)
	return Session{Token: token, User: user, ID: id, Expires: expires, Refresh: p.Refresh}, nil
}

// session begins a session, or renews the grant's. What ended cannot be renewed: CodeSignIn.
func (f *Flow) session(ctx context.Context, g *seckill.Grant, user string) (id string, err error) {
	now := f.Clock.Now()
	s := seckill.Session{User: user, ID: f.IDs.Token(), Device: g.Device, Began: now, Renewed: now}
	write := f.Sessions.BeginSession
	if g.Kind != seckill.GrantCode && g.Session != "" {
		s.ID, write = g.Session, f.Sessions.RenewSession
	}
	for range tries {
		if s.ID == g.Session {
			old, e := f.Sessions.Session(ctx, user, s.ID)
			s.Began, err = old.Began, e
			if e == nil && over(&old, now) {
				err = seckill.ErrNoSession
			}
		}
		if err == nil {
			err = write(ctx, s)
		}
		switch {
		case err == nil:
			f.tidy(ctx, user)
			return s.ID, nil
		case errors.Is(err, seckill.ErrNoSession):
			return "", &seckill.Error{Code: seckill.CodeSignIn, Token: seckill.TokenEnded}
		}
	}
	return "", err
}

// leave ends the session that the browser had. If the ledger does not answer, its token still ends within the hour.
func (f *Flow) leave(ctx context.Context, was *seckill.Claims) {
	for range tries {
		if f.Sessions.EndSession(ctx, was.User, was.Session) == nil {
			return
		}
	}
}

// tidy ends the sessions of a user that are too many, those first that were renewed longest ago. What a fault leaves,
// the next sign-in ends.
func (f *Flow) tidy(ctx context.Context, user string) {
	all, err := f.Sessions.ListSessions(ctx, user, seckill.SessionsRead)
	if err != nil || len(all) <= seckill.MaxSessions {
		return
	}
	sorted(all)
	_ = f.end(ctx, user, all[seckill.MaxSessions:])
}

// over reports whether a session has ended unused.
func over(s *seckill.Session, now time.Time) bool { return now.Sub(s.Renewed) >= seckill.SessionIdle }

// sorted sorts sessions: those first that were renewed last.
func sorted(all []seckill.Session) {
	slices.SortFunc(all, func(a, b seckill.Session) int {
		return cmp.Or(b.Renewed.Compare(a.Renewed), strings.Compare(a.ID, b.ID))
	})
}

// SignedIn returns the sessions of a user that have not ended, those first that were renewed last. The error is an
// *seckill.Error: CodeUnavailable.
func (f *Flow) SignedIn(ctx context.Context, user string) ([]seckill.Session, error) {
	all, err := f.Sessions.ListSessions(ctx, user, seckill.SessionsRead)
	if err != nil {
		return nil, seckill.AsError(err)
	}
	now := f.Clock.Now()
	all = slices.DeleteFunc(all, func(s seckill.Session) bool { return over(&s, now) })
	sorted(all)
	return all, nil
}

// End ends a session of a user, or all if id is "", and returns how many. The error is an *seckill.Error:
// CodeUnavailable.
func (f *Flow) End(ctx context.Context, user, id string) (n int, err error) {
	if id != "" {
		return 1, f.end(ctx, user, []seckill.Session{{ID: id}})
	}
	return seckill.EndSessions(ctx, f.Sessions, user)
}

// end ends sessions of a user.
func (f *Flow) end(ctx context.Context, user string, sessions []seckill.Session) error {
	for i := range sessions {
		if err := f.Sessions.EndSession(ctx, user, sessions[i].ID); err != nil {
			return seckill.AsError(err)
		}
	}
	return nil
}

// user returns an identity's user id, or makes a user id for a new shopper. If two sign-ins run at once, one of them
// makes the id, and both return it.
func (f *Flow) user(ctx context.Context, id seckill.Identity, at time.Time) (user string, err error) {
	for range tries {
		if user, err = f.Identities.UserOf(ctx, id); err == nil {
			return user, nil
		}
		if !errors.Is(err, seckill.ErrNoUser) {
			continue
		}
		fresh := f.IDs.UserID()
		if user, err = f.Identities.Enrol(ctx, id, fresh, at); err == nil {
			if user == fresh {
				f.Meter.Count(seckill.EventEnrolled, 1)
			}
			return user, nil
		}
	}
	return "", err
}
