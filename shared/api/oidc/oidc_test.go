package oidc

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// TestExchange checks what is sent for a code and for a refresh token, and that both give a proof.
func TestExchange(t *testing.T) {
	f, s, _ := fresh(t)
	refresh := seckill.Grant{Kind: seckill.GrantRefresh, Issuer: f.URL, RefreshToken: "earlier"}
	other := refresh
	other.ClientID = "app"
	f.set(func() {
		answer := f.answer
		f.answer = func(form url.Values) (int, any) {
			status, v := answer(form)
			v.(map[string]any)["id_token"] = f.token("RS256", "rsa", testKeys().rsa,
				map[string]any{"aud": form.Get("client_id")})
			return status, v
		}
	})
	for _, c := range []struct {
		grant seckill.Grant
		want  url.Values
	}{
		{f.grant(), url.Values{"grant_type": {"authorization_code"}, "client_id": {client}, "code": {code},
			"code_verifier": {verifier}, "redirect_uri": {redirect}}},
		{refresh, url.Values{"grant_type": {"refresh_token"}, "client_id": {client}, "refresh_token": {"earlier"}}},
		{other, url.Values{"grant_type": {"refresh_token"}, "client_id": {"app"}, "refresh_token": {"earlier"}}},
	} {
		p, err := s.Redeem(t.Context(), c.grant)
		want := seckill.Proof{Identity: seckill.Identity{Issuer: f.URL, Subject: "a-person"}, Checked: now,
			Expires: now.Add(time.Hour), Refresh: "next"}
		if err != nil || p != want {
			t.Errorf("%s: got %+v, %v, want %+v", c.grant.Kind, p, err, want)
		}
		if diff := cmp.Diff(c.want, f.forms[len(f.forms)-1]); diff != "" {
			t.Errorf("%s: sent (+), want (-):\n%s", c.grant.Kind, diff)
		}
	}
	if got := f.calls(); got != "/discovery /jwks /token /token /token" {
		t.Errorf("calls %s, want addresses and keys once", got)
	}
}

