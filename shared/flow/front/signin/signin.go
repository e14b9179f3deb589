// Package signin signs shoppers in: it takes what an issuer of OpenID Connect has confirmed and gives the shop's own
// token, which the steps buy and shop accept. In: a code, a refresh token or a token of an issuer. Out: a token that
// ends after an hour at most, and never after the issuer's proof. It touches the issuers and the ledger's identities.
package signin

import (
	"context"
	"errors"
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
	IDs        seckill.UserIDs
	Signer     seckill.TokenSigner
	Clock      seckill.Clock
	Meter      seckill.Meter
}

// Flow is one instance of the step. It has no memory.
type Flow struct{ Deps }

// New returns an instance.
func New(d Deps) *Flow { return &Flow{d} }

// Session is a shopper who is signed in.
type Session struct {
	Token   string // the shop's own
	User    string
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
	token, err := f.Signer.SignToken(user, p.Name, p.Created, expires)
	if err != nil {
		return Session{}, &seckill.Error{Code: seckill.CodeInternal, Err: err}
	}
	f.Meter.Count(seckill.EventSignedIn, 1)
	return Session{Token: token, User: user, Expires: expires, Refresh: p.Refresh}, nil
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
