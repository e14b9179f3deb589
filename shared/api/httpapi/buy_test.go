package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

const address = "北京市海淀区中关村大街1号 \"三层\""

func purchaseBody(item, count, address string) string {
	return fmt.Sprintf(`{"seckill_id":%s,"count":%s,"address":%q}`, item, count, address)
}

func TestBuyReadsWhatClientsSend(t *testing.T) {
	long := strings.Repeat("街", seckill.MaxAddress)
	bought := func(item string, count int, address string) buy.Purchase {
		return buy.Purchase{Item: item, Count: count, Given: seckill.Given{Address: address}}
	}
	plain, keyed := bought("42", 1, "a"), bought("42", 1, "a")
	keyed.Key = "a key!~"
	cases := []struct {
		name, body string
		headers    []string
		want       buy.Purchase
		trace      string
	}{
		{"string id", purchaseBody(`"42"`, "1", address), nil, bought("42", 1, address), ""},
		{"number id", purchaseBody("42", "1", address), nil, bought("42", 1, address), ""},
		{"19 digits as a string", purchaseBody(`"`+itemID+`"`, "50", address), nil, bought(itemID, 50, address), ""},
		{"19 digits as a number", purchaseBody(itemID, "50", address), nil, bought(itemID, 50, address), ""},
		{"above 2^63 as a number", purchaseBody("9999999999999999999", "1", "a"), nil,
			bought("9999999999999999999", 1, "a"), ""},
		{"escapes", `{"seckill_id":"\u0034\u0032","count":1,"address":"\u5317\u4eac \ud83c\udfe0"}`, nil,
			bought("42", 1, "北京 🏠"), ""},
		{"count as text", purchaseBody("42", `"1"`, "a"), nil, plain, ""},
		{"count with fraction 0", purchaseBody("42", "50.00", "a"), nil, bought("42", 50, "a"), ""},
		{"500 characters", purchaseBody("42", "1", long), nil, bought("42", 1, long), ""},
		{"blanks around", " \r\n\t" + purchaseBody("42", "1", "a") + "\n ", nil, plain, ""},
		{"unknown fields", `{"v":{"count":[9]},"seckill_id":42,"count":1,"address":"a","":null,"n":1e3}`, nil,
			plain, ""},
		{"key and request id", purchaseBody("42", "1", "a"), []string{"Idempotency-Key", "a key!~", inFront, "req-1"},
			keyed, "req-1"},
		{"ids that a client chose", purchaseBody("42", "1", "a"), []string{"X-Request-Id", "mine", "X-Amzn-Trace-Id",
			"Root=1-57-bd;Sampled=1"}, plain, ""},
		{"gateway's id", purchaseBody("42", "1", "a"), []string{"X-Request-Id", "mine", "X-Amzn-Trace-Id",
			"Root=1-57-bd", inFront, "TxQ0HFj6liAEPMA="}, plain, "TxQ0HFj6liAEPMA="},
		{"overlong request id", purchaseBody("42", "1", "a"), []string{inFront, strings.Repeat("x", 129)}, plain, ""},
		{"a network address that the client names", purchaseBody("42", "1", "a"), []string{"X-Forwarded-For",
			"198.51.100.9", "Forwarded", "for=198.51.100.9", "X-Viewer-Address", "198.51.100.9"}, plain, ""},
		{"other content type", purchaseBody("42", "1", "a"), []string{"Content-Type", "text/plain"}, plain, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h, s := newStubs()
			w := do(t, h, "POST", "/seckill/buy", c.body, c.headers...)
			if want := `{"result":1,"order_id":"` + orderID + `"}`; w.Code != 200 || w.Body.String() != want {
				t.Fatalf("%s: %d %s, want 200 %s", c.body, w.Code, w.Body, want)
			}
			c.want.User, c.want.Network = alice, netip.MustParseAddr("192.0.2.1") // httptest's
			if diff := cmp.Diff(c.want, s.purchase, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
				t.Errorf("%s: the flow got (-want +got):\n%s", c.body, diff)
			}
			if s.trace != c.trace {
				t.Errorf("%s: the flow got the request id %q, want %q", c.body, s.trace, c.trace)
			}
			if got := w.Header().Get("Cache-Control"); got != "no-store" {
				t.Errorf("Cache-Control = %q, want no-store", got)
			}
		})
	}
}

// TestAnUnsafeRequestIDIsNotPassedOn: the server in front may set a request id that must not appear in logs or
// messages.
func TestAnUnsafeRequestIDIsNotPassedOn(t *testing.T) {
	h, s := newStubs()
	r := httptest.NewRequest("POST", "/seckill/buy", strings.NewReader(purchaseBody("42", "1", "a")))
	r.Header.Set("Authorization", bearer(alice))
	if w := send(t, h, r.WithContext(seckill.WithTrace(r.Context(), "bad id"))); w.Code != 200 || s.trace != "" {
		t.Errorf("status %d, the flow got the request id %q, want none", w.Code, s.trace)
	}
}

