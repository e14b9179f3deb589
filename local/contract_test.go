package local_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/drivertest/contracttest"
)

func TestPagesAreServedUnderAStrictPolicy(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Version: "v9"})
	connects := "connect-src 'self' ws" + strings.TrimPrefix(w.URL(), "http") + ";"
	for _, path := range []string{"/", "/status", "/docs", "/openapi.json", "/pictures/headphones.svg"} {
		a := w.call("", "GET", path, nil)
		policy := a.Header.Get("Content-Security-Policy")
		if a.Status != 200 || len(a.Raw) == 0 || !strings.Contains(policy, "default-src 'none'") ||
			!strings.Contains(policy, connects) || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %d, %d bytes, policy %q", path, a.Status, len(a.Raw), policy)
		}
		if again := w.call("", "GET", path, nil, "If-None-Match",
			a.Header.Get("ETag")); again.Status != http.StatusNotModified {
			t.Errorf("%s asked for again: %d, want 304", path, again.Status)
		}
	}
	health := w.call("", "GET", "/healthz", nil)
	if health.Text("version") != "v9" || health.Text("cashier_url") != "/cashier" {
		t.Errorf("healthz: %v", health)
	}
	clock := w.call("", "GET", "/seckill/time", nil)
	contracttest.Fields(t, "time", clock.JSON, map[string]string{"now": "time", "now_ms": "number"})
	if a := w.call("", "GET", "/_local/nothing", nil); a.Status != 404 || a.Text("code") != "not_found" {
		t.Errorf("unknown local route: %v", a)
	}
}

func TestStateShowsTheWholeSystem(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{Version: "v9"})
	w.bought("1001", local.DemoLive)
	w.drained()
	a := w.call("", "GET", "/_local/state", nil)
	s := contracttest.Fields(t, "state", a.JSON, map[string]string{"now": "time", "version": "string", "items": "array",
		"orders": "object", "queues": "array",
		"refunds_due": "array", "refunds_refused": "array", "events": "object"})
	item := s["items"].([]any)[1].(map[string]any)
	for field, want := range map[string]any{"id": local.DemoLive, "state": "online", "stock": json.Number("10"),
		"left": json.Number("9"),
		"held": json.Number("1"), "awaiting": json.Number("0"), "installed": true} {
		if item[field] != want {
			t.Errorf("item's %s is %v, want %v", field, item[field], want)
		}
	}
	if o := s["orders"].(map[string]any); o["pending_payment"] != json.Number("1") || len(o) != 1 {
		t.Errorf("orders: %v", o)
	}
	var names []string
	for _, q := range s["queues"].([]any) {
		row := contracttest.Fields(t, "queue", q, map[string]string{"name": "string", "visible": "number",
			"in_flight": "number", "delayed": "number", "parked": "number"})
		names = append(names, row["name"].(string))
		if row["name"] == "closings" && row["delayed"] != json.Number("1") {
			t.Errorf("closings: %v, want the order's message delayed", row)
		}
	}
	if !slices.Equal(names, []string{"orders", "closings"}) {
		t.Errorf("queues %v", names)
	}
	if e := s["events"].(map[string]any); e["placed"] != json.Number("1") || e["reserved"] != json.Number("1") {
		t.Errorf("events: %v", e)
	}
}

func TestShoppersHaveTokensThatWork(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{})
	w.pass(24 * time.Hour) // tokens follow the system's clock
	list, _ := w.call("", "GET", "/_local/shoppers", nil).JSON["shoppers"].([]any)
	if len(list) != len(local.Shoppers) {
		t.Fatalf("%d shoppers, want %d", len(list), len(local.Shoppers))
	}
	for _, sh := range list {
		token, _ := sh.(map[string]any)["token"].(string)
		if a := w.call(token, "GET", "/order/list", nil); a.Status != 200 {
			t.Errorf("%v: %v", sh, a)
		}
	}
}

