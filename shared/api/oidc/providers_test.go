package oidc

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

type object = map[string]any

// provider is an issuer that many people have an account at, as its documentation describes it.
type provider struct {
	issuer   string // as the shop's settings have it
	document object // what its discovery document has beside the addresses
	alg      string
	entry    object   // what the entry of its key has beside the key
	beside   []object // other entries
	header   object   // what a token's header has beside alg and kid
	claims   object   // of an ID token, beside iss, sub, aud, exp, iat and nonce
	answer   object   // beside the ID token
	errors   []providerError
	refused  seckill.Reason // instead of a sign-in
	stranger providerError  // to a client whose secret it does not take; by default 401 invalid_client
}

type providerError struct {
	status int
	body   object
	want   seckill.Reason
}

const entraTenant = "9188040d-6c67-4c5b-b112-36a304b66dad"

// providers are made from the pages that each names.
var providers = map[string]provider{
	// https://learn.microsoft.com/en-us/entra/identity-platform/id-token-claims-reference, …/v2-protocols-oidc and
	// …/v2-oauth2-auth-code-flow (errors); iat and nbf are set back: https://github.com/openid/AppAuth-iOS/issues/264
	"Microsoft Entra ID": {
		issuer: "https://login.microsoftonline.com/" + entraTenant + "/v2.0",
		document: object{"token_endpoint_auth_methods_supported": []string{"client_secret_post", "private_key_jwt",
			"client_secret_basic"}, "subject_types_supported": []string{"pairwise"}, "tenant_region_scope": nil,
			"id_token_signing_alg_values_supported": []string{"RS256"}, "request_uri_parameter_supported": false},
		alg: "RS256",
		entry: object{"alg": nil, "x5t": "GvnPApfWMdLRi8PDmisFn7bprKg", "x5c": []string{"MIIC/TCCAeWg"},
			"issuer": "https://login.microsoftonline.com/" + entraTenant + "/v2.0"},
		beside: []object{{"kty": "RSA", "use": "sig", "kid": "another tenant's", "n": "AQAB", "e": "AQAB",
			"issuer": "https://login.microsoftonline.com/{tenantid}/v2.0"}},
		header: object{"typ": "JWT"},
		claims: object{"ver": "2.0", "tid": entraTenant, "iat": now.Add(-5*time.Minute - 4*time.Second).Unix(),
			"nbf": now.Add(-5*time.Minute - 4*time.Second).Unix(), "aio": "Df2UVXL1ix", "rh": "0.AXYA", "uti": "x",
			"oid": "00000000-0000-0000-66f3-3332eca7ea81", "name": "Abe Lincoln"},
		answer: object{"token_type": "Bearer", "expires_in": 3599, "ext_expires_in": "3599", "scope": "openid profile"},
		errors: []providerError{
			{400, object{"error": "invalid_grant", "error_description": "AADSTS70008: The code has expired.",
				"error_codes": []int{70008}}, seckill.TokenGrant},
			{401, object{"error": "invalid_client", "error_description": "AADSTS7000218: The request body must " +
				"contain the following parameter: 'client_assertion' or 'client_secret'."}, "signin_broken"},
			{400, object{"error": "invalid_request", "error_description": "AADSTS9002327: Tokens issued for the " +
				"'Single-Page Application' client-type may only be redeemed via cross-origin requests."},
				"signin_broken"},
			{400, object{"error": "temporarily_unavailable"}, "fault"},
		},
	},
	// https://developers.google.com/identity/openid-connect/reference
	"Google": {
		issuer: "https://accounts.google.com",
		document: object{"token_endpoint_auth_methods_supported": []string{"client_secret_post", "client_secret_basic"},
			"id_token_signing_alg_values_supported": []string{"RS256"}, "end_session_endpoint": nil},
		alg:    "RS256",
		entry:  object{"use": "sig"},
		beside: []object{{"kty": "EC", "use": "enc", "kid": "x", "crv": "P-256", "x": "AQ", "y": "AQ"}},
		header: object{"typ": "JWT"},
		claims: object{"iss": "accounts.google.com", "azp": client, "at_hash": "HK6E_P6Dh8Y93mRNtsDB1Q",
			"email_verified": true, "hd": "example.com"},
		answer: object{"access_token": "1/fFAGRNJru1FTz70BzhT3Zg", "expires_in": 3920, "token_type": "Bearer"},
		errors: []providerError{
			{400, object{"error": "invalid_request", "error_description": "client_secret is missing."},
				"signin_broken"},
			{400, object{"error": "redirect_uri_mismatch", "error_description": "Bad Request"}, "signin_broken"},
			{400, object{"error": "invalid_grant", "error_description": "Malformed auth code."}, seckill.TokenGrant},
		},
	},
	// https://auth0.com/docs/secure/tokens/json-web-tokens/json-web-key-sets and …/id-tokens/id-token-structure; the
	// status of an error: https://community.auth0.com/t/authorisation-code-flow-error-403/73029
	"Auth0": {
		issuer: "https://shop.eu.auth0.com/",
		document: object{"id_token_signing_alg_values_supported": []string{"HS256", "RS256", "PS256"},
			"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post"}},
		alg: "RS256",
		entry: object{"use": "sig", "x5c": []string{"MIIDBTCCAe2g"}, "x5t": "NzbLsXh8uDCcd-6MNwXF4W_7noU",
			"x5t#S256": "x"},
		header: object{"typ": "JWT"},
		claims: object{"sid": "Qe2", "updated_at": "2026-11-11T01:59:00.000Z", "nickname": "ada", "amr": []string{}},
		answer: object{"scope": "openid offline_access", "expires_in": 86400},
		errors: []providerError{
			{403, object{"error": "invalid_grant", "error_description": "Invalid authorization code"},
				seckill.TokenGrant},
			{401, object{"error": "access_denied", "error_description": "Unauthorized"}, "signin_broken"},
			{429, object{"error": "too_many_requests"}, "fault"},
		},
		stranger: providerError{status: 401, body: object{"error": "access_denied"}},
	},
	// https://www.keycloak.org/securing-apps/oidc-layers; its keys:
	// https://github.com/keycloak/keycloak/discussions/41462
	"Keycloak": {
		issuer:   "https://id.example.com/realms/shop",
		document: object{"id_token_signing_alg_values_supported": []string{"PS384", "RS384", "HS256", "RS256", "none"}},
		alg:      "RS256",
		entry:    object{"x5c": []string{"MIIC"}, "x5t": "x", "x5t#S256": "y"},
		beside: []object{{"kid": "enc", "kty": "RSA", "alg": "RSA-OAEP", "use": "enc", "n": bits(2048), "e": "AQAB"},
			{"kid": "ed", "kty": "OKP", "alg": "EdDSA", "use": "sig", "crv": "Ed25519", "x": "AQ"}},
		header: object{"typ": "JWT"},
		claims: object{"typ": "ID", "azp": client, "session_state": "s", "auth_time": now.Unix(), "acr": "1",
			"jti": "0d6aa5e8"},
		answer: object{"not-before-policy": 0, "refresh_expires_in": 1800, "session_state": "s"},
		errors: []providerError{
			{400, object{"error": "invalid_grant", "error_description": "Code not valid"}, seckill.TokenGrant},
			{401, object{"error": "unauthorized_client", "error_description": "Invalid client or Invalid client " +
				"credentials"}, "signin_broken"},
		},
		stranger: providerError{status: 401, body: object{"error": "unauthorized_client"}},
	},
	// https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-the-id-token.html and
	// …/token-endpoint.html (errors)
	"Amazon Cognito": {
		issuer:   "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_example",
		document: object{"id_token_signing_alg_values_supported": []string{"RS256"}},
		alg:      "RS256",
		entry:    object{"use": "sig"},
		beside:   []object{{"kty": "RSA", "kid": "access", "use": "sig", "alg": "RS256", "n": bits(2048), "e": "AQAB"}},
		claims: object{"token_use": "id", "cognito:username": "u", "cognito:groups": []string{"seckill-viewer"},
			"origin_jti": "o", "event_id": "e", "auth_time": now.Unix(), "email_verified": true},
		errors: []providerError{
			{400, object{"error": "invalid_grant"}, seckill.TokenGrant},
			{400, object{"error": "invalid_client"}, "signin_broken"},
			{400, object{"error": "unauthorized_client"}, "signin_broken"},
		},
		stranger: providerError{status: 400, body: object{"error": "invalid_client"}},
	},
	// https://developer.okta.com/docs/api/openapi/okta-oauth/oauth/orgas/oauthkeys.md: any of two or three keys signs
	"Okta": {
		issuer: "https://shop.okta.com/oauth2/default",
		document: object{"id_token_signing_alg_values_supported": []string{"RS256"},
			"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post", "none"}},
		alg:    "RS256",
		entry:  object{"use": "sig", "status": "ACTIVE", "_links": object{}},
		beside: []object{{"kty": "RSA", "kid": "next", "use": "sig", "alg": "RS256", "n": bits(2048), "e": "AQAB"}},
		claims: object{"ver": 1, "jti": "ID.x", "amr": []string{"pwd"}, "idp": "00o", "auth_time": now.Unix(),
			"at_hash": "x", "preferred_username": "ada@example.com"},
		errors: []providerError{
			{400, object{"error": "invalid_grant", "error_description": "The authorization code is invalid or has " +
				"expired."}, seckill.TokenGrant},
			{401, object{"error": "invalid_client", "error_description": "Client authentication failed."},
				"signin_broken"},
		},
	},
	// https://docs.authing.cn/v2/federation/oidc/: HS256 until the application is told to sign with RS256
	"Authing": {
		issuer: "https://shop.authing.cn/oidc",
		document: object{"id_token_signing_alg_values_supported": []string{"HS256", "RS256"},
			"token_endpoint_auth_methods_supported": []string{"client_secret_post", "client_secret_basic", "none"}},
		alg:    "RS256",
		entry:  object{"use": "sig", "e": "AQAB"},
		claims: object{"at_hash": "x", "nonce": nonce, "phone_number": "", "updated_at": "x"},
		answer: object{"scope": "openid", "expires_in": 1209600},
		errors: []providerError{{400, object{"error": "invalid_grant", "error_description": "授权码无效或已过期"},
			seckill.TokenGrant}},
	},
	"Authing that signs with HS256": {
		issuer:   "https://shop.authing.cn/oidc",
		document: object{"id_token_signing_alg_values_supported": []string{"HS256", "RS256"}},
		alg:      "HS256",
		refused:  "signin_broken",
	},
	// https://docs.logto.io/developers/signing-keys: an elliptic curve unless told otherwise, P-384
	"Logto": {
		issuer: "https://shop.logto.app/oidc",
		document: object{"id_token_signing_alg_values_supported": []string{"ES384"},
			"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_jwt", "none"}},
		alg:    "ES384",
		entry:  object{"use": "sig", "alg": "ES384"},
		claims: object{"at_hash": "x", "sid": "s"},
		errors: []providerError{
			{400, object{"error": "invalid_grant", "error_description": "grant request is invalid", "code": "oidc.x"},
				seckill.TokenGrant},
			{401, object{"error": "invalid_client"}, "signin_broken"},
		},
	},
}

