package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/flow/front/signin"
	"github.com/your-org/seckill/shared/flow/money/pay"
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
	s.session = signin.Session{Token: "a.b.c", User: alice, ID: sessionID, Expires: now.Add(time.Hour), Refresh: "r<&>"}
	body := map[string]any{"grant": "code", "issuer": "https://id.example.com", "client_id": "app", "code": "c",
		"code_verifier": "v", "nonce": "n", "redirect_uri": "https://shop.example.com/", "refresh_token": "r",
		"token": "t", "session": sessionID, "unknown": []int{1}}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	w := do(t, h, "POST", "/signin", string(text), "Authorization", "-",
		"User-Agent", "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 Chrome/142.0.0.0 Mobile Safari/537.36")
	const want = `{"token":"a.b.c","user":"9223372036854775807","session":"` + sessionID +
		`","expires_at":"2026-11-11T01:00:00Z","refresh_token":"r<&>"}`
	if w.Code != 200 || w.Body.String() != want || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("got %d %s, Cache-Control %q", w.Code, w.Body, w.Header().Get("Cache-Control"))
	}
	if diff := cmp.Diff(seckill.Grant{Kind: "code", Issuer: "https://id.example.com", ClientID: "app", Code: "c",
		Verifier: "v", Nonce: "n", RedirectURI: "https://shop.example.com/", RefreshToken: "r", Token: "t",
		Session: sessionID, Device: "Chrome, Android"},
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

// TestASignInNamesTheEarlierSession: by a token that the shop signed, also one that has expired, and by no other.
func TestASignInNamesTheEarlierSession(t *testing.T) {
	h, s := newStubs()
	s.session = signin.Session{Token: "a.b.c", User: alice, ID: sessionID, Expires: now.Add(time.Hour)}
	bearer := func(key string, exp time.Time) string {
		signer := must.Get(jwtauth.NewSigner(jwtauth.Keys{Current: key}))
		return "Bearer " + must.Get(signer.SignToken(seckill.Claims{User: "7", Session: sessionID, Name: "a",
			Expires: exp}))
	}
	named := seckill.Claims{User: "7", Session: sessionID}
	for header, want := range map[string]seckill.Claims{bearer(secret, now.Add(time.Minute)): named,
		bearer(secret, now.Add(-time.Hour)): named, bearer("another", now.Add(time.Minute)): {}, "-": {},
		"Bearer x": {}} {
		w := do(t, h, "POST", "/signin", `{"grant":"token","token":"t"}`, "Authorization", header)
		if w.Code != 200 || s.grant.Earlier != want {
			t.Errorf("%.30s: got %d, the flow got %+v, want %+v", header, w.Code, s.grant.Earlier, want)
		}
	}
}

// TestSignInsAreLogged: each with how, and hashes of who and from where.
func TestSignInsAreLogged(t *testing.T) {
	c := newCounting(t)
	c.flows.session = signin.Session{Token: "a.b.c", User: alice, ID: sessionID, Expires: now.Add(time.Hour),
		Refresh: "renewal"}
	for _, kind := range []string{"code", "refresh_token", "token"} {
		do(t, c.Handler, "POST", "/signin", `{"grant":"`+kind+`","token":"a.b.c","refresh_token":"renewal"}`,
			"Authorization", "-")
		var l map[string]any
		if err := json.Unmarshal(c.log.Bytes(), &l); err != nil || l["msg"] != "signed in" || l["grant"] != kind ||
			l["count"] != 1.0 || len(fmt.Sprint(l["user_hash"])) != 16 || len(fmt.Sprint(l["network_hash"])) != 16 {
			t.Errorf("%s: logged %s, %v", kind, c.log.String(), err)
		}
		for _, secret := range []string{alice, "a.b.c", "renewal"} {
			if strings.Contains(c.log.String(), secret) {
				t.Errorf("the log has %s: %s", secret, c.log.String())
			}
		}
		c.log.Reset()
	}
	if len(c.count) != 0 {
		t.Errorf("counted %v", c.count)
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

const sessionID = "7f0c5dd0a1b94e3f9c2d8a6b5e4f3a21"

// sessionBearer is a token of a session of alice.
func sessionBearer(t *testing.T, id string) string {
	signer := must.Get(jwtauth.NewSigner(jwtauth.Keys{Current: secret}))
	return "Bearer " + must.Get(signer.SignToken(seckill.Claims{User: alice, Session: id, Expires: now.Add(time.Hour)}))
}

func TestSessions(t *testing.T) {
	h, s := newStubs()
	s.sessions = []seckill.Session{{User: alice, ID: sessionID, Device: "Chrome, Android", Began: now,
		Renewed: now.Add(time.Hour)}, {User: alice, ID: strings.Repeat("0", 32), Began: now, Renewed: now}}
	w := do(t, h, "GET", "/signin/sessions", "", "Authorization", sessionBearer(t, sessionID))
	const list = `{"sessions":[{"session":"` + sessionID + `","device":"Chrome, Android",` +
		`"began_at":"2026-11-11T00:00:00Z","renewed_at":"2026-11-11T01:00:00Z","current":true},` +
		`{"session":"00000000000000000000000000000000","began_at":"2026-11-11T00:00:00Z",` +
		`"renewed_at":"2026-11-11T00:00:00Z","current":false}]}`
	if w.Code != 200 || w.Body.String() != list || s.user != alice {
		t.Errorf("got %d %s of %s", w.Code, w.Body, s.user)
	}
	for body, id := range map[string]string{`{"session":"` + sessionID + `"}`: sessionID, `{}`: ""} {
		w := do(t, h, "POST", "/signin/end", body)
		if w.Code != 200 || w.Body.String() != `{"ended":1}` || s.user != alice || s.id != id {
			t.Errorf("%s: got %d %s, ended %q of %s", body, w.Code, w.Body, s.id, s.user)
		}
	}
	s.calls = 0
	for _, body := range []string{"", `{"session":""}`, `{"session":7}`, `{"session":"x"}`, `{"session":null}`,
		`{"session":"` + sessionID + `","session":"` + sessionID + `"}`, `{"session":"` + strings.Repeat("0", 2000) + `"}`} {
		if w := do(t, h, "POST", "/signin/end", body); w.Code != 422 || s.calls > 0 {
			t.Errorf("%.80s: got %d %s", body, w.Code, w.Body)
		}
	}
	for _, path := range []string{"GET /signin/sessions", "POST /signin/end"} {
		method, target, _ := strings.Cut(path, " ")
		want(t, do(t, h, method, target, "{}", "Authorization", "-"), seckill.CodeToken)
		s.err = &seckill.Error{Code: seckill.CodeUnavailable, RetryAfter: time.Second}
		want503(t, do(t, h, method, target, "{}"))
		s.err = nil
	}
}

// ended has no session, or does not answer.
type ended struct{ err error }

func (e ended) Session(context.Context, string, string) (seckill.Session, error) {
	return seckill.Session{}, e.err
}

// TestEndedSessions: each route that takes a token refuses one of an ended session, before it does anything, except a
// purchase, which consume rejects. A token of no session passes.
func TestEndedSessions(t *testing.T) {
	h, s := newStubsWith(Options{Sessions: ended{seckill.ErrNoSession}})
	s.views, s.orders = []shop.View{view()}, []shop.OrderView{orderView()}
	s.way = pay.Way{Kind: "page", URL: "https://x"}
	away, still := newStubsWith(Options{Sessions: ended{errors.New("no answer")}})
	refused := 0
	for _, rt := range h.Routes() {
		target := strings.NewReplacer("{id}", orderID, "{seckill_id}", "1").Replace(rt.Pattern)
		w := httptest.NewRecorder()
		r := httptest.NewRequest(rt.Method, target, strings.NewReader("{}"))
		h.ServeHTTP(w, r)
		takes := strings.Contains(w.Body.String(), "invalid_token") // a request without one is refused
		if !takes || rt.Pattern == "/seckill/buy" {                 // consume asks about that
			continue
		}
		token := sessionBearer(t, sessionID)
		s.calls, still.calls = 0, 0
		w = do(t, h, rt.Method, target, "{}", "Authorization", token)
		refused++
		if want(t, w, seckill.CodeToken); s.calls > 0 {
			t.Errorf("%s %s did something", rt.Method, target)
		}
		if want503(t, do(t, away, rt.Method, target, "{}", "Authorization", token)); still.calls > 0 {
			t.Errorf("%s %s did something without knowing", rt.Method, target)
		}
		if w := do(t, h, rt.Method, target, "{}"); w.Code == 403 {
			t.Errorf("%s %s, a token of no session: %d %s", rt.Method, target, w.Code, w.Body)
		}
	}
	if refused < 12 {
		t.Errorf("%d routes were looked at", refused)
	}
}
