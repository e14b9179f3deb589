package oidc

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// TestTokens checks which tokens sign in, and why the others do not. All are well signed, but for those in TestForged.
func TestTokens(t *testing.T) {
	f, s, _ := fresh(t)
	at := func(d time.Duration) int64 { return now.Add(d).Unix() }
	access := map[string]any{"token_use": "access", "aud": nil, "nonce": nil, "client_id": client}
	for name, c := range map[string]struct {
		changes map[string]any
		want    seckill.Reason
	}{
		"an ID token":                 {nil, ""},
		"of the other client":         {map[string]any{"aud": "app"}, ""},
		"Cognito's ID token":          {map[string]any{"token_use": "id"}, ""},
		"Cognito's access token":      {access, ""},
		"an access token by its type": {map[string]any{"header:typ": "at+jwt", "aud": nil, "client_id": "app"}, ""},
		"an access token for the shop": {map[string]any{"header:typ": "at+jwt", "aud": client,
			"client_id": "another"}, ""},
		"several audiences and azp":  {map[string]any{"aud": []string{"x", client}, "azp": client}, ""},
		"old, and good for long":     {map[string]any{"iat": at(-24 * time.Hour)}, ""},
		"a clock 59 s ahead":         {map[string]any{"iat": at(59 * time.Second), "nbf": at(59 * time.Second)}, ""},
		"a nonce that nobody asked":  {map[string]any{"nonce": "another"}, ""},
		"without a type":             {map[string]any{"header:typ": nil}, ""},
		"another audience":           {map[string]any{"aud": "another"}, seckill.TokenAudience},
		"no audience":                {map[string]any{"aud": nil}, seckill.TokenAudience},
		"an empty list of audiences": {map[string]any{"aud": []string{}}, seckill.TokenAudience},
		"no audience, an ID token with a client": {map[string]any{"aud": nil, "client_id": client},
			seckill.TokenAudience},
		"an access token of another client": {map[string]any{"token_use": "access", "aud": nil, "client_id": "x"},
			seckill.TokenAudience},
		"an access token for another API": {map[string]any{"token_use": "access", "aud": "api", "client_id": client},
			seckill.TokenAudience},
		"a client's own access token": {map[string]any{"token_use": "access", "aud": nil, "client_id": client,
			"sub": client}, seckill.TokenClaims},
		"for another use":               {map[string]any{"token_use": "refresh"}, seckill.TokenAudience},
		"several audiences, no azp":     {map[string]any{"aud": []string{"x", client}}, seckill.TokenAudience},
		"another party":                 {map[string]any{"azp": "x"}, seckill.TokenAudience},
		"ended":                         {map[string]any{"exp": at(0)}, seckill.TokenExpired},
		"ended long ago":                {map[string]any{"exp": at(-5 * time.Minute)}, seckill.TokenExpired},
		"no end":                        {map[string]any{"exp": nil}, seckill.TokenClaims},
		"an end beyond all calendars":   {map[string]any{"exp": 1e300}, seckill.TokenClaims},
		"not yet":                       {map[string]any{"nbf": at(61 * time.Second)}, seckill.TokenEarly},
		"a clock 5 min ahead":           {map[string]any{"iat": at(5 * time.Minute)}, seckill.TokenEarly},
		"no time of issue":              {map[string]any{"iat": nil}, seckill.TokenClaims},
		"no person":                     {map[string]any{"sub": nil}, seckill.TokenClaims},
		"a person's name of 256 bytes":  {map[string]any{"sub": strings.Repeat("a", 256)}, seckill.TokenClaims},
		"another issuer":                {map[string]any{"iss": "https://id.example.com"}, seckill.TokenIssuer},
		"the issuer with a slash":       {map[string]any{"iss": f.URL + "/"}, seckill.TokenIssuer},
		"no issuer":                     {map[string]any{"iss": nil}, seckill.TokenIssuer},
		"an audience of another type":   {map[string]any{"aud": 7}, seckill.TokenMalformed},
		"a time of another type":        {map[string]any{"exp": "soon"}, seckill.TokenMalformed},
		"in other letters":              {map[string]any{"ISS": "x"}, seckill.TokenMalformed},
		"a critical extension":          {map[string]any{"header:crit": []string{"x"}}, seckill.TokenMalformed},
		"no kid, and one key that fits": {map[string]any{"header:kid": nil}, ""},
		"set back by five minutes, and a clock behind": {map[string]any{"iat": at(-305 * time.Second),
			"nbf": at(-305 * time.Second)}, ""},
		"a kid that is not text": {map[string]any{"header:kid": 7}, seckill.TokenKey},
		"an unknown kid":         {map[string]any{"header:kid": "x"}, seckill.TokenKey},
		"over the limit": {map[string]any{"x": strings.Repeat("a", seckill.MaxIssuerToken)},
			seckill.TokenMalformed},
	} {
		for alg, key := range map[string]any{"RS256": testKeys().rsa, "ES256": testKeys().ec} {
			kid := map[string]string{"RS256": "rsa", "ES256": "ec"}[alg]
			p, err := s.Redeem(t.Context(), seckill.Grant{Kind: seckill.GrantToken,
				Token: f.token(alg, kid, key, c.changes)})
			if got := reasonOf(err); got != c.want {
				t.Errorf("%s, %s: got %q (%v), want %q", name, alg, got, err, c.want)
			}
			if c.want == "" && (p.Issuer != f.URL || p.Subject != "a-person" || !p.Checked.Equal(now) ||
				!p.Expires.Equal(now.Add(time.Hour))) {
				t.Errorf("%s, %s: got %+v", name, alg, p)
			}
		}
	}
}

