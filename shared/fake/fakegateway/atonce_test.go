package fakegateway_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

// atOnce returns a gateway that sends the notification within the payment's request, and the form of order(0)'s open
// cashier.
func atOnce(t *testing.T) (*fakegateway.Gateway, *shop, *clock, url.Values) {
	t.Helper()
	g, s, c := system(t, func(o *fakegateway.Options) { o.AtOnce = true })
	return g, s, c, inputs(get(g, prepare(t, s, order(0)), "en").Body.String())
}

func TestAtOnceTheShopIsToldWithinTheRequest(t *testing.T) {
	g, s, _, form := atOnce(t)
	for range 2 { // the second click sends no notification
		if w := post(g, form); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Payment successful") {
			t.Errorf("status %d, page\n%s", w.Code, w.Body)
		}
	}
	if len(s.got) != 1 || len(g.Pending()) != 0 {
		t.Errorf("told %d times, pending %v; want once and none", len(s.got), g.Pending())
	}
}

func TestAtOnceAShopThatFailsIsToldAgain(t *testing.T) {
	g, s, c, form := atOnce(t)
	s.answer = "fail"
	if w := post(g, form); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Payment successful") {
		t.Errorf("status %d: the money is there whatever the shop says", w.Code)
	}
	want := []fakegateway.Pending{{OutTradeNo: orderID, Attempts: 1, Next: start.Add(4 * time.Minute)}}
	must.Equal(t, want, g.Pending(), "pending")
	s.answer = "success"
	c.set(start.Add(4 * time.Minute))
	if delivered, failed, err := g.Repeat(t.Context()); delivered != 1 || failed != 0 || err != nil {
		t.Errorf("%d delivered, %d failed, %v; want 1, 0", delivered, failed, err)
	}
}

// TestAtOnceARequestThatRunsOutOfTime checks that an attempt cut off by the request's deadline does not count and is
// due for the next Repeat.
func TestAtOnceARequestThatRunsOutOfTime(t *testing.T) {
	g, s, _, form := atOnce(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.onCall = cancel
	r := httptest.NewRequest(http.MethodPost, "/cashier/pay", strings.NewReader(form.Encode())).WithContext(ctx)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	if diff := cmp.Diff([]fakegateway.Pending{{OutTradeNo: orderID, Next: start}},
		g.Pending()); w.Code != http.StatusOK || diff != "" {
		t.Errorf("status %d, pending (-want +got):\n%s", w.Code, diff)
	}
	s.onCall = nil
	if delivered, _, err := g.Repeat(t.Context()); delivered != 1 || err != nil {
		t.Errorf("%d delivered, %v; want 1", delivered, err)
	}
}

// TestNotificationsFollowNoRedirect checks that notifications go only to the URL that the shop signed.
func TestNotificationsFollowNoRedirect(t *testing.T) {
	g, s, _ := system(t, func(o *fakegateway.Options) { o.HTTP = nil })
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			t.Error("the redirect was followed")
			return
		}
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer srv.Close()
	str := resign(t, prepare(t, s, order(0)), func(f url.Values, _ map[string]string) {
		f.Set("notify_url", srv.URL+"/notify")
	})
	must.Get(g.Open(str))
	must.OK(t, g.Pay(orderID))
	steps(t, g, 0, 1)
}

// TestASharedStoreListsNothing checks that trades are listed only from a gateway's own memory.
func TestASharedStoreListsNothing(t *testing.T) {
	store := fakegateway.NewMemory(&clock{now: start}, 10)
	g, s, _ := system(t, func(o *fakegateway.Options) { o.Store = store })
	open(t, g, s, order(0))
	must.OK(t, g.Pay(orderID))
	if _, due := g.Next(); due || len(g.Trades())+len(g.Pending()) != 0 {
		t.Errorf("trades %v, pending %v, due %v; want none", g.Trades(), g.Pending(), due)
	}
	if r, found, err := store.Load(t.Context(), fakegateway.Key{OutTradeNo: orderID, N: 1}); err != nil || !found ||
		r.Status != fakegateway.StatusSuccess || r.Amount != seckill.Fen(88_80) {
		t.Errorf("the store has %+v, %v, %v", r, found, err)
	}
}
