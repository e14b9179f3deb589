package apigw_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/seckill"
)

// door lets in whoever offers "PASS" beside the protocol.
type door struct {
	asked string
	fault error
}

func (d *door) Connect(ctx context.Context, h apigw.Handshake) (status int, protocol string) {
	d.asked = fmt.Sprintf("connect %s with %q, from %q, trace %s", h.Connection, h.Offered, h.Origin,
		seckill.Trace(ctx)+h.From)
	if !strings.HasSuffix(h.Offered, "PASS") {
		return 403, ""
	}
	return 200, "seckill.v1"
}

func (d *door) Disconnect(_ context.Context, connection string) error {
	d.asked = "disconnect " + connection
	return d.fault
}

func TestWebSocket(t *testing.T) {
	t.Parallel()
	handshake := string(recorded(t, "websocket.json"))
	several := strings.Replace(handshake, `["seckill.v1, PASS"]`, `["seckill.v1","PASS"]`, 1)
	small := strings.ReplaceAll(handshake, "Sec-WebSocket-Protocol", "sec-websocket-protocol")
	const accepted = `{"statusCode":200,"headers":{"Sec-WebSocket-Protocol":"seckill.v1"},"multiValueHeaders":null,"body":""}`
	const connect = "connect L0SM9cOFvHcCIhw= with "
	const page = `, from "https://shop.example.com", trace TxQ0HFj6liAFPMA=203.0.113.7`
	for name, c := range map[string]struct{ event, asked, want string }{
		"handshake":     {handshake, connect + `"seckill.v1, PASS"` + page, accepted},
		"several lines": {several, connect + `"seckill.v1,PASS"`, accepted},
		"small letters": {small, connect + `"seckill.v1, PASS"`, accepted},
		"one value each": {strings.Replace(handshake, "multiValueHeaders", "x", 1), connect + `"seckill.v1, PASS"`,
			accepted},
		"no browser": {strings.ReplaceAll(handshake, `"Origin"`, `"x"`), connect + `"seckill.v1, PASS", from "", trace`,
			accepted},
		"one origin, small letters": {strings.ReplaceAll(strings.Replace(handshake, "multiValueHeaders", "x", 1),
			`"Origin"`, `"origin"`), connect + `"seckill.v1, PASS"` + page, accepted},
		"refused": {strings.ReplaceAll(handshake, "PASS", "x"), connect + `"seckill.v1, x"`,
			`{"statusCode":403,"headers":null,"multiValueHeaders":null,"body":""}`},
		"no protocol": {strings.ReplaceAll(handshake, "Sec-WebSocket-Protocol", "x"), connect + `""`,
			`{"statusCode":403,"headers":null,"multiValueHeaders":null,"body":""}`},
		"end": {`{"requestContext":{"routeKey":"$disconnect","eventType":"DISCONNECT","connectionId":"c="}}`,
			"disconnect c=", `{"statusCode":200,"headers":null,"multiValueHeaders":null,"body":""}`},
		"message":       {strings.Replace(handshake, `"CONNECT"`, `"MESSAGE"`, 1), "", ""},
		"no connection": {strings.Replace(handshake, "connectionId", "x", 1), "", ""},
		"another event": {string(recorded(t, "apigateway.json")), "", ""},
		"no event":      {"[]", "", ""},
	} {
		d := &door{}
		out, err := apigw.WebSocket(d)(context.Background(), []byte(c.event))
		if string(out) != c.want || !strings.HasPrefix(d.asked, c.asked) || (err != nil) != (c.want == "") {
			t.Errorf("%s: %s, %v after %s; want %s after %s", name, out, err, d.asked, c.want, c.asked)
		}
	}
	d := &door{fault: errors.New("away")}
	if out, err := apigw.WebSocket(d)(context.Background(),
		[]byte(`{"requestContext":{"eventType":"DISCONNECT","connectionId":"c="}}`)); !errors.Is(err, d.fault) {
		t.Errorf("an end that cannot be noted: %s, %v", out, err)
	}
}
