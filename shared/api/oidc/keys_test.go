package oidc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// TestOddEntriesAreLeftOut: RFC 7517 section 5. Whatever stands beside a good key, the good key signs people in; the
// log says once what was left out, and has none of its values.
func TestOddEntriesAreLeftOut(t *testing.T) {
	k := testKeys()
	good := jwk("good", &k.rsa.PublicKey)
	for name, c := range map[string]struct {
		entry string
		says  string // "" if the entry can be used
		info  bool   // it is in order, for another use
	}{
		"null":                       {entry: `null`, says: "no object"},
		"a text":                     {entry: `"secret-7"`, says: "no object"},
		"a list":                     {entry: `[]`, says: "no object"},
		"empty":                      {entry: `{}`, says: "another use", info: true},
		"a kid that is a number":     {entry: `{"kty":"RSA","kid":7,"n":"AQAB","e":"AQAB"}`, says: "kid: not the type"},
		"an exponent of a number":    {entry: `{"kty":"RSA","kid":"x","n":"AQAB","e":65537}`, says: "e: not the type"},
		"a use that is a list":       {entry: `{"kty":"RSA","use":["sig"],"n":"AQAB","e":"AQAB"}`, says: "use: not"},
		"key_ops that are a text":    {entry: `{"kty":"RSA","key_ops":"verify"}`, says: "key_ops: not the type"},
		"other base64":               {entry: `{"kty":"RSA","kid":"x","n":"A+/=","e":"AQAB"}`, says: "n: no base64url"},
		"no modulus":                 {entry: `{"kty":"RSA","kid":"x","e":"AQAB"}`, says: "n: no base64url"},
		"a small modulus":            {entry: `{"kty":"RSA","kid":"x","n":"AQAB","e":"AQAB"}`, says: "no RSA key of"},
		"a curve without y":          {entry: `{"kty":"EC","crv":"P-256","kid":"x","x":"AQAB"}`, says: "y: no base64url"},
		"a short point":              {entry: `{"kty":"EC","crv":"P-256","x":"AQ","y":"AQ"}`, says: "no point"},
		"a curve that is a number":   {entry: `{"kty":"EC","crv":256,"x":"AQ","y":"AQ"}`, says: "crv: not the type"},
		"another curve":              {entry: `{"kty":"EC","crv":"secp256k1","x":"AQ","y":"AQ"}`, says: "another", info: true},
		"Ed25519":                    {entry: `{"kty":"OKP","crv":"Ed25519","x":"AQ"}`, says: "another", info: true},
		"for encryption":             {entry: `{"kty":"RSA","use":"enc","n":"AQAB","e":"AQAB"}`, says: "another", info: true},
		"for encryption, by key_ops": {entry: `{"kty":"RSA","key_ops":["wrapKey"]}`, says: "another", info: true},
		"a shared secret":            {entry: `{"kty":"oct","k":"secret-7"}`, says: "another", info: true},
		"with its private part, odd": {entry: `{"kty":"RSA","d":"secret-7","n":7}`, says: "n: not the type"},
		"members in capitals": {entry: `{"KTY":"RSA","N":5,"kty":"EC","crv":"P-256","X":7,"x":"AQ","y":"AQ"}`,
			says: "no point"},
	} {
		f := newFake(t)
		f.raw["/jwks"] = `{"keys":[` + c.entry + `,` + string(must.Get(json.Marshal(good))) + `]}`
		var log bytes.Buffer
		clock := memory.NewClock(now)
		s := must.Get(New(Options{Clients: []Client{{Issuer: f.URL, ClientID: client}}, Clock: clock,
			Log: slog.New(slog.NewTextHandler(&log, nil))}))
		for range 3 {
			_, err := s.Redeem(t.Context(), seckill.Grant{Kind: seckill.GrantToken,
				Token: f.token("RS256", "good", k.rsa, map[string]any{"exp": clock.Now().AddDate(0, 0, 1).Unix()})})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			clock.Advance(freshFor)
		}
		said := log.String()
		if strings.Count(said, "\n") != 1 || !strings.Contains(said, "1: ") || !strings.Contains(said, c.says) ||
			strings.Contains(said, "level=INFO") != c.info || strings.Contains(said, "secret-7") {
			t.Errorf("%s: logged %q, want %q", name, said, c.says)
		}
	}
}

