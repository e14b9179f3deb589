package apigw

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/your-org/seckill/shared/seckill"
)

// protocols is the header with the subprotocols that a client offers, and with the subprotocol of the server's answer.
const protocols = "Sec-WebSocket-Protocol"

// Connector lets connections of a WebSocket API in.
type Connector interface {
	// Connect answers a handshake. offered are the subprotocols, as the client's header has them. status is 200 for
	// an accepted one, which speaks the subprotocol that is returned, or the refusal's.
	Connect(ctx context.Context, connection, offered string) (status int, protocol string)
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
			out.StatusCode, protocol = c.Connect(ctx, id, offered(&e))
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

// offered returns the subprotocols that a handshake offers, in one line or several, whatever the header's letters.
func offered(e *events.APIGatewayWebsocketProxyRequest) string {
	for name, values := range e.MultiValueHeaders {
		if strings.EqualFold(name, protocols) {
			return strings.Join(values, ",")
		}
	}
	for name, value := range e.Headers {
		if strings.EqualFold(name, protocols) {
			return value
		}
	}
	return ""
}