// TestExchangeRefused checks answers of the issuer and tokens that sign nobody in.
func TestExchangeRefused(t *testing.T) {
	k := testKeys()
	for name, c := range map[string]struct {
		grant  func(g *seckill.Grant)
		status int
		token  map[string]any // changes of the ID token
		body   any            // instead of a body with an ID token
		want   seckill.Reason
	}{
		"the code again":        {grant: func(g *seckill.Grant) { g.Code = "spent" }, want: seckill.TokenGrant},
		"another nonce":         {grant: func(g *seckill.Grant) { g.Nonce = "another" }, want: seckill.TokenNonce},
		"no nonce in the token": {token: map[string]any{"nonce": nil}, want: seckill.TokenNonce},
		"another issuer's": {grant: func(g *seckill.Grant) { g.Issuer = "https://id.example.com" },
			want: "invalid_request"},
		"another client's": {grant: func(g *seckill.Grant) { g.ClientID = "x" },
			want: "invalid_request"},
		"made for the shop's other client": {token: map[string]any{"aud": "app"}, want: seckill.TokenAudience},
		"an access token as ID token":      {token: map[string]any{"token_use": "access"}, want: seckill.TokenAudience},
		"of 10 min and a second ago": {token: map[string]any{"iat": now.Add(-oldest - time.Second).Unix()},
			want: seckill.TokenStale},
		"a clock 5 min ahead": {token: map[string]any{"iat": now.Add(5 * time.Minute).Unix()},
			want: seckill.TokenEarly},
		"a request that the issuer does not take": {status: 400, body: map[string]any{"error": "invalid_request"},
			want: "signin_broken"},
		"a client that the issuer does not know": {status: 401, body: map[string]any{"error": "invalid_client"},
			want: "signin_broken"},
		"a client without this grant": {status: 400, body: map[string]any{"error": "unauthorized_client"},
			want: "signin_broken"},
		"an error that nobody knows": {status: 400, body: map[string]any{"error": "x"}, want: "signin_broken"},
		"an error that is none":      {status: 400, body: map[string]any{"error": 7}, want: "fault"},
		"a firewall's page":          {status: 403, body: "no", want: "fault"},
		"busy":                       {status: 400, body: map[string]any{"error": "slow_down"}, want: "fault"},
		"the code again, said with 403": {status: 403, body: map[string]any{"error": "invalid_grant"},
			want: seckill.TokenGrant},
		"a wish to ask the person, for a code": {status: 400, body: map[string]any{"error": "interaction_required"},
			want: "signin_broken"},
		"too many requests": {status: 429, body: map[string]any{"error": "slow_down"}, want: "fault"},
		"a fault":           {status: 500, body: map[string]any{"error": "invalid_grant"}, want: "fault"},
		"no ID token":       {status: 200, body: map[string]any{"access_token": "x"}, want: "fault"},
		"no JSON":           {status: 200, body: "x", want: "fault"},
		"a large refresh token": {status: 200, body: map[string]any{"id_token": "x", "refresh_token": large()},
			want: "fault"},
		"a large answer": {status: 200, body: map[string]any{"x": strings.Repeat("a", MaxDocument)},
			want: "fault"},
	} {
		f, s, _ := fresh(t)
		f.set(func() {
			answer := f.answer
			f.answer = func(form url.Values) (int, any) {
				if c.body != nil {
					return c.status, c.body
				}
				status, v := answer(form)
				if status == 200 {
					v = map[string]any{"id_token": f.token("ES256", "ec", k.ec, c.token)}
				}
				return status, v
			}
		})
		g := f.grant()
		if c.grant != nil {
			c.grant(&g)
		}
		p, err := s.Redeem(t.Context(), g)
		if got := reasonOf(err); got != c.want || p.Subject != "" {
			t.Errorf("%s: got %+v, %q (%v), want %q", name, p, got, err, c.want)
		}
		for _, secret := range []string{code, verifier, nonce, "spent"} {
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error has %s: %v", name, secret, err)
			}
		}
	}
}

// TestIssuersAreKeptApart checks that an issuer cannot confirm another issuer's people.
func TestIssuersAreKeptApart(t *testing.T) {
	a, b := newFake(t), newFake(t)
	a.set(func() { a.keys = []map[string]any{jwk("rsa", &testKeys().otherRSA.PublicKey)} })
	s, err := New(Options{Clock: memory.NewClock(now), Clients: []Client{{Issuer: a.URL, ClientID: client},
		{Issuer: b.URL, ClientID: client}}})
	if err != nil {
		t.Fatal(err)
	}
	a.set(func() {
		a.answer = func(url.Values) (int, any) {
			return 200, map[string]any{"id_token": b.token("RS256", "rsa", testKeys().rsa, nil)}
		}
	})
	if _, err := s.Redeem(t.Context(), a.grant()); reasonOf(err) != seckill.TokenIssuer {
		t.Errorf("a token that one issuer passes on: %v, want %s", err, seckill.TokenIssuer)
	}
	if _, err := s.Redeem(t.Context(), seckill.Grant{Kind: seckill.GrantToken, Token: b.token("RS256", "rsa",
		testKeys().otherRSA, nil)}); reasonOf(err) != seckill.TokenSignature {
		t.Errorf("a token by the other issuer's key: %v, want %s", err, seckill.TokenSignature)
	}
}

func large() string { return strings.Repeat("a", seckill.MaxIssuerToken+1) }

