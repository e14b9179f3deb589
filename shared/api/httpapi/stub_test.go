package httpapi

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/flow/front/signin"
	"github.com/your-org/seckill/shared/flow/money/pay"
	"github.com/your-org/seckill/shared/flow/sale/admit"
	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	secret  = "helloworld"
	alice   = "9223372036854775807"
	itemID  = "9007199254740993123"
	orderID = "oabcdefghijklmnopqrstuvwxyz"
)

var now = time.Date(2026, 11, 11, 0, 0, 0, 500_000_000, time.UTC)

type fixedClock struct{}

func (fixedClock) Now() time.Time { return now }

// stubs are flows with fixed answers that record their arguments.
type stubs struct {
	err      error // the answer of every flow, if not nil
	panic    any
	views    []shop.View
	asOf     time.Time
	status   shop.Status
	orders   []shop.OrderView
	purchase buy.Purchase
	form     url.Values
	calls    int
	user, id string
	kind     seckill.PayKind
	why      string
	way      pay.Way
	trace    string // the trace of the context that Buy got
	page     [2]int
	issuers  []seckill.Issuer
	grant    seckill.Grant
	session  signin.Session // the answer of SignIn
	sessions []seckill.Session
	asked    admit.Caller
	solved   seckill.Answer
	given    seckill.Challenge
}

func (s *stubs) called() error {
	s.calls++
	if s.panic != nil {
		panic(s.panic)
	}
	return s.err
}

func (s *stubs) Buy(ctx context.Context, p buy.Purchase) (string, error) {
	s.purchase, s.trace = p, seckill.Trace(ctx)
	if err := s.called(); err != nil {
		return "", err
	}
	return orderID, nil
}

func (s *stubs) Unreadable() {}

func (s *stubs) Notify(_ context.Context, form map[string][]string) error {
	s.form = form
	return s.called()
}

func (s *stubs) Live(_ context.Context, page, size int) (shop.Page, error) {
	s.page = [2]int{page, size}
	return shop.Page{Items: s.views, AsOf: s.asOf}, s.called()
}

func (s *stubs) Upcoming(ctx context.Context, page, size int) (shop.Page, error) {
	return s.Live(ctx, page, size)
}

func (s *stubs) Detail(_ context.Context, id string) (shop.View, error) {
	s.id = id
	if err := s.called(); err != nil {
		return shop.View{}, err
	}
	return s.views[0], nil
}

func (s *stubs) Left(ctx context.Context, id string) (shop.View, error) { return s.Detail(ctx, id) }

func (s *stubs) Newest(_ context.Context, user, id string) (shop.Status, error) {
	s.user, s.id = user, id
	return s.status, s.called()
}

func (s *stubs) Order(_ context.Context, user, id string) (shop.OrderView, error) {
	s.user, s.id = user, id
	if err := s.called(); err != nil {
		return shop.OrderView{}, err
	}
	return s.orders[0], nil
}

func (s *stubs) Has(_ context.Context, user, id string) error {
	s.user, s.id = user, id
	return s.called()
}

func (s *stubs) Orders(_ context.Context, user string, page, size int) ([]shop.OrderView, error) {
	s.user, s.page = user, [2]int{page, size}
	return s.orders, s.called()
}

func (s *stubs) Cancel(ctx context.Context, user, id string) (shop.Status, error) {
	return s.Newest(ctx, user, id)
}

func (s *stubs) List(context.Context) ([]seckill.Issuer, error) { return s.issuers, s.called() }

func (s *stubs) SignIn(_ context.Context, g seckill.Grant) (signin.Session, error) {
	s.grant = g
	if err := s.called(); err != nil {
		return signin.Session{}, err
	}
	if s.session.User == "" {
		s.session.User, s.session.Token, s.session.ID = alice, "a.b.c", sessionID
	}
	return s.session, nil
}

