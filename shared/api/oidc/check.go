package oidc

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	maxSubject = 255          // bytes ("ID Token", OpenID Connect Core 1.0)
	maxSeconds = 253402300799 // the last second of the year 9999
)

// wanted is what a token must be for. The zero value accepts a token of any issuer for any of its clients.
type wanted struct {
	issuer, client string // set: an ID token that was just exchanged
	nonce          string // the nonce of a code; "" without a code
}

// claims are the claims that matter.
type claims struct {
	jwt.Claims `json:"-"` // never called: the parser leaves the claims alone

	Issuer    string   `json:"iss"`
	Subject   string   `json:"sub"`
	Audience  audience `json:"aud"`
	Party     string   `json:"azp"`
	Client    string   `json:"client_id"`
	Use       string   `json:"token_use"`
	Nonce     string   `json:"nonce"`
	Expires   *float64 `json:"exp"` // seconds since 1970, like the following
	NotBefore *float64 `json:"nbf"`
	Issued    *float64 `json:"iat"`
	Created   *float64 `json:"created_at"` // of the account; not standard

	Name json.RawMessage `json:"name"` // of any type: a strange name is no reason to refuse
}

// UnmarshalJSON refuses a claim that occurs twice: the issuer and this reader might take different ones.
func (c *claims) UnmarshalJSON(b []byte) error {
	if err := jwtauth.CheckNames(b, "iss", "sub", "aud", "azp", "client_id", "token_use", "nonce", "exp", "nbf", "iat",
		"created_at"); err != nil {
		return err
	}
	type bare claims
	if err := json.Unmarshal(b, (*bare)(c)); err != nil {
		return err
	}
	c.Issuer = nameOf(c.Issuer)
	return nil
}

// audience is a text or a list of texts (RFC 7519 section 4.1.3).
type audience []string

func (a *audience) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*a = make(audience, 1)
		return json.Unmarshal(b, &(*a)[0])
	}
	return json.Unmarshal(b, (*[]string)(a))
}

// check checks a token. CodeSignIn says why it is refused; any other error is a fault.
func (s *Issuers) check(ctx context.Context, token string, want wanted) (seckill.Proof, error) {
	if len(token) > seckill.MaxIssuerToken {
		return seckill.Proof{}, refuse(seckill.TokenMalformed, "token over its limit")
	}
	c, access, err := s.verified(ctx, token, want)
	if err != nil {
		return seckill.Proof{}, err
	}
	now := s.clock.Now()
	if err := c.times(now, want.issuer != ""); err != nil {
		return seckill.Proof{}, err
	}
	clients := []string{want.client}
	if want.client == "" {
		clients = s.byName[c.Issuer].clientIDs()
	}
	if err := c.meant(clients, access, want); err != nil {
		return seckill.Proof{}, err
	}
	p := seckill.Proof{Identity: seckill.Identity{Issuer: c.Issuer, Subject: c.Subject}, Checked: now,
		Expires: moment(*c.Expires)}
	if made := c.Created; made != nil && *made > 0 && *made <= maxSeconds {
		p.Created = moment(*made)
	}
	if name := ""; c.Name != nil && json.Unmarshal(c.Name, &name) == nil {
		p.Name = seckill.PlainName(name)
	}
	return p, nil
}

// verified returns the claims of a token whose signature is right; access says that it is an access token.
func (s *Issuers) verified(ctx context.Context, token string, want wanted) (c claims, access bool, err error) {
	var tried any
	for {
		var with any
		c = claims{}
		t, err := s.parser.ParseWithClaims(token, &c, func(t *jwt.Token) (key any, err error) {
			typ, _ := t.Header["typ"].(string)
			access = c.Use == "access" || strings.EqualFold(typ, "at+jwt") ||
				strings.EqualFold(typ, "application/at+jwt")
			with, err = s.key(ctx, t, &c, want, tried)
			return with, err
		})
		if with == nil || tried != nil || !errors.Is(err, jwt.ErrTokenSignatureInvalid) {
			if err != nil {
				err = unverified(t, err)
			}
			return c, access, err
		}
		tried = with // the issuer may have another key under this name, or under none, by now
	}
}

