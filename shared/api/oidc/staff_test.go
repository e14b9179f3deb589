package oidc

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

const clientSecret = "a:secret/with+signs"

// newStaff returns an issuer of staff, whose next ID token has these claims.
func newStaff(t *testing.T, claims map[string]any, change func(*StaffOptions)) (*fake, *Staff) {
	t.Helper()
	f := newFake(t)
	answer := f.answer
	f.set(func() {
		f.answer = func(form url.Values) (int, any) {
			status, v := answer(form)
			if status == http.StatusOK {
				v.(map[string]any)["id_token"] = f.token("RS256", "rsa", testKeys().rsa, claims)
			}
			return status, v
		}
	})
	o := StaffOptions{Options: Options{Clients: []Client{{Issuer: f.URL, ClientID: client,
		Secret: func() string { return clientSecret }}}, Clock: memory.NewClock(now)},
		Groups: DefaultGroups, Prefix: DefaultPrefix, WhoClaim: DefaultWho, Scope: DefaultScope}
	if change != nil {
		change(&o)
	}
	s, err := NewStaff(o)
	if err != nil {
		t.Fatal(err)
	}
	return f, s
}

// TestStaffSignIn checks where a browser goes, what a code gives, and how the client's secret is sent.
func TestStaffSignIn(t *testing.T) {
	f, s := newStaff(t, map[string]any{"email": "ada@example.com", DefaultGroups: []string{"seckill-finance", "x",
		"seckill-viewer", "finance", "seckill-admin", "seckill-"}}, nil)
	g := seckill.Grant{Kind: seckill.GrantCode, Code: code, Verifier: verifier, Nonce: nonce, RedirectURI: redirect}
	address, err := s.Authorization(t.Context(), g, "a-state", false)
	to := must.Get(url.Parse(address))
	challenge := sha256.Sum256([]byte(verifier))
	if diff := cmp.Diff(url.Values{"response_type": {"code"}, "client_id": {client}, "redirect_uri": {redirect},
		"scope": {"openid"}, "state": {"a-state"}, "nonce": {nonce}, "code_challenge_method": {"S256"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}}, to.Query()); err != nil ||
		diff != "" || !strings.HasPrefix(address, f.URL+"/authorize?") {
		t.Errorf("%s, %v\n%s", address, err, diff)
	}
	address, err = s.Authorization(t.Context(), g, "a-state", true)
	if again := must.Get(url.Parse(address)).Query(); err != nil || again.Get("prompt") != "login" ||
		len(again) != len(to.Query())+1 {
		t.Errorf("anew: %s, %v", address, err)
	}
	var sent string
	f.set(func() {
		f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if user, secret, ok := r.BasicAuth(); ok {
				sent = user + " " + secret
			}
			f.ServeHTTP(w, r)
		})
	})
	m, err := s.RedeemStaff(t.Context(), g)
	host := strings.TrimPrefix(f.URL, "http://")
	want := seckill.StaffMember{Who: host + "/a-person", Name: "ada@example.com",
		Roles: []seckill.Role{seckill.RoleViewer, seckill.RoleFinance}, Refresh: "next"}
	if diff := cmp.Diff(want, m); err != nil || diff != "" || sent != client+" "+url.QueryEscape(clientSecret) ||
		strings.Contains(f.forms[0].Encode(), "secret") {
		t.Errorf("%v, sent %q\n%s", err, sent, diff)
	}
	f.set(func() { // a refresh token's ID token has no nonce
		f.answer = func(url.Values) (int, any) {
			return 200, map[string]any{"id_token": f.token("RS256", "rsa", testKeys().rsa,
				map[string]any{"nonce": nil})}
		}
	})
	m, err = s.RedeemStaff(t.Context(), seckill.Grant{Kind: seckill.GrantRefresh, RefreshToken: "next"})
	if err != nil || m.Who != want.Who || m.Roles != nil || m.Refresh != "" || m.Name != "" {
		t.Errorf("by refresh token: %+v, %v", m, err)
	}
}

