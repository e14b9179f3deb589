package httpapi

import (
	"net/http"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/seckill"
)

const liveURL = "wss://live.example.com/live"

// fixedIDs makes the same nonce again and again.
type fixedIDs struct{ seckill.IDs }

func (fixedIDs) Token() string { return "0123456789abcdef" }

func pushing(ids seckill.IDs) *Push {
	return &Push{URL: liveURL, Passes: jwtauth.NewPasses(jwtauth.Keys{Current: secret}, fixedClock{}), IDs: ids}
}

// wantOffer checks an offer: where to connect, a pass for alice, and when it ends.
func wantOffer(t *testing.T, offer any) {
	t.Helper()
	text, _ := at(offer, "pass").(string)
	pass, err := jwtauth.NewPasses(jwtauth.Keys{Current: secret}, fixedClock{}).Check(text)
	if err != nil {
		t.Fatalf("%v: %v", offer, err)
	}
	want := seckill.Pass{User: alice, Expires: now.Add(seckill.PassLife).Truncate(time.Second),
		Nonce: "0123456789abcdef"}
	if pass != want || at(offer, "url") != liveURL || at(offer, "expires_at") != rfc3339(want.Expires) {
		t.Errorf("the offer %v has %+v, want %s and %+v", offer, pass, liveURL, want)
	}
}

// TestAcceptedPurchaseOffersPush: the answer to a purchase has the first pass, and no word of it where nothing is
// pushed.
func TestAcceptedPurchaseOffersPush(t *testing.T) {
	h, _ := newStubsWith(Options{Push: pushing(fixedIDs{})})
	w := do(t, h, http.MethodPost, "/seckill/buy", purchaseBody(itemID, "1", "x"))
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	wantOffer(t, at(parse(w.Body.Bytes()), "push"))

	h, _ = newStubs()
	w = do(t, h, http.MethodPost, "/seckill/buy", purchaseBody(itemID, "1", "x"))
	if want := `{"result":1,"order_id":"` + orderID + `"}`; w.Body.String() != want {
		t.Errorf("without push: %s, want %s", w.Body, want)
	}
}

func TestAnotherPass(t *testing.T) {
	const route = "/order/" + orderID + "/push"
	h, flow := newStubsWith(Options{Push: pushing(fixedIDs{})})
	w := do(t, h, http.MethodPost, route, "")
	if w.Code != http.StatusOK || flow.user != alice || flow.id != orderID {
		t.Fatalf("%d %s, asked of %s and %s", w.Code, w.Body, flow.user, flow.id)
	}
	wantOffer(t, parse(w.Body.Bytes()))

	flow.calls, flow.err = 0, seckill.Refuse(seckill.CodeOrderUnknown)
	none, _ := newStubs()
	for _, c := range []struct {
		name, route, token string
		h                  *Handler
		status, calls      int
		code               seckill.Code
	}{
		{"another shopper's order", route, bearer(alice), h, http.StatusNotFound, 1, seckill.CodeOrderUnknown},
		{"no order's id", "/order/o1/push", bearer(alice), h, http.StatusNotFound, 0, seckill.CodeOrderUnknown},
		{"no token", route, "-", h, http.StatusForbidden, 0, seckill.CodeToken},
		{"a shop that pushes nothing", route, bearer(alice), none, http.StatusConflict, 0, seckill.CodeNotPushed},
		{"a shop that pushes nothing, no token", route, "-", none, http.StatusForbidden, 0, seckill.CodeToken},
	} {
		flow.calls = 0
		w := do(t, c.h, http.MethodPost, c.route, "", "Authorization", c.token)
		if code := at(parse(w.Body.Bytes()), "code"); w.Code != c.status || code != string(c.code) ||
			flow.calls != c.calls {
			t.Errorf("%s: %d %v after %d calls, want %d %s after %d", c.name, w.Code, code, flow.calls, c.status,
				c.code, c.calls)
		}
	}
}
