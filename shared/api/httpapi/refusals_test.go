package httpapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// counting is a handler of all routes that counts and logs refusals.
type counting struct {
	*Handler
	flows *stubs
	clock *memory.Clock
	log   bytes.Buffer
	count map[seckill.Reason]int
}

func newCounting(t *testing.T) *counting {
	t.Helper()
	c := &counting{clock: memory.NewClock(now), count: map[seckill.Reason]int{}}
	auth, err := jwtauth.New(jwtauth.Keys{Current: secret}, fixedClock{})
	must.OK(t, err)
	log := slog.New(slog.NewJSONHandler(&c.log, nil))
	c.Handler, c.flows = newStubsWith(Options{Refusals: NewRefusals(func(r seckill.Reason) {
		c.count[r]++
	}, auth, log, c.clock)})
	return c
}

// lines returns what was logged since the last call, by reason; each reason that is a sample at most once.
func (c *counting) lines(t *testing.T) map[string]map[string]any {
	t.Helper()
	out := map[string]map[string]any{}
	for line := range strings.Lines(c.log.String()) {
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		reason, _ := l["reason"].(string)
		if out[reason] != nil && !loggedWhole[seckill.Reason(reason)] {
			t.Errorf("two lines of %s: %s", reason, c.log.String())
		}
		out[reason] = l
	}
	c.log.Reset()
	return out
}

// TestEveryCodeIsCounted checks for all codes that each answer other than 200 counts once, under its code.
func TestEveryCodeIsCounted(t *testing.T) {
	c := newCounting(t)
	want := map[seckill.Reason]int{}
	for _, code := range seckill.Codes() {
		c.flows.err = seckill.Refuse(code)
		r := httptest.NewRequest("POST", "/seckill/buy", strings.NewReader(purchaseBody("42", "1", address)))
		r.Header.Set("Authorization", bearer(alice))
		// no single route answers with all codes, so the OpenAPI check is skipped
		c.ServeHTTP(httptest.NewRecorder(), r)
		want[seckill.Reason(code)]++
	}
	c.flows.err = fmt.Errorf("no answer")
	do(t, c.Handler, "POST", "/seckill/buy", purchaseBody("42", "1", address))
	want["unavailable"]++
	c.flows.err = nil
	do(t, c.Handler, "POST", "/seckill/buy", purchaseBody("42", "1", address))
	do(t, c.Handler, "POST", "/seckill/buy", "{")
	want["invalid_request"]++
	do(t, c.Handler, "GET", "/nowhere", "")
	want["not_found"]++
	do(t, c.Handler, "DELETE", "/seckill/buy", "")
	want["method_not_allowed"]++
	c.flows.panic = "at the disco"
	do(t, c.Handler, "GET", "/seckill/ing", "")
	want["internal"]++
	if !maps.Equal(c.count, want) {
		t.Errorf("counted %v, want %v", c.count, want)
	}
	if lines := c.lines(t); len(lines) != len(want) || lines["sold_out"]["route"] != "/seckill/buy" ||
		lines["not_found"]["route"] == "/nowhere" {
		t.Errorf("lines %v, want one of each reason, with the pattern and never the path", lines)
	}
}

func TestTokensAreCountedByWhatIsWrong(t *testing.T) {
	c := newCounting(t)
	good := strings.TrimPrefix(bearer(alice), "Bearer ")
	sign := func(secret string, end time.Time) string {
		token, err := jwtauth.Sign(secret, alice, end)
		must.OK(t, err)
		return token
	}
	parts := strings.Split(good, ".")
	changed := base64.RawURLEncoding.EncodeToString([]byte(`{"iss":1,"sub":"1","exp":9999999999}`))
	want := map[seckill.Reason]int{}
	for header, reason := range map[string]seckill.Reason{
		"-": seckill.TokenMissing, "": seckill.TokenMalformed, "Basic " + good: seckill.TokenMalformed,
		"Bearer x": seckill.TokenMalformed, "Bearer": seckill.TokenMalformed, "Bearer ": seckill.TokenMalformed,
		good: seckill.TokenMalformed,
		"Bearer " + parts[0] + "." + changed + "." + parts[2]: seckill.TokenSignature,
		"Bearer " + sign("a guess", now.Add(time.Hour)):       seckill.TokenSignature,
		"Bearer " + sign(secret, now):                         seckill.TokenExpired,
		// {"alg":"none"}
		"Bearer eyJhbGciOiJub25lIn0" + good[strings.Index(good, "."):]: seckill.TokenAlgorithm,
		// {"alg":"HS256","kid":"x"}
		"Bearer eyJhbGciOiJIUzI1NiIsImtpZCI6IngifQ" + good[strings.Index(good, "."):]:         seckill.TokenKey,
		"Bearer " + good[:strings.LastIndex(good, ".")+1] + strings.Repeat("A", len("sig")*4): seckill.TokenSignature,
	} {
		w := do(t, c.Handler, "GET", "/order/list", "", "Authorization", header)
		if w.Code != http.StatusForbidden || c.flows.calls != 0 {
			t.Errorf("%s: %d, %d calls of the flow", header, w.Code, c.flows.calls)
		}
		want[reason]++
	}
	r := httptest.NewRequest("GET", "/order/list", nil)
	r.Header["Authorization"] = []string{bearer(alice), bearer(alice)}
	send(t, c.Handler, r)
	want[seckill.TokenMalformed]++
	if !maps.Equal(c.count, want) {
		t.Errorf("counted %v, want %v", c.count, want)
	}
	for reason, l := range c.lines(t) {
		if l["user_hash"] != nil || l["network_hash"] == nil {
			t.Errorf("%s: %v, want a network, and no user of a token that nobody vouches for", reason, l)
		}
	}
}

