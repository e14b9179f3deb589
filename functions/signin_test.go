package functions_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local/demoissuer"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest/must"
)

const (
	verifier    = "a-verifier-that-is-at-least-43-characters-long"
	redirectURI = "http://localhost/"
)

// issuerServer starts an issuer; it returns its URL.
func issuerServer(t *testing.T) string {
	t.Helper()
	var is http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { is.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	made, err := demoissuer.New(demoissuer.Options{Issuer: server.URL, ClientID: "shop", Clock: system.Clock{},
		Groups: map[string][]string{"b": {"seckill-operator", "seckill-auditor"}},
		People: []demoissuer.Person{{Name: "王小明", User: "13800138000"}, {Name: "李小红", User: "b"}}})
	must.OK(t, err)
	is = made
	return server.URL
}

// withCode returns the body of a sign-in with a code that an issuer gave to this person.
func withCode(t *testing.T, issuer, person, nonce string) string {
	t.Helper()
	challenge := sha256.Sum256([]byte(verifier))
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Get(issuer + "/authorize?" + url.Values{"response_type": {"code"}, "client_id": {"shop"},
		"redirect_uri": {redirectURI}, "nonce": {nonce}, "code_challenge_method": {"S256"}, "person": {person},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}}.Encode())
	must.OK(t, err)
	answer.Body.Close()
	back := must.Get(answer.Location())
	body, err := json.Marshal(map[string]string{"grant": "code", "issuer": issuer, "code": back.Query().Get("code"),
		"code_verifier": verifier, "nonce": "n", "redirect_uri": redirectURI})
	must.OK(t, err)
	return string(body)
}

// TestSignIn signs two shoppers in through the function: each keeps the user id, and shop accepts the token.
func TestSignIn(t *testing.T) {
	w := newDeployment(t)
	issuer := issuerServer(t)
	f := w.start(t, "signin", "SIGNIN_ISSUERS", issuer+"|shop", "PUBLIC_URL", "http://localhost")
	list := ask(t, f, call(t, "GET", "/signin", "", ""))
	if list.Status != 200 || !strings.Contains(list.Body, `"authorization_endpoint":"`+issuer+`/authorize"`) ||
		list.Headers["Cache-Control"] != "public, max-age=60" ||
		list.Headers["Access-Control-Allow-Origin"] != storefront {
		t.Fatalf("issuers: %+v", list)
	}
	v := must.Get(jwtauth.New(jwtauth.Keys{Current: secret}, system.Clock{}))
	users := map[string]string{}
	for _, person := range []string{"13800138000", "b", "13800138000", "b"} {
		r := ask(t, f, call(t, "POST", "/signin", withCode(t, issuer, person, "n"), ""))
		if r.Status != 200 {
			t.Fatalf("%s: %+v", person, r)
		}
		user, err := v.User(r.text("token"))
		if n, _ := strconv.ParseInt(user, 10, 64); err != nil || n < 1 || user != r.text("user") {
			t.Errorf("%s: token of %q, %v, and user %q", person, user, err, r.text("user"))
		}
		if users[person] != "" && users[person] != user {
			t.Errorf("%s has user ids %s and %s", person, users[person], user)
		}
		users[person] = user
		ends, err := time.Parse(time.RFC3339, r.text("expires_at"))
		if left := time.Until(ends); err != nil || left > time.Hour || left < 55*time.Minute {
			t.Errorf("%s: the token ends at %q, in %v, want within the hour", person, r.text("expires_at"), left)
		}
	}
	if users["b"] == users["13800138000"] {
		t.Errorf("two shoppers have the user id %s", users["b"])
	}
	refused := ask(t, f, call(t, "POST", "/signin", withCode(t, issuer, "b", "another"), ""))
	if refused.Status != 401 || refused.text("code") != "signin_refused" ||
		!f.Says(`"step":"signin","reason":"token_nonce"`) || !f.Says(`"signed_in":1`) || !f.Says(`"shoppers_enrolled":1`) {
		t.Errorf("another sign-in's code: %+v\n%s", refused, f.Output())
	}
	for _, text := range []string{"13800138000", "eyJ", secret, verifier} {
		if strings.Contains(f.Output(), text) {
			t.Errorf("%s is in the log:\n%s", text, f.Output())
		}
	}
}