// key returns the key that a token's header and issuer name. Neither is verified yet: they only choose among the keys
// of the shop's issuers. tried is nil, or the key that did not fit.
func (s *Issuers) key(ctx context.Context, t *jwt.Token, c *claims, want wanted, tried any) (any, error) {
	encoded, _, _ := strings.Cut(t.Raw, ".")
	header, err := base64.RawURLEncoding.DecodeString(encoded)
	if err == nil {
		err = jwtauth.CheckNames(header, "alg", "kid", "crit", "typ")
	}
	// RFC 7515 section 4.1.11: a token with an unknown critical extension must be refused.
	if _, critical := t.Header["crit"]; err != nil || critical {
		return nil, refuse(seckill.TokenMalformed, "header that can be read in two ways, or a critical extension")
	}
	is := s.byName[c.Issuer]
	if is == nil || want.issuer != "" && want.issuer != c.Issuer {
		return nil, refuse(seckill.TokenIssuer, "another issuer's token")
	}
	kid, isText := t.Header["kid"].(string)
	if _, named := t.Header["kid"]; named && !isText {
		return nil, refuse(seckill.TokenKey, "a kid that is no text")
	}
	name := keyName{kid, t.Method.Alg()}
	look := name
	if tried != nil {
		look = anotherKey
	}
	known, err := is.current(ctx, look)
	if err != nil {
		return nil, err
	}
	switch key := known.find(name); key {
	case nil:
	case tried:
		return nil, refuse(seckill.TokenSignature, "wrong signature")
	default:
		return key, nil
	}
	if err := is.away(); err != nil {
		return nil, err // it may have the key by now
	}
	return nil, refuse(seckill.TokenKey, "unknown key, or no kid and several keys")
}

// unverified returns the error for a token that the parser did not accept; t is the part that it read.
func unverified(t *jwt.Token, err error) error {
	var refused *seckill.Error
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, jwt.ErrTokenMalformed), errors.Is(err, jwtauth.ErrTwice):
		return refuse(seckill.TokenMalformed, "no token")
	case t == nil || t.Method == nil || !slices.Contains(algorithms, t.Method.Alg()):
		return refuse(seckill.TokenAlgorithm, "another algorithm")
	case errors.Is(err, jwt.ErrTokenSignatureInvalid):
		return refuse(seckill.TokenSignature, "wrong signature")
	}
	return err // the issuer cannot be reached
}

// times returns what is wrong with the times of a token, by the rule of jwtauth.Early. fresh means that the token was
// made for this exchange.
func (c *claims) times(now time.Time, fresh bool) error {
	at := float64(now.UnixMilli()) / 1000
	switch {
	case c.Expires == nil || c.Issued == nil || *c.Expires > maxSeconds:
		return refuse(seckill.TokenClaims, "no exp or iat")
	case at >= *c.Expires:
		return refuse(seckill.TokenExpired, "expired")
	case jwtauth.Early(now, c.Issued, c.NotBefore):
		return refuse(seckill.TokenEarly, "not valid yet")
	case fresh && *c.Issued < at-oldest.Seconds():
		return refuse(seckill.TokenStale, "issued too long ago")
	}
	return nil
}

// meant returns whether a token names a person and was made for the shop, for this use and this sign-in.
func (c *claims) meant(clients []string, access bool, want wanted) error {
	ours := func(id string) bool { return slices.Contains(clients, id) }
	switch {
	case c.Subject == "" || len(c.Subject) > maxSubject || access && c.Subject == c.Client:
		return refuse(seckill.TokenClaims, "no person") // a client that signs in for itself is its own subject
	case c.Use != "" && c.Use != "id" && c.Use != "access", access && want.client != "":
		return refuse(seckill.TokenAudience, "made for another use")
	case len(c.Audience) == 0 && (!access || !ours(c.Client)),
		len(c.Audience) > 0 && !slices.ContainsFunc(c.Audience, ours):
		return refuse(seckill.TokenAudience, "made for another client")
	case c.Party != "" && !ours(c.Party), c.Party == "" && !access && len(c.Audience) > 1:
		return refuse(seckill.TokenAudience, "made for another party")
	case want.nonce != "" && subtle.ConstantTimeCompare([]byte(c.Nonce), []byte(want.nonce)) != 1:
		return refuse(seckill.TokenNonce, "made for another sign-in")
	}
	return nil
}

func moment(seconds float64) time.Time { return time.UnixMilli(int64(seconds * 1000)).UTC() }
