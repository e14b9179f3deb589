// Package jwtauth makes and verifies the shop's tokens: JSON Web Tokens (RFC 7519) signed with HS256, passes, and
// tickets and proofs of work with the key whose time it is. In: keys; a token's text. Out: a token; the user id in it,
// or invalid_token. It touches only its clock.
package jwtauth

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/your-org/seckill/shared/seckill"
)

// MaxToken is the largest token in bytes: ours have some 150; longer ones are refused before any work.
const MaxToken = 4 << 10

// accessToken is the sub claim of a token that permits buying; refresh tokens have another sub.
const accessToken = "1"

// audience is the aud claim of a token for the shop. iss is no name of an issuer: it has been the user id since before
// the shop had a sign-in.
const audience = "seckill"

// Keys are the secrets that may have signed a token. To rotate: add the new secret under a new kid, switch the issuer
// to it, and remove the old kid after its last token has expired.
type Keys struct {
	Current string            // the secret for tokens without a kid; "" refuses them
	ByKid   map[string]string // secrets by the kid of a token's header
	// AudienceFrom is when tokens that do not say whom they are for become invalid; zero means never. Those of
	// seckill.TokenSigner say it.
	AudienceFrom time.Time
}

// ParseAudienceFrom reads Keys.AudienceFrom: a day, which begins in UTC, or a time; "" means never. An error shows no
// text: it may be a secret.
func ParseAudienceFrom(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(form, text); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, errors.New("want a date such as 2027-01-31, or a time such as 2027-01-31T08:00:00Z")
}

// Verifier checks tokens. It is safe for concurrent use.
type Verifier struct {
	parser  *jwt.Parser
	clock   seckill.Clock
	current any // []byte, stored as an interface so that no call allocates one; nil without a current key
	byKid   map[string]any
	from    time.Time // Keys.AudienceFrom
	hashKey []byte    // for Hash
}

// New returns a verifier. It refuses an empty key set and an empty secret, with which anyone could sign.
func New(keys Keys, clock seckill.Clock) (*Verifier, error) {
	v := &Verifier{clock: clock, byKid: make(map[string]any, len(keys.ByKid)), from: keys.AudienceFrom}
	if keys.Current != "" {
		v.current = []byte(keys.Current)
	}
	for kid, secret := range keys.ByKid {
		if kid == "" || secret == "" {
			return nil, fmt.Errorf("jwtauth: the key with kid %q is empty", kid)
		}
		v.byKid[kid] = []byte(secret)
	}
	if v.current == nil && len(v.byKid) == 0 {
		return nil, errors.New("jwtauth: no key to check tokens with")
	}
	v.hashKey = hashKey(keys)
	v.parser = jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Name}),
		jwt.WithStrictDecoding(),
		jwt.WithoutClaimsValidation(),
	)
	return v, nil
}

// User returns the user id of an access token: decimal digits, 1 to 2^63-1. Every failure is an *seckill.Error with
// CodeToken; its Token names the violated rule, and its cause never contains the token.
func (v *Verifier) User(token string) (string, error) {
	c, err := v.claims(token, false)
	return string(c.User), err
}

// Claims returns what an access token says. Session is "" for the sid of another issuer, which is a session of its own,
// Name as seckill.PlainName has it; Expires is not set. It fails as User does.
func (v *Verifier) Claims(token string) (seckill.Claims, error) { return v.said(token, false) }

// Past is Claims for a token that may have expired: it permits nothing any more, and still names its session.
func (v *Verifier) Past(token string) (seckill.Claims, error) { return v.said(token, true) }

func (v *Verifier) said(token string, past bool) (seckill.Claims, error) {
	c, err := v.claims(token, past)
	if err != nil {
		return seckill.Claims{}, err
	}
	out := seckill.Claims{User: string(c.User)}
	if c.Audience == forShop {
		out.Session = string(c.Session)
	}
	if s, err := strconv.ParseFloat(string(c.Created), 64); err == nil && s > 0 && s <= maxCreated {
		out.Created = time.Unix(int64(s), 0).UTC()
	}
	if c.Name != nil && json.Unmarshal(c.Name, &out.Name) == nil {
		out.Name = seckill.PlainName(out.Name)
	}
	return out, nil
}

