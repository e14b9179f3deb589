package crowd_test

import (
	"crypto/tls"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/proof/crowd"
)

type answers = []http.HandlerFunc

const cashierPage = `<html><form method="post" action="cashier/pay">
<input type="hidden" name="out_trade_no" value="o1">
<input type="hidden" name="token" value="a&amp;b">
<button>pay</button></form></html>`

// TestAShopperDoesWhatABrowserDoes: one shopper meets each answer. A shopper whose order is placed closes the page
// unless orders says otherwise.
func TestAShopperDoesWhatABrowserDoes(t *testing.T) {
	t.Parallel()
	pays := func(o *crowd.Options) { o.Pay, o.Abandon = 1, 0 }
	cancels := func(o *crowd.Options) { o.Cancel, o.Abandon = 1, 0 }
	keyless := func(o *crowd.Options) { o.Key = 0 }
	impatient := func(o *crowd.Options) { o.Patience = 50 * time.Millisecond }
	twice := func(o *crowd.Options) { o.Repeat = 1 }
	soldOut, limit := problem(409, "sold_out", ""), problem(409, "limit_reached", `,"order_id":"o1"`)
	one := answers{pending}
	cases := []struct {
		behaviour string
		script    *script
		change    func(*crowd.Options)
		ending    string
		presses   int
		bothered  int64
		orders    crowd.Orders  // nil of a placed order: abandoned
		waits     time.Duration // at least, between the first two presses
		second    string        // answer to the second of two presses
		path      string        // is called
		calls     int           // so often
	}{
		{behaviour: "polls until the order is placed, then stops", script: &script{buy: answers{ok},
			order: answers{queued, queued, pending}}, ending: "placed", presses: 1, path: "/seckill/order/7", calls: 3},
		{behaviour: "comes back when the server's body says",
			script: &script{buy: answers{problem(503, "not_ready", `,"retry_after_ms":70`), ok}, order: one},
			ending: "placed", presses: 2, bothered: 1, waits: 70 * time.Millisecond},
		{behaviour: "comes back when the server's header says",
			script: &script{buy: answers{say(503, "busy", "Retry-After", "1"), ok}, order: one},
			ending: "placed", presses: 2, bothered: 1, waits: time.Second},
		{behaviour: "is throttled, then refused",
			script: &script{buy: answers{problem(429, "unavailable", `,"retry_after_ms":1`), soldOut}},
			ending: "sold out", presses: 2, bothered: 1},
		{behaviour: "repeats a lost request with the same key", script: &script{buy: answers{lose, ok}, order: one},
			ending: "placed", presses: 2, bothered: 1},
		{behaviour: "repeats a lost request without a key", script: &script{buy: answers{lose, ok}, order: one},
			change: keyless, ending: "placed", presses: 2, bothered: 1},
		{behaviour: "finds the order of a lost answer by the limit", script: &script{buy: answers{lose, limit},
			order: one}, change: keyless, ending: "placed", presses: 2, bothered: 1},
		{behaviour: "has reached the limit before", script: &script{buy: answers{limit}},
			ending: "refused: limit_reached", presses: 1},
		{behaviour: "is refused for the token", script: &script{buy: answers{problem(403, "invalid_token", "")}},
			ending: "refused: invalid_token", presses: 1},
		{behaviour: "is refused without a code", script: &script{buy: answers{say(404, "<html>")}},
			ending: "refused: http_404", presses: 1},
		{behaviour: "is too late", script: &script{buy: answers{soldOut}}, ending: "sold out", presses: 1},
		{behaviour: "waits for the opening",
			script: &script{buy: answers{problem(425, "not_started", `,"start_time":"x","retry_after_ms":300`), ok},
				order: one}, ending: "placed", presses: 2, waits: 300 * time.Millisecond},
		{behaviour: "loses patience with 503",
			script: &script{buy: answers{problem(503, "unavailable", `,"retry_after_ms":30`)}}, change: impatient,
			ending: "failed: unavailable", presses: 1},
		{behaviour: "never gets an answer", script: &script{buy: answers{lose}},
			change: func(o *crowd.Options) { o.Patience = 0 }, ending: "failed: no_answer", presses: 1},
		{behaviour: "is accepted, then rejected", script: &script{buy: answers{ok}, order: answers{queued, say(200,
			`{"alipay_order":"","state":"rejected","reason":"sold_out","order_id":"o1"}`)}},
			ending: "rejected: sold_out", presses: 1},
		{behaviour: "is accepted, but never sees the order placed", script: &script{buy: answers{ok},
			order: answers{queued}}, change: impatient, ending: "accepted", presses: 1},
		{behaviour: "polls on after a failed poll", script: &script{buy: answers{ok},
			order: answers{problem(503, "not_ready", `,"retry_after_ms":1`), lose, pending}}, ending: "placed",
			presses: 1},
		{behaviour: "asks for the order by its id when another one is newer", script: &script{buy: answers{ok},
			order: answers{say(200, `{"alipay_order":"","state":"paid","order_id":"o2"}`)},
			get: answers{problem(404, "order_unknown", ""),
				say(200, `{"id":"o1","state":"pending_payment","seckill":{"state":"online"},"alipay_order":"x"}`)}},
			ending: "placed", presses: 1, path: "/order/o1", calls: 2},
		{behaviour: "pays", script: &script{buy: answers{ok}, order: answers{pending, pending, paid},
			open: answers{say(503, "busy"), say(200, cashierPage)}, pay: answers{say(200, "paid")}}, change: pays,
			ending: "placed", presses: 1, orders: crowd.Orders{Placed: 1, Paid: 1}, path: "/cashier/pay", calls: 1},
		{behaviour: "has already paid, says the cashier", script: &script{buy: answers{ok},
			order: answers{pending, paid}, open: answers{say(200, "<html>paid</html>")}}, change: pays,
			ending: "placed", presses: 1, orders: crowd.Orders{Placed: 1, Paid: 1}},
		{behaviour: "is too late to pay", script: &script{buy: answers{ok}, order: one,
			open: answers{say(410, "<html>")}}, change: pays, ending: "placed", presses: 1,
			orders: crowd.Orders{Placed: 1, TooLate: 1}},
		{behaviour: "cancels", script: &script{buy: answers{ok}, order: one,
			cancel: answers{problem(503, "unavailable", `,"retry_after_ms":1`), say(200, `{"state":"closing"}`)}},
			change: cancels, ending: "placed", presses: 1, orders: crowd.Orders{Placed: 1, Cancelled: 1},
			path: "/order/o1/cancel", calls: 2},
		{behaviour: "is too late to cancel", script: &script{buy: answers{ok}, order: one,
			cancel: answers{problem(409, "not_cancellable", "")}}, change: cancels, ending: "placed", presses: 1,
			orders: crowd.Orders{Placed: 1, Uncancelled: 1}},
		{behaviour: "leaves the page open until the others have left", script: &script{buy: answers{ok}, order: one},
			change: func(o *crowd.Options) { o.Abandon = 0 }, ending: "placed", presses: 1,
			orders: crowd.Orders{Placed: 1, Looked: 1}},
		{behaviour: "presses twice", script: &script{buy: answers{ok, soldOut}, order: one}, change: twice,
			ending: "placed", presses: 2, second: "sold_out"},
		{behaviour: "takes the order of the second press", script: &script{buy: answers{soldOut, ok}, order: one},
			change: twice, ending: "placed", presses: 2, second: "accepted"},
	}
	visits := make([]func() (*crowd.Report, error), len(cases)) // concurrent, because they mostly wait
	for i, tt := range cases {
		o := options(serve(t, tt.script))
		if tt.change != nil {
			tt.change(&o)
		}
		visits[i] = begun(func() (*crowd.Report, error) { return crowd.Run(t.Context(), o) })
	}
	for i, tt := range cases {
		t.Run(tt.behaviour, func(t *testing.T) {
			rep, err := visits[i]()
			if err != nil {
				t.Fatal(err)
			}
			addsUp(t, rep)
			if got := ending(rep); got != tt.ending || rep.Bothered.Count != tt.bothered {
				t.Errorf("%s, %d unavailable at first; want %s, %d\n%+v", got, rep.Bothered.Count, tt.ending,
					tt.bothered, rep.Requests.Acts)
			}
			if tt.ending == "placed" && tt.orders == (crowd.Orders{}) {
				tt.orders = crowd.Orders{Placed: 1, Abandoned: 1}
			}
			open := tt.orders.Placed - tt.orders.Paid
			if tt.ending == "accepted" {
				open = 1
			}
			if rep.Orders != tt.orders || rep.Idle.Open != open {
				t.Errorf("%+v, %d open; want %+v, %d", rep.Orders, rep.Idle.Open, tt.orders, open)
			}
			if n := len(tt.script.of(tt.path)); n != tt.calls {
				t.Errorf("%s: %d calls, want %d", tt.path, n, tt.calls)
			}
			for _, form := range tt.script.of("/cashier/pay") {
				if form.body != "out_trade_no=o1&token=a%26b" {
					t.Errorf("the cashier got %+v", form)
				}
			}
			second := map[string]int{}
			if tt.second != "" {
				second[tt.second] = 1
			}
			if !maps.Equal(rep.Requests.Repeats, second) {
				t.Errorf("second presses %v, want %v", rep.Requests.Repeats, second)
			}
			samePresses(t, tt.script, rep, tt.presses, tt.waits)
		})
	}
}