func (s *stubs) SignedIn(_ context.Context, user string) ([]seckill.Session, error) {
	s.user = user
	return s.sessions, s.called()
}

func (s *stubs) End(_ context.Context, user, id string) (int, error) {
	s.user, s.id = user, id
	return 1, s.called()
}

func (s *stubs) Pay(_ context.Context, user, id string, kind seckill.PayKind) (pay.Way, error) {
	s.user, s.id, s.kind = user, id, kind
	return s.way, s.called()
}

func (s *stubs) Received(_ context.Context, user, id string) (shop.Status, error) {
	s.user, s.id = user, id
	return shop.Status{Order: id, State: seckill.Received}, s.called()
}

func (s *stubs) AskRefund(_ context.Context, user, id, why string) (shop.Status, error) {
	s.user, s.id, s.why = user, id, why
	return shop.Status{Order: id, State: seckill.Paid}, s.called()
}

func (s *stubs) Challenge(_ context.Context, c admit.Caller, id string) (seckill.Challenge, error) {
	s.asked, s.id = c, id
	return s.given, s.called()
}

func (s *stubs) Ticket(_ context.Context, c admit.Caller, a seckill.Answer) (seckill.Ticket, error) {
	s.asked, s.solved = c, a
	return seckill.Ticket{Text: "a.b.c", Expires: now.Add(time.Hour)}, s.called()
}

func (s *stubs) Now() time.Time { return now }

// newStubs returns a handler of all routes over stubs.
func newStubs() (*Handler, *stubs) { return newStubsWith(Options{Version: "1.2.3"}) }

func newStubsWith(o Options) (*Handler, *stubs) {
	s := &stubs{}
	auth := verifier()
	return Join(NewBuy(s, auth, o), NewShop(s, auth, o), NewPay(s, auth, o), NewNotify(s, o), NewSignIn(s, auth, o),
		NewAdmit(s, auth, o)), s
}

func verifier() *jwtauth.Verifier {
	v, err := jwtauth.New(jwtauth.Keys{Current: secret}, fixedClock{})
	if err != nil {
		panic(err)
	}
	return v
}

func bearer(user string) string {
	token, err := jwtauth.Sign(secret, user, now.Add(time.Hour))
	if err != nil {
		panic(err)
	}
	return "Bearer " + token
}

// do sends a request with a valid token and the given headers (name, value, name, value …; the value "-" removes one)
// and compares the answer with the OpenAPI document. inFront is not a header: it sets the request id that the server
// in front assigns.
const inFront = "in front"

func do(t testing.TB, h *Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("Authorization", bearer(alice))
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == inFront {
			r = r.WithContext(seckill.WithTrace(r.Context(), headers[i+1]))
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "-" {
			r.Header.Del(headers[i])
		}
	}
	return send(t, h, r)
}

func send(t testing.TB, h *Handler, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var served Route
	if rt, _, _ := h.find(r); rt != nil {
		served = rt.Route
	}
	if r.Method != http.MethodHead {
		check(t, served, w)
	}
	if got := w.Header().Get("X-Content-Type-Options"); got != "nosniff" {
		t.Errorf("X-Content-Type-Options = %q, want nosniff", got)
	}
	return w
}

// want checks a problem's status and code.
func want(t testing.TB, w *httptest.ResponseRecorder, code seckill.Code) map[string]any {
	t.Helper()
	if kind := w.Header().Get("Content-Type"); kind != "application/problem+json" {
		t.Fatalf("Content-Type = %q with %s, want a problem", kind, w.Body)
	}
	got := parse(w.Body.Bytes()).(object)
	if w.Code != Status(code) || got["code"] != string(code) {
		t.Fatalf("status %d, code %v; want %d %s\n%s", w.Code, got["code"], Status(code), code, w.Body)
	}
	return got
}

// brokenBody fails midway, like the body of a client that disconnects.
type brokenBody struct{}

func (brokenBody) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }
