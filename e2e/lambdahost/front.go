//go:build linux

package lambdahost

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// staffRoute takes staff's commands; API Gateway tells whose signature a request has.
const staffRoute = "/operator/{role}"

// Routes maps the API's routes to their functions, as in template.yaml.
var Routes = map[string]string{
	"/seckill/buy": "buy", "/seckill/challenge": "admit", "/seckill/ticket": "admit",
	"/seckill/alipay/notify": "notify", "/gateway.do": "gateway", "/cashier": "gateway",
	"/cashier/pay": "gateway", "/bill": "gateway",
	"/seckill/ing": "shop", "/seckill/will": "shop", "/seckill/detail/{seckill_id}": "shop",
	"/seckill/order/{seckill_id}": "shop", "/seckill/status/{seckill_id}": "shop", "/seckill/time": "shop",
	"/order/list": "shop", "/order/{id}": "shop", "/order/{id}/cancel": "shop", "/healthz": "shop",
	"/order/{id}/push": "shop", "/order/{id}/payment": "pay", "/signin": "signin",
	"/signin/sessions": "signin", "/signin/end": "signin",
	"/order/{id}/received": "shop", "/order/{id}/refund-request": "shop", staffRoute: "admin",
	"/admin": "shop", "/admin/{proxy+}": "admin", "/item/{id}": "shop", "/{page}": "shop",
	"/": "shop", "/assets/{file}": "shop", "/pictures/{file}": "shop", "/docs": "shop", "/favicon.ico": "shop",
	"/openapi.json": "shop",
}

// The gateway's own refusals, with template.yaml's texts.
const (
	throttled = `{"type":"urn:problem-type:seckill:unavailable","title":"服务繁忙","status":429,"code":"unavailable",` +
		`"detail":"系统繁忙，请稍后重试。","retry_after_ms":1000}`
	notFound    = `{"type":"urn:problem-type:seckill:not_found","title":"页面不存在","status":404,"code":"not_found","detail":"没有找到您要访问的内容。"}`
	unavailable = `{"type":"urn:problem-type:seckill:unavailable","title":"服务繁忙","status":503,"code":"unavailable","detail":"系统繁忙，请稍后重试。","retry_after_ms":1000}`
)

const (
	stage   = "live"
	maxBody = 10 << 20 // API Gateway's limit of a request
)

// front is the API: requests become events of API Gateway's REST proxy (payload format 1.0).
func (h *Host) front() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound, notFound) })
	for resource, name := range Routes {
		pattern := resource
		if resource == "/" {
			pattern = "/{$}"
		}
		pattern = strings.ReplaceAll(pattern, "+}", "...}") // API Gateway's way to say "and all below"
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { h.request(w, r, resource, name) })
	}
	return mux
}

func (h *Host) request(w http.ResponseWriter, r *http.Request, resource, name string) {
	began := time.Now()
	_, limited := h.opt.Cold[name]
	if limited && !h.opt.Account.Let(r.Method, resource) {
		refuse(w, http.StatusTooManyRequests, throttled) // THROTTLED
		h.answered(&Answer{Function: name, Resource: resource, Status: http.StatusTooManyRequests, Code: "unavailable",
			Retry: true, Gateway: true, Took: time.Since(began)})
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return // the client has disconnected, or sends without end
	}
	event, err := json.Marshal(proxyEvent(r, resource, body))
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, unavailable)
		return
	}
	wait, cancel := context.WithTimeout(r.Context(), h.opt.Patience)
	defer cancel()
	out, err := h.Invoke(wait, name, event)
	var answer events.APIGatewayProxyResponse
	told := Answer{Function: name, Resource: resource}
	if err != nil || json.Unmarshal(out, &answer) != nil || answer.StatusCode == 0 {
		// DEFAULT_5XX: a function that is throttled, failed or too slow
		refuse(w, http.StatusServiceUnavailable, unavailable)
		told.Status, told.Code, told.Retry, told.Gateway = http.StatusServiceUnavailable, "unavailable", true, true
	} else {
		write(w, &answer)
		told.Status = answer.StatusCode
		told.Code, told.Retry = problemOf(&answer)
	}
	told.Took = time.Since(began)
	h.answered(&told)
}

func (h *Host) answered(a *Answer) {
	if h.opt.Answered != nil {
		h.opt.Answered(*a)
	}
}

// problemOf returns the code of a refusal in a function's answer, and whether it has Retry-After.
func problemOf(a *events.APIGatewayProxyResponse) (code string, retry bool) {
	for name := range a.Headers {
		retry = retry || http.CanonicalHeaderKey(name) == "Retry-After"
	}
	for name := range a.MultiValueHeaders {
		retry = retry || http.CanonicalHeaderKey(name) == "Retry-After"
	}
	if a.StatusCode < http.StatusBadRequest {
		return "", retry
	}
	var problem struct{ Code string }
	_ = json.Unmarshal([]byte(a.Body), &problem) // a body that is not a problem document has no code
	return problem.Code, retry
}

func proxyEvent(r *http.Request, resource string, body []byte) *events.APIGatewayProxyRequest {
	source, _, _ := net.SplitHostPort(r.RemoteAddr)
	id := fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64())
	now := time.Now()
	multi := map[string][]string(r.Header)
	multi["Host"] = []string{r.Host}
	multi["X-Amzn-Trace-Id"] = []string{fmt.Sprintf("Root=1-%s-%s",
		hex.EncodeToString([]byte{byte(now.Unix() >> 24), byte(now.Unix() >> 16), byte(now.Unix() >> 8),
			byte(now.Unix())}), id[:24])}
	single := make(map[string]string, len(multi))
	for name, values := range multi {
		single[name] = values[len(values)-1]
	}
	e := &events.APIGatewayProxyRequest{Resource: resource, Path: r.URL.Path, HTTPMethod: r.Method, Headers: single,
		MultiValueHeaders: multi, Body: string(body),
		RequestContext: events.APIGatewayProxyRequestContext{ResourcePath: resource, HTTPMethod: r.Method, Path: "/" +
			stage + r.URL.Path, Stage: stage, Protocol: r.Proto,
			RequestID: id, ExtendedRequestID: id, RequestTimeEpoch: now.UnixMilli(),
			Identity: events.APIGatewayRequestIdentity{SourceIP: source}}}
	// The signature itself is not checked here.
	if resource == staffRoute && strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ") {
		e.RequestContext.Identity.AccountID = "000000000000"
		e.RequestContext.Identity.UserArn = "arn:aws:iam::000000000000:user/operator"
	}
	if query := r.URL.Query(); len(query) > 0 {
		e.MultiValueQueryStringParameters, e.QueryStringParameters = query, map[string]string{}
		for name, values := range query {
			e.QueryStringParameters[name] = values[len(values)-1]
		}
	}
	for _, part := range strings.Split(resource, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			e.PathParameters = map[string]string{name: r.PathValue(name)}
		}
	}
	return e
}

func write(w http.ResponseWriter, a *events.APIGatewayProxyResponse) {
	body := []byte(a.Body)
	if a.IsBase64Encoded {
		body, _ = base64.StdEncoding.DecodeString(a.Body) // package apigw has just encoded it
	}
	for name, v := range a.Headers {
		w.Header().Set(name, v)
	}
	for name, values := range a.MultiValueHeaders {
		for _, v := range values {
			w.Header().Add(name, v)
		}
	}
	w.WriteHeader(a.StatusCode)
	_, _ = w.Write(body) // fails only if the client has disconnected
}

func refuse(w http.ResponseWriter, status int, problem string) {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		h.Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, problem)
}