// TestForged checks tokens that the issuer did not sign, or did not sign in one of the two ways.
func TestForged(t *testing.T) {
	f, s, _ := fresh(t)
	k := testKeys()
	good := f.token("RS256", "rsa", k.rsa, nil)
	head, rest, _ := strings.Cut(good, ".")
	payload, signature, _ := strings.Cut(rest, ".")
	public := []byte(jwk("rsa", &k.rsa.PublicKey)["n"].(string))
	claims := string(must.Get(base64.RawURLEncoding.DecodeString(payload)))
	for name, c := range map[string]struct {
		token string
		want  seckill.Reason
	}{
		"alg none": {f.token("none", "rsa", jwt.UnsafeAllowNoneSignatureType, nil),
			seckill.TokenAlgorithm},
		"no signature":               {head + "." + payload + ".", seckill.TokenSignature},
		"HS256 with the public key":  {f.token("HS256", "rsa", public, nil), seckill.TokenAlgorithm},
		"RS512 with the right key":   {f.token("RS512", "rsa", k.rsa, nil), seckill.TokenAlgorithm},
		"PS256 with the right key":   {f.token("PS256", "rsa", k.rsa, nil), seckill.TokenAlgorithm},
		"an unknown algorithm":       {sign("RS256", k.rsa, `{"alg":"XX","kid":"rsa"}`, claims), seckill.TokenAlgorithm},
		"no algorithm":               {sign("RS256", k.rsa, `{"kid":"rsa"}`, claims), seckill.TokenAlgorithm},
		"rs256 in small letters":     {sign("RS256", k.rsa, `{"alg":"rs256","kid":"rsa"}`, claims), seckill.TokenAlgorithm},
		"ES256 by the RSA key's kid": {f.token("ES256", "rsa", k.ec, nil), seckill.TokenKey},
		"RS256 by the curve's kid":   {f.token("RS256", "ec", k.rsa, nil), seckill.TokenKey},
		"another RSA key":            {f.token("RS256", "rsa", k.otherRSA, nil), seckill.TokenSignature},
		"another key of the curve":   {f.token("ES256", "ec", k.otherEC, nil), seckill.TokenSignature},
		"other claims": {head + "." + base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(claims, "a-person",
			"another", 1))) + "." + signature, seckill.TokenSignature},
		"alg twice":                 {sign("RS256", k.rsa, `{"alg":"none","kid":"rsa","alg":"RS256"}`, claims), seckill.TokenMalformed},
		"sub twice":                 {sign("RS256", k.rsa, `{"alg":"RS256","kid":"rsa"}`, `{"sub":"x",`+claims[1:]), seckill.TokenMalformed},
		"two parts":                 {head + "." + payload, seckill.TokenMalformed},
		"nothing":                   {"", seckill.TokenMalformed},
		"no JSON":                   {sign("RS256", k.rsa, `{"alg":"RS256","kid":"rsa"}`, "x"), seckill.TokenMalformed},
		"null":                      {sign("RS256", k.rsa, `{"alg":"RS256","kid":"rsa"}`, "null"), seckill.TokenIssuer},
		"other bits behind the end": {good[:len(good)-1] + next(good[len(good)-1:]), seckill.TokenMalformed},
		"padded base64":             {good + "=", seckill.TokenMalformed},
		"a blank in front":          {" " + good, seckill.TokenMalformed},
		"the real one":              {good, ""},
	} {
		_, err := s.Redeem(t.Context(), seckill.Grant{Kind: seckill.GrantToken, Token: c.token})
		if got := reasonOf(err); got != c.want {
			t.Errorf("%s: got %q (%v), want %q", name, got, err, c.want)
		}
		if err != nil && len(c.token) > 0 && strings.Contains(err.Error(), c.token) {
			t.Errorf("%s: the error has the token: %v", name, err)
		}
	}
}

