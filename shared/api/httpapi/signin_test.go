package httpapi

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/flow/front/signin"
	"github.com/your-org/seckill/shared/seckill"
)

func TestIssuers(t *testing.T) {
	h, s := newStubs()
	s.issuers = []seckill.Issuer{{Issuer: "https://id.example.com", ClientID: "shop",
		Authorization: "https://id.example.com/authorize?a=b&c=d", EndSession: "https://id.example.com/logout",
		Scope: "openid"}, {Issuer: "https://b", ClientID: "b", Authorization: "https://b/authorize", Scope: "openid"}}
	w := do(t, h, "GET", "/signin", "", "Authorization", "-")
	const want = `{"issuers":[{"issuer":"https://id.example.com","client_id":"shop",` +
		`"authorization_endpoint":"https://id.example.com/authorize?a=b&c=d",` +
		`"end_session_endpoint":"https://id.example.com/logout","scope":"openid"},` +
		`{"issuer":"https://b","client_id":"b","authorization_endpoint":"https://b/authorize","scope":"openid"}]}`
	if w.Code != 200 || w.Body.String() != want || w.Header().Get("Cache-Control") != "public, max-age=60" {
		t.Errorf("got %d %s, Cache-Control %q", w.Code, w.Body, w.Header().Get("Cache-Control"))
	}
	s.issuers = nil
	if w := do(t, h, "GET", "/signin", ""); w.Body.String() != `{"issuers":[]}` {
		t.Errorf("none: got %s", w.Body)
	}
	s.err = &seckill.Error{Code: seckill.CodeUnavailable, RetryAfter: time.Second}
	w = do(t, h, "GET", "/signin", "")
	want503(t, w)
	if got := w.Header().Get("Cache-Control"); got != "no-store" {
		t.Errorf("a fault may be kept: Cache-Control %q", got)
	}
}

func want503(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	if want(t, w, seckill.CodeUnavailable); w.Header().Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
	}
}

// largestSignIn is as large as a body may be.
var largestSignIn = `{"grant":"token","token":"` + strings.Repeat("a", seckill.MaxSignInBody-28) + `"}`

func TestSignIn(t *testing.T) {
	h, s := newStubs()
	s.session = signin.Session{Token: "a.b.c", User: alice, Expires: now.Add(time.Hour), Refresh: "r<&>"}
	body := map[string]any{"grant": "code", "issuer": "https://id.example.com", "client_id": "app", "code": "c",
		"code_verifier": "v", "nonce": "n", "redirect_uri": "https://shop.example.com/", "refresh_token": "r",
		"token": "t", "unknown": []int{1}}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	w := do(t, h, "POST", "/signin", string(text), "Authorization", "-")
	const want = `{"token":"a.b.c","user":"9223372036854775807","expires_at":"2026-11-11T01:00:00Z","refresh_token":"r<&>"}`
	if w.Code != 200 || w.Body.String() != want || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("got %d %s, Cache-Control %q", w.Code, w.Body, w.Header().Get("Cache-Control"))
	}
	if diff := cmp.Diff(seckill.Grant{Kind: "code", Issuer: "https://id.example.com", ClientID: "app", Code: "c",
		Verifier: "v", Nonce: "n", RedirectURI: "https://shop.example.com/", RefreshToken: "r", Token: "t"},
		s.grant); diff != "" {
		t.Errorf("the flow got (+), want (-):\n%s", diff)
	}
	if w := do(t, h, "POST", "/signin", largestSignIn); w.Code != 200 {
		t.Errorf("the largest body: %d %s", w.Code, w.Body)
	}
	s.session.Refresh = ""
	if w := do(t, h, "POST", "/signin", string(text)); strings.Contains(w.Body.String(), "refresh_token") {
		t.Errorf("without a refresh token: %s", w.Body)
	}
}

// TestSignInRefused checks that the answer never says why, and that the cause is counted.
func TestSignInRefused(t *testing.T) {
	c := newCounting(t)
	c.flows.err = &seckill.Error{Code: seckill.CodeSignIn, Token: seckill.TokenNonce}
	for language, detail := range map[string]string{"zh": "这次登录没有通过验证，请重新登录。",
		"en": "This sign-in could not be verified. Please sign in again."} {
		w := do(t, c.Handler, "POST", "/signin", `{"grant":"token","token":"a"}`, "Accept-Language", language)
		got := want(t, w, seckill.CodeSignIn)
		if w.Code != 401 || got["detail"] != detail || strings.Contains(w.Body.String(), "nonce") ||
			w.Header().Get("Www-Authenticate") != "Bearer" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("got %d %v %s", w.Code, w.Header(), w.Body)
		}
	}
	if c.count[seckill.TokenNonce] != 2 || len(c.count) != 1 {
		t.Errorf("counted %v", c.count)
	}
	c.flows.err = seckill.Refuse(seckill.CodeToken)
	if w := do(t, c.Handler, "GET", "/order/list", ""); w.Header().Get("Www-Authenticate") != "" {
		t.Errorf("of another status: %v", w.Header())
	}
}