// played is an issuer that answers as a provider does, in place of the network.
type played struct {
	provider
	fault providerError // instead of tokens, if status is set
	takes string        // how it takes a secret; "" if it wants none
	asked []string      // how each call for tokens showed a secret
}

func (p *played) RoundTrip(r *http.Request) (*http.Response, error) {
	base := strings.TrimSuffix(p.issuer, "/")
	status, v := 200, any(nil)
	switch r.URL.String() {
	case base + "/.well-known/openid-configuration":
		v = with(object{"issuer": p.issuer, "authorization_endpoint": base + "/authorize", "token_endpoint": base +
			"/token", "jwks_uri": base + "/keys", "end_session_endpoint": base + "/logout"}, p.document)
	case base + "/keys":
		k := testKeys()
		own := jwk("a kid", &k.rsa.PublicKey)
		if p.alg == "ES384" {
			own = jwk("a kid", &k.p384.PublicKey)
		}
		v = object{"keys": append([]object{with(own, p.entry)}, p.beside...)}
	case base + "/token":
		status, v = p.tokens(r)
	default:
		status = 404
	}
	body := must.Get(json.Marshal(v))
	return &http.Response{StatusCode: status, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
}

// tokens answers a call for tokens.
func (p *played) tokens(r *http.Request) (int, any) {
	form := must.Get(url.ParseQuery(readAll(r)))
	way := ""
	if user, secret, ok := r.BasicAuth(); ok && user == client && must.Get(url.QueryUnescape(secret)) == clientSecret &&
		form.Get("client_id") == "" {
		way = secretInHeader
	} else if form.Get("client_id") == client && form.Get("client_secret") == clientSecret {
		way = secretInBody
	}
	p.asked = append(p.asked, way)
	switch {
	case p.fault.status != 0:
		return p.fault.status, p.fault.body
	case way != p.takes && p.stranger.status != 0:
		return p.stranger.status, p.stranger.body
	case way != p.takes:
		return 401, object{"error": "invalid_client"}
	}
	claims := with(object{"iss": p.issuer, "sub": "a-person", "aud": client, "iat": now.Unix(),
		"exp": now.Add(time.Hour).Unix(), "nonce": nonce}, p.claims)
	header := with(object{"alg": p.alg, "kid": "a kid"}, p.header)
	signer := map[string]any{"RS256": testKeys().rsa, "ES384": testKeys().p384, "HS256": []byte(clientSecret)}[p.alg]
	return 200, with(object{"access_token": "opaque", "token_type": "Bearer", "expires_in": 3600,
		"refresh_token": "next", "id_token": sign(p.alg, signer, string(must.Get(json.Marshal(header))),
			string(must.Get(json.Marshal(claims))))}, p.answer)
}

// with returns an object with changes; nil removes a member.
func with(o, changes object) object {
	o = maps.Clone(o)
	maps.Copy(o, changes)
	maps.DeleteFunc(o, func(_ string, v any) bool { return v == nil })
	return o
}

// TestProviders plays what people's own providers answer: a shopper's code, a person of staff, a renewal, and errors,
// each with and without a client's secret.
func TestProviders(t *testing.T) {
	for name, p := range providers {
		for _, takes := range []string{"", secretInHeader, secretInBody} {
			t.Run(name+" "+takes, func(t *testing.T) { playProvider(t, p, takes) })
		}
	}
}

func playProvider(t *testing.T, p provider, takes string) {
	net := &played{provider: p, takes: takes}
	const listed = "token_endpoint_auth_methods_supported"
	ways, _ := p.document[listed].([]string)
	if takes == secretInBody && !slices.Contains(ways, takes) { // else it is asked by the header alone
		net.document = with(p.document, object{listed: []string{secretInHeader, secretInBody}})
	}
	var log bytes.Buffer
	o := Options{Clients: []Client{{Issuer: p.issuer, ClientID: client}}, Clock: memory.NewClock(now), HTTP: net,
		Log: slog.New(slog.NewTextHandler(&log, nil))}
	if takes != "" {
		o.Clients[0].Secret = func() string { return clientSecret }
	}
	s := must.Get(New(o))
	staff := must.Get(NewStaff(StaffOptions{Options: o, Groups: DefaultGroups, Prefix: DefaultPrefix,
		WhoClaim: DefaultWho, Scope: DefaultScope}))
	grant := seckill.Grant{Kind: seckill.GrantCode, Issuer: p.issuer, Code: code, Verifier: verifier, Nonce: nonce,
		RedirectURI: redirect}
	refresh := seckill.Grant{Kind: seckill.GrantRefresh, Issuer: p.issuer, RefreshToken: "next"}
	got, err := s.Redeem(t.Context(), grant)
	if p.refused != "" {
		if reasonOf(err) != p.refused || !strings.Contains(err.Error(), strings.Join(algorithms, ", ")) {
			t.Errorf("got %+v, %v, want %s", got, err, p.refused)
		}
		return
	}
	if err != nil || got.Identity != (seckill.Identity{Issuer: p.issuer, Subject: "a-person"}) ||
		(got.Refresh == "") != (takes != "") {
		t.Errorf("a shopper: %+v, %v", got, err)
	}
	want := seckill.Reason("") // a page gets no refresh token of a client with a secret, and none is taken of it
	if takes != "" {
		want = seckill.TokenGrant
	}
	if _, err := s.Redeem(t.Context(), refresh); reasonOf(err) != want {
		t.Errorf("a shopper's renewal: %v, want %q", err, want)
	}
	for _, g := range []seckill.Grant{grant, refresh} {
		if m, err := staff.RedeemStaff(t.Context(), g); err != nil || m.Refresh != "next" ||
			!strings.HasSuffix(m.Who, "/a-person") {
			t.Errorf("staff, %s: %+v, %v", g.Kind, m, err)
		}
	}
	if said := log.String(); (len(p.beside) > 0 && !p.usable()) != strings.Contains(said, "left out") ||
		strings.Contains(said, clientSecret) {
		t.Errorf("logged %s", said)
	}
	for _, e := range p.errors {
		net.fault = e
		_, err := s.Redeem(t.Context(), grant)
		if number, _, _ := strings.Cut(text(e.body["error_description"]), ":"); reasonOf(err) != e.want ||
			e.want == "signin_broken" && (!strings.Contains(err.Error(), text(e.body["error"])) ||
				strings.HasPrefix(number, "AADSTS") && !strings.Contains(err.Error(), number)) {
			t.Errorf("%v: %v, want %s", e.body, err, e.want)
		}
	}
}

// usable reports whether all other entries can check tokens, too.
func (p *provider) usable() bool {
	for _, e := range p.beside {
		if _, err := readKey(must.Get(json.Marshal(e))); err != nil {
			return false
		}
	}
	return true
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
