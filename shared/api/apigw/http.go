package apigw

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/seckill"
)

// HTTP returns a handler for REST proxy events (payload format 1.0). The request id, for logs, is
// requestContext.extendedRequestId, which API Gateway generates and returns as X-Amz-Apigw-Id; if it is missing,
// Lambda's. X-Amzn-Trace-Id and requestContext.requestId may come from the client ("$context variables", Amazon API
// Gateway Developer Guide), so a client could choose the ids in our logs. The request's context ends 250 ms before
// Lambda's deadline. If the handler aborts its answer (http.ErrAbortHandler), the call fails and API Gateway answers
// 5xx. Answers have the headers of httpapi.Headers.
func HTTP(h http.Handler) Handler {
	h = httpapi.Headers(h)
	return func(ctx context.Context, event []byte) (out []byte, err error) {
		var e events.APIGatewayProxyRequest
		if err := json.Unmarshal(event, &e); err != nil {
			return nil, notAnEvent("API Gateway", err)
		}
		if e.HTTPMethod != "" && e.Path == "" {
			e.Path = "/" // LocalStack's path of a stage's root that is asked for without its slash
		}
		if e.HTTPMethod == "" || !strings.HasPrefix(e.Path, "/") {
			return nil, notAnEvent("API Gateway", errShape)
		}
		ctx, cancel := early(ctx, answerMargin)
		defer cancel()
		r, err := request(ctx, &e)
		if err != nil {
			return nil, err
		}
		w := response{header: http.Header{}}
		if slash := withoutSlash(&e); slash != "" {
			// http.Redirect would make the address absolute, which is wrong behind a proxy that adds to the path.
			httpapi.Headers(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", slash)
				w.WriteHeader(http.StatusPermanentRedirect)
			})).ServeHTTP(&w, r)
			return json.Marshal(w.event())
		}
		defer func() {
			switch v := recover(); v {
			case nil:
			case http.ErrAbortHandler: //nolint:errorlint // a recovered value
				out, err = nil, errAborted
			default:
				panic(v)
			}
		}()
		h.ServeHTTP(&w, r)
		return json.Marshal(w.event())
	}
}

func request(ctx context.Context, e *events.APIGatewayProxyRequest) (*http.Request, error) {
	body := []byte(e.Body)
	if e.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(e.Body); err != nil {
			return nil, notAnEvent("API Gateway", err)
		}
	}
	r := &http.Request{Method: e.HTTPMethod, URL: &url.URL{RawQuery: query(e).Encode()}, Proto: "HTTP/1.1",
		ProtoMajor: 1, ProtoMinor: 1,
		Header: headers(e), ContentLength: int64(len(body)), Body: http.NoBody}
	r.RemoteAddr = viewer(e, r.Header)
	if len(body) > 0 {
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	path := pathOf(e)
	r.URL.Path = path
	if plain, err := url.PathUnescape(path); err == nil {
		r.URL.Path, r.URL.RawPath = plain, path
	}
	r.RequestURI = r.URL.RequestURI()
	r.Host = r.Header.Get("Host")
	id := e.RequestContext.ExtendedRequestID
	if lc, ok := lambdacontext.FromContext(ctx); ok && id == "" {
		id = lc.AwsRequestID
	}
	return r.WithContext(seckill.WithTrace(ctx, id)), nil
}

// viewer returns the address of the client. Behind the CDN it is the one that the CDN's function noted
// (infra/edge/function.js), believed only of a request that had the CDN's key: API Gateway says which key it accepted.
func viewer(e *events.APIGatewayProxyRequest, h http.Header) string {
	if noted := h.Values("X-Viewer-Address"); e.RequestContext.Identity.APIKeyID != "" && len(noted) == 1 {
		return noted[0]
	}
	return e.RequestContext.Identity.SourceIP
}

// pathOf returns the path without the stage. API Gateway leaves the stage out; some local gateways do not. The
// resource never has it, so comparing with the resource tells whether the first segment is the stage.
func pathOf(e *events.APIGatewayProxyRequest) string {
	prefix := "/" + e.RequestContext.Stage
	rest, found := strings.CutPrefix(e.Path, prefix)
	switch {
	case prefix == "/", !found, !strings.HasPrefix(rest, "/"), strings.HasPrefix(e.Resource, prefix+"/"):
		return e.Path
	case strings.HasPrefix(e.Resource, "/{") && e.PathParameters["proxy"] != "" &&
		e.Path == "/"+e.PathParameters["proxy"]:
		return e.Path
	}
	return rest
}

// withoutSlash returns where a request for the stage without its slash belongs, e.g. "live/" for https://HOST/live; ""
// for every other request. API Gateway serves both alike, but a page's relative addresses need the slash.
func withoutSlash(e *events.APIGatewayProxyRequest) string {
	asked := e.RequestContext.Path
	if e.Path != "/" || !strings.HasSuffix(asked, "/"+e.RequestContext.Stage) || e.RequestContext.Stage == "" {
		return ""
	}
	target := url.URL{Path: e.RequestContext.Stage + "/", RawQuery: query(e).Encode()}
	return target.String()
}

func query(e *events.APIGatewayProxyRequest) url.Values {
	if len(e.MultiValueQueryStringParameters) > 0 {
		return e.MultiValueQueryStringParameters
	}
	out := url.Values{}
	for name, v := range e.QueryStringParameters {
		out.Set(name, v)
	}
	return out
}

func headers(e *events.APIGatewayProxyRequest) http.Header {
	out := make(http.Header, len(e.MultiValueHeaders))
	for name, values := range e.MultiValueHeaders {
		for _, v := range values {
			out.Add(name, v)
		}
	}
	if len(out) == 0 {
		for name, v := range e.Headers {
			out.Add(name, v)
		}
	}
	return out
}

// response collects an answer.
type response struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (w *response) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter; it ignores 1xx, which cannot reach the client.
func (w *response) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
}

// Write implements http.ResponseWriter.
func (w *response) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// event returns the answer in API Gateway's form. Every map and list is non-nil, because local gateways fail on null.
func (w *response) event() events.APIGatewayProxyResponse {
	w.WriteHeader(http.StatusOK)
	out := events.APIGatewayProxyResponse{StatusCode: w.status, Headers: map[string]string{},
		MultiValueHeaders: map[string][]string{}}
	if w.body.Len() > 0 && w.header.Get("Content-Type") == "" {
		// otherwise API Gateway labels everything JSON
		w.header.Set("Content-Type", http.DetectContentType(w.body.Bytes()))
	}
	for name, values := range w.header {
		if len(values) == 1 {
			out.Headers[name] = values[0]
		} else {
			out.MultiValueHeaders[name] = values
		}
	}
	if utf8.Valid(w.body.Bytes()) {
		out.Body = w.body.String()
	} else {
		out.Body, out.IsBase64Encoded = base64.StdEncoding.EncodeToString(w.body.Bytes()), true
	}
	return out
}
