package local_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"seckill/local"
	"seckill/shared/seckill"
)

// forge makes a token with any claims, algorithm and secret.
func forge(t *testing.T, method jwt.SigningMethod, secret any, claims jwt.MapClaims) string {
	t.Helper()
	token, err := jwt.NewWithClaims(method, claims).SignedString(secret)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestBadInputIsRefusedByStatusAndCode(t *testing.T) {
	t.Parallel()
	now := time.Now()
	shift := func(id string, start, end time.Duration) seckill.Item {
		it := live(id, 10, 5)
		it.Start, it.End = now.Add(start), now.Add(end)
		return it
	}
	stopped := live("14", 10, 5)
	stopped.Stopped = true
	few := live("15", 2, 5)
	one := live("17", 1, 1)
	w := start(t, local.Options{Items: []seckill.Item{live("11", 10, 5), shift("12", time.Hour, 2*time.Hour), shift("13", -2*time.Hour, -time.Hour),
		stopped, few, shift("16", 5*time.Minute, time.Hour), one}})

	good := w.token("1001")
	exp := float64(now.Add(time.Hour).Unix())
	claims := func(over jwt.MapClaims) jwt.MapClaims {
		c := jwt.MapClaims{"iss": 1001, "sub": "1", "exp": exp}
		for k, v := range over {
			if v == nil {
				delete(c, k)
			} else {
				c[k] = v
			}
		}
		return c
	}
	sign := func(over jwt.MapClaims) string {
		return forge(t, jwt.SigningMethodHS256, []byte(local.DefaultSecret), claims(over))
	}
	theirs, _ := w.bought("1009", "11")
	w.bought("1008", "17")
	w.bought("1007", "11")
	body := func(id, count, address string) string {
		return fmt.Sprintf(`{"seckill_id":%s,"count":%s,"address":%s}`, id, count, address)
	}
	ok := `"杭州"`

	tests := []struct {
		behaviour, token, method, path, body string
		code                                 seckill.Code
	}{
		{"unknown item", good, "POST", "/seckill/buy", body(`"999"`, "1", ok), seckill.CodeItemUnknown},
		{"detail of an unknown item", "", "GET", "/seckill/detail/999", "", seckill.CodeItemUnknown},
		{"order of an unknown item", good, "GET", "/seckill/order/999", "", seckill.CodeItemUnknown},
		{"not started", good, "POST", "/seckill/buy", body(`"12"`, "1", ok), seckill.CodeNotStarted},
		{"not started, loaded", good, "POST", "/seckill/buy", body(`"16"`, "1", ok), seckill.CodeNotStarted},
		{"ended", good, "POST", "/seckill/buy", body(`"13"`, "1", ok), seckill.CodeEnded},
		{"stopped", good, "POST", "/seckill/buy", body(`"14"`, "1", ok), seckill.CodeStopped},
		{"not enough left", good, "POST", "/seckill/buy", body(`"15"`, "3", ok), seckill.CodeNotEnough},
		{"sold out", good, "POST", "/seckill/buy", body(`"17"`, "1", ok), seckill.CodeSoldOut},
		{"limit reached", w.token("1007"), "POST", "/seckill/buy", body(`"11"`, "5", ok), seckill.CodeLimitReached},

		{"count 0", good, "POST", "/seckill/buy", body("11", "0", ok), seckill.CodeInvalid},
		{"count negative", good, "POST", "/seckill/buy", body("11", "-1", ok), seckill.CodeInvalid},
		{"count over the limit", good, "POST", "/seckill/buy", body("11", "6", ok), seckill.CodeInvalid},
		{"count over 50", good, "POST", "/seckill/buy", body("11", "51", ok), seckill.CodeInvalid},
		{"count a float", good, "POST", "/seckill/buy", body("11", "1.0", ok), seckill.CodeInvalid},
		{"count a text", good, "POST", "/seckill/buy", body("11", `"1"`, ok), seckill.CodeInvalid},
		{"count huge", good, "POST", "/seckill/buy", body("11", "99999999999999999999", ok), seckill.CodeInvalid},
		{"count missing", good, "POST", "/seckill/buy", `{"seckill_id":"11","address":"x"}`, seckill.CodeInvalid},
		{"address empty", good, "POST", "/seckill/buy", body("11", "1", `""`), seckill.CodeInvalid},
		{"address blank", good, "POST", "/seckill/buy", body("11", "1", `"  "`), seckill.CodeInvalid},
		{"address of 501 characters", good, "POST", "/seckill/buy", body("11", "1", `"`+strings.Repeat("杭", 501)+`"`), seckill.CodeInvalid},
		{"address no text", good, "POST", "/seckill/buy", body("11", "1", "7"), seckill.CodeInvalid},
		{"id a float", good, "POST", "/seckill/buy", body("11.0", "1", ok), seckill.CodeInvalid},
		{"id missing", good, "POST", "/seckill/buy", `{"count":1,"address":"x"}`, seckill.CodeInvalid},
		{"not JSON", good, "POST", "/seckill/buy", "seckill_id=11", seckill.CodeInvalid},
		{"an array", good, "POST", "/seckill/buy", "[]", seckill.CodeInvalid},
		{"empty body", good, "POST", "/seckill/buy", " ", seckill.CodeInvalid},
		{"body over 8 KiB", good, "POST", "/seckill/buy", body("11", "1", `"`+strings.Repeat("x", 9<<10)+`"`), seckill.CodeTooLarge},
		{"page 0", "", "GET", "/seckill/ing?page=0", "", seckill.CodeInvalid},
		{"size 101", "", "GET", "/seckill/will?size=101", "", seckill.CodeInvalid},
		{"size a text", good, "GET", "/order/list?size=x", "", seckill.CodeInvalid},

		{"no token", "", "POST", "/seckill/buy", body("11", "1", ok), seckill.CodeToken},
		{"no token for my orders", "", "GET", "/order/list", "", seckill.CodeToken},
		{"no token for my order", "", "GET", "/seckill/order/11", "", seckill.CodeToken},
		{"garbage token", "a.b.c", "GET", "/order/list", "", seckill.CodeToken},
		{"token of another secret", forge(t, jwt.SigningMethodHS256, []byte("other"), claims(nil)), "GET", "/order/list", "", seckill.CodeToken},
		{"token with alg none", forge(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims(nil)), "GET", "/order/list", "", seckill.CodeToken},
		{"token with HS512", forge(t, jwt.SigningMethodHS512, []byte(local.DefaultSecret), claims(nil)), "GET", "/order/list", "", seckill.CodeToken},
		{"token expired", sign(jwt.MapClaims{"exp": now.Add(-time.Second).Unix()}), "GET", "/order/list", "", seckill.CodeToken},
		{"token without exp", sign(jwt.MapClaims{"exp": nil}), "GET", "/order/list", "", seckill.CodeToken},
		{"refresh token", sign(jwt.MapClaims{"sub": "2"}), "GET", "/order/list", "", seckill.CodeToken},
		{"token of nobody", sign(jwt.MapClaims{"iss": nil}), "GET", "/order/list", "", seckill.CodeToken},

		{"someone else's order", good, "GET", "/order/" + theirs, "", seckill.CodeOrderUnknown},
		{"cancel of someone else's order", good, "POST", "/order/" + theirs + "/cancel", "", seckill.CodeOrderUnknown},
		{"order id of another form", good, "GET", "/order/1", "", seckill.CodeOrderUnknown},
		{"unknown route", "", "GET", "/seckill/nothing", "", seckill.CodeNotFound},
		{"wrong method", good, "GET", "/seckill/buy", "", seckill.CodeMethod},

		{"clock: zero", "", "POST", "/_local/clock", `{"advance_seconds":0}`, seckill.CodeInvalid},
		{"clock: over a week", "", "POST", "/_local/clock", `{"advance_seconds":604801}`, seckill.CodeInvalid},
		{"clock: a float", "", "POST", "/_local/clock", `{"advance_seconds":1.5}`, seckill.CodeInvalid},
		{"clock: a text", "", "POST", "/_local/clock", `{"advance_seconds":"5"}`, seckill.CodeInvalid},
		{"clock: misspelt", "", "POST", "/_local/clock", `{"advance":5}`, seckill.CodeInvalid},
		{"clock: not JSON", "", "POST", "/_local/clock", "5", seckill.CodeInvalid},
		{"stop of an unknown item", "", "POST", "/_local/items/999/stop", "", seckill.CodeItemUnknown},
		{"stock 0", "", "POST", "/_local/items/11/stock", `{"stock":0}`, seckill.CodeInvalid},
		{"stock a text", "", "POST", "/_local/items/11/stock", `{"stock":"5"}`, seckill.CodeInvalid},
	}
	for _, tt := range tests {
		var send any
		if tt.body != "" {
			send = tt.body
		}
		a := w.call(tt.token, tt.method, tt.path, send)
		if a.status != tt.code.Status() || a.text("code") != string(tt.code) || a.text("detail") == "" ||
			!strings.HasPrefix(a.header.Get("Content-Type"), "application/problem+json") {
			t.Errorf("%s: %s %s %.80s\n got %v\nwant %d %s", tt.behaviour, tt.method, tt.path, tt.body, a, tt.code.Status(), tt.code)
		}
	}
	w.drained()
}

func TestRefusalsSayWhenToComeBackAndWhichOrder(t *testing.T) {
	t.Parallel()
	soon := live("12", 10, 1)
	soon.Start = time.Now().Add(time.Hour)
	w := start(t, local.Options{Items: []seckill.Item{live("11", 10, 1), soon}})
	a := w.buy("1001", "12", 1, "")
	if a.status != 425 || a.header.Get("Retry-After") == "" || a.text("start_time") == "" {
		t.Errorf("too early: %v, Retry-After %q", a, a.header.Get("Retry-After"))
	}
	order, _ := w.bought("1001", "11")
	if a := w.buy("1001", "11", 1, ""); a.text("order_id") != order {
		t.Errorf("limit reached: %v, want the order %s", a, order)
	}
	for lang, word := range map[string]string{"zh-CN": "订单", "en": "order"} {
		a := w.call(w.token("1001"), "GET", "/order/o"+strings.Repeat("a", 26), nil, "Accept-Language", lang)
		if !strings.Contains(strings.ToLower(a.text("detail")), word) {
			t.Errorf("%s: %v, want words with %q", lang, a, word)
		}
	}
}

func TestKnownButNotInTheStockIs503UntilRebuilt(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Items: []seckill.Item{live("11", 3, 1)}})
	w.bought("1001", "11")
	w.earlyInAMinute()
	if a := w.call("", "POST", "/_local/redis/flush", nil); a.status != 200 {
		t.Fatal(a)
	}
	a := w.buy("1002", "11", 1, "")
	if a.status != 503 || a.text("code") != "not_ready" || a.header.Get("Retry-After") == "" {
		t.Errorf("right after the wipe: %v", a)
	}
	w.eventually("rebuild", func() bool {
		a = w.buy("1002", "11", 1, "")
		return a.status == 200
	}, func() any { return a })
	w.awaitState("1002", "11", seckill.PendingPayment)
	w.drained()
	w.soldOnce("11", 2)
}