// TestManyKeys: as many are used as are allowed, and the rest is left out without a long log.
func TestManyKeys(t *testing.T) {
	k := testKeys()
	set := keySet{}
	for i := range MaxKeys + 20 {
		set.Keys = append(set.Keys, must.Get(json.Marshal(jwk(fmt.Sprint(i), &k.ec.PublicKey))))
	}
	keys, left, err := set.usable()
	if err != nil || len(keys) != MaxKeys || len(left.list) != maxLeft+1 || !left.odd ||
		left.list[0] != fmt.Sprintf("%d: more than %d keys", MaxKeys+1, MaxKeys) {
		t.Errorf("%d keys, left out %q, %v", len(keys), left.list, err)
	}
}

// TestPaddedKeys: some issuers pad their base64url, and a key is one key under two names.
func TestPaddedKeys(t *testing.T) {
	e := jwk("", &testKeys().rsa.PublicKey)
	e["n"], e["key_ops"] = e["n"].(string)+"==", []string{"verify"}
	k, err := readKey(must.Get(json.Marshal(e)))
	if err != nil || !k.public.Equal(&testKeys().rsa.PublicKey) || k.alg != "RS256" {
		t.Errorf("%+v, %v", k, err)
	}
}

// TestATokenWithoutKid: OpenID Connect Core 10.1 lets an issuer with one key leave kid out. With several that fit
// nothing says which.
func TestATokenWithoutKid(t *testing.T) {
	k := testKeys()
	rsa, ec, other := jwk("a", &k.rsa.PublicKey), jwk("b", &k.ec.PublicKey), jwk("c", &k.otherRSA.PublicKey)
	unnamed := with(rsa, object{"kid": nil})
	odd := object{"kty": "RSA", "kid": 7}
	for name, c := range map[string]struct {
		keys []map[string]any
		kid  any
		want seckill.Reason
	}{
		"one key without kid":                {keys: []map[string]any{unnamed}},
		"one key with kid":                   {keys: []map[string]any{rsa}},
		"one key of each kind":               {keys: []map[string]any{ec, rsa}},
		"one key and an odd entry":           {keys: []map[string]any{odd, rsa}},
		"one key under two names":            {keys: []map[string]any{rsa, with(rsa, object{"kid": "d"})}},
		"an empty kid":                       {keys: []map[string]any{unnamed}, kid: ""},
		"two keys":                           {keys: []map[string]any{rsa, other}, want: seckill.TokenKey},
		"two keys, one without kid":          {keys: []map[string]any{unnamed, other}, want: seckill.TokenKey},
		"one key of the other kind":          {keys: []map[string]any{ec}, want: seckill.TokenKey},
		"a kid, and one key without":         {keys: []map[string]any{unnamed}, kid: "a", want: seckill.TokenKey},
		"another key":                        {keys: []map[string]any{other}, want: seckill.TokenSignature},
		"two keys, and the token has a name": {keys: []map[string]any{other, rsa}, kid: "a"},
	} {
		f, s, _ := fresh(t)
		f.set(func() { f.keys = c.keys })
		_, err := s.Redeem(t.Context(), seckill.Grant{Kind: seckill.GrantToken,
			Token: f.token("RS256", "", k.rsa, map[string]any{"header:kid": c.kid})})
		if got := reasonOf(err); got != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestANewKeyUnderAnOldName: an issuer may replace a key and keep its kid, or have none. A signature that does not fit
// has the keys read again, once a minute whoever makes signatures up.
func TestANewKeyUnderAnOldName(t *testing.T) {
	k := testKeys()
	for _, kid := range []any{nil, "a"} {
		f, s, clock := fresh(t)
		f.set(func() { f.keys = []map[string]any{with(jwk("a", &k.rsa.PublicKey), object{"kid": kid})} })
		try := func(key any) seckill.Reason {
			_, err := s.Redeem(t.Context(), seckill.Grant{Kind: seckill.GrantToken,
				Token: f.token("RS256", "", key, map[string]any{"header:kid": kid})})
			return reasonOf(err)
		}
		must.Equal(t, seckill.Reason(""), try(k.rsa), "at first")
		f.set(func() { f.keys = []map[string]any{with(jwk("a", &k.otherRSA.PublicKey), object{"kid": kid})} })
		must.Equal(t, seckill.TokenSignature, try(k.otherRSA), "within a minute")
		clock.Advance(againAfter)
		f.calls()
		must.Equal(t, seckill.Reason(""), try(k.otherRSA), "a minute later")
		for range 5 {
			must.Equal(t, seckill.TokenSignature, try(k.rsa), "the old key")
		}
		must.Equal(t, "/discovery /jwks", f.calls(), "reads")
		clock.Advance(againAfter)
		f.set(func() { f.down = true })
		must.Equal(t, seckill.TokenSignature, try(k.rsa), "while the issuer is away")
	}
}

// TestWaysToShowASecret: an issuer lists the ways that it knows, but a client may have to take one of them. The second
// is tried when the first is refused, and what was taken is tried first from then on.
func TestWaysToShowASecret(t *testing.T) {
	all := []string{secretInBody, "private_key_jwt", secretInHeader}
	for name, c := range map[string]struct {
		lists any
		takes string
		asked []string // of two exchanges
		want  seckill.Reason
	}{
		"no list":            {nil, secretInHeader, []string{secretInHeader, secretInHeader}, ""},
		"a list that is odd": {7, secretInHeader, []string{secretInHeader, secretInHeader}, ""},
		"both, the header":   {all, secretInHeader, []string{secretInHeader, secretInHeader}, ""},
		"both, the body":     {all, secretInBody, []string{secretInHeader, secretInBody, secretInBody}, ""},
		"the body":           {all[:1], secretInBody, []string{secretInBody, secretInBody}, ""},
		"none of them": {all[1:2], secretInBody, []string{secretInHeader, secretInHeader},
			"signin_broken"},
		"another secret": {all, "x", []string{secretInHeader, secretInBody, secretInHeader, secretInBody},
			"signin_broken"},
	} {
		net := &played{provider: provider{issuer: "https://id.example.com", alg: "RS256",
			document: object{"token_endpoint_auth_methods_supported": c.lists}}, takes: c.takes}
		s := must.Get(New(Options{Clock: memory.NewClock(now), HTTP: net, Clients: []Client{{Issuer: net.issuer,
			ClientID: client, Secret: func() string { return clientSecret }}}}))
		for range 2 {
			_, err := s.Redeem(t.Context(), seckill.Grant{Kind: seckill.GrantCode, Issuer: net.issuer, Code: code,
				Verifier: verifier, Nonce: nonce, RedirectURI: redirect})
			if reasonOf(err) != c.want || err != nil && strings.Contains(err.Error(), clientSecret) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		}
		if diff := cmp.Diff(c.asked, net.asked); diff != "" {
			t.Errorf("%s: asked (+), want (-)\n%s", name, diff)
		}
	}
}

// TestAnotherWayToShowASecret: what an issuer took last is no more than where to begin, because its client may be set
// to another way while the shop runs.
func TestAnotherWayToShowASecret(t *testing.T) {
	net := &played{provider: provider{issuer: "https://id.example.com", alg: "RS256",
		document: object{"token_endpoint_auth_methods_supported": []string{secretInHeader, secretInBody}}}}
	s := must.Get(New(Options{Clock: memory.NewClock(now), HTTP: net, Clients: []Client{{Issuer: net.issuer,
		ClientID: client, Secret: func() string { return clientSecret }}}}))
	for _, net.takes = range []string{secretInHeader, secretInBody, secretInBody, secretInHeader} {
		if _, err := s.Redeem(t.Context(), seckill.Grant{Kind: seckill.GrantCode, Issuer: net.issuer, Code: code,
			Verifier: verifier, Nonce: nonce, RedirectURI: redirect}); err != nil {
			t.Errorf("taken by %s: %v", net.takes, err)
		}
	}
	if diff := cmp.Diff([]string{secretInHeader, secretInHeader, secretInBody, secretInBody, secretInBody,
		secretInHeader}, net.asked); diff != "" {
		t.Errorf("asked (+), want (-)\n%s", diff)
	}
}

// TestErrorsOfIssuersAreBounded: what an issuer writes is not logged but for its codes.
func TestErrorsOfIssuersAreBounded(t *testing.T) {
	f, s, _ := fresh(t)
	for _, c := range []struct{ code, text, want string }{
		{"invalid_client", "AADSTS7000222: The secret of ada@example.com has ended.", `"invalid_client" AADSTS7000222`},
		{"invalid_client", "AADSTS12345678901: x", `error "invalid_client"`},
		{"invalid_client", "AADSTSx: y", `error "invalid_client"`},
		{strings.Repeat("a", 41), "", `error "?"`},
		{"code=a-code\n", "a-code", `error "?"`},
	} {
		f.set(func() {
			f.answer = func(url.Values) (int, any) {
				return 400, object{"error": c.code, "error_description": c.text}
			}
		})
		_, err := s.Redeem(t.Context(), f.grant())
		if reasonOf(err) != "signin_broken" || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.code, err, c.want)
		}
	}
}