// TestNothingIsSpentWithoutKeys checks that a code stays good while the issuer's documents cannot be read, or are not
// right.
func TestNothingIsSpentWithoutKeys(t *testing.T) {
	k := testKeys()
	other := must.Get(ecdsa.GenerateKey(elliptic.P521(), rand.Reader))
	with := func(key map[string]any, changes map[string]any) []map[string]any {
		key = maps.Clone(key)
		maps.Copy(key, changes)
		return []map[string]any{key}
	}
	rsaKey, ecKey := jwk("rsa", &k.rsa.PublicKey), jwk("ec", &k.ec.PublicKey)
	offCurve := base64.RawURLEncoding.EncodeToString(make([]byte, 32))
	for name, change := range map[string]func(f *fake){
		"down":      func(f *fake) { f.down = true },
		"redirects": func(f *fake) { f.redirects = true },
		"no JSON":   func(f *fake) { f.raw["/.well-known/openid-configuration"] = "<html>" },
		"a list":    func(f *fake) { f.raw["/.well-known/openid-configuration"] = "[]" },
		"a large document, mostly blanks": func(f *fake) {
			document := must.Get(json.Marshal(f.document))
			f.raw["/.well-known/openid-configuration"] = string(document) + strings.Repeat(" ", MaxDocument)
		},
		"keys that are large": func(f *fake) {
			f.keys = with(rsaKey, map[string]any{"x": strings.Repeat("a", MaxDocument)})
		},
		"another issuer's":        func(f *fake) { f.document["issuer"] = "https://id.example.com" },
		"the issuer with a slash": func(f *fake) { f.document["issuer"] = f.URL + "/" },
		"no issuer":               func(f *fake) { delete(f.document, "issuer") },
		"keys by http elsewhere":  func(f *fake) { f.document["jwks_uri"] = "http://id.example.com/jwks" },
		"codes by http elsewhere": func(f *fake) { f.document["token_endpoint"] = "http://10.0.0.1/token" },
		"a page that is a script": func(f *fake) { f.document["authorization_endpoint"] = "javascript:alert(1)" },
		"no page":                 func(f *fake) { delete(f.document, "authorization_endpoint") },
		"neither page nor sign-out": func(f *fake) {
			delete(f.document, "authorization_endpoint")
			delete(f.document, "end_session_endpoint")
		},
		"sign-out by a script":           func(f *fake) { f.document["end_session_endpoint"] = "data:text/html,x" },
		"an address with a password":     func(f *fake) { f.document["token_endpoint"] = "https://a:b@id.example.com/" },
		"no keys":                        func(f *fake) { f.keys = nil },
		"no set":                         func(f *fake) { f.raw["/jwks"] = `{"keys":{}}` },
		"a key for encryption":           func(f *fake) { f.keys = with(rsaKey, map[string]any{"use": "enc"}) },
		"a key for another algorithm":    func(f *fake) { f.keys = with(rsaKey, map[string]any{"alg": "RS512"}) },
		"a key of 1024 bits":             func(f *fake) { f.keys = []map[string]any{jwk("rsa", &k.small.PublicKey)} },
		"a key of 8193 bits":             func(f *fake) { f.keys = with(rsaKey, map[string]any{"n": bits(8193)}) },
		"an exponent of 1":               func(f *fake) { f.keys = with(rsaKey, map[string]any{"e": "AQ"}) },
		"an even exponent":               func(f *fake) { f.keys = with(rsaKey, map[string]any{"e": "Bg"}) },
		"a huge exponent":                func(f *fake) { f.keys = with(rsaKey, map[string]any{"e": bits(70)}) },
		"no exponent":                    func(f *fake) { f.keys = with(rsaKey, map[string]any{"e": ""}) },
		"a modulus that is not base64":   func(f *fake) { f.keys = with(rsaKey, map[string]any{"n": "!"}) },
		"a point that is not on a curve": func(f *fake) { f.keys = with(ecKey, map[string]any{"x": offCurve}) },
		"a short point":                  func(f *fake) { f.keys = with(ecKey, map[string]any{"x": "AQ"}) },
		"a point of another name":        func(f *fake) { f.keys = with(ecKey, map[string]any{"crv": "P-384"}) },
		"another curve":                  func(f *fake) { f.keys = []map[string]any{jwk("ec", &other.PublicKey)} },
		"another curve under a name": func(f *fake) {
			f.keys = with(jwk("ec", &other.PublicKey), map[string]any{"crv": "P-256"})
		},
		"a secret": func(f *fake) {
			f.keys = []map[string]any{{"kty": "oct", "kid": "rsa", "k": "AQ"}}
		},
	} {
		f, s, clock := fresh(t)
		document, keys := maps.Clone(f.document), f.keys
		f.set(func() { change(f) })
		if _, err := s.Redeem(t.Context(), f.grant()); reasonOf(err) != "fault" {
			t.Errorf("%s: got %v, want a fault", name, err)
		}
		if list, err := s.List(t.Context()); err == nil {
			t.Errorf("%s: got the issuers %+v, want a fault", name, list)
		}
		if len(f.forms) > 0 {
			t.Errorf("%s: the code was sent", name)
		}
		f.set(func() { f.document, f.keys, f.down, f.redirects = document, keys, false, false; clear(f.raw) })
		clock.Advance(soonAfter)
		if _, err := s.Redeem(t.Context(), f.grant()); err != nil {
			t.Errorf("%s: a second later, mended: %v", name, err)
		}
	}
}