// next returns the digit of base64 after one whose last bits stand for nothing.
func next(digit string) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return digits[strings.Index(digits, digit)+1:][:1]
}

// TestAccountsAge checks that a proof has the age of the account if the issuer tells it.
func TestAccountsAge(t *testing.T) {
	f, s, _ := fresh(t)
	made := now.AddDate(-1, 0, 0)
	for value, want := range map[any]time.Time{made.Unix(): made, 0: {}, -1: {}, 1e300: {}, nil: {}} {
		p, err := s.Redeem(t.Context(), seckill.Grant{Kind: seckill.GrantToken,
			Token: f.token("RS256", "rsa", testKeys().rsa, map[string]any{"created_at": value})})
		if err != nil || !p.Created.Equal(want) {
			t.Errorf("created_at %v: got %v, %v, want %v", value, p.Created, err, want)
		}
	}
}

// TestName checks that a proof has the person's name if the issuer tells a text.
func TestName(t *testing.T) {
	f, s, _ := fresh(t)
	long := strings.Repeat("李", seckill.MaxName)
	for value, want := range map[any]string{" 李雷\u202e\n": "李雷", long + "x": long, 7: "", nil: "", "": ""} {
		p, err := s.Redeem(t.Context(), seckill.Grant{Kind: seckill.GrantToken,
			Token: f.token("RS256", "rsa", testKeys().rsa, map[string]any{"name": value})})
		if err != nil || p.Name != want {
			t.Errorf("name %q: got %q, %v, want %q", value, p.Name, err, want)
		}
	}
}

// FuzzCheck checks that only what the issuer has signed signs somebody in, and that no text is a fault.
func FuzzCheck(f *testing.F) {
	is := newFake(f)
	s := newIssuers(f, is, memory.NewClock(now))
	k := testKeys()
	good := is.token("ES256", "ec", k.ec, nil)
	rs := is.token("RS256", "rsa", k.rsa, nil)
	for _, token := range []string{good, rs, is.token("none", "ec", jwt.UnsafeAllowNoneSignatureType, nil),
		is.token("HS256", "ec", []byte("x"), nil), "", "..", "a.b.c"} {
		f.Add(token)
	}
	f.Fuzz(func(t *testing.T, token string) {
		p, err := s.Redeem(t.Context(), seckill.Grant{Kind: seckill.GrantToken, Token: token})
		signed := func(by string) bool { return strings.HasPrefix(token, by[:strings.LastIndex(by, ".")+1]) }
		if err == nil && !signed(good) && !signed(rs) {
			t.Errorf("%q signs %+v in", token, p)
		}
		if reasonOf(err) == "fault" {
			t.Errorf("%q: %v, want a refusal", token, err)
		}
	})
}
