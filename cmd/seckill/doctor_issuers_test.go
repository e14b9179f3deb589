package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/your-org/seckill/cmd/seckill/doctor"
	"github.com/your-org/seckill/shared/drivertest/must"
)

// anIssuer serves the documents of an issuer with these changes of the first, and returns its address.
func anIssuer(t *testing.T, change map[string]any) string {
	t.Helper()
	point := must.Get(must.Get(ecdsa.GenerateKey(elliptic.P384(), rand.Reader)).PublicKey.Bytes())
	encode := base64.RawURLEncoding.EncodeToString
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	say := func(v any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(v) }
	}
	document := map[string]any{"issuer": server.URL, "authorization_endpoint": server.URL + "/authorize",
		"token_endpoint": server.URL + "/token", "jwks_uri": server.URL + "/keys"}
	for name, v := range change {
		document[name] = v
	}
	mux.HandleFunc("/.well-known/openid-configuration", say(document))
	mux.HandleFunc("/keys", say(map[string]any{"keys": []any{7, map[string]any{"kty": "EC", "crv": "P-384", "kid": "a",
		"x": encode(point[1:49]), "y": encode(point[49:])}}}))
	return server.URL
}

// TestDoctorReadsIssuers: what the shop cannot serve is told in a sentence before anybody signs in.
func TestDoctorReadsIssuers(t *testing.T) {
	const algorithms, ways = "id_token_signing_alg_values_supported", "token_endpoint_auth_methods_supported"
	for name, tt := range map[string]struct {
		document map[string]any
		secret   string // of the client
		fault    string // "" if there is none
		ok       string
	}{
		"well": {document: map[string]any{algorithms: []string{"ES384"}, ways: []string{"none"}},
			ok: "1: no object"},
		"no lists": {ok: "entries of its key set are left out: 1: no object"},
		"HS256 only": {document: map[string]any{algorithms: []string{"HS256"}}, fault: "it signs ID tokens with " +
			"HS256, and the shop checks RS256, ES256, ES384: choose one of these there"},
		"HS256 also": {document: map[string]any{algorithms: []string{"HS256", "RS256"}},
			ok: "it may sign with HS256, which the shop refuses: have the client there sign with RS256"},
		"no public client": {document: map[string]any{ways: []string{"client_secret_post"}},
			ok: "it lists no clients without a secret: if it refuses the shop, store one"},
		"a secret": {document: map[string]any{ways: []string{"client_secret_post"}}, secret: "|shop|s",
			ok: "signin-client-secrets has the secrets of 1 clients"},
		"a secret that it does not take": {document: map[string]any{ways: []string{"private_key_jwt"}},
			secret: "|shop|s", fault: "it takes no client secret, but the shop has one"},
		"a secret of another client": {secret: "|page|s", fault: "signin-client-secrets has 1 clients, of which " +
			"SigninIssuers names 0: deploy with the others, or take them away (seckill keys --path /seckill/sale " +
			"--sandbox --signin-client-secrets FILE --rotate=signin-client-secrets; an empty FILE takes all away)"},
		"a secret that cannot be read": {secret: "x", fault: "signin-client-secrets is invalid: line 1: want issuer"},
		"many tenants": {document: map[string]any{"issuer": "https://login.microsoftonline.com/{tenantid}/v2.0"},
			fault: "it stands for many tenants; SigninIssuers has to name the issuer of one"},
		"another name": {document: map[string]any{"issuer": "https://id.example.com"},
			fault: `its document names "https://id.example.com"`},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClinic(t)
			issuer := anIssuer(t, tt.document)
			c.parameters["SigninIssuers"] = issuer + "|shop"
			if tt.secret != "" {
				c.secrets["signin-client-secrets"] = issuer + tt.secret
			}
			_, out := examine(t, c)
			faults := strings.Join(sentences(out.Findings, doctor.Fault), "\n")
			if !strings.Contains(faults, tt.fault) || (tt.fault == "") != (faults == "") || out.Unasked > 0 ||
				!strings.Contains(strings.Join(sentences(out.Findings, doctor.OK), "\n"), tt.ok) {
				t.Errorf("%+v\nwant the fault %q, ok %q", out.Findings, tt.fault, tt.ok)
			}
		})
	}
	c := newClinic(t)
	c.refused["GetSecretValue"] = true // nothing is known of secrets, so nothing is said of what depends on them
	c.parameters["SigninIssuers"] = anIssuer(t, map[string]any{ways: []string{"client_secret_post"}}) + "|shop"
	c.parameters["StaffIssuer"], c.parameters["StaffSecret"] = c.parameters["SigninIssuers"], "true"
	_, out := examine(t, c)
	says := strings.Join(sentences(out.Findings, doctor.OK), "\n")
	unasked := strings.Join(sentences(out.Findings, doctor.Unasked), "\n")
	if out.Faults > 0 || strings.Contains(says, "without a secret") || strings.Count(says, "answers") < 2 ||
		strings.Count(unasked, "need a secret was not checked: the secrets could not be read") != 2 {
		t.Errorf("secrets cannot be read: %+v", out.Findings)
	}
	c = newClinic(t)
	c.parameters["StaffIssuer"] = "http://127.0.0.1:1|office"
	_, out = examine(t, c)
	if got := strings.Join(sentences(out.Findings, doctor.Unasked), "\n"); !strings.Contains(got,
		"sign-in: nobody could sign in at http://127.0.0.1:1 from here") {
		t.Errorf("away: %s", got)
	}
}
