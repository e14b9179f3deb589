package local_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/api/operator"
)

// signIn walks through the demo issuer as a browser does: its page, a person's link, back to the shop with a code.
// It returns the body of the sign-in.
func (w *shopTest) signIn(user string) map[string]any {
	w.t.Helper()
	const verifier, nonce = "a-verifier-that-is-at-least-43-characters-long", "a-nonce"
	list, _ := w.call("", "GET", "/signin", nil).JSON["issuers"].([]any)
	if len(list) != 1 {
		w.t.Fatalf("issuers %v, want one", list)
	}
	issuer := list[0].(map[string]any)
	challenge := sha256.Sum256([]byte(verifier))
	back := w.URL() + "/"
	query := url.Values{"response_type": {"code"}, "client_id": {issuer["client_id"].(string)}, "redirect_uri": {back},
		"scope": {issuer["scope"].(string)}, "state": {"a-state"}, "nonce": {nonce}, "code_challenge_method": {"S256"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}}
	page := w.call("", "GET", strings.TrimPrefix(issuer["authorization_endpoint"].(string), w.URL())+"?"+query.Encode(),
		nil)
	link := regexp.MustCompile(`href="([^"]*person=` + user + `[^"]*)"`).FindStringSubmatch(page.Raw)
	if page.Status != http.StatusOK || link == nil {
		w.t.Fatalf("the issuer's page has no link for %s: %v", user, page)
	}
	client := http.Client{Transport: w.http.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Get(strings.ReplaceAll(link[1], "&amp;", "&"))
	if err != nil {
		w.t.Fatal(err)
	}
	answer.Body.Close()
	at, err := answer.Location()
	if err != nil || at.Query().Get("state") != "a-state" || at.Query().Get("iss") != issuer["issuer"] ||
		!strings.HasPrefix(at.String(), back+"?") {
		w.t.Fatalf("sent back to %v, %v", at, err)
	}
	return map[string]any{"grant": "code", "issuer": issuer["issuer"], "code": at.Query().Get("code"),
		"code_verifier": verifier, "nonce": nonce, "redirect_uri": back}
}

// TestSignInAsADemoShopper checks the whole way for each of the four: they get the user ids that they have without it,
// a token that buys, and a refresh token that works once.
func TestSignInAsADemoShopper(t *testing.T) {
	w := start(t, local.Options{})
	for _, p := range local.Shoppers {
		body := w.signIn(p.User)
		a := w.call("", "POST", "/signin", body)
		if a.Status != http.StatusOK || a.Text("user") != p.User || a.Text("token") == "" ||
			a.Header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%s: %v", p.Name, a)
		}
		if list := w.call(a.Text("token"), "GET", "/order/list", nil); list.Status != http.StatusOK {
			t.Errorf("%s: orders with the token: %v", p.Name, list)
		}
		if again := w.call("", "POST", "/signin", body); again.Status != http.StatusUnauthorized ||
			again.Text("code") != "signin_refused" || again.Header.Get("Www-Authenticate") != "Bearer" {
			t.Errorf("%s: the code again: %v", p.Name, again)
		}
		refresh := map[string]any{"grant": "refresh", "issuer": body["issuer"],
			"refresh_token": a.Text("refresh_token")}
		next := w.call("", "POST", "/signin", refresh)
		if next.Status != http.StatusOK || next.Text("user") != p.User ||
			next.Text("refresh_token") == a.Text("refresh_token") {
			t.Errorf("%s: refreshed: %v", p.Name, next)
		}
		if again := w.call("", "POST", "/signin", refresh); again.Status != http.StatusUnauthorized {
			t.Errorf("%s: the refresh token again: %v", p.Name, again)
		}
	}
	wrong := w.signIn("1001")
	wrong["nonce"] = "another"
	if a := w.call("", "POST", "/signin", wrong); a.Status != http.StatusUnauthorized {
		t.Errorf("another nonce: %v", a)
	}
	counts, err := json.Marshal(w.Meter.Refusals())
	if err != nil || string(counts) != `{"token_grant":8,"token_nonce":1}` || w.Meter.Counts()["signed_in"] != 8 {
		t.Errorf("refusals %s, events %v", counts, w.Meter.Counts())
	}
}

// TestSignOut: the token of an ended session lists nothing, and does nothing: what is bought with it is rejected. Its
// refresh token does not renew it. Another session of the same shopper goes on, until staff end it.
func TestSignOut(t *testing.T) {
	w := start(t, local.Options{})
	user := local.Shoppers[0].User
	first, second := w.signIn(user), w.signIn(user)
	phone, laptop := w.call("", "POST", "/signin", first), w.call("", "POST", "/signin", second)
	list, _ := w.call(phone.Text("token"), "GET", "/signin/sessions", nil).JSON["sessions"].([]any)
	if len(list) != 2 {
		t.Fatalf("sessions %v, want two", list)
	}
	end := map[string]any{"session": phone.Text("session")}
	if a := w.call(laptop.Text("token"), "POST", "/signin/end", end); a.Status != http.StatusOK {
		t.Fatalf("ended from the other device: %v", a)
	}
	if a := w.call(phone.Text("token"), "GET", "/order/list", nil); a.Status != http.StatusForbidden {
		t.Errorf("it reads: %v", a)
	}
	if a := w.call(phone.Text("token"), "POST", "/signin/end", map[string]any{}); a.Status != http.StatusForbidden ||
		a.Text("code") != "invalid_token" {
		t.Errorf("it ends the other: %v", a)
	}
	if a := w.call("", "POST", "/signin", map[string]any{"grant": "refresh", "issuer": first["issuer"],
		"refresh_token": phone.Text("refresh_token"), "session": phone.Text("session")}); a.Status !=
		http.StatusUnauthorized {
		t.Errorf("it is renewed: %v", a)
	}
	live, _ := w.call("", "GET", "/seckill/ing?page=1&size=1", nil).JSON["seckills"].([]any)
	item := live[0].(map[string]any)["id"]
	for i, want := range []string{"rejected", "pending_payment"} {
		a := w.call([]string{phone.Text("token"), laptop.Text("token")}[i], "POST", "/seckill/buy",
			map[string]any{"seckill_id": item, "count": 1, "address": "杭州市"})
		if a.Status != http.StatusOK {
			t.Fatalf("buy: %v", a)
		}
		path := "/order/" + a.Text("order_id")
		w.eventually("the order is "+want, func() bool {
			return w.call(laptop.Text("token"), "GET", path, nil).Text("state") == want
		}, func() any { return w.call(laptop.Text("token"), "GET", path, nil) })
	}
	done, err := gives[operator.SessionsEnded](w, &operator.SignOut{User: user})
	if err != nil || done.Ended != 1 {
		t.Errorf("signed out by staff: %+v, %v", done, err)
	}
	if a := w.call(laptop.Text("token"), "GET", "/signin/sessions", nil); a.Status != http.StatusForbidden {
		t.Errorf("after that: %v", a)
	}
}