func TestBuyRefusesBadBodies(t *testing.T) {
	const good = `"seckill_id":42,"count":1,"address":"a"`
	bad := map[string][]string{
		"body": {"", "seckill_id=42", "{" + good, "{" + good + "}x", "{" + good + "}{" + good + "}", "[]", `"42"`,
			"\ufeff{" + good + "}"},
		"seckill_id": {"null", `{"count":1,"address":"a"}`, "{" + good + `,"seckill_id":43}`},
		"count":      {`{"seckill_id":42,"address":"a"}`, "{" + good + `,"count":2}`},
		"address":    {`{"seckill_id":42,"count":1}`, "{" + good + `,"address":"b"}`},
	}
	for field, values := range map[string][]string{
		"seckill_id": {"null", `""`, "42.0", "4.2e1", "-42", "0", `"042"`, `"abc"`, "12345678901234567890", `"４２"`,
			"[42]", "true"},
		"count": {"null", "0", "-0", "-1", "51", "0.0", "1e0", "1.5", "1.01", "51.0", `"1.0"`, `"one"`, `"+1"`, `"01"`,
			`" 1"`, `"0"`, "true", "[1]", "18446744073709551617"},
		"address": {"null", `""`, `" 　"`, "7", `{"street":"a"}`, `"` + strings.Repeat("街", 501) + `"`, "\"a\xff\"",
			`"a\ud83c"`}, // half a surrogate pair
	} {
		was := regexp.MustCompile(`"` + field + `":[^,]*`)
		for _, v := range values {
			bad[field] = append(bad[field], "{"+was.ReplaceAllLiteralString(good, `"`+field+`":`+v)+"}")
		}
	}
	for field, bodies := range bad {
		for _, body := range bodies {
			h, s := newStubs()
			got := want(t, do(t, h, "POST", "/seckill/buy", body), seckill.CodeInvalid)
			if got["field"] != field || s.calls != 0 {
				t.Errorf("%s: field %v, %d calls; want %s, none", body, got["field"], s.calls, field)
			}
		}
	}
}

func TestBuyBodyLimit(t *testing.T) {
	fill := func(size int) string {
		head := `{"seckill_id":42,"count":1,"address":"a","pad":"`
		return head + strings.Repeat("x", size-len(head)-2) + `"}`
	}
	h, _ := newStubs()
	if w := do(t, h, "POST", "/seckill/buy", fill(seckill.MaxBody)); w.Code != 200 {
		t.Errorf("%d bytes: %d %s, want 200", seckill.MaxBody, w.Code, w.Body)
	}
	want(t, do(t, h, "POST", "/seckill/buy", fill(seckill.MaxBody+1)), seckill.CodeTooLarge)

	r := httptest.NewRequest("POST", "/seckill/buy", strings.NewReader(fill(seckill.MaxBody+1)))
	r.ContentLength = -1 // chunked: no header states the size
	r.Header.Set("Authorization", bearer(alice))
	want(t, send(t, h, r), seckill.CodeTooLarge)

	r = httptest.NewRequest("POST", "/seckill/buy", brokenBody{})
	r.Header.Set("Authorization", bearer(alice))
	want(t, send(t, h, r), seckill.CodeInvalid)

	r = httptest.NewRequest("POST", "/seckill/buy", nil)
	r.Body = nil // some adapters leave it nil
	r.Header.Set("Authorization", bearer(alice))
	want(t, send(t, h, r), seckill.CodeInvalid)
}

func TestBuyRefusesBadKeys(t *testing.T) {
	for _, key := range []string{"", strings.Repeat("k", 129), "schlüssel", "a\tb", "a\x7f"} {
		h, s := newStubs()
		got := want(t, do(t, h, "POST", "/seckill/buy", purchaseBody("42", "1", "a"), "Idempotency-Key", key),
			seckill.CodeInvalid)
		if got["field"] != "Idempotency-Key" || s.calls != 0 {
			t.Errorf("key %q: field %v, %d calls; want Idempotency-Key, none", key, got["field"], s.calls)
		}
	}
	h, s := newStubs()
	r := httptest.NewRequest("POST", "/seckill/buy", strings.NewReader(purchaseBody("42", "1", "a")))
	r.Header = http.Header{"Authorization": {bearer(alice)}, "Idempotency-Key": {"a", "b"}}
	want(t, send(t, h, r), seckill.CodeInvalid)
	if s.calls != 0 {
		t.Error("two keys: the flow was called")
	}
}