func bits(n uint) string {
	return base64.RawURLEncoding.EncodeToString(new(big.Int).SetBit(big.NewInt(1), int(n-1), 1).Bytes())
}

// TestKeysAreUsedByWhatTheyAre: a set may have keys for other uses, or two keys of one kid; the keys that fit are used.
func TestKeysAreUsedByWhatTheyAre(t *testing.T) {
	f, s, _ := fresh(t)
	k := testKeys()
	f.set(func() {
		f.keys = []map[string]any{{"kty": "OKP", "crv": "Ed25519", "kid": "both", "x": "AQ"}, {},
			jwk("both", &k.rsa.PublicKey), jwk("both", &k.ec.PublicKey), jwk("both", &k.otherRSA.PublicKey)}
	})
	for token, want := range map[string]seckill.Reason{
		f.token("RS256", "both", k.rsa, nil): "", f.token("ES256", "both", k.ec, nil): "",
		f.token("RS256", "both", k.otherRSA, nil): seckill.TokenSignature,
	} {
		if _, err := s.Redeem(t.Context(), seckill.Grant{Kind: seckill.GrantToken,
			Token: token}); reasonOf(err) != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestKeysRotate checks when keys are read again, and that the last good keys serve while the issuer is away.
func TestKeysRotate(t *testing.T) {
	f, s, clock := fresh(t)
	k := testKeys()
	in := func(alg, kid string, key any) seckill.Reason {
		t.Helper()
		_, err := s.Redeem(t.Context(), seckill.Grant{Kind: seckill.GrantToken, Token: f.token(alg, kid, key,
			map[string]any{
				"iat": clock.Now().Unix(), "exp": clock.Now().Add(time.Hour).Unix()})})
		return reasonOf(err)
	}
	check := func(what, calls string, got, want seckill.Reason) {
		t.Helper()
		if asked := f.calls(); got != want || asked != calls {
			t.Errorf("%s: got %q after the calls %q, want %q after %q", what, got, asked, want, calls)
		}
	}
	const both = "/discovery /jwks"
	check("at first", both, in("RS256", "rsa", k.rsa), "")
	check("known", "", in("ES256", "ec", k.ec), "")
	f.set(func() { f.keys = []map[string]any{jwk("new", &k.otherRSA.PublicKey), jwk("ec", &k.ec.PublicKey)} })
	check("rotated, within a minute", "", in("RS256", "new", k.otherRSA), seckill.TokenKey)
	clock.Advance(againAfter)
	check("rotated, after a minute", both, in("RS256", "new", k.otherRSA), "")
	check("the retired key", "", in("RS256", "rsa", k.rsa), seckill.TokenKey)
	for range 100 {
		check("made-up kids", "", in("RS256", "x", k.rsa), seckill.TokenKey)
	}
	clock.Advance(againAfter)
	check("a made-up kid a minute later", both, in("RS256", "x", k.rsa), seckill.TokenKey)
	check("and again", "", in("RS256", "x", k.rsa), seckill.TokenKey)

	f.set(func() { f.down = true })
	clock.Advance(freshFor)
	check("away, and old", "/discovery", in("RS256", "new", k.otherRSA), "")
	check("away, and asked just now", "", in("ES256", "ec", k.ec), "")
	check("away, and an unknown kid: it may be right", "", in("RS256", "x", k.rsa), "fault")
	clock.Advance(24 * time.Hour)
	check("away for a day", "/discovery", in("RS256", "new", k.otherRSA), "")
	f.set(func() { f.down, f.keys = false, []map[string]any{jwk("ec", &k.ec.PublicKey)} })
	clock.Advance(againAfter)
	check("back, without that key", both, in("RS256", "new", k.otherRSA), seckill.TokenKey)
	clock.Advance(freshFor)
	check("old", both, in("ES256", "ec", k.ec), "")
	clock = memory.NewClock(now)
	s.clock, s.byName[f.URL].clock = clock, clock
	check("the clock set back", both, in("ES256", "ec", k.ec), "")
}

// TestOneReadAtATime checks that many shoppers cause one read, that a shopper who leaves does not end it, and that
// those whose key is known do not wait for it.
func TestOneReadAtATime(t *testing.T) {
	f, s, clock := fresh(t)
	token := seckill.Grant{Kind: seckill.GrantToken, Token: f.token("RS256", "rsa", testKeys().rsa, map[string]any{
		"exp": now.Add(24 * time.Hour).Unix()})}
	slow := make(chan struct{})
	f.set(func() { f.slow = slow })
	ctx, leave := context.WithCancel(t.Context())
	errs := make(chan error)
	go func() { _, err := s.Redeem(ctx, token); errs <- err }()
	waitFor(t, func() bool { return f.calls() == "/discovery" })
	for range 20 {
		go func() { _, err := s.Redeem(t.Context(), token); errs <- err }()
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Redeem(gone, token); reasonOf(err) != "fault" {
		t.Errorf("a shopper who leaves while waiting: %v, want a fault", err)
	}
	leave()
	f.set(func() { f.slow = nil })
	close(slow)
	for range 21 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if got := f.calls(); got != "/jwks" {
		t.Errorf("more calls: %s, want /jwks", got)
	}

	slow = make(chan struct{})
	f.set(func() { f.slow = slow })
	clock.Advance(freshFor)
	go func() { _, err := s.Redeem(t.Context(), token); errs <- err }()
	waitFor(t, func() bool { return f.calls() == "/discovery" })
	if _, err := s.Redeem(gone, token); err != nil { // would not wait for an answer
		t.Errorf("while an old set is read again: %v", err)
	}
	f.set(func() { f.slow = nil })
	close(slow)
	if err := <-errs; err != nil {
		t.Error(err)
	}
}

func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	for range 1000 {
		if holds() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("waited in vain")
}

// silent answers nothing until the caller gives up.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestSlowIssuer checks that a call ends after three seconds, and that the next shoppers do not each wait as long.
func TestSlowIssuer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const name = "https://id.example.com"
		s, err := New(Options{Clients: []Client{{Issuer: name, ClientID: client}}, Clock: memory.NewClock(now),
			HTTP: silent{}})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		began := time.Now()
		for range 10 {
			all.Go(func() {
				if _, err := s.Redeem(t.Context(), seckill.Grant{Kind: seckill.GrantRefresh, Issuer: name,
					RefreshToken: "r"}); reasonOf(err) != "fault" {
					t.Errorf("got %v, want a fault", err)
				}
			})
		}
		all.Wait()
		if took := time.Since(began); took != Timeout {
			t.Errorf("took %v, want %v", took, Timeout)
		}
		if _, err := s.List(t.Context()); reasonOf(err) != "fault" || time.Since(began) != Timeout {
			t.Errorf("just after: %v after %v, want a fault at once", err, time.Since(began))
		}
	})
}

