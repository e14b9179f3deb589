package contracttest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/seckill"
)

// forge makes a token with the given claims, algorithm and secret.
func forge(t *testing.T, method jwt.SigningMethod, secret any, claims jwt.MapClaims) string {
	t.Helper()
	token, err := jwt.NewWithClaims(method, claims).SignedString(secret)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// refusal is a request and its expected refusal.
type refusal struct {
	behaviour, token, method, path, body string
	code                                 seckill.Code
}

func (s *Shop) refused(t *testing.T, all []refusal) {
	t.Helper()
	for _, r := range all {
		var send any
		if r.body != "" {
			send = r.body
		}
		a := s.call(t, r.token, r.method, r.path, send)
		if a.Status != httpapi.Status(r.code) || a.Text("code") != string(r.code) || a.Text("detail") == "" ||
			!strings.HasPrefix(a.Header.Get("Content-Type"), "application/problem+json") {
			t.Errorf("%s: %s %s %.80s\n got %v\nwant %d %s", r.behaviour, r.method, r.path, r.body, a,
				httpapi.Status(r.code), r.code)
		}
	}
}

// Refusals checks the status and code of refused requests. Shopper 1 is always refused; shoppers 2 to 4 buy what
// others then cannot.
func (s *Shop) Refusals(t *testing.T) {
	theirs := s.reserved(t, s.user(2), s.Items.Live.ID, 1)
	s.reserved(t, s.user(3), s.Items.One.ID, 1)
	mine := s.reserved(t, s.user(4), s.Items.Capped.ID, 1)
	good := s.token(s.user(1))
	t.Run("sales", func(t *testing.T) { s.refusedSales(t, good, theirs, mine) })
	t.Run("shapes", func(t *testing.T) { s.refusedShapes(t, good) })
	t.Run("tokens", func(t *testing.T) { s.refusedTokens(t, buyBody(s.Items.Live.ID, "1", goodAddress)) })
	t.Run("notifications", func(t *testing.T) { s.refusedNotifications(t, theirs) })
	t.Run("languages", func(t *testing.T) {
		for lang, word := range map[string]string{"zh-CN": "订单", "en": "order"} {
			a := s.call(t, good, "GET", "/order/o"+strings.Repeat("a", 26), nil, "Accept-Language", lang)
			if !strings.Contains(strings.ToLower(a.Text("detail")), word) {
				t.Errorf("%s: %v, want words with %q", lang, a, word)
			}
		}
	})
}

const goodAddress = `"杭州"`

func buyBody(id, count, address string) string {
	return fmt.Sprintf(`{"seckill_id":%s,"count":%s,"address":%s}`, id, count, address)
}

// refusedSales checks the refusals that follow from an item or an order. theirs is an order of another
// shopper; mine is an order of shopper 4, who has reached a limit.
func (s *Shop) refusedSales(t *testing.T, good, theirs, mine string) {
	buy := func(behaviour, id, count string, code seckill.Code) refusal {
		return refusal{behaviour, good, "POST", "/seckill/buy", buyBody(id, count, goodAddress), code}
	}
	s.refused(t, []refusal{
		buy("unknown item", `"999"`, "1", seckill.CodeItemUnknown),
		{"detail of an unknown item", "", "GET", "/seckill/detail/999", "", seckill.CodeItemUnknown},
		{"order of an unknown item", good, "GET", "/seckill/order/999", "", seckill.CodeItemUnknown},
		buy("not started", quote(s.Items.Upcoming.ID), "1", seckill.CodeNotStarted),
		buy("not started, loaded", quote(s.Items.Soon.ID), "1", seckill.CodeNotStarted),
		buy("ended", quote(s.Items.Ended.ID), "1", seckill.CodeEnded),
		buy("stopped", quote(s.Items.Stopped.ID), "1", seckill.CodeStopped),
		buy("not enough left", quote(s.Items.Few.ID), "3", seckill.CodeNotEnough),
		buy("sold out", quote(s.Items.One.ID), "1", seckill.CodeSoldOut),
		{"someone else's order", good, "GET", "/order/" + theirs, "", seckill.CodeOrderUnknown},
		{"cancel of someone else's order", good, "POST", "/order/" + theirs + "/cancel", "", seckill.CodeOrderUnknown},
		{"payment of someone else's order", good, "POST", "/order/" + theirs + "/payment", `{"kind":"page"}`,
			seckill.CodeOrderUnknown},
		{"payment of another kind", good, "POST", "/order/" + theirs + "/payment", `{"kind":"cash"}`,
			seckill.CodeInvalid},
		{"order id of another form", good, "GET", "/order/1", "", seckill.CodeOrderUnknown},
	})
	if a := s.buy(t, s.user(4), s.Items.Capped.ID, 1); a.Status == 200 && a.Text("order_id") != mine ||
		a.Status != 200 && (a.Text("code") != "limit_reached" || a.Text("order_id") != mine) {
		t.Errorf("a second purchase without a key: %v, want order %s, or limit_reached once it is placed", a, mine)
	}
	if a := s.buyKeyed(t, s.user(4), s.Items.Capped.ID, "another"); a.Status != 409 ||
		a.Text("code") != "limit_reached" || a.Text("order_id") != mine {
		t.Errorf("over the limit: %v, want limit_reached with %s", a, mine)
	}
	if a := s.buy(t, s.user(1), s.Items.Upcoming.ID, 1); a.Header.Get("Retry-After") == "" ||
		a.Text("start_time") != s.Items.Upcoming.Start.Format(time.RFC3339) {
		t.Errorf("too early: %v, Retry-After %q", a, a.Header.Get("Retry-After"))
	}
}

// refusedShapes checks requests with a wrong shape or a value out of bounds.
func (s *Shop) refusedShapes(t *testing.T, good string) {
	id := s.Items.Live.ID
	buy := func(behaviour, body string, code seckill.Code) refusal {
		return refusal{behaviour, good, "POST", "/seckill/buy", body, code}
	}
	s.refused(t, []refusal{
		buy("count 0", buyBody(id, "0", goodAddress), seckill.CodeInvalid),
		buy("count negative", buyBody(id, "-1", goodAddress), seckill.CodeInvalid),
		buy("count over the limit", buyBody(id, "6", goodAddress), seckill.CodeInvalid),
		buy("count over 50", buyBody(id, "51", goodAddress), seckill.CodeInvalid),
		buy("count a fraction", buyBody(id, "1.5", goodAddress), seckill.CodeInvalid),
		buy("count a word", buyBody(id, `"one"`, goodAddress), seckill.CodeInvalid),
		buy("count huge", buyBody(id, "99999999999999999999", goodAddress), seckill.CodeInvalid),
		buy("count missing", `{"seckill_id":"`+id+`","address":"x"}`, seckill.CodeInvalid),
		buy("address empty", buyBody(id, "1", `""`), seckill.CodeInvalid),
		buy("address blank", buyBody(id, "1", `"  "`), seckill.CodeInvalid),
		buy("address of 501 characters", buyBody(id, "1", `"`+strings.Repeat("杭", 501)+`"`), seckill.CodeInvalid),
		buy("address no text", buyBody(id, "1", "7"), seckill.CodeInvalid),
		buy("id a float", buyBody(id+".0", "1", goodAddress), seckill.CodeInvalid),
		buy("id missing", `{"count":1,"address":"x"}`, seckill.CodeInvalid),
		buy("not JSON", "seckill_id="+id, seckill.CodeInvalid),
		buy("an array", "[]", seckill.CodeInvalid),
		buy("blank body", " ", seckill.CodeInvalid),
		buy("body over 8 KiB", buyBody(id, "1", `"`+strings.Repeat("x", 9<<10)+`"`), seckill.CodeTooLarge),
		{"page 0", "", "GET", "/seckill/ing?page=0", "", seckill.CodeInvalid},
		{"size 101", "", "GET", "/seckill/will?size=101", "", seckill.CodeInvalid},
		{"size a text", good, "GET", "/order/list?size=x", "", seckill.CodeInvalid},
	})
}

func (s *Shop) refusedNotifications(t *testing.T, theirs string) {
	a := s.call(t, "", "POST", "/seckill/alipay/notify", "out_trade_no="+theirs+
		"&trade_status=TRADE_SUCCESS&sign_type=RSA2&sign=AAAA", "Content-Type", "application/x-www-form-urlencoded")
	if a.Status != 400 || a.Text("code") != "notify_forged" {
		t.Errorf("a forged notification: %v", a)
	}
	if a := s.call(t, "", "POST", "/seckill/alipay/notify", "{}"); a.Status < 400 || a.Status > 499 {
		t.Errorf("JSON instead of a form: %v", a)
	}
}

func (s *Shop) refusedTokens(t *testing.T, body string) {
	exp := time.Now().Add(time.Hour).Unix()
	claims := func(over jwt.MapClaims) jwt.MapClaims {
		c := jwt.MapClaims{"iss": s.Shoppers + 1, "sub": "1", "exp": exp}
		for k, v := range over {
			c[k] = v
			if v == nil {
				delete(c, k)
			}
		}
		return c
	}
	secret := []byte(s.Secret)
	list := func(behaviour, token string) refusal {
		return refusal{behaviour, token, "GET", "/order/list", "", seckill.CodeToken}
	}
	sign := func(over jwt.MapClaims) string { return forge(t, jwt.SigningMethodHS256, secret, claims(over)) }
	s.refused(t, []refusal{
		{"no token", "", "POST", "/seckill/buy", body, seckill.CodeToken},
		list("no token for my orders", ""),
		{"no token for my order", "", "GET", "/seckill/order/" + s.Items.Live.ID, "", seckill.CodeToken},
		list("garbage", "a.b.c"),
		list("another secret", forge(t, jwt.SigningMethodHS256, []byte("other"), claims(nil))),
		list("alg none", forge(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims(nil))),
		list("HS512", forge(t, jwt.SigningMethodHS512, secret, claims(nil))),
		list("expired", sign(jwt.MapClaims{"exp": time.Now().Add(-time.Minute).Unix()})),
		list("without exp", sign(jwt.MapClaims{"exp": nil})),
		list("a refresh token", sign(jwt.MapClaims{"sub": "2"})),
		list("of nobody", sign(jwt.MapClaims{"iss": nil})),
	})
}

func (s *Shop) buyKeyed(t *testing.T, user, item, key string) Answer {
	t.Helper()
	return s.call(t, s.token(user), "POST", "/seckill/buy", map[string]any{"seckill_id": item, "count": 1,
		"address": Address}, "Idempotency-Key", key)
}

// Paths checks requests that API Gateway itself refuses.
func (s *Shop) Paths(t *testing.T) {
	s.refused(t, []refusal{
		{"unknown route", "", "GET", "/seckill/nothing", "", seckill.CodeNotFound},
		{"unknown route with a token", s.token(s.user(1)), "GET", "/seckill/nothing", "", seckill.CodeNotFound},
	})
}

// Methods checks methods that a path does not have.
func (s *Shop) Methods(t *testing.T) {
	s.refused(t, []refusal{
		{"wrong method", s.token(s.user(1)), "GET", "/seckill/buy", "", seckill.CodeMethod},
		{"wrong method of a list", "", "POST", "/seckill/ing", "{}", seckill.CodeMethod},
	})
}