func TestClockMovesAndSchedulesFollow(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{})
	before := w.Clock.Now()
	a := w.call("", "POST", "/_local/clock", `{"advance_seconds":3600}`)
	now, err := time.Parse(time.RFC3339, a.Text("now"))
	if err != nil || now.Sub(before) < time.Hour || now.Sub(before) > time.Hour+time.Minute ||
		a.JSON["advanced_seconds"] != json.Number("3600") {
		t.Errorf("an hour after %v: %v", before, a)
	}
	shown, err := time.Parse(time.RFC3339, w.call("", "GET", "/_local/clock", nil).Text("now"))
	if err != nil || shown.Before(now) {
		t.Errorf("the clock shows %v, after %v", shown, now)
	}
}

func TestAPageOfAnotherOriginCannotMoveTheClock(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{})
	for _, tt := range []struct {
		caller  string
		headers []string
		status  int
	}{
		{"page of another site", []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"},
			http.StatusForbidden},
		{"page of another port", []string{"Origin", "http://localhost:1", "Sec-Fetch-Site", "same-site"},
			http.StatusForbidden},
		{"page in a sandbox", []string{"Origin", "null"}, http.StatusForbidden},
		{"browser that tells the origin only", []string{"Origin", "https://evil.example"}, http.StatusForbidden},
		{"page of the shop", []string{"Origin", w.URL(), "Sec-Fetch-Site", "same-origin"}, http.StatusOK},
		{"page of the shop, the origin only", []string{"Origin", w.URL()}, http.StatusOK},
		{"command line", nil, http.StatusOK},
	} {
		before := w.Clock.Now()
		// Text, as a form sends it: browsers send that across origins without a preflight.
		a := w.call("", "POST", "/_local/clock", `{"advance_seconds":3600}`, append(tt.headers, "Content-Type",
			"text/plain")...)
		if moved := w.Clock.Now().Sub(before) >= time.Hour; a.Status != tt.status ||
			moved != (tt.status == http.StatusOK) {
			t.Errorf("%s: %v, clock moved: %v; want %d", tt.caller, a, moved, tt.status)
		}
	}
}

func TestOnlyNamesOfThisMachineAreAnswered(t *testing.T) {
	t.Parallel()
	w := start(t, local.Options{})
	// Every host name leads to this system.
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, addrOf(w.System))
	}}
	defer transport.CloseIdleConnections()
	ask := func(method, path, host string, body any) contracttest.Answer {
		t.Helper()
		c := contracttest.Client{URL: "http://" + host, HTTP: &http.Client{Transport: transport, Timeout: patience}}
		a, err := c.Call(t.Context(), "", method, path, body, "Origin", c.URL, "Sec-Fetch-Site", "same-origin")
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, host := range []string{"localhost", "localhost:8100", "LocalHost:1", "127.0.0.1", "127.0.0.1:8100",
		"127.1.2.3", "[::1]", "[::1]:8100"} {
		for _, path := range []string{"/", "/healthz", "/trades", "/_local/shoppers"} {
			if a := ask("GET", path, host, nil); a.Status != http.StatusOK {
				t.Errorf("%s of %s: %v", path, host, a)
			}
		}
	}
	for _, host := range []string{"evil.example", "evil.example:8100", "localhost.evil.example",
		"127.0.0.1.evil.example", "xlocalhost", "seckill.local",
		"10.0.0.1:8100", "0.0.0.0", "[::2]:8100"} {
		for _, path := range []string{"/", "/healthz", "/trades", "/_local/shoppers"} {
			a := ask("GET", path, host, nil)
			if a.Status != http.StatusMisdirectedRequest || a.Text("code") != "wrong_host" ||
				!strings.Contains(a.Text("detail"), w.URL()) ||
				a.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s of %s: %v, want 421 with the shop's address", path, host, a)
			}
		}
		before := w.Clock.Now()
		a := ask("POST", "/_local/clock", host, `{"advance_seconds":3600}`)
		if moved := w.Clock.Now().Sub(before) >= time.Hour; a.Status != http.StatusMisdirectedRequest || moved {
			t.Errorf("clock of %s: %v, moved: %v", host, a, moved)
		}
	}
}
