package functions_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/functions/lambdatest"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// connectPass returns a pass of a shopper, as the functions buy and shop give it.
func connectPass(user, nonce string, clock seckill.Clock) string {
	text, _ := jwtauth.NewPasses(jwtauth.Keys{Current: secret}, clock).Make(user, nonce)
	return text
}

// handshake returns the recorded event of a handshake with this connection and these subprotocols.
func handshake(t *testing.T, connection, offered string) []byte {
	t.Helper()
	e := strings.ReplaceAll(string(recorded(t, "websocket.json")), "seckill.v1, PASS", offered)
	return []byte(strings.Replace(e, "L0SM9cOFvHcCIhw=", connection, 1))
}

func ended(connection string) []byte {
	return fmt.Appendf(nil, `{"requestContext":{"routeKey":"$disconnect","eventType":"DISCONNECT",`+
		`"connectionId":%q}}`, connection)
}

// enter opens a connection and checks that the protocol is agreed on.
func enter(t *testing.T, f *lambdatest.Function, user, nonce, connection string) {
	t.Helper()
	r := ask(t, f, handshake(t, connection, "seckill.v1, "+connectPass(user, nonce, system.Clock{})))
	if r.Status != 200 || r.Headers["Sec-WebSocket-Protocol"] != "seckill.v1" {
		t.Fatalf("connect %s: %+v", connection, r)
	}
}

// TestConnectFunction checks who gets in, and that the third connection of a shopper ends the oldest. That a pass is
// good once is tested on a real server.
func TestConnectFunction(t *testing.T) {
	w := newDeployment(t)
	f := w.start(t, "connect")
	for _, n := range []string{"1", "2", "3"} {
		enter(t, f, "1001", n, "c"+n+"=")
		time.Sleep(2 * time.Millisecond) // their order is that of their milliseconds
	}
	if got := w.aws.Pushed(); !slices.Equal(got, []string{"DELETE c1= "}) {
		t.Errorf("calls %q, want that the oldest is ended", got)
	}
	forged, _ := jwtauth.NewPasses(jwtauth.Keys{Current: "another-secret-of-tokens"}, system.Clock{}).Make("1001", "n")
	old := connectPass("1001", "n", memory.NewClock(time.Now().Add(-seckill.PassLife)))
	token := must.Get(jwtauth.Sign(secret, "1001", time.Now().Add(time.Hour)))
	for name, offered := range map[string]string{"forged": "seckill.v1, " + forged, "expired": "seckill.v1, " + old,
		"a token": "seckill.v1, " + token, "another version": "seckill.v2, " + connectPass("1001", "v", system.Clock{}),
		"nothing": "", "no pass": "seckill.v1"} {
		if r := ask(t, f, handshake(t, "c9=", offered)); r.Status != 403 || len(r.Headers) != 0 {
			t.Errorf("%s: %+v, want 403", name, r)
		}
	}
	fresh := connectPass("1001", "o", system.Clock{})
	for origin, want := range map[string]int{"https://elsewhere.example": 403, storefront + ".evil": 403, "null": 403,
		"": 200} {
		e := strings.ReplaceAll(string(handshake(t, "o=", "seckill.v1, "+fresh)), storefront, origin)
		if r := ask(t, f, []byte(e)); r.Status != want {
			t.Errorf("a page of %q: %+v, want %d", origin, r, want)
		}
	}
	run(t, f, ended("c3="), `{"statusCode":200,"headers":null,"multiValueHeaders":null,"body":""}`)
	if r := ask(t, w.start(t, "connect", "TABLE_PREFIX", "elsewhere-"), handshake(t, "c4=",
		"seckill.v1, "+connectPass("1001", "4", system.Clock{}))); r.Status != 503 {
		t.Errorf("without the table: %+v, want 503", r)
	}
	for _, metric := range []string{`"pages_connected":1`, `"passes_refused":1`} {
		if !f.Says(metric) {
			t.Errorf("no metric %s:\n%s", metric, f.Output())
		}
	}
	for of, n := range map[string]int{`"own_page":true,"network_hash":"`: 6, `"own_page":false,"network_hash":"`: 3} {
		if got := strings.Count(f.Output(), `"msg":"refused","reason":"handshake",`+of); got != n {
			t.Errorf("%d lines of %s, want %d:\n%s", got, of, n, f.Output())
		}
	}
	for what, text := range map[string]string{"a pass": connectPass("1001", "1", system.Clock{})[:10],
		"an address": "203.0.113.7", "the secret": secret} {
		if strings.Contains(f.Output(), text) {
			t.Errorf("the log has %s:\n%s", what, f.Output())
		}
	}
}

// TestTellFunctionPushes checks that a page hears the newest change of its order, and that neither a page that has
// gone nor a table that is missing keeps changes from being told.
func TestTellFunctionPushes(t *testing.T) {
	w := newDeployment(t)
	var e struct {
		Records []struct {
			Change struct{ NewImage map[string]map[string]any } `json:"dynamodb"`
		}
	}
	must.OK(t, json.Unmarshal(streamed(t), &e))
	row := e.Records[0].Change.NewImage
	user, order := fmt.Sprint(row["user"]["S"]), fmt.Sprint(row["id"]["S"])
	door := w.start(t, "connect")
	enter(t, door, user, "1", "c1=")
	enter(t, door, user, "2", "gone2=")
	enter(t, door, "9"+user, "3", "c3=")
	f := w.start(t, "tell")
	run(t, f, streamed(t), done)
	pushed := w.aws.Pushed()
	if len(pushed) != 1 || !strings.HasPrefix(pushed[0], `POST c1= {"order_id":"`+order+
		`","state":"paid","sequence":2,"pay_by":"`) || !f.Says(`"outcomes_pushed":1`) ||
		strings.Contains(f.Output(), "pushes_failed") {
		t.Errorf("pushed %q\n%s", pushed, f.Output())
	}
	for what, changes := range map[string][]string{"no push": {"CONNECTIONS_URL", ""},
		"nobody answers": {"CONNECTIONS_URL", "http://127.0.0.1:1/live"}} {
		w.aws.Events()
		f := w.start(t, "tell", changes...)
		run(t, f, streamed(t), done)
		if told, pushed := len(w.aws.Events()), w.aws.Pushed(); told != 2 || len(pushed) != 0 {
			t.Errorf("%s: told %d changes and pushed %q, want 2 and none", what, told, pushed)
		}
		if !f.Says(`"changes_told":2`) || strings.Contains(f.Output(), `"pushes_failed":2`) != (what != "no push") {
			t.Errorf("%s:\n%s", what, f.Output())
		}
	}
}
