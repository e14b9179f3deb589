// Package httpapi is the HTTP interface of the flows: plain net/http handlers for the Lambda adapter and the local
// server. In: requests of the HTTP contract (docs/openapi.yaml). Out: its answers, and every refusal as a problem
// document (RFC 9457) in words that a shopper understands. It decides nothing about a sale: it reads, calls one flow,
// and writes.
//
// Each step has its own constructor (NewBuy, NewShop, NewPay, NewNotify, NewSignIn), so that a function links only what
// it serves; Join combines them for a server that serves all.
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

// Options are the settings that all handlers share. The zero value works.
type Options struct {
	// for faults and refused notifications, without addresses, tokens and bodies; nil means no log
	Log        *slog.Logger
	Version    string // shown by GET /healthz
	CashierURL string // shown by GET /healthz: where a browser can pay a pay string; "" hides it
	// the origin whose pages may read the answers, or "*"; "" means only pages of the API's own origin
	CORSOrigin string
	Push       *Push     // if nil, nothing is pushed to pages, and they poll
	Refusals   *Refusals // counts every refused or failed request by reason; nil means no counts
	Contact    string    // whom a blocked shopper may write to, such as an e-mail address; "" means the shop's support
	Limits     *Limits   // how often one user and one network may call; nil means no limits
	Acts       *Acts     // the log of what shoppers do to buy; nil if nothing is logged
	// where ended sessions are missing; if nil, a later step asks, as consume does for a purchase
	Sessions seckill.SessionReader
	// what a shopper needs to find their order in the report of its sale; if nil, no shopper is told it
	Salts Salts
}

func (o *Options) caller(auth Auth) caller { return caller{auth, o.Limits, o.Sessions} }

// Salts gives the salts of orders in reports.
type Salts interface {
	// Of returns an order's salt, and the verifier of the reports that hash with it, or "" if there is none.
	Of(order string) (salt, verifier string)
}

// Route is a method and a path pattern of http.ServeMux: "/order/{id}". A pattern has at most one parameter.
type Route struct {
	Method  string
	Pattern string
}

// endpoint answers one route; arg is the value of the path parameter, never empty and without a slash.
type endpoint func(r *http.Request, arg string) (answer, error)

// answer is an endpoint's answer with status 200.
type answer struct {
	kind  []string // Content-Type
	cache []string // Cache-Control
	body  []byte
}

// Header values that never change. Assigning a shared slice to the header costs no allocation; no code may write
// through it.
var (
	kindJSON    = []string{"application/json"}
	kindProblem = []string{"application/problem+json"}
	kindText    = []string{"text/plain; charset=utf-8"}
	cacheNever  = []string{"no-store"}
	// Public data may be a second old anyway. A cache in front goes on with an old answer while it asks for a new
	// answer, and for a minute if it gets no answer.
	cacheShared = []string{"public, max-age=1, stale-while-revalidate=5, stale-if-error=60"}
	vary        = []string{"Accept-Language"}

	bearerScheme = []string{"Bearer"}
)

type route struct {
	Route
	before, after string // the parts of the pattern around its parameter
	parameter     bool
	serve         endpoint
	refusals      bool // log refusals, too
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

// Handler serves the routes of one or several steps. It answers an unknown path with a 404 problem and a wrong method
// with a 405 and Allow. HEAD works wherever GET does. It is safe for concurrent use.
type Handler struct {
	routes   []route
	log      *slog.Logger
	cors     cors
	refusals *Refusals
	limits   *Limits
	contact  string
}

func newHandler(o Options, routes ...route) *Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Handler{routes, o.Log, newCORS(o.CORSOrigin), o.Refusals, o.Limits, o.Contact}
}

// Join combines handlers into one; it takes log, CORS origin, refusals, limits and contact from the first.
func Join(first *Handler, more ...*Handler) *Handler {
	h := &Handler{slices.Clone(first.routes), first.log, first.cors, first.refusals, first.limits, first.contact}
	for _, m := range more {
		h.routes = append(h.routes, m.routes...)
	}
	return h
}

// Routes lists the handler's routes; no two have the same pattern.
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
	r.Pattern = rt.Pattern
	var a answer
	err := h.limits.ofNetwork(r, rt.Pattern)
	if err == nil {
		a, err = call(rt, r, arg)
	}
	if err != nil {
		e := seckill.AsError(err)
		h.refusals.note(r, rt.Pattern, e)
		h.report(r, rt, e)
		writeProblem(w, r, e, helpOf(e.Code, r, h.contact), h.cors.varyProblem)
		return
	}
	header["Content-Type"] = a.kind
	header["Cache-Control"] = a.cache
	header["X-Content-Type-Options"] = nosniff
	write(w, r, http.StatusOK, a.body)
}

// find returns the route of a request, or the methods that its path allows. The first matching route wins.
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
		// net/http's own way to abort a connection.
		if v == http.ErrAbortHandler { //nolint:errorlint // a recovered value, not a returned error
			panic(v)
		}
		// Only the runtime's own messages are known to contain nothing of the request.
		text := fmt.Sprintf("%T", v)
		if fault, ok := v.(runtime.Error); ok {
			text = fault.Error()
		}
		err = &seckill.Error{Code: seckill.CodeInternal, Err: fmt.Errorf("panic: %s\n%s", text, debug.Stack())}
	}()
	return rt.serve(r, arg)
}

// report logs faults. It does not log refusals, because a sale has a thousand for each purchase, unless the route
// says so; Refusals samples them.
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
		_, _ = w.Write(body) // fails only if the client has disconnected
	}
}
