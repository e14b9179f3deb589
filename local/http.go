package local

import (
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"strings"

	"seckill/shared/adapter/alipay/fakegateway"
	"seckill/shared/adapter/httpapi"
	"seckill/shared/adapter/operator"
	"seckill/shared/seckill"
	"seckill/web"
)

// handler serves everything on one port: the API, the storefront and the status page, the gateway with its cashier, and what
// only a local run has.
func (s *System) handler() http.Handler {
	opt := httpapi.Options{Log: s.log, Version: s.opt.Version, CashierURL: "/cashier"}
	api := httpapi.Join(httpapi.NewBuy(s.Buy, s.auth, opt), httpapi.NewShop(s.Shop, s.auth, opt), httpapi.NewNotify(s.Notify, opt))
	mux := http.NewServeMux()
	for _, path := range []string{"/seckill/", "/order/", "/healthz"} {
		mux.Handle(path, api)
	}
	for _, path := range fakegateway.Paths {
		mux.Handle(path, s.Gateway)
	}
	mux.Handle("/seckill/buy", s.courtesy.purchases(api))
	mux.Handle("/_local/", s.admin())
	mux.Handle("/", web.Handler())
	return mux
}

// thisMachine lets requests through that name this machine as their host, with any port. Others get 421: a page whose name was made to lead
// here (DNS rebinding) has one origin with what it asks for, and could read and do everything.
func (s *System) thisMachine(next http.Handler) http.Handler {
	refusal, err := json.Marshal(map[string]any{"type": "urn:problem-type:seckill:wrong_host", "title": "Not a name of this machine",
		"status": http.StatusMisdirectedRequest, "code": "wrong_host", "detail": "Only requests to localhost or a loopback address are answered: use " + s.URL()})
	if err != nil {
		panic(err) // texts and a number always marshal
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name := (&url.URL{Host: r.Host}).Hostname(); strings.EqualFold(name, "localhost") || net.ParseIP(name).IsLoopback() {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusMisdirectedRequest)
		_, _ = w.Write(refusal) // who has hung up misses nothing
	})
}

// refuse answers with a problem document, as the API does.
func (s *System) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if operator.CodeOf(err).Status() >= http.StatusInternalServerError {
		s.log.Warn("request failed", "path", r.URL.Path, "err", err)
	}
	operator.WriteProblem(w, r, err)
}

func (s *System) unknown(w http.ResponseWriter, r *http.Request) {
	s.refuse(w, r, seckill.Refuse(seckill.CodeNotFound))
}