// TestARefreshWithoutAnIDToken: OpenID Connect Core 12.2 lets an issuer leave it out. For a code it must not, and
// without an access token there was no success.
func TestARefreshWithoutAnIDToken(t *testing.T) {
	f, s := newStaff(t, nil, nil)
	refresh := seckill.Grant{Kind: seckill.GrantRefresh, RefreshToken: "next"}
	grant := seckill.Grant{Kind: seckill.GrantCode, Code: code, Verifier: verifier, Nonce: nonce, RedirectURI: redirect}
	for name, c := range map[string]struct {
		grant  seckill.Grant
		answer map[string]any
		want   *seckill.StaffMember // nil if a fault is wanted
	}{
		"rotated": {refresh, map[string]any{"access_token": "a", "refresh_token": "r2"},
			&seckill.StaffMember{Silent: true, Refresh: "r2"}},
		"the same":        {refresh, map[string]any{"access_token": "a"}, &seckill.StaffMember{Silent: true}},
		"no access token": {refresh, map[string]any{"refresh_token": "r2"}, nil},
		"a code":          {grant, map[string]any{"access_token": "a", "refresh_token": "r2"}, nil},
	} {
		f.set(func() { f.answer = func(url.Values) (int, any) { return 200, c.answer } })
		m, err := s.RedeemStaff(t.Context(), c.grant)
		if c.want == nil && seckill.CodeOf(err) != seckill.CodeUnavailable || c.want != nil && (err != nil ||
			cmp.Diff(*c.want, m) != "") {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

// TestWhoStaffAre checks which claims name a person and their roles, and that none of them can be read in two ways.
func TestWhoStaffAre(t *testing.T) {
	email := func(o *StaffOptions) { o.WhoClaim = "email" }
	for name, c := range map[string]struct {
		claims map[string]any
		change func(*StaffOptions)
		who    string // after the host; "" if refused
		roles  string
	}{
		"no group": {claims: map[string]any{}, who: "a-person"},
		"one as a text": {claims: map[string]any{DefaultGroups: "seckill-editor"}, who: "a-person",
			roles: "editor"},
		"not only texts":    {claims: map[string]any{DefaultGroups: []any{"seckill-editor", 5}}, who: "a-person"},
		"in other letters":  {claims: map[string]any{DefaultGroups: []string{"SECKILL-finance"}}, who: "a-person"},
		"an object":         {claims: map[string]any{DefaultGroups: map[string]any{"a": 1}}, who: "a-person"},
		"the claim doubled": {claims: map[string]any{DefaultGroups: "x", "COGNITO:groups": "seckill-editor"}},
		"another claim": {claims: map[string]any{"groups": []string{"shop/auditor"}}, who: "a-person", roles: "auditor",
			change: func(o *StaffOptions) { o.Groups, o.Prefix = "groups", "shop/" }},
		"by e-mail":        {claims: map[string]any{"email": "a@b.c"}, change: email, who: "a@b.c"},
		"no e-mail":        {claims: map[string]any{}, change: email},
		"e-mail no text":   {claims: map[string]any{"email": []string{"a@b.c"}}, change: email},
		"e-mail with path": {claims: map[string]any{"email": "x/ada"}, change: email},
		"a control":        {claims: map[string]any{"email": "a\nb"}, change: email},
		"a direction":      {claims: map[string]any{"email": "a\u202eb@c.d"}, change: email},
		"nothing seen":     {claims: map[string]any{"email": "\u200b"}, change: email},
		"long":             {claims: map[string]any{"email": strings.Repeat("a", 129)}, change: email},
		"subject and path": {claims: map[string]any{"sub": "x/ada"}},
		"another nonce":    {claims: map[string]any{"nonce": "x"}},
		"another client":   {claims: map[string]any{"aud": "app"}},
		"another issuer":   {claims: map[string]any{"iss": "https://id.example.com"}},
		"expired":          {claims: map[string]any{"exp": now.Unix()}},
		"an access token":  {claims: map[string]any{"token_use": "access"}},
	} {
		t.Run(name, func(t *testing.T) {
			f, s := newStaff(t, c.claims, c.change)
			m, err := s.RedeemStaff(t.Context(), seckill.Grant{Kind: seckill.GrantCode, Code: code, Verifier: verifier,
				Nonce: nonce, RedirectURI: redirect})
			if c.who == "" {
				if seckill.CodeOf(err) != seckill.CodeSignIn || m.Who != "" {
					t.Errorf("got %+v, %v, want refused", m, err)
				}
				return
			}
			roles := make([]string, len(m.Roles))
			for i, r := range m.Roles {
				roles[i] = string(r)
			}
			if err != nil || m.Who != strings.TrimPrefix(f.URL, "http://")+"/"+c.who ||
				strings.Join(roles, ",") != c.roles {
				t.Errorf("got %+v, %v", m, err)
			}
		})
	}
}

// TestNamesOfStaff: a name is shown without what people cannot read, and one of which nothing is left is none.
func TestNamesOfStaff(t *testing.T) {
	for want, claims := range map[string]map[string]any{
		"Ann B": {"email": "\u200b", "name": " Ann\u202e B\n"},
		"安":     {"email": 5, "preferred_username": "安"},
		"":      {"email": nil, "name": "\u2066\u2069"},
	} {
		_, s := newStaff(t, claims, nil)
		m, err := s.RedeemStaff(t.Context(), seckill.Grant{Kind: seckill.GrantCode, Code: code, Verifier: verifier,
			Nonce: nonce, RedirectURI: redirect})
		if err != nil || m.Name != want {
			t.Errorf("%v: %q, %v, want %q", claims, m.Name, err, want)
		}
	}
}

// TestStaffIssuerFails tells refusals, which end a session, from faults, which do not.
func TestStaffIssuerFails(t *testing.T) {
	f, s := newStaff(t, nil, nil)
	g := seckill.Grant{Kind: seckill.GrantRefresh, RefreshToken: "r"}
	for _, c := range []struct {
		status int
		answer string
		want   seckill.Code
	}{{400, "invalid_grant", seckill.CodeSignIn}, {401, "invalid_client", seckill.CodeSignInBroken},
		{400, "invalid_request", seckill.CodeSignInBroken}, {400, "interaction_required", seckill.CodeSignIn},
		{400, "unauthorized_client", seckill.CodeSignInBroken}, {500, "", seckill.CodeUnavailable}} {
		f.set(func() {
			f.answer = func(url.Values) (int, any) { return c.status, map[string]any{"error": c.answer} }
		})
		if _, err := s.RedeemStaff(t.Context(), g); seckill.CodeOf(err) != c.want ||
			errors.Is(err, seckill.ErrIssuerAway) {
			t.Errorf("%d %s: %v, want %s", c.status, c.answer, err, c.want)
		}
	}
	for _, bad := range []seckill.Grant{{Kind: seckill.GrantCode}, {Kind: seckill.GrantToken, Token: "t"},
		{Kind: seckill.GrantCode, Code: large(), Verifier: verifier, Nonce: nonce, RedirectURI: redirect}} {
		if _, err := s.RedeemStaff(t.Context(), bad); seckill.CodeOf(err) != seckill.CodeSignIn {
			t.Errorf("%s: %v", bad.Kind, err)
		}
	}
	f.set(func() { f.down = true })
	_, other := newStaff(t, nil, func(o *StaffOptions) { o.Clients = []Client{{Issuer: f.URL, ClientID: client}} })
	if _, err := other.Authorization(t.Context(), g, "s", false); seckill.CodeOf(err) != seckill.CodeUnavailable {
		t.Errorf("down: %v", err)
	}
	f.Close()
	if _, err := s.RedeemStaff(t.Context(), g); !errors.Is(err, seckill.ErrIssuerAway) {
		t.Errorf("away: %v", err)
	}
}

// TestFreshSignIn: a sign-in for commands that move money asks anew, with max_age if the issuer knows auth_time, and is
// refused if the issuer's answer is older, weaker or silent. Any other sign-in is as fresh as the issuer says.
func TestFreshSignIn(t *testing.T) {
	at := func(ago time.Duration) map[string]any { return map[string]any{"auth_time": now.Add(-ago).Unix()} }
	mfa := func(o *StaffOptions) { o.ACR = "mfa" }
	strong := map[string]any{"auth_time": now.Unix(), "acr": "mfa"}
	never, limit := time.Time{}, seckill.StaffProof
	just := now.Add(time.Second - limit)
	for name, c := range map[string]struct {
		claims map[string]any
		tells  bool // the issuer's document has auth_time
		change func(*StaffOptions)
		fresh  seckill.Reason // of a fresh sign-in; "": it is taken
		proof  time.Time      // of a fresh sign-in that is taken
		any    time.Time      // of any other
	}{
		"now":                       {at(0), true, nil, "", now, now},
		"a while ago":               {at(limit - time.Second), true, nil, "", just, just},
		"too long ago":              {at(limit), true, nil, seckill.TokenStale, never, never},
		"too long ago, not asked":   {at(limit), false, nil, seckill.TokenStale, never, never},
		"before the calendar":       {map[string]any{"auth_time": -1e300}, true, nil, seckill.TokenStale, never, never},
		"silent":                    {nil, true, nil, seckill.TokenClaims, never, never},
		"a text":                    {map[string]any{"auth_time": "now"}, true, nil, seckill.TokenClaims, never, never},
		"knows no auth_time":        {nil, false, nil, "", now, never},
		"as strong as wanted":       {strong, true, mfa, "", now, now},
		"weaker":                    {at(0), true, mfa, seckill.TokenClaims, never, never},
		"weaker, knows no time":     {nil, false, mfa, seckill.TokenClaims, never, never},
		"nobody wants it so strong": {strong, true, nil, "", now, now},
	} {
		t.Run(name, func(t *testing.T) {
			f, s := newStaff(t, c.claims, c.change)
			if c.tells {
				f.document["claims_supported"] = []string{"sub", "auth_time"}
			}
			g := seckill.Grant{Kind: seckill.GrantCode, Code: code, Verifier: verifier, Nonce: nonce,
				RedirectURI: redirect}
			if m, err := s.RedeemStaff(t.Context(), g); err != nil || !m.Proof.Equal(c.any) {
				t.Errorf("any: %v, %v, want %v", m.Proof, err, c.any)
			}
			g.Fresh = true
			m, err := s.RedeemStaff(t.Context(), g)
			if got := reasonOf(err); got != c.fresh || !m.Proof.Equal(c.proof) {
				t.Errorf("fresh: %v, %v, want %v, %q", m.Proof, err, c.proof, c.fresh)
			}
			q := must.Get(url.Parse(must.Get(s.Authorization(t.Context(), g, "s", false)))).Query()
			if got := q.Get("prompt"); got != "login" || (q.Get("max_age") == "900") != c.tells ||
				(q.Get("acr_values") == "mfa") != (c.change != nil) {
				t.Errorf("asked for %v", q)
			}
		})
	}
	_, s := newStaff(t, at(-2*time.Minute), nil)
	if _, err := s.RedeemStaff(t.Context(), seckill.Grant{Kind: seckill.GrantCode, Code: code, Verifier: verifier,
		Nonce: nonce, RedirectURI: redirect}); reasonOf(err) != seckill.TokenEarly {
		t.Errorf("still to come: %v", err)
	}
	if m, err := s.RedeemStaff(t.Context(), seckill.Grant{Kind: seckill.GrantRefresh, RefreshToken: "r"}); err != nil ||
		!m.Proof.IsZero() {
		t.Errorf("by refresh token: %v, %v", m.Proof, err)
	}
}
