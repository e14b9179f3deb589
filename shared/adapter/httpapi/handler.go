// Package httpapi is the HTTP face of the flows: plain net/http handlers that a Lambda adapter and the local server
// both use. In: requests of the HTTP contract (docs/openapi.yaml). Out: its answers, and every refusal as a problem
// document (RFC 9457) in words a shopper understands. It decides nothing about a sale: it reads, calls one flow, and
// writes.
//
// Each step has its own constructor (NewBuy, NewShop, NewNotify), so that a function links only what it serves; Join
// puts several together for a server that serves all.
package httpapi

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

// Options are what the handlers of every step share. The zero value works.
type Options struct {
	// where faults go, and refused notifications, without addresses, tokens and bodies; nil: nowhere
	Log        *slog.Logger
	Version    string // shown by GET /healthz
	CashierURL string // shown by GET /healthz: where a pay string can be paid in a browser; "" hides it
	// whose pages may read the answers: an origin, or "*"; "": those of the API's own origin only
	CORSOrigin string
	Refusals   *Refusals // where every request that is refused or fails is counted by reason; nil: nowhere
}

// Route is a method and a path pattern as http.ServeMux writes it: "/order/{id}". No pattern has more than one
// parameter.
type Route struct {
	Method  string
	Pattern string
}

// endpoint answers one route; arg is the path parameter's value, which is never empty and has no slash.
type endpoint func(r *http.Request, arg string) (answer, error)

// answer is an endpoint's answer with status 200.
type answer struct {
	kind  []string // Content-Type
	cache []string // Cache-Control
	body  []byte
}

// Header values that are the same in every answer. Assigning a shared slice to the header costs no allocation; nobody
// may write through it.
var (
	kindJSON    = []string{"application/json"}
	kindProblem = []string{"application/problem+json"}
	kindText    = []string{"text/plain; charset=utf-8"}
	cacheNever  = []string{"no-store"}
	cacheShared = []string{"public, max-age=1"} // what everybody may see is at most a second old anyway
	nosniff     = []string{"nosniff"}
	vary        = []string{"Accept-Language"}
)

type route struct {
	Route
	before, after string // the pattern around its parameter
	parameter     bool
	serve         endpoint
	refusals      bool // are logged too
}

func newRoute(method, pattern string, serve endpoint) route {
	rt := route{Route: Route{method, pattern}, before: pattern, serve: serve}
	if head, rest, ok := strings.Cut(pattern, "{"); ok {
		_, tail, _ := strings.Cut(rest, "}")
		rt.before, rt.after, rt.parameter = head, tail, true
	}
	return rt
}

func (rt *route) match(path string) (arg string, ok bool) {
	if !rt.parameter {
		return "", path == rt.before
	}
	arg, ok = strings.CutPrefix(path, rt.before)
	if !ok {
		return "", false
	}
	arg, ok = strings.CutSuffix(arg, rt.after)
	return arg, ok && arg != "" && !strings.Contains(arg, "/")
}

// Handler serves the routes of one step, or of several. An unknown path is a 404 problem, a wrong method a 405 with
// Allow. HEAD is answered wherever GET is. Safe for concurrent use.
type Handler struct {
	routes   []route
	log      *slog.Logger
	cors     cors
	refusals *Refusals
}

func newHandler(o Options, routes ...route) *Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Handler{routes, o.Log, newCORS(o.CORSOrigin), o.Refusals}
}

// Join makes one handler of several; the first one's log, CORS origin and refusals are used.
func Join(first *Handler, more ...*Handler) *Handler {
	h := &Handler{slices.Clone(first.routes), first.log, first.cors, first.refusals}
	for _, m := range more {
		h.routes = append(h.routes, m.routes...)
	}
	return h
}

// Routes lists what the handler serves; no two have the same pattern.
func (h *Handler) Routes() []Route {
	out := make([]Route, len(h.routes))
	for i := range h.routes {
		out[i] = h.routes[i].Route
	}
	return out
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	h.cors.write(header)
	if id := trace(r); id != seckill.Trace(r.Context()) {
		r = r.WithContext(seckill.WithTrace(r.Context(), id))
	}
	rt, arg, allow := h.find(r)
	if rt == nil {
		e := seckill.Refuse(seckill.CodeNotFound)
		if len(allow) > 0 {
			header["Allow"] = []string{strings.Join(allow, ", ")}
			e = seckill.Refuse(seckill.CodeMethod)
		}
		h.refusals.note(r, "", e)
		writeProblem(w, r, e, "", h.cors.varyProblem)
		return
	}
	a, err := call(rt, r, arg)
	if err != nil {
		e := seckill.AsError(err)
		h.refusals.note(r, rt.Pattern, e)
		h.report(r, rt, e)
		writeProblem(w, r, e, "", h.cors.varyProblem)
		return
	}
	header["Content-Type"] = a.kind
	header["Cache-Control"] = a.cache
	header["X-Content-Type-Options"] = nosniff
	write(w, r, http.StatusOK, a.body)
}

// find returns the route of a request, or the methods that its path allows; the first route that matches wins.
func (h *Handler) find(r *http.Request) (found *route, arg string, allow []string) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for i := range h.routes {
		rt := &h.routes[i]
		arg, ok := rt.match(r.URL.Path)
		switch {
		case !ok:
		case rt.Method == method:
			return rt, arg, nil
		case !slices.Contains(allow, rt.Method):
			allow = append(allow, rt.Method)
			if rt.Method == http.MethodGet {
				allow = append(allow, http.MethodHead)
			}
		}
	}
	return nil, "", allow
}

// call runs an endpoint and turns a panic into an internal fault.
func call(rt *route, r *http.Request, arg string) (a answer, err error) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		// net/http's own way to break a connection off.
		if v == http.ErrAbortHandler { //nolint:errorlint // a recovered value, not a returned error
			panic(v)
		}
		// Only the runtime's own messages are known to hold nothing of the request.
		text := fmt.Sprintf("%T", v)
		if fault, ok := v.(runtime.Error); ok {
			text = fault.Error()
		}
		err = &seckill.Error{Code: seckill.CodeInternal, Err: fmt.Errorf("panic: %s\n%s", text, debug.Stack())}
	}()
	return rt.serve(r, arg)
}

// report logs faults. A refusal is not logged each time, since in a sale there are a thousand for each purchase, unless
// the route says so; Refusals does it now and then.
func (h *Handler) report(r *http.Request, rt *route, e *seckill.Error) {
	level, message, cause := slog.LevelError, "request failed", e.Err
	if Status(e.Code) < http.StatusInternalServerError {
		if !rt.refusals {
			return
		}
		level, message = slog.LevelWarn, "request refused"
	} else if cause == nil && e.Code != seckill.CodeInternal {
		return
	}
	if cause == nil {
		cause = e
	}
	h.log.LogAttrs(r.Context(), level, message,
		slog.String("code", string(e.Code)), slog.String("method", rt.Method), slog.String("route", rt.Pattern),
		slog.String("trace", trace(r)), slog.String("order", e.Order), slog.Any("error", cause))
}

func write(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client is gone
	}
}