// TestTokenTrouble: every route but those for everybody wants a good token, and calls nothing without one.
// TestTokensAreCountedByWhatIsWrong has what is no good token.
func TestTokenTrouble(t *testing.T) {
	good := strings.TrimPrefix(bearer(alice), "Bearer ")
	all, _ := newStubs()
	for _, header := range []string{"-", good} {
		for _, rt := range all.Routes() {
			if slices.Contains(forEverybody, rt.Pattern) {
				continue
			}
			h, s := newStubs()
			path := strings.NewReplacer("{seckill_id}", "42", "{id}", orderID).Replace(rt.Pattern)
			// A token counts in its header only: addresses end up in logs.
			w := do(t, h, rt.Method, path+"?access_token="+good, purchaseBody("42", "1", "a"), "Authorization", header)
			if want(t, w, seckill.CodeToken); s.calls != 0 {
				t.Errorf("%s %s: the flow was called", rt.Pattern, header)
			}
		}
	}
}

// forEverybody has the routes that ask for no token.
var forEverybody = []string{"/seckill/ing", "/seckill/will", "/seckill/detail/{seckill_id}",
	"/seckill/status/{seckill_id}", "/seckill/time", "/healthz", "/signin", "/seckill/alipay/notify"}

func TestTokenSchemeHasNoCaseAndComesOnce(t *testing.T) {
	h, _ := newStubs()
	good := strings.TrimPrefix(bearer(alice), "Bearer ")
	if w := do(t, h, "POST", "/seckill/buy", purchaseBody("42", "1", "a"), "Authorization", "bearer "+
		good); w.Code != 200 {
		t.Errorf("bearer in small letters: %d %s, want 200", w.Code, w.Body)
	}
	r := httptest.NewRequest("POST", "/seckill/buy", strings.NewReader(purchaseBody("42", "1", "a")))
	r.Header["Authorization"] = []string{bearer(alice), bearer("1")}
	want(t, send(t, h, r), seckill.CodeToken)
}

// The refusals of the purchase step, as a shopper's client sees them.
func TestBuyRefusals(t *testing.T) {
	start := time.Date(2026, 11, 11, 8, 0, 0, 0, time.FixedZone("", 8*3600)).Add(90 * time.Second)
	cases := []struct {
		err        *seckill.Error
		retryAfter string
		more       object // beside type, title, status, code and detail
	}{
		{seckill.Refuse(seckill.CodeItemUnknown), "", nil},
		{seckill.Refuse(seckill.CodeSoldOut), "", nil},
		{seckill.Refuse(seckill.CodeNotEnough), "", nil},
		{seckill.Refuse(seckill.CodeEnded), "", nil},
		{seckill.Refuse(seckill.CodeStopped), "", nil},
		{seckill.Invalid("count", "1..2"), "", object{"field": "count"}},
		{&seckill.Error{Code: seckill.CodeLimitReached, Order: orderID}, "", object{"order_id": orderID}},
		{&seckill.Error{Code: seckill.CodeKeyReused, Order: orderID}, "", object{"order_id": orderID}},
		{&seckill.Error{Code: seckill.CodeNotStarted, Start: start, RetryAfter: 89_500 * time.Millisecond}, "90",
			object{"start_time": "2026-11-11T00:01:30Z", "retry_after_ms": "89500"}},
		{&seckill.Error{Code: seckill.CodeNotReady, RetryAfter: time.Second}, "1", object{"retry_after_ms": "1000"}},
		{&seckill.Error{Code: seckill.CodeUnconfirmed, RetryAfter: time.Nanosecond, Order: orderID}, "1",
			object{"retry_after_ms": "1", "order_id": orderID}},
		{seckill.Refuse(seckill.CodeUnavailable), "1", object{"retry_after_ms": "1000"}},
		{seckill.Refuse(seckill.CodeInternal), "", nil},
	}
	for _, c := range cases {
		t.Run(string(c.err.Code), func(t *testing.T) {
			h, s := newStubs()
			s.err = c.err
			w := do(t, h, "POST", "/seckill/buy", purchaseBody("42", "1", "a"))
			got := want(t, w, c.err.Code)
			if after := w.Header().Get("Retry-After"); after != c.retryAfter {
				t.Errorf("Retry-After = %q, want %q", after, c.retryAfter)
			}
			for _, name := range []string{"type", "title", "status", "code", "detail"} {
				delete(got, name)
			}
			more := object{}
			for k, v := range got {
				more[k] = fmt.Sprint(v)
			}
			if c.more == nil {
				c.more = object{}
			}
			if diff := cmp.Diff(c.more, more); diff != "" {
				t.Errorf("members (-want +got):\n%s", diff)
			}
		})
	}
}
