package jwtauth

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	secret    = "helloworld"
	oldSecret = "the secret before"
	header    = `{"alg":"HS256","typ":"JWT"}`
)

type fixedClock struct{ now time.Time }

func (c fixedClock) Now() time.Time { return c.now }

var now = time.Date(2026, 11, 11, 0, 0, 0, 0, time.UTC)

func newVerifier(t testing.TB) *Verifier {
	t.Helper()
	v, err := New(Keys{Current: secret, ByKid: map[string]string{"k2": secret, "k1": oldSecret}}, fixedClock{now})
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return v
}

// token signs header and payload without the library that the verifier uses.
func token(header, payload, key string, h func() hash.Hash) string {
	text := encode(header) + "." + encode(payload)
	mac := hmac.New(h, []byte(key))
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func hs256(header, payload, key string) string { return token(header, payload, key, sha256.New) }

func encode(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

func payload(iss string) string {
	return fmt.Sprintf(`{"iss":%s,"sub":"1","exp":%d}`, iss, now.Unix()+1)
}

func TestUserAccepts(t *testing.T) {
	cases := []struct{ name, token, want string }{
		{"number", hs256(header, payload("42"), secret), "42"},
		{"string", hs256(header, payload(`"42"`), secret), "42"},
		{"19 digits as a number", hs256(header, payload("9223372036854775807"), secret), "9223372036854775807"},
		{"19 digits as a string", hs256(header, payload(`"9223372036854775806"`), secret), "9223372036854775806"},
		{"just over 2^53", hs256(header, payload("9007199254740993"), secret), "9007199254740993"},
		{"current kid", hs256(`{"alg":"HS256","kid":"k2"}`, payload("7"), secret), "7"},
		{"retiring kid", hs256(`{"alg":"HS256","kid":"k1"}`, payload("7"), oldSecret), "7"},
		{"nbf of a clock a minute ahead", hs256(header, fmt.Sprintf(`{"iss":7,"sub":"1","exp":%d,"nbf":%d}`,
			now.Unix()+120, now.Add(leeway).Unix()),
			secret), "7"},
		{"iat is not judged", hs256(header, fmt.Sprintf(`{"iss":7,"sub":"1","exp":%d,"iat":%d}`, now.Unix()+1,
			now.Unix()+60), secret), "7"},
		{"exp with a fraction", hs256(header, fmt.Sprintf(`{"iss":7,"sub":"1","exp":%d.5}`, now.Unix()), secret), "7"},
		{"other claims", hs256(header, fmt.Sprintf(`{"iss":7,"sub":"1","exp":%d,"name":"王小明","n":[1.5],"claims":{}}`,
			now.Unix()+1), secret), "7"},
	}
	v := newVerifier(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := v.User(c.token)
			if err != nil || got != c.want {
				t.Errorf("User(%s) = %q, %v; want %q", c.token, got, err, c.want)
			}
		})
	}
}

// twice returns tokens that two readers can understand differently: a claim occurs twice, or once more in another
// spelling, which encoding/json treats as equal.
func twice() map[string]string {
	end := now.Unix() + 1
	tokens := map[string]string{}
	for name, p := range map[string]string{
		"iss": `{"iss":1,"sub":"1","exp":%d,"iss":2}`, "iss, the same": `{"iss":1,"iss":1,"sub":"1","exp":%d}`,
		"iss in escapes": `{"iss":1,"sub":"1","exp":%d,"\u0069ss":2}`,
		"sub":            `{"iss":1,"sub":"2","sub":"1","exp":%d}`, "exp": `{"iss":1,"sub":"1","exp":1,"exp":%d}`,
		"nbf":         `{"iss":1,"sub":"1","exp":%d,"nbf":99999999999,"nbf":1}`,
		"iss and ISS": `{"iss":1,"sub":"1","exp":%d,"ISS":2}`, "Iss alone": `{"Iss":1,"sub":"1","exp":%d}`,
		"a long s":           `{"iss":1,"sub":"1","exp":%d,"iſs":2}`,
		"behind nested ones": `{"a":{"iss":3,"b":["}","\""]},"iss":1,"sub":"1","exp":%d,"iss":2}`,
	} {
		tokens[name] = hs256(header, fmt.Sprintf(p, end), secret)
	}
	for name, h := range map[string]string{
		"alg": `{"alg":"none","typ":"JWT","alg":"HS256"}`, "kid": `{"alg":"HS256","kid":"k1","kid":"k2"}`,
		"kid in escapes": `{"alg":"HS256","kid":"k1","\u006bid":"k2"}`,
		"crit":           `{"alg":"HS256","crit":["x"],"crit":[]}`, "KID": `{"alg":"HS256","kid":"k2","KID":"k1"}`,
	} {
		tokens["header: "+name] = hs256(h, payload("7"), secret)
	}
	return tokens
}

