package crowd_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/your-org/seckill/proof/crowd"
	"github.com/your-org/seckill/proof/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// call is a request to the scripted sale.
type call struct {
	at     time.Time
	token  string
	method string
	path   string
	key    string
	body   string
}

// say answers with a status and a body.
func say(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// problem answers with a problem document.
func problem(status int, code, more string) http.HandlerFunc {
	return say(status, fmt.Sprintf(
		`{"type":"urn:problem-type:seckill:%s","title":"x","status":%d,"code":%q,"detail":"a \"code\":\"none\" in words"%s}`, code, status, code, more))
}

// lose closes the connection without an answer.
func lose(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }

// Answers to GET /seckill/order/{item}.
var (
	queued  = say(200, `{"alipay_order":"","state":"queued","order_id":"o1","retry_after_ms":1}`)
	pending = say(200,
		`{"alipay_order":"a=1\u0026b=2","state":"pending_payment","order_id":"o1","pay_by":"2999-01-01T00:00:00Z"}`)
	paid = say(200, `{"alipay_order":"","state":"paid","order_id":"o1"}`)
	ok   = say(200, `{"result":1,"order_id":"o1"}`)
)

// script is a sale of one item with scripted answers: the nth call of each kind gets the nth answer, and the last
// answer repeats.
type script struct {
	buy, order, get, cancel, open, pay []http.HandlerFunc
	start                              time.Time // of the sale; zero means an hour ago

	mu    sync.Mutex
	calls []call
	count map[string]int
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.calls = append(s.calls, call{time.Now(), r.Header.Get("Authorization"), r.Method, r.URL.Path,
		r.Header.Get("Idempotency-Key"), string(body)})
	start := s.start
	s.mu.Unlock()
	if start.IsZero() {
		start = time.Now().Add(-time.Hour)
	}
	item, _ := json.Marshal(map[string]any{"id": "7", "sk_price": 2.5, "start_time": start.Format(time.RFC3339Nano),
		"max_sk_count": 10, "sk_per_max_count": 2,
		"stock": 10, "commodity": map[string]any{"title": "x"}})
	path := r.URL.Path
	switch {
	case path == "/healthz":
		say(200, `{"status":"ok","version":"scripted","cashier_url":"/cashier"}`)(w, r)
	case path == "/seckill/time":
		say(200, fmt.Sprintf(`{"now":"x","now_ms":%d}`, time.Now().UnixMilli()))(w, r)
	case path == "/seckill/ing":
		say(200, `{"seckills":[`+string(item)+`]}`)(w, r)
	case path == "/seckill/detail/7":
		say(200, string(item))(w, r)
	case path == "/seckill/buy":
		s.next("buy", s.buy)(w, r)
	case path == "/seckill/order/7":
		s.next("order", s.order)(w, r)
	case path == "/cashier":
		s.next("open", s.open)(w, r)
	case path == "/cashier/pay":
		s.next("pay", s.pay)(w, r)
	case strings.HasSuffix(path, "/cancel"):
		s.next("cancel", s.cancel)(w, r)
	case strings.HasPrefix(path, "/order/"):
		s.next("get", s.get)(w, r)
	default:
		problem(404, "not_found", "")(w, r)
	}
}

func (s *script) next(kind string, answers []http.HandlerFunc) http.HandlerFunc {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count == nil {
		s.count = map[string]int{}
	}
	s.count[kind]++
	if len(answers) == 0 {
		return say(500, "the test expects no "+kind)
	}
	return answers[min(s.count[kind], len(answers))-1]
}

// of returns the calls to a path.
func (s *script) of(path string) (out []call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.path == path {
			out = append(out, c)
		}
	}
	return out
}

// options describe a single shopper who sends a key and leaves once the order is placed.
func options(url string) crowd.Options {
	return crowd.Options{URL: url, Shoppers: 1, Count: 1, Shares: record.Shares{Abandon: 1, Key: 1}, Connections: 8,
		Timeout:  time.Minute,
		Patience: time.Minute, For: 5 * time.Minute,
		Seed: 3, Secret: "s", Version: "test"}
}

// serve runs a server until the test ends.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	server.Config.ErrorLog = nil
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

// visit runs a crowd and checks that every shopper who came is in exactly one outcome.
func visit(t *testing.T, o crowd.Options) *crowd.Report {
	t.Helper()
	rep, err := crowd.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	addsUp(t, rep)
	return rep
}

func addsUp(t *testing.T, rep *crowd.Report) {
	t.Helper()
	sum := int64(0)
	for _, x := range rep.Outcomes {
		sum += x.Count
	}
	if sum != int64(rep.Arrived) {
		t.Errorf("%d shoppers came, and %d have an outcome: %+v", rep.Arrived, sum, rep.Outcomes)
	}
	o := rep.Orders
	if o.SentHome < 0 || int64(o.Placed) != rep.Count("placed") {
		t.Errorf("orders do not add up: %+v", o)
	}
	answered := 0
	for _, a := range rep.Requests.Acts {
		if a.OK+a.Refused+a.Later+a.Lost != a.Sent {
			t.Errorf("%s: %+v does not add up", a.Name, a)
		}
		answered += a.OK + a.Refused
	}
	if answered != rep.Requests.Answered {
		t.Errorf("%d requests answered, by acts %d", rep.Requests.Answered, answered)
	}
}

// ending returns a report's outcomes in words.
func ending(rep *crowd.Report) string {
	var words []string
	for _, x := range rep.Outcomes {
		words = append(words, x.Words())
	}
	return strings.Join(words, ", ")
}
