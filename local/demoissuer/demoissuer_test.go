package demoissuer_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/your-org/seckill/local/demoissuer"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
)

const (
	client = "shop"
	back   = "http://localhost:8100/live/?a=b"
)

var people = []demoissuer.Person{{Name: "小明", User: "1001"}, {Name: "<b>", User: "1002"}}

// served is an issuer on a port, and a browser that follows no redirect.
type served struct {
	*testing.T
	url   string
	clock *memory.Clock
	http  http.Client
}

func serve(t *testing.T) *served {
	t.Helper()
	var is *demoissuer.Issuer
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { is.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	clock := memory.NewClock(time.Now().Truncate(time.Second))
	is, err := demoissuer.New(demoissuer.Options{Issuer: server.URL, ClientID: client, People: people, Clock: clock})
	must.OK(t, err)
	return &served{t, server.URL, clock, http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}}
}

// get opens an address; at is where it leads to, nil if nowhere.
func (s *served) get(address string, headers ...string) (status int, body string, at *url.URL) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, address, http.NoBody)
	must.OK(s, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := s.http.Do(r)
	must.OK(s, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must.OK(s, err)
	at, _ = answer.Location()
	return answer.StatusCode, string(text), at
}

// request is a complete request to sign in, with changes (name, value, …; "-" removes).
func (s *served) request(changes ...string) string {
	q := url.Values{"response_type": {"code"}, "client_id": {client}, "redirect_uri": {back}, "scope": {"openid"},
		"state": {"a&b"}, "nonce": {"n"}, "code_challenge": {oauth2.S256ChallengeFromVerifier("v")},
		"code_challenge_method": {"S256"}}
	for i := 0; i < len(changes); i += 2 {
		q.Set(changes[i], changes[i+1])
		if changes[i+1] == "-" {
			q.Del(changes[i])
		}
	}
	return s.url + "/authorize?" + q.Encode()
}

// TestGoOIDC has the issuer checked by a client of others: go-oidc with x/oauth2.
func TestGoOIDC(t *testing.T) {
	s := serve(t)
	ctx := oidc.ClientContext(t.Context(), &s.http)
	provider, err := oidc.NewProvider(ctx, s.url)
	must.OK(t, err)
	shop := oauth2.Config{ClientID: client, Endpoint: provider.Endpoint(), RedirectURL: back,
		Scopes: []string{"openid"}}
	check := provider.VerifierContext(ctx, &oidc.Config{ClientID: client, Now: s.clock.Now})
	for n, p := range people {
		verifier := oauth2.GenerateVerifier()
		address := shop.AuthCodeURL("a&b", oidc.Nonce("n"), oauth2.S256ChallengeOption(verifier))
		status, page, _ := s.get(address)
		links := regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(page, -1)
		if status != 200 || len(links) != len(people) || strings.Contains(page, "<b>") {
			t.Fatalf("page: %d %s, want a link per person", status, page)
		}
		_, _, at := s.get(strings.ReplaceAll(links[n][1], "&amp;", "&"))
		if at == nil || !strings.HasPrefix(at.String(), "http://localhost:8100/live/?") || at.Query().Get("a") != "b" ||
			at.Query().Get("state") != "a&b" || at.Query().Get("iss") != s.url {
			t.Fatalf("sent to %v", at)
		}
		code := at.Query().Get("code")
		got, err := shop.Exchange(ctx, code, oauth2.VerifierOption(verifier))
		must.OK(t, err)
		signedIn := s.clock.Now()
		subject(t, ctx, check, got, p.User, "n", signedIn)
		if again, err := shop.Exchange(ctx, code, oauth2.VerifierOption(verifier)); err == nil {
			t.Errorf("the code again: %v", again)
		}
		s.clock.Advance(30 * time.Minute)
		earlier := got.RefreshToken
		got.Expiry = time.Unix(1, 0)
		next, err := shop.TokenSource(ctx, got).Token()
		if err != nil || next.RefreshToken == earlier {
			t.Fatalf("refreshed: %v, %v", next, err)
		}
		subject(t, ctx, check, next, p.User, "", signedIn)
		if again, err := shop.TokenSource(ctx, &oauth2.Token{RefreshToken: earlier}).Token(); err == nil {
			t.Errorf("the refresh token again: %v", again)
		}
	}
}

// subject checks an ID token.
func subject(t *testing.T, ctx context.Context, v *oidc.IDTokenVerifier, got *oauth2.Token, user, nonce string,
	signedIn time.Time) {
	t.Helper()
	raw, _ := got.Extra("id_token").(string)
	id, err := v.Verify(ctx, raw)
	must.OK(t, err)
	var claims struct {
		SignedIn int64 `json:"auth_time"`
	}
	if err := id.Claims(&claims); err != nil || id.Subject != user || id.Nonce != nonce ||
		claims.SignedIn != signedIn.Unix() || id.Expiry.Sub(id.IssuedAt) != time.Hour {
		t.Errorf("ID token %+v, %+v, %v, want %s's", id, claims, err, user)
	}
}

// TestNowhereElse checks what is refused, and that nobody is ever sent to another machine.
func TestNowhereElse(t *testing.T) {
	s := serve(t)
	for name, changes := range map[string][]string{
		"another site":        {"redirect_uri", "https://example.com/"},
		"a name like this":    {"redirect_uri", "http://localhost.example.com/"},
		"a script":            {"redirect_uri", "javascript:alert(1)//localhost"},
		"a user":              {"redirect_uri", "http://localhost@example.com/"},
		"a fragment":          {"redirect_uri", "http://localhost/#x"},
		"nowhere":             {"redirect_uri", "-"},
		"another client":      {"client_id", "x"},
		"a query of 9,000":    {"state", strings.Repeat("a", 9000)},
		"no client, a person": {"client_id", "-", "person", "1001"},
	} {
		if status, _, at := s.get(s.request(changes...)); status != 400 || at != nil {
			t.Errorf("%s: %d, sent to %v, want 400", name, status, at)
		}
	}
	for name, c := range map[string]struct {
		changes []string
		want    string
	}{
		"a token":          {[]string{"response_type", "token"}, "unsupported_response_type"},
		"without PKCE":     {[]string{"code_challenge", "-"}, "invalid_request"},
		"plain PKCE":       {[]string{"code_challenge_method", "plain"}, "invalid_request"},
		"without a page":   {[]string{"prompt", "none"}, "login_required"},
		"PKCE by a person": {[]string{"code_challenge", "-", "person", "1001"}, "invalid_request"},
	} {
		_, _, at := s.get(s.request(c.changes...))
		if at == nil || at.Query().Get("error") != c.want || at.Query().Get("code") != "" ||
			at.Query().Get("state") != "a&b" {
			t.Errorf("%s: sent to %v, want %s", name, at, c.want)
		}
	}
	if status, _, at := s.get(s.request("person", "1003")); status != 200 || at != nil {
		t.Errorf("nobody: %d, sent to %v, want the page", status, at)
	}
	for _, c := range []struct{ to, want string }{{back, back + "&state=s"}, {"https://example.com/", ""}, {"", ""}} {
		status, _, at := s.get(s.url + "/logout?" + url.Values{"post_logout_redirect_uri": {c.to},
			"state": {"s"}}.Encode())
		if c.want == "" && (status != 200 || at != nil) || c.want != "" && (at == nil || at.String() != c.want) {
			t.Errorf("signed out to %q: %d, sent to %v", c.to, status, at)
		}
	}
}

// TestTokenRefused checks what the token endpoint does not take.
func TestTokenRefused(t *testing.T) {
	s := serve(t)
	good := url.Values{"grant_type": {"authorization_code"}, "client_id": {client}, "redirect_uri": {back},
		"code_verifier": {"v"}}
	for name, c := range map[string]struct {
		field, value string
		wait         time.Duration
		want         string
	}{
		"right":             {want: ""},
		"another verifier":  {field: "code_verifier", value: "w", want: "invalid_grant"},
		"another address":   {field: "redirect_uri", value: "http://localhost/", want: "invalid_grant"},
		"another client":    {field: "client_id", value: "x", want: "invalid_client"},
		"another grant":     {field: "grant_type", value: "password", want: "unsupported_grant_type"},
		"a made-up code":    {field: "code", value: "x", want: "invalid_grant"},
		"a minute later":    {wait: time.Minute, want: "invalid_grant"},
		"a code as refresh": {field: "grant_type", value: "refresh_token", want: "invalid_grant"},
		"a large form":      {field: "x", value: strings.Repeat("a", 20<<10), want: "invalid_request"},
	} {
		_, _, at := s.get(s.request("person", "1001"))
		form := url.Values{"code": {at.Query().Get("code")}, "refresh_token": {at.Query().Get("code")}}
		for name := range good {
			form.Set(name, good.Get(name))
		}
		if c.field != "" {
			form.Set(c.field, c.value)
		}
		s.clock.Advance(c.wait)
		answer, err := s.http.PostForm(s.url+"/token", form)
		must.OK(t, err)
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.Header.Get("Cache-Control") != "no-store" || c.want != "" &&
			(answer.StatusCode != 400 || !strings.Contains(string(body), `"`+c.want+`"`)) || c.want == "" &&
			answer.StatusCode != 200 {
			t.Errorf("%s: %d %s, %v, want %q", name, answer.StatusCode, body, err, c.want)
		}
	}
}

// TestPageSpeaksBothLanguages checks the page's language and that it can load nothing.
func TestPageSpeaksBothLanguages(t *testing.T) {
	s := serve(t)
	for language, want := range map[string]string{"zh": "请选择以谁的身份登录", "en": "Choose who you are"} {
		if _, page, _ := s.get(s.request(), "Accept-Language", language); !strings.Contains(page, want) {
			t.Errorf("%s: %s", language, page)
		}
	}
	if _, page, _ := s.get(s.url+"/logout", "Accept-Language", "en"); !strings.Contains(page, "You are signed out.") {
		t.Errorf("signed out: %s", page)
	}
}