// TestRefusalsAreLoggedNowAndThen checks that each reason has one line per 10 s with the number of refusals,
// independently of other reasons.
func TestRefusalsAreLoggedNowAndThen(t *testing.T) {
	c := newCounting(t)
	refuse := func(code seckill.Code, times int) {
		c.flows.err = seckill.Refuse(code)
		for range times {
			do(t, c.Handler, "POST", "/seckill/buy", purchaseBody("42", "1", address), inFront, "req-1")
		}
	}
	refuse(seckill.CodeSoldOut, 100)
	refuse(seckill.CodeEnded, 1)
	if l := c.lines(t); len(l) != 2 || l["sold_out"]["count"] != 1.0 || l["ended"]["count"] != 1.0 {
		t.Errorf("at first: %v", l)
	}
	c.clock.Advance(10*time.Second - time.Millisecond)
	refuse(seckill.CodeSoldOut, 1)
	if l := c.lines(t); len(l) != 0 {
		t.Errorf("within 10 s: %v, want nothing", l)
	}
	c.clock.Advance(time.Millisecond)
	refuse(seckill.CodeSoldOut, 5)
	if l := c.lines(t); len(l) != 1 || l["sold_out"]["count"] != 101.0 {
		t.Errorf("after 10 s: %v, want 101 of sold_out", l)
	}
	if c.count["sold_out"] != 106 {
		t.Errorf("counted %v, want 106 of sold_out", c.count)
	}
}

// TestRefusedAuthorizationIsLoggedWhole checks that each refusal has a line with its network, until there are too many
// in a minute: then lines are a sample again, which count what has none.
func TestRefusedAuthorizationIsLoggedWhole(t *testing.T) {
	c := newCounting(t)
	logged := func() (lines, all int) {
		t.Helper()
		for line := range strings.Lines(c.log.String()) {
			var l struct {
				Message string `json:"msg"`
				Network string `json:"network_hash"`
				Count   int
			}
			must.OK(t, json.Unmarshal([]byte(line), &l))
			if len(l.Network) != 16 || l.Message != "refused" {
				t.Errorf("%s", line)
			}
			lines, all = lines+1, all+l.Count
		}
		c.log.Reset()
		return lines, all
	}
	refuse := func(times int, e *seckill.Error) {
		c.flows.err = e
		for range times {
			r := httptest.NewRequest("GET", "/order/"+orderID, nil)
			r.Header.Set("Authorization", bearer(alice))
			c.ServeHTTP(httptest.NewRecorder(), r) // no route answers with all codes: OpenAPI is not checked
		}
	}
	for _, e := range []*seckill.Error{seckill.RefuseForeign(), seckill.Refuse(seckill.CodeBlocked),
		{Code: seckill.CodeToken, Token: seckill.TokenSignature}, {Code: seckill.CodeToken, Token: seckill.TokenKey},
		{Code: seckill.CodeToken, Token: seckill.TokenAlgorithm},
		{Code: seckill.CodeTicket, Token: seckill.TicketSignature},
		{Code: seckill.CodeTicket, Token: seckill.TicketForeign},
		{Code: seckill.CodeSignIn, Token: seckill.TokenExpired}} {
		refuse(3, e)
		if lines, all := logged(); lines != 3 || all != 3 {
			t.Errorf("%v, %s: %d lines of %d, want 3 of 3", e, e.Token, lines, all)
		}
	}
	refuse(3, &seckill.Error{Code: seckill.CodeToken, Token: seckill.TokenExpired})
	if lines, _ := logged(); lines != 0 {
		t.Errorf("%d lines of an expired token beside a refused sign-in, want a sample", lines)
	}
	refuse(maxWhole, seckill.RefuseForeign())
	if lines, all := logged(); lines != maxWhole-24 || all != lines {
		t.Errorf("%d lines of %d, want %d in a minute", lines, all, maxWhole)
	}
	c.clock.Advance(refusalEvery)
	refuse(5, seckill.RefuseForeign())
	if lines, all := logged(); lines != 1 || all != 25 {
		t.Errorf("beyond the bound %d lines of %d, want 1 of 25", lines, all)
	}
	c.clock.Advance(time.Minute - refusalEvery)
	refuse(2, seckill.RefuseForeign())
	if lines, all := logged(); lines != 2 || all != 6 {
		t.Errorf("in the next minute %d lines of %d, want 2 of 6", lines, all)
	}
}