// maxCreated is the year 9999, in Unix seconds.
const maxCreated = 253402300799

// claims verifies a token; past says that it may have expired.
func (v *Verifier) claims(token string, past bool) (claims, error) {
	if len(token) > MaxToken {
		return claims{}, refuse(seckill.TokenMalformed, errors.New("jwtauth: token over its limit"))
	}
	var c claims
	if t, err := v.parser.ParseWithClaims(token, &c, v.key); err != nil {
		return claims{}, refuse(unread(t, err), err)
	}
	if reason, err := c.validate(v.clock.Now(), v.from, past); err != nil {
		return claims{}, refuse(reason, err)
	}
	return c, nil
}

// unread returns why the parser refused a token; t is the part that it read.
func unread(t *jwt.Token, err error) seckill.Reason {
	switch {
	case errors.Is(err, errUser):
		return seckill.TokenClaims
	case errors.Is(err, jwt.ErrTokenMalformed), errors.Is(err, ErrTwice), errors.Is(err, errCritical):
		return seckill.TokenMalformed
	case t == nil || t.Header["alg"] != jwt.SigningMethodHS256.Name:
		return seckill.TokenAlgorithm
	case errors.Is(err, errKey):
		return seckill.TokenKey
	}
	return seckill.TokenSignature
}

// key chooses the key by the token's header, which is not verified yet.
func (v *Verifier) key(t *jwt.Token) (any, error) {
	encoded, _, _ := strings.Cut(t.Raw, ".")
	header, err := base64.RawURLEncoding.DecodeString(encoded)
	if err == nil {
		err = CheckNames(header, "alg", "kid", "crit", "typ")
	}
	if err != nil {
		return nil, err
	}
	// RFC 7515 section 4.1.11: a token with an unknown critical extension must be refused.
	if _, ok := t.Header["crit"]; ok {
		return nil, errCritical
	}
	kid, named := t.Header["kid"]
	if !named {
		if v.current == nil {
			return nil, errKey
		}
		return v.current, nil
	}
	name, _ := kid.(string)
	if key, ok := v.byKid[name]; ok {
		return key, nil
	}
	return nil, errKey
}

var (
	errKey      = errors.New("jwtauth: unknown kid, or none and no current key")
	errCritical = errors.New("jwtauth: critical extension")
)

func refuse(reason seckill.Reason, cause error) error {
	return &seckill.Error{Code: seckill.CodeToken, Token: reason, Err: cause}
}

// claims are the claims that matter; the rest of the payload is ignored. This package checks them itself, because the
// library's parsing of times costs as much as the signature.
type claims struct {
	jwt.Claims `json:"-"` // never called: the parser is told to leave the claims alone

	User      userID   `json:"iss"`
	Subject   string   `json:"sub"`
	Expires   *float64 `json:"exp"` // seconds since 1970 (NumericDate: RFC 7519 section 2), exact to 2^53
	NotBefore *float64 `json:"nbf"`
	Audience  forUs    `json:"aud"`
	Session   session  `json:"sid"`
	// seconds since 1970, of any type: issuers made tokens before anybody read it
	Created json.RawMessage `json:"created"`
	Name    json.RawMessage `json:"name"` // of any type, too
}

// UnmarshalJSON decodes claims, each of which may occur only once (RFC 7519 section 4): otherwise issuer and reader
// of a token could see different users.
func (c *claims) UnmarshalJSON(b []byte) error {
	if err := CheckNames(b, "iss", "sub", "exp", "nbf", "aud", "sid"); err != nil {
		return err
	}
	type plain claims
	return json.Unmarshal(b, (*plain)(c))
}

// leeway is how far ahead of ours a clock may be by which a token was made.
const leeway = time.Minute

// Early reports whether a token is not valid yet, by its times in seconds since 1970; nil for one that it lacks. This
// is the one leeway: machines' clocks differ by seconds, and a token that begins a minute early harms nobody. The end
// has none: what a token permits must not outlive what the issuer said.
func Early(now time.Time, begins ...*float64) bool {
	latest := float64(now.Add(leeway).UnixMilli()) / 1000
	return slices.ContainsFunc(begins, func(at *float64) bool { return at != nil && *at > latest })
}