// TestList checks what pages are told, also while one of several issuers is away.
func TestList(t *testing.T) {
	a, b := newFake(t), newFake(t)
	b.set(func() { delete(b.document, "end_session_endpoint") })
	clock := memory.NewClock(now)
	s, err := New(Options{Clock: clock, Clients: []Client{{Issuer: a.URL, ClientID: "1"},
		{Issuer: "https://id.example.com", ClientID: "2", Metadata: b.URL + "/"}, {Issuer: a.URL, ClientID: "3"}}})
	if err != nil {
		t.Fatal(err)
	}
	b.set(func() { b.document["issuer"] = "https://id.example.com" })
	first := seckill.Issuer{Issuer: a.URL, ClientID: "1", Authorization: a.URL + "/authorize",
		EndSession: a.URL + "/logout", Scope: "openid"}
	last := first
	last.ClientID = "3"
	second := seckill.Issuer{Issuer: "https://id.example.com", ClientID: "2", Authorization: b.URL + "/authorize",
		Scope: "openid"}
	want := []seckill.Issuer{first, second, last}
	for range 2 {
		got, err := s.List(t.Context())
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%v, got (+), want (-):\n%s", err, diff)
		}
	}
	if calls := a.calls() + ", " + b.calls(); calls != "/discovery /jwks, /discovery /jwks" {
		t.Errorf("calls %s, want one read of each", calls)
	}
	a.set(func() { a.down = true })
	s, err = New(Options{Clock: clock, Clients: s.clients})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.List(t.Context()); err != nil || !cmp.Equal(got, []seckill.Issuer{second}) {
		t.Errorf("one is away: %+v, %v, want the other", got, err)
	}
	none, err := New(Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := none.List(t.Context()); err != nil || got == nil || len(got) > 0 {
		t.Errorf("no issuers: %#v, %v, want an empty list", got, err)
	}
}

