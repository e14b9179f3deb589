package crowd_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/crowd"
)

type answers = []http.HandlerFunc

const cashierPage = `<html><form method="post" action="cashier/pay">
<input type="hidden" name="out_trade_no" value="o1">
<input type="hidden" name="token" value="a&amp;b">
<button>pay</button></form></html>`

// TestAShopperDoesWhatABrowserDoes has one shopper meet each answer.
func TestAShopperDoesWhatABrowserDoes(t *testing.T) {
	t.Parallel()
	cases := []struct {
		behaviour string
		script    *script
		change    func(*crowd.Options)
		ending    string
		presses   int
		bothered  int64
		check     func(*testing.T, *script, *crowd.Report)
	}{
		{behaviour: "buys, and polls until the order is placed", script: &script{buy: answers{ok},
			order: answers{queued, queued, pending}}, ending: "placed", presses: 1,
			check: func(t *testing.T, s *script, rep *crowd.Report) {
				if n := len(s.of("/seckill/order/7")); n != 3 || rep.Orders.Abandoned != 1 {
					t.Errorf("%d polls, %+v; want 3 polls, and nobody polls a page that is closed", n, rep.Orders)
				}
			}},
		{behaviour: "comes back when the server says, by its body",
			script: &script{buy: answers{problem(503, "not_ready", `,"retry_after_ms":70`), ok},
				order: answers{pending}},
			ending: "placed", presses: 2, bothered: 1, check: waited(70 * time.Millisecond)},
		{behaviour: "comes back when the server says, by its header",
			script: &script{buy: answers{say(503, "busy", "Retry-After", "1"), ok}, order: answers{pending}},
			ending: "placed", presses: 2, bothered: 1, check: waited(time.Second)},
		{behaviour: "is throttled, then told",
			script: &script{buy: answers{problem(429, "unavailable", `,"retry_after_ms":1`),
				problem(409, "sold_out", "")}},
			ending: "sold out", presses: 2, bothered: 1},
		{behaviour: "repeats an answer that was lost, with the same key", script: &script{buy: answers{lose, ok},
			order: answers{pending}}, ending: "placed", presses: 2, bothered: 1},
		{behaviour: "repeats without a key as well", script: &script{buy: answers{lose, ok}, order: answers{pending}},
			change: func(o *crowd.Options) {
				o.Key = 0
			},
			ending: "placed", presses: 2, bothered: 1},
		{behaviour: "finds the order of a lost answer by the limit",
			script: &script{buy: answers{lose, problem(409, "limit_reached", `,"order_id":"o1"`)},
				order: answers{pending}},
			change: func(o *crowd.Options) { o.Key = 0 }, ending: "placed", presses: 2, bothered: 1},
		{behaviour: "has reached the limit before",
			script: &script{buy: answers{problem(409, "limit_reached", `,"order_id":"o1"`)}},
			ending: "refused: limit_reached", presses: 1},
		{behaviour: "is refused for the token", script: &script{buy: answers{problem(403, "invalid_token", "")}},
			ending: "refused: invalid_token", presses: 1},
		{behaviour: "is refused without a word", script: &script{buy: answers{say(404, "<html>")}},
			ending: "refused: http_404", presses: 1},
		{behaviour: "is too late", script: &script{buy: answers{problem(409, "sold_out", "")}}, ending: "sold out",
			presses: 1},
		{behaviour: "waits for the opening",
			script: &script{buy: answers{problem(425, "not_started", `,"start_time":"x","retry_after_ms":300`), ok},
				order: answers{pending}},
			ending: "placed", presses: 2, check: waited(300 * time.Millisecond)},
		{behaviour: "is patient, but not for ever",
			script: &script{buy: answers{problem(503, "unavailable", `,"retry_after_ms":30`)}},
			change: func(o *crowd.Options) {
				o.Patience = 50 * time.Millisecond
			}, ending: "failed: unavailable", presses: 1},
		{behaviour: "never hears anything", script: &script{buy: answers{lose}}, change: func(o *crowd.Options) {
			o.Patience = 0
		}, ending: "failed: no_answer", presses: 1},
		{behaviour: "is accepted, then rejected", script: &script{buy: answers{ok},
			order: answers{queued, say(200,
				`{"alipay_order":"","state":"rejected","reason":"sold_out","order_id":"o1"}`)}},
			ending: "rejected: sold_out", presses: 1},
		{behaviour: "is accepted, and never sees the order placed", script: &script{buy: answers{ok},
			order: answers{queued}},
			change: func(o *crowd.Options) { o.Patience = 50 * time.Millisecond }, ending: "accepted", presses: 1},
		{behaviour: "polls on when a poll fails", script: &script{buy: answers{ok},
			order: answers{problem(503, "not_ready", `,"retry_after_ms":1`), lose, pending}}, ending: "placed",
			presses: 1},
		{behaviour: "asks for the order by its id when another one is newer", script: &script{buy: answers{ok},
			order: answers{say(200, `{"alipay_order":"","state":"paid","order_id":"o2"}`)},
			get: answers{problem(404, "order_unknown", ""),
				say(200, `{"id":"o1","state":"pending_payment","seckill":{"state":"online"},"alipay_order":"x"}`)}},
			ending: "placed", presses: 1,
			check: func(t *testing.T, s *script, _ *crowd.Report) {
				if n := len(s.of("/order/o1")); n != 2 {
					t.Errorf("asked %d times by id, want 2", n)
				}
			}},
		{behaviour: "pays", script: &script{buy: answers{ok}, order: answers{pending, pending, paid},
			open: answers{say(503, "busy"), say(200, cashierPage)}, pay: answers{say(200, "paid")}},
			change: func(o *crowd.Options) { o.Pay, o.Abandon = 1, 0 }, ending: "placed", presses: 1,
			check: func(t *testing.T, s *script, rep *crowd.Report) {
				form := s.of("/cashier/pay")
				if len(form) != 1 || form[0].body != "out_trade_no=o1&token=a%26b" || rep.Orders.Paid != 1 {
					t.Errorf("the cashier got %+v; orders %+v", form, rep.Orders)
				}
			}},
		{behaviour: "has paid already, says the cashier", script: &script{buy: answers{ok},
			order: answers{pending, paid}, open: answers{say(200, "<html>paid</html>")}},
			change: func(o *crowd.Options) { o.Pay, o.Abandon = 1, 0 }, ending: "placed", presses: 1,
			check: func(t *testing.T, _ *script, rep *crowd.Report) {
				if rep.Orders.Paid != 1 {
					t.Errorf("%+v", rep.Orders)
				}
			}},
		{behaviour: "comes too late to pay", script: &script{buy: answers{ok}, order: answers{pending},
			open: answers{say(410, "<html>")}},
			change: func(o *crowd.Options) { o.Pay, o.Abandon = 1, 0 }, ending: "placed", presses: 1,
			check: func(t *testing.T, _ *script, rep *crowd.Report) {
				if rep.Orders.TooLate != 1 || rep.Idle.Open != 1 {
					t.Errorf("%+v, %+v", rep.Orders, rep.Idle)
				}
			}},
		{behaviour: "cancels", script: &script{buy: answers{ok}, order: answers{pending},
			cancel: answers{problem(503, "unavailable", `,"retry_after_ms":1`), say(200, `{"state":"closing"}`)}},
			change: func(o *crowd.Options) { o.Cancel, o.Abandon = 1, 0 }, ending: "placed", presses: 1,
			check: func(t *testing.T, s *script, rep *crowd.Report) {
				if rep.Orders.Cancelled != 1 || len(s.of("/order/o1/cancel")) != 2 {
					t.Errorf("%+v", rep.Orders)
				}
			}},
		{behaviour: "cannot cancel any more", script: &script{buy: answers{ok}, order: answers{pending},
			cancel: answers{problem(409, "not_cancellable", "")}},
			change: func(o *crowd.Options) { o.Cancel, o.Abandon = 1, 0 }, ending: "placed", presses: 1,
			check: func(t *testing.T, _ *script, rep *crowd.Report) {
				if rep.Orders.Uncancelled != 1 {
					t.Errorf("%+v", rep.Orders)
				}
			}},
		{behaviour: "leaves the page open, until nobody else is there", script: &script{buy: answers{ok},
			order: answers{pending}},
			change: func(o *crowd.Options) { o.Abandon = 0 }, ending: "placed", presses: 1,
			check: func(t *testing.T, _ *script, rep *crowd.Report) {
				if rep.Orders.Looked != 1 || rep.Idle.Open != 1 {
					t.Errorf("%+v, %+v", rep.Orders, rep.Idle)
				}
			}},
		{behaviour: "presses twice", script: &script{buy: answers{ok, problem(409, "sold_out", "")},
			order: answers{pending}}, change: func(o *crowd.Options) {
			o.Repeat = 1
		},
			ending: "placed", presses: 2, check: func(t *testing.T, _ *script, rep *crowd.Report) {
				if len(rep.Requests.Repeats) != 1 || rep.Requests.Repeats["sold_out"] != 1 {
					t.Errorf("second presses %v", rep.Requests.Repeats)
				}
			}},
		{behaviour: "takes what the second press got", script: &script{buy: answers{problem(409, "sold_out", ""), ok},
			order: answers{pending}},
			change: func(o *crowd.Options) { o.Repeat = 1 }, ending: "placed", presses: 2},
	}
	visits := make([]func() (*crowd.Report, error), len(cases)) // all at once: they do little but wait
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
			presses := tt.script.of("/seckill/buy")
			if len(presses) < tt.presses || tt.ending != "failed: unavailable" && len(presses) != tt.presses {
				t.Errorf("%d presses, want %d", len(presses), tt.presses)
			}
			for _, p := range presses {
				if p != (call{p.at, presses[0].user, "POST", "/seckill/buy", presses[0].key, presses[0].body}) ||
					(p.key == "") != (rep.Options.Key == 0) ||
					!strings.HasPrefix(p.body, `{"seckill_id":"7","count":1,"address":"`) {
					t.Errorf("pressed %+v after %+v: want the same request again", p, presses[0])
				}
			}
			if tt.check != nil {
				tt.check(t, tt.script, rep)
			}
		})
	}
}

