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
}

// cacheIssuers: issuers change when an operator changes them.
var cacheIssuers = []string{"public, max-age=60"}

// NewSignIn serves GET and POST /signin.
func NewSignIn(flow SignIn, o Options) *Handler {
	s := &signer{flow}
	return newHandler(o, newRoute(http.MethodGet, "/signin", s.issuers),
		newRoute(http.MethodPost, "/signin", s.signIn))
}

type signer struct{ flow SignIn }

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
		RedirectURI: string(g.RedirectURI), RefreshToken: string(g.RefreshToken), Token: string(g.Token)})
	if err != nil {
		return answer{}, err
	}
	return encode(cacheNever, struct {
		Token   string `json:"token"`
		User    string `json:"user"`
		Expires string `json:"expires_at"`
		Refresh string `json:"refresh_token,omitempty"`
	}{got.Token, got.User, rfc3339(got.Expires), got.Refresh})
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
