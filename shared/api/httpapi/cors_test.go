package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/flow/money/pay"
	"github.com/your-org/seckill/shared/seckill"
)

// TestPagesElsewhereMayReadEveryAnswer covers answers and problems, including those of unknown routes.
func TestPagesElsewhereMayReadEveryAnswer(t *testing.T) {
	const origin, both = "https://shop.example.com", "Accept-Language, Origin"
	answers := map[string]struct {
		method, path, body string
		headers            []string
		err                error
		panic              any
		status             int
	}{
		"accepted":     {"POST", "/seckill/buy", purchaseBody(itemID, "1", address), nil, nil, nil, 200},
		"list":         {"GET", "/seckill/ing", "", nil, nil, nil, 200},
		"head":         {"HEAD", "/seckill/ing", "", nil, nil, nil, 200},
		"health":       {"GET", "/healthz", "", nil, nil, nil, 200},
		"no token":     {"POST", "/seckill/buy", "{}", []string{"Authorization", "-"}, nil, nil, 403},
		"no such path": {"GET", "/nowhere", "", nil, nil, nil, 404},
		"wrong method": {"GET", "/seckill/buy", "", nil, nil, nil, 405},
		"sold out": {"POST", "/seckill/buy", purchaseBody(itemID, "1", address), nil,
			seckill.Refuse(seckill.CodeSoldOut), nil, 409},
		"body too large": {"POST", "/seckill/buy", strings.Repeat(" ", seckill.MaxBody+1), nil, nil, nil, 422},
		"bad page":       {"GET", "/seckill/ing?page=0", "", nil, nil, nil, 422},
		"panic":          {"GET", "/seckill/ing", "", nil, nil, "a bug", 500},
		"busy": {"POST", "/seckill/buy", purchaseBody(itemID, "1", address), nil,
			seckill.Refuse(seckill.CodeUnavailable), nil, 503},
		"a way to pay": {"POST", "/order/" + orderID + "/payment", `{"kind":"page"}`, nil, nil, nil, 200},
		"not payable": {"POST", "/order/" + orderID + "/payment", `{"kind":"page"}`, nil,
			seckill.Refuse(seckill.CodeNotPayable), nil, 409},
		"another's order": {"GET", "/order/" + orderID, "", nil, seckill.Refuse(seckill.CodeOrderUnknown), nil, 404},
	}
	for given, want := range map[string]struct{ allow, expose, vary, varyProblem string }{
		"":     {"", "", "", "Accept-Language"},
		"*":    {"*", exposed[0], "", "Accept-Language"},
		origin: {origin, exposed[0], "Origin", both},
	} {
		for name, c := range answers {
			h, s := newStubsWith(Options{CORSOrigin: given})
			s.err, s.panic, s.views, s.way = c.err, c.panic, []shop.View{}, pay.Way{Kind: "page", URL: "https://x"}
			// The asking origin makes no difference: the browser compares.
			w := do(t, h, c.method, c.path, c.body, append(c.headers, "Origin", "https://elsewhere.example")...)
			vary := want.vary
			if c.status != http.StatusOK {
				vary = want.varyProblem
			}
			got := []string{w.Header().Get("Access-Control-Allow-Origin"),
				w.Header().Get("Access-Control-Expose-Headers"), strings.Join(w.Header()["Vary"], " and ")}
			if diff := cmp.Diff([]string{want.allow, want.expose, vary}, got); diff != "" || w.Code != c.status {
				t.Errorf("CORS origin %q, %s: status %d, want %d; allow, expose, vary (-want +got):\n%s", given, name,
					w.Code, c.status, diff)
			}
		}
	}
}

// Handlers share header values, which no handler may modify.
func TestOriginsOfTwoHandlersDoNotMix(t *testing.T) {
	one, _ := newStubsWith(Options{CORSOrigin: "https://one.example"})
	two, _ := newStubsWith(Options{CORSOrigin: "https://two.example"})
	for _, c := range []struct {
		h    *Handler
		want string
	}{{one, "https://one.example"}, {two, "https://two.example"}, {Join(one, two), "https://one.example"}} {
		w := send(t, c.h, httptest.NewRequest("GET", "/nowhere", nil))
		if got := w.Header().Get("Access-Control-Allow-Origin"); got != c.want {
			t.Errorf("Access-Control-Allow-Origin = %q, want %q", got, c.want)
		}
	}
}