// samePresses checks that a shopper pressed so often, with the same request each time, and waited between the first
// two.
func samePresses(t *testing.T, s *script, rep *crowd.Report, want int, waits time.Duration) {
	t.Helper()
	presses := s.of("/seckill/buy")
	if len(presses) < want || ending(rep) != "failed: unavailable" && len(presses) != want {
		t.Fatalf("%d presses, want %d", len(presses), want)
	}
	if waits > 0 && presses[1].at.Sub(presses[0].at) < waits {
		t.Errorf("pressed %+v; want %v between", presses, waits)
	}
	for _, p := range presses {
		if p != (call{p.at, presses[0].token, "POST", "/seckill/buy", presses[0].key, presses[0].body}) ||
			(p.key == "") != (rep.Options.Key == 0) ||
			!strings.HasPrefix(p.body, `{"seckill_id":"7","count":1,"address":"`) {
			t.Errorf("pressed %+v after %+v: want the same request again", p, presses[0])
		}
	}
}

// begun calls f in the background. The returned function waits for f's results.
func begun(f func() (*crowd.Report, error)) func() (*crowd.Report, error) {
	done := make(chan struct{})
	var rep *crowd.Report
	var err error
	go func() {
		defer close(done)
		rep, err = f()
	}()
	return func() (*crowd.Report, error) {
		<-done
		return rep, err
	}
}