func TestUserRefusesWhatCanBeReadTwice(t *testing.T) {
	v := newVerifier(t)
	for name, token := range twice() {
		if got, err := v.User(token); err == nil || !errors.Is(err, seckill.Refuse(seckill.CodeToken)) || got != "" {
			t.Errorf("%s: User(%s) = %q, %v; want invalid_token", name, token, got, err)
		}
	}
	// Irrelevant names may repeat, and names inside a claim belong to the claim.
	text := hs256(`{"alg":"HS256","typ":"JWT","x":1,"x":2}`,
		fmt.Sprintf(`{"n":1,"n":{"iss":2,"sub":[{"exp":3}]},"iss" : 7 , "sub":"1","exp":%d,"issuer":"{\"iss\":1}"}`,
			now.Unix()+1), secret)
	if got, err := v.User(text); err != nil || got != "7" {
		t.Errorf("User(%s) = %q, %v; want 7", text, got, err)
	}
}

// FuzzUser checks that an accepted token has each relevant name once, by an independent parser.
func FuzzUser(f *testing.F) {
	v := newVerifier(f)
	for _, token := range twice() {
		parts := strings.Split(token, ".")
		h, _ := base64.RawURLEncoding.DecodeString(parts[0])
		p, _ := base64.RawURLEncoding.DecodeString(parts[1])
		f.Add(string(h), string(p))
	}
	f.Add(header, payload("42"))
	f.Add(`{"alg":"HS256","kid":"k2"}`, payload(`"7"`))
	f.Fuzz(func(t *testing.T, header, payload string) {
		user, err := v.User(hs256(header, payload, secret))
		if err != nil {
			return
		}
		for text, names := range map[string][]string{header: {"alg", "kid", "crit"}, payload: {"iss", "sub", "exp",
			"nbf"}} {
			d, seen := json.NewDecoder(strings.NewReader(text)), map[string]bool{}
			_, _ = d.Token()
			for d.More() {
				key, _ := d.Token()
				name := strings.ToLower(key.(string))
				if slices.Contains(names, name) && seen[name] {
					t.Errorf("%s %s: %s has %s twice, and is taken for user %s", header, payload, text, name, user)
				}
				seen[name] = true
				var value json.RawMessage
				_ = d.Decode(&value)
			}
		}
	})
}