// begun calls f in the background; the function that it returns waits for what f gives.
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

// waited checks that the second press came no earlier than so long after the first.
func waited(least time.Duration) func(*testing.T, *script, *crowd.Report) {
	return func(t *testing.T, s *script, _ *crowd.Report) {
		if p := s.of("/seckill/buy"); len(p) < 2 || p[1].at.Sub(p[0].at) < least {
			t.Errorf("pressed %+v; want %v between", p, least)
		}
	}
}

// TestNobodyPressesBeforeTheOpening: the crowd comes before an upcoming sale, asks the time, and presses from its start
// on.
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
		if early := s.start.Sub(p.at); early > 20*time.Millisecond { // half a trip is what a browser can be wrong by
			t.Errorf("pressed %v before the opening", early)
		}
	}
	if n := len(s.of("/seckill/time")); n != 21 { // each shopper, and the first look
		t.Errorf("the time was asked %d times, want 21", n)
	}
}

// TestLatencyCountsFromTheMoment: a sale that stalls shows in the latency of everybody who came meanwhile, also of
// those for whom no connection was free.
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
		t.Errorf("%+v; want all 200 to have waited %v ms at least, though only two were being answered", x, least)
	}
	if buy := rep.Requests.Acts[0]; buy.Latency.P50 < least {
		t.Errorf("%+v; want the requests to have waited as well", buy)
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