// TestRefusalsHideWho checks that the hashes are constant for a day and differ on the next, and that no line contains
// a value that the client sent.
func TestRefusalsHideWho(t *testing.T) {
	c := newCounting(t)
	c.flows.err = seckill.Refuse(seckill.CodeSoldOut)
	ask := func(user, remote string) (userHash, networkHash string) {
		t.Helper()
		c.clock.Advance(refusalEvery)
		r := httptest.NewRequest("POST", "/seckill/buy", strings.NewReader(purchaseBody("42", "1", address)))
		r.Header.Set("Authorization", bearer(user))
		r.Header.Set("X-Forwarded-For", "198.51.100.9")
		r.RemoteAddr = remote
		send(t, c.Handler, r)
		text := c.log.String()
		for _, value := range []string{user, "203.0.113", "2001:db8", "198.51.100", "中关村", "eyJ", secret} {
			if strings.Contains(text, value) {
				t.Errorf("the log has %s: %s", value, text)
			}
		}
		l := c.lines(t)["sold_out"]
		userHash, _ = l["user_hash"].(string)
		networkHash, _ = l["network_hash"].(string)
		return userHash, networkHash
	}
	user, network := ask(alice, "203.0.113.7")
	if len(user) != 16 || len(network) != 16 || user == network {
		t.Fatalf("hashes %q and %q", user, network)
	}
	c.clock.Advance(time.Hour)
	if u, n := ask(alice, "203.0.113.7:443"); u != user || n != network {
		t.Errorf("an hour later %s and %s, want %s and %s", u, n, user, network)
	}
	if _, n := ask(alice, "::ffff:203.0.113.7"); n != network {
		t.Errorf("the same address as IPv6: %s, want %s", n, network)
	}
	if u, n := ask("1001", "203.0.113.8"); u == user || n == network {
		t.Error("another user and address have the same hashes")
	}
	_, six := ask(alice, "2001:db8:1:2::1")
	if _, n := ask(alice, "[2001:db8:1:2:3:4:5:6]:443"); n != six {
		t.Error("two addresses of one household's network differ")
	}
	if _, n := ask(alice, "2001:db8:1:3::1"); n == six {
		t.Error("two networks have one hash")
	}
	if _, n := ask(alice, "203.0.113.1, 10.0.0.1"); n != "" {
		t.Errorf("what is not an address has the hash %s", n)
	}
	c.clock.Advance(24 * time.Hour)
	if u, n := ask(alice, "203.0.113.7"); u == user || n == network {
		t.Error("the next day has the same hashes")
	}
}

// TestWithoutASecretNothingIsLogged covers notify, which has no token secret.
func TestWithoutASecretNothingIsLogged(t *testing.T) {
	var log bytes.Buffer
	n := 0
	h := NewNotify(&stubs{err: seckill.Refuse(seckill.CodeForged)}, Options{
		Refusals: NewRefusals(func(seckill.Reason) {
			n++
		}, nil, slog.New(slog.NewTextHandler(&log, nil)), fixedClock{})})
	r := httptest.NewRequest(http.MethodPost, "/seckill/alipay/notify", strings.NewReader("a=b"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	send(t, h, r)
	if n != 1 || log.Len() > 0 {
		t.Errorf("%d counted, log %q; want 1 and nothing", n, log.String())
	}
}
