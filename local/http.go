package local

import (
	"net/http"

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
