package seckill

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Limits of signing in.
const (
	MaxSession     = time.Hour // life of a shopper's token after a sign-in
	MaxSignInBody  = 16 << 10  // bytes of a request
	MaxIssuerToken = 12 << 10  // bytes of a token, code or refresh token of an issuer; theirs have 1 to 4 KiB
	MaxIssuers     = 10        // issuers of one shop, counted once per client

	maxIssuerURL   = 512                       // characters of an issuer
	maxNonce       = 256                       // characters
	maxRedirect    = 2048                      // characters
	maxClientID    = 256                       // characters
	minVerifier    = 43                        // characters (RFC 7636 section 4.1)
	maxVerifier    = 128                       // characters
	verifierLetter = digits + letters + "-._~" // what a verifier is made of

	digits  = "0123456789"
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// Identity is a person as an issuer of OpenID Connect knows them. Both texts together name the person.
type Identity struct {
	Issuer  string // the issuer's URL, exactly as its tokens have it
	Subject string // the issuer's name for the person, at most 255 bytes
}

// Proof is an identity that an issuer has confirmed, and until when.
type Proof struct {
	Identity
	Checked time.Time // when the token was checked
	Expires time.Time // when it ends; after Checked
	Created time.Time // when the issuer's account was made; zero if the issuer does not say
	Name    string    // the person's, as PlainName has it; "" if the issuer does not say
	Refresh string    // gets the next proof without the shopper; "" if the issuer gave none
}

// Issuer is what a page needs to send a shopper to an issuer.
type Issuer struct {
	Issuer        string
	ClientID      string // the shop's name at the issuer
	Authorization string // address where a shopper signs in
	EndSession    string // address where a shopper signs out; "" if there is none
	Scope         string // what to ask for
}

// GrantKind is a way to sign in.
type GrantKind string

// The kinds of grants.
const (
	GrantCode    GrantKind = "code"    // a code that the issuer gave to the shop's page, with PKCE (RFC 7636)
	GrantRefresh GrantKind = "refresh" // the refresh token of an earlier sign-in
	GrantToken   GrantKind = "token"   // an ID token or access token that the issuer gave to the shopper
)

// Grant is what a shopper signs in with.
type Grant struct {
	Kind     GrantKind
	Issuer   string // code, refresh
	ClientID string // code, refresh; "" means the first client of the issuer

	// code
	Code        string
	Verifier    string
	Nonce       string
	RedirectURI string
	Fresh       bool // staff's: refused unless the person has signed in within StaffProof

	RefreshToken string // refresh
	Token        string // token

	Session string // refresh, token: the session that it renews; "" begins one
	Device  string // as DeviceOf
	Earlier Claims // User and Session of the browser's earlier token, whose session ends; "" if there is none
}

// Check returns CodeInvalid with the JSON name of the first wrong field, or nil.
func (g *Grant) Check() error {
	between := func(s string, most int) bool { return s != "" && len(s) <= most && printable(s) }
	switch {
	case g.Session != "" && !ValidSession(g.Session):
		return Invalid("session", "")
	case g.Kind == GrantToken:
		if !between(g.Token, MaxIssuerToken) {
			return Invalid("token", "")
		}
		return nil
	case g.Kind != GrantCode && g.Kind != GrantRefresh:
		return Invalid("grant", "code, refresh, token")
	case !between(g.Issuer, maxIssuerURL):
		return Invalid("issuer", "")
	case g.ClientID != "" && !between(g.ClientID, maxClientID):
		return Invalid("client_id", "")
	case g.Kind == GrantRefresh:
		if !between(g.RefreshToken, MaxIssuerToken) {
			return Invalid("refresh_token", "")
		}
	case !between(g.Code, MaxIssuerToken):
		return Invalid("code", "")
	case len(g.Verifier) < minVerifier || len(g.Verifier) > maxVerifier ||
		strings.Trim(g.Verifier, verifierLetter) != "":
		return Invalid("code_verifier", "43..128")
	case !between(g.Nonce, maxNonce):
		return Invalid("nonce", "")
	case !between(g.RedirectURI, maxRedirect):
		return Invalid("redirect_uri", "")
	}
	return nil
}

// ReturnPages are the shop's pages, to which issuers send people who sign in.
type ReturnPages struct {
	Own  []string // the shop's pages, absolute, without a slash at the end; none if the shop does not know them
	Open bool     // pages of any other site may sign people in and connect, too, as in a sandbox
}

// Of reports whether a redirect address is one of the shop's pages, so that an issuer that refuses it refuses the shop,
// and whether it is at another website. What is neither may be an app's (RFC 8252 section 7), or is mistyped.
func (p ReturnPages) Of(address string) (own, elsewhere bool) {
	if slices.Contains(p.Own, strings.TrimSuffix(address, "/")) {
		return true, false
	}
	at := site(address)
	return false, len(p.Own) > 0 && !p.Open && at != "" && !slices.ContainsFunc(p.Own, func(page string) bool {
		return site(page) == at
	})
}

// Shows reports whether a request's Origin header is that of one of the shop's pages, or "": what is no browser sends
// none.
func (p ReturnPages) Shows(origin string) bool {
	return origin == "" || p.Open || slices.ContainsFunc(p.Own, func(page string) bool { return site(page) == origin })
}

// site returns the origin of a website's address as browsers write it, and "" for any other address.
func site(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	host := strings.ToLower(u.Host)
	if port, usual := u.Port(), map[string]string{"https": "443", "http": "80"}[u.Scheme]; port == usual {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return u.Scheme + "://" + host
}

// printable reports whether a text has only visible ASCII characters, as OAuth's do (RFC 6749 appendix A).
func printable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Issuers are the issuers that a shop trusts.
type Issuers interface {
	// List returns them in the operator's order, without those that cannot be reached. It is a fault if there are
	// some and none can be reached.
	List(ctx context.Context) ([]Issuer, error)
	// Redeem checks what a shopper signs in with. It spends a code or refresh token at most once, and only after it
	// has read the issuer's keys. CodeSignIn, whose Token says why; CodeInvalid for an issuer or client that is not
	// the shop's. Any other error is a fault: the code or refresh token may be spent.
	Redeem(ctx context.Context, g Grant) (Proof, error)
}

// Identities keeps which identity has which user id. Once given, an identity's user id never changes, and no two
// identities have the same.
type Identities interface {
	// UserOf reads an identity's user id. ErrNoUser.
	UserOf(ctx context.Context, id Identity) (string, error)
	// Enrol gives an identity a user id, unless it has one; it returns the one that the identity has then.
	// ErrUserTaken: the user id is another identity's; nothing was written.
	Enrol(ctx context.Context, id Identity, user string, at time.Time) (string, error)
}

// UserIDs makes user ids for new shoppers.
type UserIDs interface {
	UserID() string // random, 1 to 2^63-1 in decimal digits
}

// TokenSigner makes the shop's own tokens.
type TokenSigner interface {
	SignToken(c Claims) (string, error)
}

// Claims are what a token of the shop says.
type Claims struct {
	User    string
	Session string    // "": of none
	Name    string    // the shopper's; "" if it is unknown
	Created time.Time // when their account was made; zero if that is unknown
	Expires time.Time
}