// validate returns what is wrong with the claims at a time; tokens need an audience from another time on. past says
// that they may have expired.
func (c *claims) validate(now, from time.Time, past bool) (seckill.Reason, error) {
	seconds := float64(now.UnixMilli()) / 1000
	switch {
	case c.Expires == nil:
		return seckill.TokenClaims, errors.New("jwtauth: no exp")
	case !past && seconds >= *c.Expires:
		return seckill.TokenExpired, errors.New("jwtauth: expired")
	case Early(now, c.NotBefore):
		return seckill.TokenEarly, errors.New("jwtauth: not valid yet")
	case c.Subject != accessToken:
		return seckill.TokenClaims, errors.New("jwtauth: not an access token")
	case c.User == "":
		return seckill.TokenClaims, errUser
	case c.Audience == forOthers:
		return seckill.TokenAudience, errors.New("jwtauth: for another audience")
	case c.Audience == forAnybody && !from.IsZero() && !now.Before(from):
		return seckill.TokenAudience, errors.New("jwtauth: no audience")
	}
	return "", nil
}

// forUs is the aud claim, a text or several: whom a token is for.
type forUs int

const (
	forAnybody forUs = iota // it does not say
	forShop
	forOthers
)

func (f *forUs) UnmarshalJSON(b []byte) error {
	var several []string
	*f = forOthers
	if string(b) == `"`+audience+`"` ||
		len(b) > 0 && b[0] == '[' && json.Unmarshal(b, &several) == nil && slices.Contains(several, audience) {
		*f = forShop
	}
	return nil
}

// session is the sid claim; one that the shop did not make is none.
type session string

func (s *session) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil && seckill.ValidSession(text) {
		*s = session(text)
	}
	return nil
}

var errUser = errors.New("jwtauth: iss is not a user id")

// userID is the iss claim: a user id as a JSON number or string. It is decoded as text: a float64 would merge
// neighbouring ids above 2^53.
type userID string

func (u *userID) UnmarshalJSON(b []byte) error {
	s := string(b)
	if len(b) > 0 && b[0] == '"' {
		if err := json.Unmarshal(b, &s); err != nil {
			return errUser
		}
	}
	if !seckill.ValidUserID(s) {
		return errUser
	}
	*u = userID(s)
	return nil
}

// Signer makes access tokens with the newest of its keys. It is safe for concurrent use.
type Signer struct {
	secret []byte
	kid    string // "" if the token has none
}

// NewSigner returns a signer with the current key or, without one, the key whose kid sorts last, which with names like
// 2026, 2027 is the newest.
func NewSigner(keys Keys) (*Signer, error) {
	s := &Signer{secret: []byte(keys.Current)}
	if keys.Current == "" && len(keys.ByKid) > 0 {
		s.kid = newest(keys)
		s.secret = []byte(keys.ByKid[s.kid])
	}
	if len(s.secret) == 0 {
		return nil, errors.New("jwtauth: no key to sign tokens with")
	}
	return s, nil
}

// SignToken implements seckill.TokenSigner. c.User must be a user id as User returns it.
func (s *Signer) SignToken(c seckill.Claims) (string, error) {
	if !seckill.ValidUserID(c.User) {
		return "", errUser
	}
	claims := jwt.MapClaims{"iss": json.Number(c.User), "sub": accessToken, "aud": audience, "exp": c.Expires.Unix()}
	if c.Session != "" {
		claims["sid"] = c.Session
	}
	if c.Name != "" {
		claims["name"] = c.Name
	}
	if !c.Created.IsZero() {
		claims["created"] = c.Created.Unix()
	}
	t := jwt.NewWithClaims(jwt.SigningMethodHS256, claims)
	if s.kid != "" {
		t.Header["kid"] = s.kid
	}
	return t.SignedString(s.secret)
}

// Sign makes an access token without a kid, for local runs and tests. The secret must not be empty, and user must be
// a user id as User returns it.
func Sign(secret, user string, expires time.Time) (string, error) {
	s, err := NewSigner(Keys{Current: secret})
	if err != nil {
		return "", err
	}
	return s.SignToken(seckill.Claims{User: user, Expires: expires})
}