func TestSettings(t *testing.T) {
	const a = "https://id.example.com"
	many := make([]Client, seckill.MaxIssuers+1)
	for i := range many {
		many[i] = Client{Issuer: fmt.Sprint(a, i), ClientID: client}
	}
	for name, c := range map[string]struct {
		clients []Client
		good    bool
	}{
		"https":                {[]Client{{Issuer: a, ClientID: client}}, true},
		"two clients":          {[]Client{{Issuer: a, ClientID: "1"}, {Issuer: a, ClientID: "2"}}, true},
		"http here":            {[]Client{{Issuer: "http://127.0.0.1:1/x", ClientID: client}}, true},
		"http here by name":    {[]Client{{Issuer: "http://localhost:1", ClientID: client}}, true},
		"only a name":          {[]Client{{Issuer: "http://id.example.com", ClientID: client, Metadata: a}}, true},
		"ten":                  {many[:seckill.MaxIssuers], true},
		"eleven":               {many, false},
		"http elsewhere":       {[]Client{{Issuer: "http://id.example.com", ClientID: client}}, false},
		"http in the network":  {[]Client{{Issuer: "http://10.0.0.1", ClientID: client}}, false},
		"a host like this one": {[]Client{{Issuer: "http://localhost.example.com", ClientID: client}}, false},
		"metadata by http":     {[]Client{{Issuer: a, ClientID: client, Metadata: "http://id.example.com"}}, false},
		"no client":            {[]Client{{Issuer: a}}, false},
		"a client twice":       {[]Client{{Issuer: a, ClientID: client}, {Issuer: a, ClientID: client}}, false},
		"two places": {[]Client{{Issuer: a, ClientID: "1"}, {Issuer: a, ClientID: "2",
			Metadata: a + "/x"}}, false},
		"an issuer with a query": {[]Client{{Issuer: a + "?a=b", ClientID: client}}, false},
		"no URL":                 {[]Client{{Issuer: "id.example.com", ClientID: client}}, false},
	} {
		if _, err := New(Options{Clients: c.clients, Clock: memory.NewClock(now)}); (err == nil) != c.good {
			t.Errorf("%s: %v, want accepted %v", name, err, c.good)
		}
	}
}
