package oidc

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

var now = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

const (
	client   = "shop"
	verifier = "a-verifier-that-is-at-least-43-characters-long"
	nonce    = "a-nonce"
	redirect = "https://shop.example.com/"
	code     = "a-code"
)

// testKeys are made once: an RSA key takes a tenth of a second.
var testKeys = sync.OnceValue(func() (k struct {
	rsa, otherRSA, small *rsa.PrivateKey
	ec, otherEC, p384    *ecdsa.PrivateKey
}) {
	for _, to := range []**rsa.PrivateKey{&k.rsa, &k.otherRSA} {
		*to = must.Get(rsa.GenerateKey(rand.Reader, 2048))
	}
	k.small = must.Get(rsa.GenerateKey(rand.Reader, 1024))
	k.ec = must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	k.p384 = must.Get(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))
	k.otherEC = must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	return k
})

// fake is an issuer over HTTP whose every answer a test can change.
type fake struct {
	*httptest.Server
	t testing.TB

	mu        sync.Mutex
	document  map[string]any
	keys      []map[string]any
	answer    func(form url.Values) (status int, body any)
	down      bool
	slow      chan struct{}     // not nil: answers wait until it is closed
	raw       map[string]string // bodies by path, instead of the usual ones
	redirects bool
	asked     []string
	forms     []url.Values
}

func newFake(t testing.TB) *fake {
	f := &fake{t: t, raw: map[string]string{}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.document = map[string]any{"issuer": f.URL, "authorization_endpoint": f.URL + "/authorize",
		"token_endpoint": f.URL + "/token", "jwks_uri": f.URL + "/jwks", "end_session_endpoint": f.URL + "/logout"}
	k := testKeys()
	f.keys = []map[string]any{jwk("rsa", &k.rsa.PublicKey), jwk("ec", &k.ec.PublicKey)}
	f.answer = func(form url.Values) (int, any) {
		if form.Get("code") != code && form.Get("refresh_token") == "" {
			return 400, map[string]any{"error": "invalid_grant"}
		}
		return 200, map[string]any{"id_token": f.token("RS256", "rsa", k.rsa, nil), "refresh_token": "next"}
	}
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := must.Get(url.ParseQuery(readAll(r)))
	f.mu.Lock()
	f.asked = append(f.asked, r.URL.Path)
	if r.Method == http.MethodPost {
		f.forms = append(f.forms, body)
	}
	down, slow, answer, raw, redirects := f.down, f.slow, f.answer, f.raw[r.URL.Path], f.redirects
	document, keys := maps.Clone(f.document), f.keys
	f.mu.Unlock()
	if slow != nil {
		select {
		case <-slow:
		case <-r.Context().Done():
		}
	}
	status, v := http.StatusNotFound, any(nil)
	path, moved := strings.CutPrefix(r.URL.Path, "/moved")
	switch path {
	case "/.well-known/openid-configuration":
		status, v = 200, document
	case "/jwks":
		status, v = 200, map[string]any{"keys": keys}
	case "/token":
		status, v = answer(body)
	}
	switch {
	case down:
		status = http.StatusInternalServerError
	case redirects && !moved:
		http.Redirect(w, r, f.URL+"/moved"+path, http.StatusTemporaryRedirect)
		return
	}
	w.WriteHeader(status)
	if raw != "" {
		_, _ = w.Write([]byte(raw))
		return
	}
	_ = json.NewEncoder(w).Encode(v)
}

func readAll(r *http.Request) string {
	var b strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := r.Body.Read(buf)
		b.Write(buf[:n])
		if err != nil {
			return b.String()
		}
	}
}

// set changes the issuer.
func (f *fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// calls returns and clears the paths of the calls.
func (f *fake) calls() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := strings.Join(f.asked, " ")
	f.asked = nil
	return strings.ReplaceAll(out, "/.well-known/openid-configuration", "/discovery")
}

// jwk encodes a public key.
func jwk(kid string, key crypto.PublicKey) map[string]any {
	encode := func(n *big.Int) string { return base64.RawURLEncoding.EncodeToString(n.Bytes()) }
	switch k := key.(type) {
	case *rsa.PublicKey:
		return map[string]any{"kty": "RSA", "kid": kid, "use": "sig", "alg": "RS256", "n": encode(k.N),
			"e": encode(big.NewInt(int64(k.E)))}
	case *ecdsa.PublicKey:
		point := must.Get(k.Bytes())
		return map[string]any{"kty": "EC", "kid": kid, "crv": k.Curve.Params().Name,
			"x": base64.RawURLEncoding.EncodeToString(point[1 : 1+len(point)/2]),
			"y": base64.RawURLEncoding.EncodeToString(point[1+len(point)/2:])}
	}
	panic(fmt.Sprintf("%T", key))
}

// token signs a token with the claims of an ID token and these changes; a nil value removes a claim.
func (f *fake) token(alg, kid string, key any, changes map[string]any) string {
	claims := jwt.MapClaims{"iss": f.URL, "sub": "a-person", "aud": client, "nonce": nonce, "iat": now.Unix(),
		"exp": now.Add(time.Hour).Unix()}
	header := map[string]any{"alg": alg, "kid": kid, "typ": "JWT"}
	for name, value := range changes {
		to := map[string]any(claims)
		if in, ok := strings.CutPrefix(name, "header:"); ok {
			to, name = header, in
		}
		to[name] = value
		if value == nil {
			delete(to, name)
		}
	}
	return sign(alg, key, string(must.Get(json.Marshal(header))), string(must.Get(json.Marshal(claims))))
}

// sign signs texts as they are.
func sign(alg string, key any, header, claims string) string {
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(header)) + "." + encode([]byte(claims))
	return text + "." + encode(must.Get(jwt.GetSigningMethod(alg).Sign(text, key)))
}

// newIssuers returns a client of a fake issuer.
func newIssuers(t testing.TB, f *fake, clock seckill.Clock) *Issuers {
	t.Helper()
	s, err := New(Options{Clients: []Client{{Issuer: f.URL, ClientID: client}, {Issuer: f.URL, ClientID: "app"}},
		Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fresh(t testing.TB) (*fake, *Issuers, *memory.Clock) {
	f, clock := newFake(t), memory.NewClock(now)
	return f, newIssuers(t, f, clock), clock
}

func (f *fake) grant() seckill.Grant {
	return seckill.Grant{Kind: seckill.GrantCode, Issuer: f.URL, Code: code, Verifier: verifier, Nonce: nonce,
		RedirectURI: redirect}
}

// reasonOf returns why a sign-in was refused: a reason, "" if it was not, "fault" for a fault.
func reasonOf(err error) seckill.Reason {
	var e *seckill.Error
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &e):
		return "fault"
	case e.Code == seckill.CodeSignIn:
		return e.Token
	}
	return seckill.Reason(e.Code)
}