// TestIssuerThatDoesNotAnswer checks that the shop says so, and counts it.
func TestIssuerThatDoesNotAnswer(t *testing.T) {
	w := newDeployment(t)
	const nobody = "http://127.0.0.1:1"
	f := w.start(t, "signin", "SIGNIN_ISSUERS", nobody+"|shop")
	body := `{"grant":"refresh","issuer":"` + nobody + `","refresh_token":"a-refresh-token"}`
	for _, event := range [][]byte{call(t, "GET", "/signin", "", ""), call(t, "POST", "/signin", body, "")} {
		if r := ask(t, f, event); r.Status != 503 || r.text("code") != "unavailable" || r.Headers["Retry-After"] == "" {
			t.Errorf("%+v, want 503", r)
		}
	}
	if !f.Says(`"issuer_faults":1`) || !f.Says("127.0.0.1:1") || strings.Contains(f.Output(), "a-refresh-token") {
		t.Errorf("output:\n%s", f.Output())
	}
}

// TestAClientWithASecret: the function shows the secret to the issuer, the page hears of neither it nor a
// refresh token, and when the issuer does not take it, that is the shop's fault and the operator's to read.
func TestAClientWithASecret(t *testing.T) {
	w := newDeployment(t)
	const secret = "a client's | secret"
	var inner, shown string
	outer := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			id, given, _ := r.BasicAuth()
			if shown = must.Get(url.QueryUnescape(given)); id != "shop" || shown != secret {
				out.WriteHeader(http.StatusUnauthorized)
				_, _ = out.Write([]byte(`{"error":"invalid_client"}`))
				return
			}
		}
		proxied := httputil.NewSingleHostReverseProxy(must.Get(url.Parse(inner)))
		proxied.ServeHTTP(out, r)
	}))
	t.Cleanup(outer.Close)
	made, err := demoissuer.New(demoissuer.Options{Issuer: outer.URL, ClientID: "shop", Clock: system.Clock{},
		People: []demoissuer.Person{{Name: "王小明", User: "a"}, {Name: "李小红", User: "b"}}})
	must.OK(t, err)
	server := httptest.NewServer(made)
	t.Cleanup(server.Close)
	inner = server.URL
	w.environ["PUBLIC_URL"] = "http://localhost" // redirectURI
	w.aws.SetSecret("clients", outer.URL+"|shop|"+secret)
	w.aws.SetSecret("other-clients", "https://id.example.com|shop|x")
	for name, want := range map[string]int{"clients": 200, "other-clients": 503, "none-such": 503} {
		f := w.start(t, "signin", "SIGNIN_ISSUERS", outer.URL+"|shop", "SIGNIN_CLIENT_SECRETS_NAME", name)
		r := ask(t, f, call(t, "POST", "/signin", withCode(t, outer.URL, "b", "n"), ""))
		if r.Status != want || r.text("refresh_token") != "" || strings.Contains(r.Body+f.Output(), secret) {
			t.Errorf("%s: %+v\n%s", name, r, f.Output())
		}
		if want == 503 && (r.text("code") != "signin_broken" || r.Headers["Retry-After"] != "60" || !f.Says(`"issuer_faults":1`) || !f.Says("invalid_client")) {
			t.Errorf("%s: %+v\n%s", name, r, f.Output())
		}
		if want == 200 && shown != secret {
			t.Errorf("the issuer was shown %q", shown)
		}
	}
}

// TestARedirectAddressOfAnotherSite: with the settings of a stack, whoever names one reaches no issuer, and an issuer
// that refuses the page's own address is a fault.
func TestARedirectAddressOfAnotherSite(t *testing.T) {
	w := newDeployment(t)
	asked := 0
	var made http.Handler
	is := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/token" {
			made.ServeHTTP(out, r)
			return
		}
		asked++
		out.WriteHeader(http.StatusBadRequest)
		_, _ = out.Write([]byte(`{"error":"redirect_uri_mismatch"}`))
	}))
	t.Cleanup(is.Close)
	made = must.Get(demoissuer.New(demoissuer.Options{Issuer: is.URL, ClientID: "shop", Clock: system.Clock{},
		People: []demoissuer.Person{{Name: "王小明", User: "a"}, {Name: "李小红", User: "b"}}}))
	f := w.start(t, "signin", "SIGNIN_ISSUERS", is.URL+"|shop")
	signIn := func(back string) response {
		return ask(t, f, call(t, "POST", "/signin", string(must.Get(json.Marshal(map[string]string{"grant": "code",
			"issuer": is.URL, "code": "c", "code_verifier": verifier, "nonce": "n", "redirect_uri": back}))), ""))
	}
	for _, back := range []string{"https://shop.example.net/", "https://api.example.com.example.net/"} {
		if r := signIn(back); r.Status != 422 || r.text("field") != "redirect_uri" || asked != 0 {
			t.Errorf("%s: %+v, %d calls, want it refused", back, r, asked)
		}
	}
	for i, back := range []string{storefront + "/", page + "/"} {
		if r := signIn(back); r.Status != 503 || asked != i+1 || !f.Says(`"issuer_faults":1`) {
			t.Errorf("%s: %+v, %d calls, want a fault of the issuer", back, r, asked)
		}
	}
}
