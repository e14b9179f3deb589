package apigw

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/your-org/seckill/shared/seckill"
)

// Headers of a handshake: the website of the page that connects; the subprotocols that a client offers, and in the
// answer the server's.
const (
	originHeader = "Origin"
	protocols    = "Sec-WebSocket-Protocol"
)

// Handshake is what a client asks for.
type Handshake struct {
	Connection string // its id
	Offered    string // subprotocols, as the client's header has them
	Origin     string // of the page; "" if the client is no browser
	From       string // network address
}

// Connector lets connections of a WebSocket API in.
type Connector interface {
	// Connect answers a handshake. status is 200 for an accepted one, which speaks the subprotocol that is returned,
	// or the refusal's.
	Connect(ctx context.Context, h Handshake) (status int, protocol string)
	// Disconnect is told that a connection has ended.
	Disconnect(ctx context.Context, connection string) error
}

// WebSocket returns a handler for the events of a WebSocket API's routes $connect and $disconnect ("Lambda proxy
// integration"). Pages need not send anything, so there is no route for what they send. As for HTTP, the request id
// is the one that API Gateway generates, and the context ends 250 ms before Lambda's deadline.
func WebSocket(c Connector) Handler {
	return func(ctx context.Context, event []byte) ([]byte, error) {
		var e events.APIGatewayWebsocketProxyRequest
		if err := json.Unmarshal(event, &e); err != nil {
			return nil, notAnEvent("a WebSocket API", err)
		}
		id := e.RequestContext.ConnectionID
		if id == "" {
			return nil, notAnEvent("a WebSocket API", errShape)
		}
		ctx, cancel := early(ctx, answerMargin)
		defer cancel()
		ctx = seckill.WithTrace(ctx, e.RequestContext.ExtendedRequestID)
		out := events.APIGatewayProxyResponse{StatusCode: http.StatusOK}
		switch e.RequestContext.EventType {
		case "CONNECT":
			var protocol string
			out.StatusCode, protocol = c.Connect(ctx, Handshake{id, header(&e, protocols), header(&e, originHeader),
				e.RequestContext.Identity.SourceIP})
			if protocol != "" {
				out.Headers = map[string]string{protocols: protocol}
			}
		case "DISCONNECT":
			if err := c.Disconnect(ctx, id); err != nil {
				return nil, err
			}
		default:
			return nil, notAnEvent("a WebSocket API", errShape)
		}
		return json.Marshal(out)
	}
}

// header returns a header of a handshake, in one line or several, whatever its name's letters.
func header(e *events.APIGatewayWebsocketProxyRequest, want string) string {
	for name, values := range e.MultiValueHeaders {
		if strings.EqualFold(name, want) {
			return strings.Join(values, ",")
		}
	}
	for name, value := range e.Headers {
		if strings.EqualFold(name, want) {
			return value
		}
	}
	return ""
}