func TestUserRefuses(t *testing.T) {
	good := hs256(header, payload("42"), secret)
	text, signature := good[:strings.LastIndex(good, ".")], good[strings.LastIndex(good, ".")+1:]
	with := func(claims string) string { return hs256(header, claims, secret) }
	exp := fmt.Sprint(now.Unix() + 1)
	cases := []struct {
		name   string
		reason seckill.Reason
		token  string
	}{
		{"empty", seckill.TokenMalformed, ""},
		{"not a token", seckill.TokenMalformed, "helloworld"},
		{"two parts", seckill.TokenMalformed, text},
		{"four parts", seckill.TokenMalformed, good + ".x"},
		{"bad base64", seckill.TokenMalformed, "!" + good},
		{"padded base64", seckill.TokenMalformed, good + "="},
		{"stray bits in the signature", seckill.TokenMalformed, text + "." + signature[:len(signature)-1] +
			string(signature[len(signature)-1]+1)},
		{"header is not JSON", seckill.TokenMalformed, hs256(`{`, payload("42"), secret)},
		{"payload is not JSON", seckill.TokenMalformed, with(`{`)},
		{"payload is null", seckill.TokenClaims, with(`null`)},
		{"payload is an array", seckill.TokenMalformed, with(`[]`)},
		{"forged", seckill.TokenSignature, hs256(header, payload("42"), "guess")},
		{"empty secret", seckill.TokenSignature, hs256(header, payload("42"), "")},
		{"no signature", seckill.TokenSignature, text + "."},
		{"another payload under the signature", seckill.TokenSignature, encode(header) + "." + encode(payload("43")) +
			"." + signature},
		{"alg none", seckill.TokenAlgorithm, encode(`{"alg":"none"}`) + "." + encode(payload("42")) + "."},
		{"alg none, signed", seckill.TokenAlgorithm, hs256(`{"alg":"none"}`, payload("42"), secret)},
		{"alg NONE", seckill.TokenAlgorithm, hs256(`{"alg":"NONE"}`, payload("42"), secret)},
		{"alg missing", seckill.TokenAlgorithm, hs256(`{"typ":"JWT"}`, payload("42"), secret)},
		{"alg is a number", seckill.TokenAlgorithm, hs256(`{"alg":256}`, payload("42"), secret)},
		{"alg hs256 in small letters", seckill.TokenAlgorithm, hs256(`{"alg":"hs256"}`, payload("42"), secret)},
		{"alg HS512", seckill.TokenAlgorithm, token(`{"alg":"HS512"}`, payload("42"), secret, sha512.New)},
		{"alg RS256", seckill.TokenAlgorithm, hs256(`{"alg":"RS256"}`, payload("42"), secret)},
		{"critical extension", seckill.TokenMalformed, hs256(`{"alg":"HS256","crit":["b64"],"b64":true}`, payload("42"),
			secret)},
		{"unknown kid", seckill.TokenKey, hs256(`{"alg":"HS256","kid":"k3"}`, payload("42"), secret)},
		{"empty kid", seckill.TokenKey, hs256(`{"alg":"HS256","kid":""}`, payload("42"), secret)},
		{"kid of another type", seckill.TokenKey, hs256(`{"alg":"HS256","kid":1}`, payload("42"), secret)},
		{"another kid's key", seckill.TokenSignature, hs256(`{"alg":"HS256","kid":"k1"}`, payload("42"), secret)},
		{"retired key without a kid", seckill.TokenSignature, hs256(header, payload("42"), oldSecret)},
		{"expired now", seckill.TokenExpired, with(fmt.Sprintf(`{"iss":42,"sub":"1","exp":%d}`, now.Unix()))},
		{"expired long ago", seckill.TokenExpired, with(`{"iss":42,"sub":"1","exp":1}`)},
		{"no exp", seckill.TokenClaims, with(`{"iss":42,"sub":"1"}`)},
		{"exp null", seckill.TokenClaims, with(`{"iss":42,"sub":"1","exp":null}`)},
		{"exp is a string", seckill.TokenMalformed, with(`{"iss":42,"sub":"1","exp":"` + exp + `"}`)},
		{"exp is beyond all numbers", seckill.TokenMalformed, with(`{"iss":42,"sub":"1","exp":1e999}`)},
		{"not valid yet", seckill.TokenEarly, with(fmt.Sprintf(`{"iss":42,"sub":"1","exp":%d,"nbf":%d}`,
			now.Unix()+3600, now.Add(leeway).Unix()+1))},
		{"refresh token", seckill.TokenClaims, with(`{"iss":42,"sub":"2","exp":` + exp + `}`)},
		{"sub is a number", seckill.TokenMalformed, with(`{"iss":42,"sub":1,"exp":` + exp + `}`)},
		{"no sub", seckill.TokenClaims, with(`{"iss":42,"exp":` + exp + `}`)},
		{"no iss", seckill.TokenClaims, with(`{"sub":"1","exp":` + exp + `}`)},
		{"iss null", seckill.TokenClaims, with(payload("null"))},
		{"iss empty", seckill.TokenClaims, with(payload(`""`))},
		{"iss float", seckill.TokenClaims, with(payload("42.0"))},
		{"iss exponent", seckill.TokenClaims, with(payload("1e3"))},
		{"iss float in a string", seckill.TokenClaims, with(payload(`"42.0"`))},
		{"iss zero", seckill.TokenClaims, with(payload("0"))},
		{"iss negative", seckill.TokenClaims, with(payload("-42"))},
		{"iss signed", seckill.TokenClaims, with(payload(`"+42"`))},
		{"iss leading zero", seckill.TokenClaims, with(payload(`"042"`))},
		{"iss blank", seckill.TokenClaims, with(payload(`" 42"`))},
		{"iss underscore", seckill.TokenClaims, with(payload(`"4_2"`))},
		{"iss full-width digits", seckill.TokenClaims, with(payload(`"４２"`))},
		{"iss name", seckill.TokenClaims, with(payload(`"alice"`))},
		{"iss 2^63", seckill.TokenClaims, with(payload("9223372036854775808"))},
		{"iss 2^64", seckill.TokenClaims, with(payload(`"18446744073709551616"`))},
		{"iss list", seckill.TokenClaims, with(payload(`["42"]`))},
		{"iss object", seckill.TokenClaims, with(payload(`{"id":42}`))},
		{"over 4 KiB", seckill.TokenMalformed, with(`{"iss":42,"sub":"1","exp":` + exp + `,"pad":"` +
			strings.Repeat("x", MaxToken) + `"}`)},
	}
	v := newVerifier(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := v.User(c.token)
			var e *seckill.Error
			if got != "" || !errors.As(err, &e) || e.Code != seckill.CodeToken {
				t.Fatalf("User(%s) = %q, %v; want invalid_token", c.token, got, err)
			}
			if e.Reason() != c.reason {
				t.Errorf("User(%s): %s (%v), want %s", c.token, e.Reason(), err, c.reason)
			}
			if part, _, _ := strings.Cut(c.token, "."); len(part) > 10 && strings.Contains(err.Error(), part) {
				t.Errorf("User(%s): the error holds the token: %v", c.token, err)
			}
		})
	}
}

