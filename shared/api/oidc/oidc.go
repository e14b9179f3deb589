// Package oidc is a client of issuers of OpenID Connect: it redeems what a shopper signs in with. In: a code, a refresh
// token or a token of a configured issuer. Out: the identity that the issuer has confirmed, or signin_refused with the
// cause. It calls only the issuers, by https, and keeps their addresses and keys in memory.
//
// It follows "OpenID Connect Core 1.0" and "Discovery 1.0", RFC 7517 (keys), RFC 7519 (tokens) and RFC 7636 (PKCE). A
// client may have a secret, which only this package shows to the issuer. For staff, Staff also reads who somebody is
// and their groups.
package oidc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/golang-jwt/jwt/v5"

	"github.com/your-org/seckill/shared/seckill"
)

// scope is what pages ask for.
const scope = "openid"

// Options are the settings of New.
type Options struct {
	Clients []Client // in the order in which pages offer them; several of one issuer are allowed
	Clock   seckill.Clock
	HTTP    http.RoundTripper // nil means the network
	Log     *slog.Logger      // gets what is left out of key sets; nil means nowhere
}

// Issuers implements seckill.Issuers. It is safe for concurrent use.
type Issuers struct {
	clients []Client
	byName  map[string]*issuer
	clock   seckill.Clock
	parser  *jwt.Parser
}

var _ seckill.Issuers = (*Issuers)(nil)

// New checks the settings; it makes no call. The error names the issuer that is wrong.
func New(o Options) (*Issuers, error) {
	if len(o.Clients) > seckill.MaxIssuers {
		return nil, fmt.Errorf("oidc: %d issuers, want at most %d", len(o.Clients), seckill.MaxIssuers)
	}
	s := &Issuers{clients: slices.Clone(o.Clients), byName: map[string]*issuer{}, clock: o.Clock,
		parser: jwt.NewParser(jwt.WithStrictDecoding(), jwt.WithoutClaimsValidation(),
			jwt.WithValidMethods(algorithms))}
	client, log := newHTTP(o.HTTP), cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	for i, c := range s.clients {
		if c.Metadata == "" {
			s.clients[i].Metadata, c.Metadata = c.Issuer, c.Issuer
		}
		if err := secure(c.Metadata, false); err != nil { // the issuer itself is only a name
			return nil, fmt.Errorf("oidc: issuer %q: %w", c.Issuer, err)
		}
		if c.ClientID == "" || slices.ContainsFunc(s.clients[:i], func(d Client) bool {
			return d.Issuer == c.Issuer && (d.ClientID == c.ClientID || d.Metadata != c.Metadata)
		}) {
			return nil, fmt.Errorf("oidc: issuer %q: client %q is empty, there twice, or read from two places",
				c.Issuer, c.ClientID)
		}
		if s.byName[c.Issuer] == nil {
			s.byName[c.Issuer] = &issuer{name: c.Issuer, metadata: c.Metadata, clock: o.Clock, http: client,
				log: log, way: map[string]string{}}
		}
		s.byName[c.Issuer].clients = append(s.byName[c.Issuer].clients, c)
	}
	return s, nil
}

// newHTTP returns a client that follows no redirect: what is read, and what is sent, stays with the addresses that the
// issuer's document names.
func newHTTP(transport http.RoundTripper) *http.Client {
	if transport == nil {
		// An idle connection may be dead after Lambda has frozen the instance, and a code that was sent on it might
		// be spent without an answer.
		transport = &http.Transport{DisableKeepAlives: true, TLSHandshakeTimeout: Timeout,
			DialContext: (&net.Dialer{Timeout: Timeout}).DialContext, MaxResponseHeaderBytes: 64 << 10}
	}
	return &http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// List implements seckill.Issuers.
func (s *Issuers) List(ctx context.Context) ([]seckill.Issuer, error) {
	found := make([]*snapshot, len(s.clients))
	errs := make([]error, len(s.clients))
	var all sync.WaitGroup
	for i, c := range s.clients {
		all.Go(func() { found[i], errs[i] = s.byName[c.Issuer].current(ctx, keyName{}) })
	}
	all.Wait()
	out := make([]seckill.Issuer, 0, len(s.clients))
	for i, c := range s.clients {
		if found[i] != nil {
			out = append(out, seckill.Issuer{Issuer: c.Issuer, ClientID: c.ClientID,
				Authorization: found[i].Authorization, EndSession: found[i].EndSession, Scope: scope})
		}
	}
	if len(out) == 0 && len(s.clients) > 0 {
		return nil, errors.Join(errs...)
	}
	return out, nil
}

// Redeem implements seckill.Issuers. Of a client with a secret it keeps refresh tokens back, and takes none: a page
// that has one would have the shop's secret work for whoever holds it, for as long as such tokens live (ADR 32).
func (s *Issuers) Redeem(ctx context.Context, g seckill.Grant) (seckill.Proof, error) {
	if g.Kind == seckill.GrantToken {
		return s.check(ctx, g.Token, wanted{})
	}
	_, client, err := s.client(&g)
	if err != nil {
		return seckill.Proof{}, err
	}
	secret := client.secret() != ""
	if secret && g.Kind == seckill.GrantRefresh {
		return seckill.Proof{}, refuse(seckill.TokenGrant, "a refresh token of a client with a secret")
	}
	p, _, err := s.redeem(ctx, &g)
	if secret {
		p.Refresh = ""
	}
	return p, err
}

// client returns the issuer and the client that a grant names. CodeInvalid.
func (s *Issuers) client(g *seckill.Grant) (*issuer, *Client, error) {
	is := s.byName[g.Issuer]
	if is == nil {
		return nil, nil, seckill.Invalid("issuer", "")
	}
	at := 0
	if g.ClientID != "" {
		at = slices.IndexFunc(is.clients, func(c Client) bool { return c.ClientID == g.ClientID })
	}
	if at < 0 {
		return nil, nil, seckill.Invalid("client_id", "")
	}
	return is, &is.clients[at], nil
}

// redeem spends a code or refresh token; token is the ID token, which was checked.
func (s *Issuers) redeem(ctx context.Context, g *seckill.Grant) (p seckill.Proof, token string, err error) {
	is, client, err := s.client(g)
	if err != nil {
		return p, "", err
	}
	// Keys first: while they cannot be read, the code or refresh token stays good.
	known, err := is.current(ctx, keyName{})
	if err != nil {
		return p, "", err
	}
	got, err := is.exchange(ctx, known, client, g)
	if err != nil {
		p.Refresh = got.RefreshToken
		return p, "", err
	}
	p, err = s.check(ctx, got.IDToken, wanted{issuer: is.name, client: client.ClientID, nonce: g.Nonce})
	var refused *seckill.Error
	if errors.As(err, &refused) && refused.Token == seckill.TokenAlgorithm { // the issuer signs so for everybody
		err = broken("%s signs with another algorithm than %s: choose one of these there", is.name,
			strings.Join(algorithms, ", "))
	}
	p.Refresh = got.RefreshToken
	return p, got.IDToken, err
}
