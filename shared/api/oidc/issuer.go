package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// issuer is one issuer with what was last read of it.
type issuer struct {
	name, metadata string
	clients        []Client
	clock          seckill.Clock
	http           *http.Client

	mu     sync.Mutex
	last   *snapshot     // the last good snapshot, kept while the issuer cannot be reached; nil if there is none yet
	err    error         // the error of the last read
	tried  time.Time     // when the last read began
	flight chan struct{} // closed when the read under way ends; nil if there is none
}

func (s *issuer) clientIDs() []string {
	ids := make([]string, len(s.clients))
	for i := range s.clients {
		ids[i] = s.clients[i].ClientID
	}
	return ids
}

// snapshot is what an issuer says about itself.
type snapshot struct {
	discovery
	keys map[keyName]any
	at   time.Time
}

// discovery is the part of a discovery document that matters ("OpenID Provider Metadata").
type discovery struct {
	Issuer        string `json:"issuer"`
	Authorization string `json:"authorization_endpoint"`
	Token         string `json:"token_endpoint"`
	Keys          string `json:"jwks_uri"`
	EndSession    string `json:"end_session_endpoint"`
}

// current returns what the issuer says, and reads it first if nothing is known, if that is old, or if it lacks the key
// of a token. An error means that nothing is known.
func (s *issuer) current(ctx context.Context, key keyName) (*snapshot, error) {
	s.mu.Lock()
	now := s.clock.Now()
	switch {
	case s.last != nil && s.last.has(key) && (s.flight != nil || !passed(s.last.at, now, freshFor)):
	case s.flight != nil:
		flight := s.flight
		s.mu.Unlock()
		select {
		case <-flight:
		case <-ctx.Done():
			return nil, fmt.Errorf("oidc: issuer %s: %w", s.name, ctx.Err())
		}
		s.mu.Lock()
	case s.due(now):
		s.read(ctx, now)
	}
	defer s.mu.Unlock()
	if s.last == nil {
		return nil, s.err
	}
	return s.last, nil
}

// due reports whether the issuer may be read again.
func (s *issuer) due(now time.Time) bool {
	if s.last == nil {
		return s.err == nil || passed(s.tried, now, soonAfter)
	}
	return passed(s.tried, now, againAfter)
}

// passed reports whether this much time is over; a clock that was set back makes nobody wait.
func passed(since, now time.Time, d time.Duration) bool {
	age := now.Sub(since)
	return age < 0 || age >= d
}

// read reads the issuer's documents. The caller holds the lock, which read releases meanwhile. Others wait for its
// result, so it goes on even if its own caller leaves.
func (s *issuer) read(ctx context.Context, now time.Time) {
	flight := make(chan struct{})
	s.flight, s.tried = flight, now
	s.mu.Unlock()
	next, err := s.snapshot(context.WithoutCancel(ctx), now)
	s.mu.Lock()
	if s.err = err; err == nil {
		s.last = next
	}
	s.flight = nil
	close(flight)
}

// away returns the error of the last read, nil if it succeeded.
func (s *issuer) away() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *issuer) snapshot(ctx context.Context, now time.Time) (*snapshot, error) {
	next := &snapshot{at: now}
	err := s.get(ctx, strings.TrimSuffix(s.metadata, "/")+"/.well-known/openid-configuration", &next.discovery)
	if err != nil {
		return nil, err
	}
	if next.Issuer != s.name {
		return nil, fmt.Errorf("oidc: issuer %s: its document names %.200q", s.name, next.Issuer)
	}
	addresses := []string{next.Authorization, next.Token, next.Keys}
	if next.EndSession != "" { // an issuer need not have an address for signing out
		addresses = append(addresses, next.EndSession)
	}
	for _, address := range addresses {
		if err := secure(address, true); err != nil {
			return nil, fmt.Errorf("oidc: issuer %s: its document has the address %.200q: %w", s.name, address, err)
		}
	}
	var set keySet
	if err := s.get(ctx, next.Keys, &set); err != nil {
		return nil, err
	}
	if next.keys, err = set.usable(); err != nil {
		return nil, fmt.Errorf("oidc: issuer %s: %w", s.name, err)
	}
	return next, nil
}