func TestSignIsAccepted(t *testing.T) {
	tok, err := Sign(secret, "9223372036854775807", now.Add(time.Second))
	if err != nil {
		t.Fatalf("Sign: %v", err)
	}
	if got, err := newVerifier(t).User(tok); err != nil || got != "9223372036854775807" {
		t.Errorf("User(Sign(…)) = %q, %v; want 9223372036854775807", got, err)
	}
}

func TestSignRefuses(t *testing.T) {
	for _, c := range []struct{ name, secret, user string }{
		{"empty secret", "", "1"}, {"no user", secret, ""}, {"user is a name", secret, "alice"},
		{"user too large", secret, "9223372036854775808"},
	} {
		if tok, err := Sign(c.secret, c.user, now); err == nil {
			t.Errorf("%s: Sign = %q, want an error", c.name, tok)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		keys Keys
	}{
		{"no key", Keys{}},
		{"empty secret", Keys{Current: secret, ByKid: map[string]string{"k1": ""}}},
		{"empty kid", Keys{Current: secret, ByKid: map[string]string{"": secret}}},
	} {
		if _, err := New(c.keys, fixedClock{now}); err == nil {
			t.Errorf("%s: New = nil error, want one", c.name)
		}
	}
}

func TestWithoutCurrentKeyOnlyKidsAreAccepted(t *testing.T) {
	v, err := New(Keys{ByKid: map[string]string{"k1": oldSecret}}, fixedClock{now})
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	if got, err := v.User(hs256(`{"alg":"HS256","kid":"k1"}`, payload("42"), oldSecret)); err != nil || got != "42" {
		t.Errorf("token with a kid: %q, %v; want 42", got, err)
	}
	if got, err := v.User(hs256(header, payload("42"), "")); err == nil {
		t.Errorf("token without a kid: %q, want an error", got)
	}
}

// TestAudience: a token for others is refused; one that does not say whom it is for, from a date on. Only a token for
// the shop is of a session of the shop.
func TestAudience(t *testing.T) {
	const sid = "7f0c5dd0a1b94e3f9c2d8a6b5e4f3a21"
	later := must.Get(New(Keys{Current: secret, AudienceFrom: now.Add(time.Millisecond)}, fixedClock{now}))
	closed := must.Get(New(Keys{Current: secret, AudienceFrom: now}, fixedClock{now}))
	for more, c := range map[string]struct {
		session      string
		open, closed seckill.Reason
	}{
		``:                                     {"", "", seckill.TokenAudience},
		`,"aud":"seckill"`:                     {"", "", ""},
		`,"aud":["x","seckill"]`:               {"", "", ""},
		`,"aud":"x"`:                           {"", seckill.TokenAudience, seckill.TokenAudience},
		`,"aud":[]`:                            {"", seckill.TokenAudience, seckill.TokenAudience},
		`,"aud":null`:                          {"", seckill.TokenAudience, seckill.TokenAudience},
		`,"aud":{"a":"seckill"}`:               {"", seckill.TokenAudience, seckill.TokenAudience},
		`,"aud":"x","aud":"seckill"`:           {"", seckill.TokenMalformed, seckill.TokenMalformed},
		`,"aud":"seckill","sid":"` + sid + `"`: {sid, "", ""},
		`,"aud":"seckill","sid":7`:             {"", "", ""},
		`,"aud":"seckill","sid":"user:7"`:      {"", "", ""},
		`,"sid":"` + sid + `"`:                 {"", "", seckill.TokenAudience},
	} {
		token := hs256(header, fmt.Sprintf(`{"iss":42,"sub":"1","exp":%d%s}`, now.Unix()+1, more), secret)
		for v, want := range map[*Verifier]seckill.Reason{newVerifier(t): c.open, later: c.open, closed: c.closed} {
			got, err := v.Claims(token)
			var reason seckill.Reason
			if err != nil {
				reason = seckill.AsError(err).Token
			}
			if reason != want || err == nil && (got.User != "42" || got.Session != c.session) {
				t.Errorf("%s, from %s on: %+v, %v; want %q, session %q", more, v.from, got, err, want, c.session)
			}
		}
	}
}

// TestAudienceDate: a date begins in UTC; what is no date is refused, and not shown: it may be a secret.
func TestAudienceDate(t *testing.T) {
	for text, want := range map[string]time.Time{
		"":                          {},
		"2027-01-31":                time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC),
		"2027-01-31T08:00:00+08:00": time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC),
	} {
		got := must.Get(ParseAudienceFrom(text))
		must.Equal(t, want, got, text)
	}
	for _, text := range []string{"soon", "2027-1-31", "2027-02-30", "2027-01-31 08:00", "0", " "} {
		if _, err := ParseAudienceFrom(text); err == nil || strings.Contains(err.Error(), "soon") ||
			!strings.Contains(err.Error(), "2027-01-31") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestNamed: a token tells its user's name, as PlainName has it; a strange name is ignored, and refuses nobody.
func TestNamed(t *testing.T) {
	s, err := NewSigner(Keys{Current: secret})
	must.OK(t, err)
	long := strings.Repeat("雷", seckill.MaxName)
	for name, want := range map[string]string{"": "", "李雷": "李雷", " Li\u202e\x00\n Lei ": "Li Lei", long + "雷": long} {
		token, err := s.SignToken(seckill.Claims{User: "42", Name: name, Expires: now.Add(time.Minute)})
		must.OK(t, err)
		if got, err := newVerifier(t).Claims(token); got.User != "42" || got.Name != want || err != nil {
			t.Errorf("%q: %+v, %v; want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"7", "null", "{}", `["x"]`} {
		token := hs256(header, fmt.Sprintf(`{"iss":42,"sub":"1","exp":%d,"name":%s}`, now.Unix()+1, name), secret)
		if got, err := newVerifier(t).Claims(token); got.User != "42" || got.Name != "" || err != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, err := newVerifier(t).Claims(hs256(header, payload("42"), "guess")); got != (seckill.Claims{}) ||
		seckill.CodeOf(err) != seckill.CodeToken {
		t.Errorf("forged: %+v, %v", got, err)
	}
}

func BenchmarkUser(b *testing.B) {
	v := newVerifier(b)
	tok := hs256(header, payload("9223372036854775807"), secret)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.User(tok); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPast: a token that has expired still says whose session it was of; one that nobody signed, or for others, does
// not.
func TestPast(t *testing.T) {
	v := newVerifier(t)
	id := strings.Repeat("a", 32)
	of := func(more string, exp time.Time) string {
		return fmt.Sprintf(`{"iss":7,"sub":"1","sid":%q,"exp":%d%s}`, id, exp.Unix(), more)
	}
	const shop = `,"aud":"seckill"`
	for _, at := range []time.Time{now.Add(time.Hour), now, now.Add(-30 * 24 * time.Hour)} {
		got, err := v.Past(hs256(`{"alg":"HS256"}`, of(shop, at), secret))
		if err != nil || got.User != "7" || got.Session != id {
			t.Errorf("until %v: got %+v, %v", at, got, err)
		}
	}
	for name, text := range map[string]string{
		"forged":         hs256(`{"alg":"HS256"}`, of(shop, now), "another"),
		"for others":     hs256(`{"alg":"HS256"}`, of(`,"aud":"another"`, now), secret),
		"not valid yet":  hs256(`{"alg":"HS256"}`, of(fmt.Sprintf(`%s,"nbf":%d`, shop, now.Unix()+3600), now), secret),
		"without an end": hs256(`{"alg":"HS256"}`, `{"iss":7,"sub":"1","aud":"seckill","sid":"`+id+`"}`, secret),
		"no token":       "x",
	} {
		if got, err := v.Past(text); err == nil || got != (seckill.Claims{}) {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// TestSigner checks which key signs, and the claims of a token.
func TestSigner(t *testing.T) {
	made, ends := time.Date(2020, 1, 2, 0, 0, 0, 0, time.UTC), now.Add(time.Hour)
	for name, c := range map[string]struct {
		keys   Keys
		want   string // header and key
		secret string
	}{
		"current": {Keys{Current: secret, ByKid: map[string]string{"2027": "x"}}, header, secret},
		"newest of two": {Keys{ByKid: map[string]string{"2027": secret, "2026": "x"}},
			`{"alg":"HS256","kid":"2027","typ":"JWT"}`, secret},
	} {
		s, err := NewSigner(c.keys)
		must.OK(t, err)
		for created, claim := range map[time.Time]string{made: fmt.Sprintf(`"created":%d,`, made.Unix()), {}: ""} {
			got, err := s.SignToken(seckill.Claims{User: "9223372036854775807", Session: "a", Created: created,
				Expires: ends})
			want := hs256(c.want, fmt.Sprintf(
				`{"aud":"seckill",%s"exp":%d,"iss":9223372036854775807,"sid":"a","sub":"1"}`, claim, ends.Unix()), c.secret)
			if err != nil || got != want {
				t.Errorf("%s: got %s, %v, want %s", name, got, err, want)
			}
		}
		for _, user := range []string{"", "0", "x", "9223372036854775808"} {
			if got, err := s.SignToken(seckill.Claims{User: user, Created: made, Expires: ends}); err == nil {
				t.Errorf("%s: signed for user %q: %s", name, user, got)
			}
		}
	}
	for name, keys := range map[string]Keys{"no key": {}, "an empty one": {ByKid: map[string]string{"1": ""}}} {
		if _, err := NewSigner(keys); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
