package contracttest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// Address is the delivery address in all cases. Its quotes, HTML and characters beyond 16 bits must arrive unchanged.
const Address = "上海市黄浦区人民大道 200 号 “门卫”转交 <b>&</b> 😀"

const pollEvery = 50 * time.Millisecond

// Shop is a running system with the items of a Catalog.
type Shop struct {
	*Client
	Secret   string // signs the tokens
	Items    Catalog
	Shoppers int64         // the first of the shopper ids that the cases use
	Patience time.Duration // longest polling
}

// Catalog holds the items that the cases use. Each run has its own.
type Catalog struct {
	Live     seckill.Listing // 10 units, limit 5
	Newest   seckill.Listing // starts after Live
	Few      seckill.Listing // 2 units, limit 5
	One      seckill.Listing // 1 unit
	Capped   seckill.Listing // 10 units, limit 1
	Stopped  seckill.Listing // the operator will stop it
	Ended    seckill.Listing
	Soon     seckill.Listing // starts within StageLead
	Upcoming seckill.Listing // starts later
}

// NewCatalog makes the items; each call of id returns a new id.
func NewCatalog(now time.Time, id func() string) Catalog {
	item := func(start, end time.Duration, stock, limit int) seckill.Listing {
		return Item(id(), now.Add(start), now.Add(end), stock, limit)
	}
	return Catalog{
		Live:     item(-time.Hour, 3*time.Hour, 10, 5),
		Newest:   item(-time.Minute, 3*time.Hour, 10, 5),
		Few:      item(-time.Hour, 3*time.Hour, 2, 5),
		One:      item(-time.Hour, 3*time.Hour, 1, 1),
		Capped:   item(-time.Hour, 3*time.Hour, 10, 1),
		Stopped:  item(-time.Hour, 3*time.Hour, 10, 5),
		Ended:    item(-2*time.Hour, -time.Hour, 10, 5),
		Soon:     item(seckill.StageLead-time.Minute, 3*time.Hour, 10, 5),
		Upcoming: item(2*time.Hour, 3*time.Hour, 10, 5),
	}
}

// All returns the items.
func (c *Catalog) All() []seckill.Listing {
	return []seckill.Listing{c.Live, c.Newest, c.Few, c.One, c.Capped, c.Stopped, c.Ended, c.Soon, c.Upcoming}
}

// Item returns an item for tests, at 88.88 yuan.
func Item(id string, start, end time.Time, stock, limit int) seckill.Listing {
	return seckill.Listing{Item: seckill.Item{ID: id, Price: 88_88, Start: start.UTC().Truncate(time.Second),
		End: end.UTC().Truncate(time.Second), CreateTime: start.UTC().Truncate(time.Second),
		Stock: stock, Limit: limit, Buckets: seckill.BucketsFor(stock), Version: 1,
		Commodity: seckill.Commodity{ID: id, Title: "测试商品 " + id, Price: 188_88,
			CreateTime: start.UTC().Truncate(time.Second)}},
		Description: seckill.Description{Covers: []string{"/pictures/tea.svg"}, Detail: "<p>测试</p>"}}
}

// user returns the id of the nth shopper.
func (s *Shop) user(n int64) string { return strconv.FormatInt(s.Shoppers+n, 10) }

func (s *Shop) token(user string) string {
	return must.Get(jwtauth.Sign(s.Secret, user, time.Now().Add(time.Hour)))
}

func (s *Shop) call(t *testing.T, token, method, path string, body any, headers ...string) Answer {
	t.Helper()
	a, err := s.Call(t.Context(), token, method, path, body, headers...)
	must.OK(t, err)
	return a
}

func (s *Shop) buy(t *testing.T, user, item string, count int) Answer {
	t.Helper()
	return s.call(t, s.token(user), "POST", "/seckill/buy", map[string]any{"seckill_id": item, "count": count,
		"address": Address})
}

// reserved makes a purchase that must succeed, and returns the order's id.
func (s *Shop) reserved(t *testing.T, user, item string, count int) string {
	t.Helper()
	a := s.buy(t, user, item, count)
	if a.Status != 200 || a.Number("result") != "1" || !seckill.ValidOrderID(a.Text("order_id")) {
		t.Fatalf("buy: %v", a)
	}
	return a.Text("order_id")
}

// until repeats a call until its answer is as wanted.
func (s *Shop) until(t *testing.T, what string, call func() Answer, wanted func(Answer) bool) Answer {
	t.Helper()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for deadline := time.Now().Add(s.Patience); ; <-tick.C {
		a := call()
		if wanted(a) {
			return a
		}
		if time.Now().After(deadline) {
			t.Fatalf("no %s within %v; last: %v", what, s.Patience, a)
		}
	}
}

// awaitState waits until a shopper's newest order of an item is in the state.
func (s *Shop) awaitState(t *testing.T, user, item string, want seckill.State) Answer {
	t.Helper()
	token := s.token(user)
	return s.until(t, string(want), func() Answer { return s.call(t, token, "GET", "/seckill/order/"+item, nil) },
		func(a Answer) bool { return a.Text("state") == string(want) })
}

// Fields checks that an object has these fields with these JSON types: "string", "number", "array", "object", "time"
// (RFC 3339, UTC).
func Fields(t *testing.T, what string, got any, want map[string]string) map[string]any {
	t.Helper()
	object, ok := got.(map[string]any)
	if !ok {
		t.Fatalf("%s is %v, want an object", what, got)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		kind := ""
		switch v := object[name].(type) {
		case string:
			kind = "string"
			if _, err := time.Parse("2006-01-02T15:04:05Z", v); err == nil {
				kind = "time"
			}
		case json.Number:
			kind = "number"
		case []any:
			kind = "array"
		case map[string]any:
			kind = "object"
		}
		if kind != want[name] {
			t.Errorf("%s: %s is %v, want a %s", what, name, object[name], want[name])
		}
	}
	return object
}

func checkItem(t *testing.T, what string, got any) map[string]any {
	t.Helper()
	it := Fields(t, what, got, map[string]string{"id": "string", "sk_price": "number", "start_time": "time",
		"end_time":    "time",
		"create_time": "time", "max_sk_count": "number", "sk_per_max_count": "number", "stock": "number",
		"commodity": "object"})
	Fields(t, what+" commodity", it["commodity"], map[string]string{"id": "string", "title": "string",
		"price": "number", "covers": "array",
		"detail": "string", "create_time": "time"})
	return it
}

func objects(list any) (out []map[string]any) {
	all, _ := list.([]any)
	for _, o := range all {
		m, _ := o.(map[string]any)
		out = append(out, m)
	}
	return out
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // cannot happen: a string always marshals
	}
	return string(b)
}

var (
	hiddenField = regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)">`)
	formAction  = regexp.MustCompile(`<form method="post" action="([^"]+)">`)
)

// CashierForm reads the form of the fake gateway's cashier as a browser would: its action, relative to the page, and
// its fields.
func CashierForm(page string) (action string, form url.Values, err error) {
	form = url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(page, -1) {
		form.Set(m[1], m[2])
	}
	found := formAction.FindStringSubmatch(page)
	if found == nil || form.Get("token") == "" {
		return "", nil, fmt.Errorf("the cashier's page has no form to send: %.300s", page)
	}
	return found[1], form, nil
}