// TestNobodyPressesBeforeTheOpening: a crowd that comes before an upcoming sale asks the time and presses after the
// start.
func TestNobodyPressesBeforeTheOpening(t *testing.T) {
	t.Parallel()
	s := &script{buy: answers{problem(409, "sold_out", "")}, start: time.Now().Add(2 * time.Second)}
	o := options(serve(t, s))
	o.Item, o.Shoppers, o.Ramp, o.Lead = "7", 20, 200*time.Millisecond, 500*time.Millisecond
	rep := visit(t, o)
	if rep.Arrived != 20 || rep.Count("sold_out") != 20 {
		t.Errorf("%d came: %s", rep.Arrived, ending(rep))
	}
	for _, p := range s.of("/seckill/buy") {
		// A browser's clock error is up to half a round trip, which is long on a busy machine. Who does not wait comes
		// up to half a second early.
		if early := s.start.Sub(p.at); early > 100*time.Millisecond {
			t.Errorf("pressed %v before the opening", early)
		}
	}
	if n := len(s.of("/seckill/time")); n != 21 { // each shopper, and the operator
		t.Errorf("the time was asked %d times, want 21", n)
	}
}

// TestLatencyCountsFromTheMoment: a stalled sale shows in the latency of every shopper who comes meanwhile, also of
// those who wait for a connection.
func TestLatencyCountsFromTheMoment(t *testing.T) {
	t.Parallel()
	const stall, ramp = 1500 * time.Millisecond, 300 * time.Millisecond
	gate := make(chan struct{})
	stalls := sync.OnceFunc(func() { time.AfterFunc(stall, func() { close(gate) }) })
	s := &script{buy: answers{func(w http.ResponseWriter, r *http.Request) {
		stalls()
		<-gate
		problem(409, "sold_out", "")(w, r)
	}}}
	o := options(serve(t, s))
	o.Shoppers, o.Ramp, o.Connections = 200, ramp, 2
	rep := visit(t, o)
	least := float64((stall - ramp).Milliseconds())
	if x := rep.Outcomes[0]; x.Name != "sold_out" || x.Count != 200 || x.P50 < least || x.P99 < least {
		t.Errorf("%+v; want all 200 to have waited at least %v ms, though only two have connections", x, least)
	}
	if buy := rep.Requests.Acts[0]; buy.Latency.P50 < least {
		t.Errorf("%+v; want the requests to have waited too", buy)
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(&script{buy: answers{ok}, order: answers{pending}})
	t.Cleanup(server.Close)
	o := options(server.URL)
	o.TLS = &tls.Config{RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	if rep := visit(t, o); ending(rep) != "placed" {
		t.Errorf("%s: %+v", ending(rep), rep.Requests.Acts)
	}
}