// get reads a JSON document.
func (s *issuer) get(ctx context.Context, address string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return fmt.Errorf("oidc: %w", err)
	}
	status, body, err := s.send(r)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("status %d", status)
	}
	if err == nil && json.Unmarshal(body, into) != nil {
		err = errors.New("not the JSON that was expected")
	}
	if err != nil {
		return fmt.Errorf("oidc: read %s: %w", address, err)
	}
	return nil
}

var errLarge = fmt.Errorf("an answer of more than %d bytes", MaxDocument)

// send makes a call and reads the answer, up to its limit. ErrIssuerAway.
func (s *issuer) send(r *http.Request) (status int, body []byte, err error) {
	r.Header.Set("Accept", "application/json")
	answer, err := s.http.Do(r)
	if err != nil {
		return 0, nil, fmt.Errorf("%w: %w", seckill.ErrIssuerAway, err)
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(io.LimitReader(answer.Body, MaxDocument+1))
	switch {
	case err != nil:
		err = fmt.Errorf("%w to the end: %w", seckill.ErrIssuerAway, err)
	case len(body) > MaxDocument:
		err = errLarge
	}
	return answer.StatusCode, body, err
}

// tokens is an issuer's answer to a code or refresh token.
type tokens struct {
	IDToken      string `json:"id_token"`
	AccessToken  string `json:"access_token"` // never used: its presence says that the grant was taken
	RefreshToken string `json:"refresh_token"`
	Error        string `json:"error"`
}

// errSilent: the issuer has taken a refresh token without an ID token, which it may ("Successful Refresh Response",
// OpenID Connect Core 1.0, 12.2).
var errSilent = errors.New("oidc: a refresh without an ID token")

// exchange spends a code or refresh token. errSilent comes with the tokens that there are.
func (s *issuer) exchange(ctx context.Context, address string, client *Client, g *seckill.Grant) (tokens, error) {
	form := url.Values{"client_id": {client.ClientID}}
	if g.Kind == seckill.GrantCode {
		form.Set("grant_type", "authorization_code")
		form.Set("code", g.Code)
		form.Set("code_verifier", g.Verifier)
		form.Set("redirect_uri", g.RedirectURI)
	} else {
		form.Set("grant_type", "refresh_token")
		form.Set("refresh_token", g.RefreshToken)
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return tokens{}, fmt.Errorf("oidc: %w", err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if client.Secret != nil {
		if secret := client.Secret(); secret != "" { // RFC 6749 section 2.3.1
			r.SetBasicAuth(url.QueryEscape(client.ClientID), url.QueryEscape(secret))
		}
	}
	status, body, err := s.send(r)
	if err != nil {
		return tokens{}, fmt.Errorf("oidc: exchange at %s: %w", s.name, err)
	}
	var got tokens
	parsed := json.Unmarshal(body, &got) == nil
	switch {
	case status == http.StatusOK && parsed && got.IDToken != "" && len(got.RefreshToken) <= seckill.MaxIssuerToken:
		return got, nil
	case status == http.StatusOK && parsed && got.IDToken == "" && got.AccessToken != "" &&
		g.Kind == seckill.GrantRefresh && len(got.RefreshToken) <= seckill.MaxIssuerToken:
		return got, errSilent
	// What a shopper sends can cause only these two (RFC 6749 section 5.2); the others are about the shop.
	case status == http.StatusBadRequest && (got.Error == "invalid_grant" || got.Error == "invalid_request"):
		return tokens{}, refuse(seckill.TokenGrant, s.name+" answers "+got.Error)
	}
	return tokens{}, fmt.Errorf("oidc: exchange at %s: status %d, error %q, ID token %t", s.name, status,
		plain(got.Error), got.IDToken != "")
}

// plain returns an error code of OAuth, or nothing that could be anything else.
func plain(s string) string {
	if len(s) > 40 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return "?"
	}
	return s
}
