package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/your-org/seckill/shared/flow/front/signin"
	"github.com/your-org/seckill/shared/seckill"
)

// SignIn is the step that signs shoppers in. Its errors are *seckill.Error.
type SignIn interface {
	// List returns the issuers that a page can send a shopper to. CodeUnavailable.
	List(ctx context.Context) ([]seckill.Issuer, error)
	// SignIn gives a shopper the shop's own token. CodeInvalid, CodeSignIn, CodeSignInBroken, CodeUnavailable.
	SignIn(ctx context.Context, g seckill.Grant) (signin.Session, error)
	// SignedIn lists where a shopper is signed in. CodeUnavailable.
	SignedIn(ctx context.Context, user string) ([]seckill.Session, error)
	// End ends a session of a shopper, or all if id is "". CodeUnavailable.
	End(ctx context.Context, user, id string) (int, error)
}

const maxEndBody = 1 << 10 // bytes of a request to end a session; real ones have about 50

// cacheIssuers: issuers change when an operator changes them.
var cacheIssuers = []string{"public, max-age=60"}

// NewSignIn serves GET and POST /signin, GET /signin/sessions and POST /signin/end.
func NewSignIn(flow SignIn, auth Auth, o Options) *Handler {
	s := &signer{flow, o.caller(auth), o.Refusals}
	return newHandler(o, newRoute(http.MethodGet, "/signin", s.issuers),
		newRoute(http.MethodPost, "/signin", s.signIn),
		newRoute(http.MethodGet, "/signin/sessions", s.sessions),
		newRoute(http.MethodPost, "/signin/end", s.end))
}

type signer struct {
	flow     SignIn
	caller   caller
	refusals *Refusals // which logs sign-ins, too
}

type issuerJSON struct {
	Issuer        string `json:"issuer"`
	ClientID      string `json:"client_id"`
	Authorization string `json:"authorization_endpoint"`
	EndSession    string `json:"end_session_endpoint,omitempty"`
	Scope         string `json:"scope"`
}

func (s *signer) issuers(r *http.Request, _ string) (answer, error) {
	list, err := s.flow.List(r.Context())
	if err != nil {
		return answer{}, err
	}
	out := make([]issuerJSON, len(list))
	for i, is := range list {
		out[i] = issuerJSON(is)
	}
	return encode(cacheIssuers, struct {
		Issuers []issuerJSON `json:"issuers"`
	}{out})
}

func (s *signer) signIn(r *http.Request, _ string) (answer, error) {
	var g grantJSON
	if err := readJSON(r, seckill.MaxSignInBody, &g); err != nil {
		return answer{}, err
	}
	got, err := s.flow.SignIn(r.Context(), seckill.Grant{Kind: seckill.GrantKind(g.Kind), Issuer: string(g.Issuer),
		ClientID: string(g.ClientID), Code: string(g.Code), Verifier: string(g.Verifier), Nonce: string(g.Nonce),
		RedirectURI: string(g.RedirectURI), RefreshToken: string(g.RefreshToken), Token: string(g.Token),
		Session: string(g.Session), Device: seckill.DeviceOf(r.UserAgent()), Earlier: s.earlier(r)})
	if err != nil {
		return answer{}, err
	}
	s.refusals.signedIn(r, got.User, seckill.GrantKind(g.Kind))
	return encode(cacheNever, struct {
		Token   string `json:"token"`
		User    string `json:"user"`
		Session string `json:"session"`
		Expires string `json:"expires_at"`
		Refresh string `json:"refresh_token,omitempty"`
	}{got.Token, got.User, got.ID, rfc3339(got.Expires), got.Refresh})
}

// earlier returns whose session a browser had that signs in anew, by its token. Another's token or none is no fault.
func (s *signer) earlier(r *http.Request) (c seckill.Claims) {
	if token, err := bearerToken(r); err == nil {
		if was, err := s.caller.auth.Past(token); err == nil {
			c.User, c.Session = was.User, was.Session
		}
	}
	return c
}

func (s *signer) sessions(r *http.Request, _ string) (answer, error) {
	who, err := s.caller.account(r)
	if err != nil {
		return answer{}, err
	}
	list, err := s.flow.SignedIn(r.Context(), who.User)
	if err != nil {
		return answer{}, err
	}
	out := make([]sessionJSON, len(list))
	for i, is := range list {
		out[i] = sessionJSON{is.ID, is.Device, rfc3339(is.Began), rfc3339(is.Renewed), is.ID == who.Session}
	}
	return encode(cacheNever, struct {
		Sessions []sessionJSON `json:"sessions"`
	}{out})
}

type sessionJSON struct {
	Session string `json:"session"`
	Device  string `json:"device,omitempty"`
	Began   string `json:"began_at"`
	Renewed string `json:"renewed_at"`
	Current bool   `json:"current"`
}

func (s *signer) end(r *http.Request, _ string) (answer, error) {
	user, err := s.caller.user(r)
	if err != nil {
		return answer{}, err
	}
	var asked struct {
		Session sessionField `json:"session"`
	}
	if err := readJSON(r, maxEndBody, &asked); err != nil {
		return answer{}, err
	}
	n, err := s.flow.End(r.Context(), user, string(asked.Session))
	if err != nil {
		return answer{}, err
	}
	return encode(cacheNever, struct {
		Ended int `json:"ended"`
	}{n})
}

// sessionField is the id of a session, given once; "" means not seen yet.
type sessionField string

var errSession = seckill.Invalid("session", "")

func (f *sessionField) UnmarshalJSON(b []byte) error {
	s, ok := text(b)
	if *f != "" || !ok || !seckill.ValidSession(s) {
		return errSession
	}
	*f = sessionField(s)
	return nil
}

// grantJSON is the body of a sign-in; unknown fields are ignored.
type grantJSON struct {
	Kind         onceText `json:"grant"`
	Issuer       onceText `json:"issuer"`
	ClientID     onceText `json:"client_id"`
	Code         onceText `json:"code"`
	Verifier     onceText `json:"code_verifier"`
	Nonce        onceText `json:"nonce"`
	RedirectURI  onceText `json:"redirect_uri"`
	RefreshToken onceText `json:"refresh_token"`
	Token        onceText `json:"token"`
	Session      onceText `json:"session"`
}

// onceText is a JSON string that occurs at most once. "" means not seen yet.
type onceText string

var errOnce = errors.New("httpapi: no text, an empty one, or there twice")

func (f *onceText) UnmarshalJSON(b []byte) error {
	s, ok := text(b)
	if !ok || s == "" || *f != "" {
		return errOnce
	}
	*f = onceText(s)
	return nil
}
