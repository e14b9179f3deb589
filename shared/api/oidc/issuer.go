package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
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
	log            *slog.Logger

	mu     sync.Mutex
	left   string            // what was last logged as left out of its key set
	way    map[string]string // by client: how the issuer took its secret last
	last   *snapshot         // the last good snapshot, kept while the issuer cannot be reached; nil if none yet
	err    error             // the error of the last read
	tried  time.Time         // when the last read began
	flight chan struct{}     // closed when the read under way ends; nil if there is none
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
	keys []key
	left leftOut
	at   time.Time
}

// discovery is the part of a discovery document that matters ("OpenID Provider Metadata").
type discovery struct {
	Issuer        string `json:"issuer"`
	Authorization string `json:"authorization_endpoint"`
	Token         string `json:"token_endpoint"`
	Keys          string `json:"jwks_uri"`
	EndSession    string `json:"end_session_endpoint"`
	Algorithms    texts  `json:"id_token_signing_alg_values_supported"`
	Ways          texts  `json:"token_endpoint_auth_methods_supported"`
	Claims        texts  `json:"claims_supported"`
}

// texts is a list of texts; anything else is read as none.
type texts []string

func (t *texts) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, (*[]string)(t)) != nil {
		*t = nil
	}
	return nil
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
		s.tell(&next.left)
	}
	s.flight = nil
	close(flight)
}

// tell logs what was left out of the key set, once. The caller holds the lock.
func (s *issuer) tell(left *leftOut) {
	text := strings.Join(left.list, "; ")
	if text == s.left {
		return
	}
	level := slog.LevelInfo
	if left.odd {
		level = slog.LevelWarn
	}
	s.left = text
	s.log.Log(context.Background(), level, "entries of an issuer's key set are left out", "issuer", s.name, "entries",
		text)
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
	if nameOf(next.Issuer) != s.name {
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
	if next.keys, next.left, err = set.usable(); err != nil {
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
	Description  string `json:"error_description"`
}

// errSilent: the issuer has taken a refresh token without an ID token, which it may ("Successful Refresh Response",
// OpenID Connect Core 1.0, 12.2).
var errSilent = errors.New("oidc: a refresh without an ID token")

// Ways to show a client's secret (OpenID Connect Core 1.0, 9).
const (
	secretInHeader = "client_secret_basic"
	secretInBody   = "client_secret_post"
)

// ways returns how to show a client's secret, in the order in which to try: first as the issuer took it last. An issuer
// lists the ways that it knows; which of them it takes of this client it does not say, and that may change. If it lists
// neither of ours, only the header is tried.
func (s *issuer) ways(known *snapshot, client *Client) []string {
	if client.secret() == "" {
		return []string{""}
	}
	s.mu.Lock()
	last := s.way[client.ClientID]
	s.mu.Unlock()
	ways := slices.DeleteFunc([]string{secretInHeader, secretInBody}, func(w string) bool {
		return !slices.Contains(known.Ways, w)
	})
	if len(ways) == 0 {
		return []string{secretInHeader}
	}
	if ways[len(ways)-1] == last {
		slices.Reverse(ways)
	}
	return ways
}

// exchange spends a code or refresh token. errSilent comes with the tokens that there are.
func (s *issuer) exchange(ctx context.Context, known *snapshot, client *Client, g *seckill.Grant) (got tokens,
	err error,
) {
	form := url.Values{}
	if g.Kind == seckill.GrantCode {
		form.Set("grant_type", "authorization_code")
		form.Set("code", g.Code)
		form.Set("code_verifier", g.Verifier)
		form.Set("redirect_uri", g.RedirectURI)
	} else {
		form.Set("grant_type", "refresh_token")
		form.Set("refresh_token", g.RefreshToken)
	}
	for _, way := range s.ways(known, client) {
		var status int
		var said tokens
		if status, said, err = s.ask(ctx, known.Token, client, way, form); err == nil {
			got, err = s.answer(status, said, g.Kind)
		}
		if err == nil {
			s.mu.Lock()
			s.way[client.ClientID] = way
			s.mu.Unlock()
		}
		if !said.refusesClient(status) {
			break
		}
	}
	return got, err
}

// ask sends a form as a client, and returns an answer whose body may be anything.
func (s *issuer) ask(ctx context.Context, address string, client *Client, way string, form url.Values) (int, tokens,
	error,
) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	form = maps.Clone(form)
	// An issuer refuses two ways of naming a client at once, and some count client_id beside the header as a second.
	if way != secretInHeader {
		form.Set("client_id", client.ClientID)
	}
	if way == secretInBody {
		form.Set("client_secret", client.secret())
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, tokens{}, fmt.Errorf("oidc: %w", err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if way == secretInHeader { // RFC 6749 section 2.3.1
		r.SetBasicAuth(url.QueryEscape(client.ClientID), url.QueryEscape(client.secret()))
	}
	status, body, err := s.send(r)
	if err != nil {
		return 0, tokens{}, fmt.Errorf("oidc: exchange at %s: %w", s.name, err)
	}
	var got tokens
	if json.Unmarshal(body, &got) != nil {
		got = tokens{}
	}
	return status, got, nil
}

// answer tells what an issuer's answer means. Two of its errors are about the shopper's grant: invalid_grant (RFC 6749
// section 5.2; Auth0 says it with 403) and, for a refresh token, interaction_required, by which the issuer wants to ask
// the person. All others are about the shop, or pass by themselves.
func (s *issuer) answer(status int, got tokens, kind seckill.GrantKind) (tokens, error) {
	fits := status == http.StatusOK && len(got.RefreshToken) <= seckill.MaxIssuerToken
	switch refused := status >= 400 && status < 500; {
	case fits && got.IDToken != "":
		return got, nil
	case fits && got.AccessToken != "" && kind == seckill.GrantRefresh:
		return got, errSilent
	case refused && (got.Error == "invalid_grant" || got.Error == "interaction_required" &&
		kind == seckill.GrantRefresh):
		return tokens{}, refuse(seckill.TokenGrant, s.name+" answers "+got.Error)
	case refused && !slices.Contains(passing, got.Error) && status != http.StatusTooManyRequests &&
		status != http.StatusRequestTimeout:
		return tokens{}, broken("%s refuses the shop: status %d, error %q%s", s.name, status,
			plain(got.Error), got.number())
	}
	return tokens{}, fmt.Errorf("oidc: exchange at %s: status %d, error %q, ID token %t", s.name, status,
		plain(got.Error), got.IDToken != "")
}

// passing are the errors that go away by themselves, and "" for an answer that is none of OAuth.
var passing = []string{"", "temporarily_unavailable", "server_error", "slow_down"}

// refusesClient reports whether an issuer did not take the client's secret as it was shown, so that nothing was spent
// (RFC 6749 section 5.2). Some issuers have another error than invalid_client for it: Auth0 says access_denied.
func (t *tokens) refusesClient(status int) bool {
	return t.Error == "invalid_client" || status == http.StatusUnauthorized && t.Error != "invalid_grant"
}

// number returns the number of an error by which Microsoft's documentation has it, such as " AADSTS7000215". The rest
// of the text may name people.
func (t *tokens) number() string {
	word, _, _ := strings.Cut(t.Description, ":")
	digits, ok := strings.CutPrefix(word, "AADSTS")
	if !ok || len(digits) > 10 || strings.Trim(digits, "0123456789") != "" {
		return ""
	}
	return " " + word
}

// plain returns an error code of OAuth, or nothing that could be anything else.
func plain(s string) string {
	if len(s) > 40 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return "?"
	}
	return s
}
