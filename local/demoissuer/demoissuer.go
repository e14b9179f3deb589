// Package demoissuer is a small issuer of OpenID Connect for a system on one machine: whoever opens its page picks one
// of a few people and is signed in as that person, without a password. In: requests of a browser and of the shop. Out:
// codes, ID tokens signed with a key that is made at the start, refresh tokens. Everything is gone when it stops.
//
// It never sends a browser anywhere but to this machine.
package demoissuer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/your-org/seckill/shared/seckill"
)

// Limits.
const (
	codeLife    = time.Minute
	tokenLife   = time.Hour
	refreshLife = 24 * time.Hour
	maxKept     = 10_000   // codes and refresh tokens; the oldest go first
	maxForm     = 16 << 10 // bytes
	maxQuery    = 8 << 10  // bytes
	kid         = "demo"
)

// Person is somebody who can sign in.
type Person struct {
	Name string
	User string // the sub of the tokens
}

// Options are the settings of New.
type Options struct {
	Issuer   string // URL under which the handler is reached, without a slash at the end
	ClientID string
	People   []Person
	Groups   map[string][]string // of a person, by User: the claim that Cognito has for groups
	Clock    seckill.Clock
}

// Issuer serves the paths below Options.Issuer. It is safe for concurrent use.
type Issuer struct {
	opt  Options
	key  *ecdsa.PrivateKey
	mux  *http.ServeMux
	mu   sync.Mutex
	kept map[string]kept // by code or refresh token
	line []string        // the keys of kept, oldest first
}

// kept is what a code or refresh token stands for.
type kept struct {
	person    Person
	signedIn  time.Time
	ends      time.Time
	code      bool
	nonce     string
	challenge string
	redirect  string
}

// New makes an issuer with a new key.
func New(o Options) (*Issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("demo issuer: %w", err)
	}
	i := &Issuer{opt: o, key: key, mux: http.NewServeMux(), kept: map[string]kept{}}
	i.mux.HandleFunc("GET /.well-known/openid-configuration", i.discovery)
	i.mux.HandleFunc("GET /jwks", i.jwks)
	i.mux.HandleFunc("GET /authorize", i.authorize)
	i.mux.HandleFunc("POST /token", i.token)
	i.mux.HandleFunc("GET /logout", i.logout)
	return i, nil
}

// ServeHTTP answers a request whose path is below the issuer's.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	i.mux.ServeHTTP(w, r)
}

func (i *Issuer) discovery(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{
		"issuer": i.opt.Issuer, "authorization_endpoint": i.opt.Issuer + "/authorize",
		"token_endpoint": i.opt.Issuer + "/token", "jwks_uri": i.opt.Issuer + "/jwks",
		"end_session_endpoint":                           i.opt.Issuer + "/logout",
		"response_types_supported":                       []string{"code"},
		"response_modes_supported":                       []string{"query"},
		"grant_types_supported":                          []string{"authorization_code", "refresh_token"},
		"subject_types_supported":                        []string{"public"},
		"id_token_signing_alg_values_supported":          []string{"ES256"},
		"scopes_supported":                               []string{"openid"},
		"claims_supported":                               []string{"sub", "name", "auth_time"},
		"token_endpoint_auth_methods_supported":          []string{"none"},
		"code_challenge_methods_supported":               []string{"S256"},
		"authorization_response_iss_parameter_supported": true,
	})
}

func (i *Issuer) jwks(w http.ResponseWriter, _ *http.Request) {
	point, err := i.key.PublicKey.Bytes() // 4, X, Y
	if err != nil {
		panic(err) // cannot happen: the curve is a NIST one
	}
	half := len(point) / 2
	encode := base64.RawURLEncoding.EncodeToString
	reply(w, http.StatusOK, map[string]any{"keys": []any{map[string]string{"kty": "EC", "crv": "P-256", "use": "sig",
		"alg": "ES256", "kid": kid, "x": encode(point[1 : 1+half]), "y": encode(point[1+half:])}}})
}

// token answers a code or refresh token (RFC 6749 sections 4.1.3 and 6). Each is good for one use.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		refuse(w, "invalid_request")
		return
	}
	form := r.PostForm
	kind, client := form.Get("grant_type"), form.Get("client_id")
	if name, _, ok := r.BasicAuth(); ok { // with any secret
		client = name
	}
	switch {
	case kind != "authorization_code" && kind != "refresh_token":
		refuse(w, "unsupported_grant_type")
		return
	case client != i.opt.ClientID:
		refuse(w, "invalid_client")
		return
	}
	k, ok := i.take(form.Get(map[string]string{"authorization_code": "code", "refresh_token": "refresh_token"}[kind]))
	challenge := sha256.Sum256([]byte(form.Get("code_verifier")))
	if !ok || k.code != (kind == "authorization_code") || k.code && (k.redirect != form.Get("redirect_uri") ||
		!same(k.challenge, base64.RawURLEncoding.EncodeToString(challenge[:]))) {
		refuse(w, "invalid_grant")
		return
	}
	now := i.opt.Clock.Now()
	claims := jwt.MapClaims{"iss": i.opt.Issuer, "sub": k.person.User, "aud": i.opt.ClientID,
		"exp": now.Add(tokenLife).Unix(), "iat": now.Unix(), "auth_time": k.signedIn.Unix(), "name": k.person.Name}
	if k.nonce != "" {
		claims["nonce"] = k.nonce
	}
	if groups := i.opt.Groups[k.person.User]; len(groups) > 0 {
		claims["cognito:groups"] = groups
	}
	t := jwt.NewWithClaims(jwt.SigningMethodES256, claims)
	t.Header["kid"] = kid
	text, err := t.SignedString(i.key)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	next := i.keep(kept{person: k.person, signedIn: k.signedIn, ends: now.Add(refreshLife)})
	w.Header().Set("Pragma", "no-cache")
	reply(w, http.StatusOK, map[string]any{"token_type": "Bearer", "access_token": rand.Text(), "id_token": text,
		"refresh_token": next, "expires_in": int(tokenLife / time.Second), "scope": "openid"})
}

// keep keeps something under a new name, which it returns.
func (i *Issuer) keep(k kept) string {
	name := rand.Text()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.kept[name] = k
	i.line = append(i.line, name)
	for len(i.line) > maxKept {
		delete(i.kept, i.line[0])
		i.line = i.line[1:]
	}
	return name
}

// take returns what is kept under a name, once.
func (i *Issuer) take(name string) (kept, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	k, ok := i.kept[name]
	delete(i.kept, name)
	return k, ok && i.opt.Clock.Now().Before(k.ends)
}

// person returns somebody who can sign in.
func (i *Issuer) person(user string) (Person, bool) {
	n := slices.IndexFunc(i.opt.People, func(p Person) bool { return p.User == user })
	if n < 0 {
		return Person{}, false
	}
	return i.opt.People[n], true
}

// here reports whether an address is a page on this machine.
func here(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Fragment != "" {
		return false
	}
	return strings.EqualFold(u.Hostname(), "localhost") || net.ParseIP(u.Hostname()).IsLoopback()
}

// with adds parameters to an address.
func with(address string, parameters url.Values) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err) // cannot happen: here has parsed it
	}
	query := u.Query()
	for name := range parameters {
		if v := parameters.Get(name); v != "" {
			query.Set(name, v)
		}
	}
	u.RawQuery = query.Encode()
	return u.String()
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func refuse(w http.ResponseWriter, code string) {
	reply(w, http.StatusBadRequest, map[string]any{"error": code})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // an error means that the client has disconnected
}
