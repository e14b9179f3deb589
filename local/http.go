package local

import (
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
	"github.com/your-org/seckill/web"
)

// handler serves everything on one port: the API, the storefront, the status page, the gateway with its cashier, the
// demo issuer, pages' connections, and the routes under /_local.
func (s *System) handler() http.Handler {
	opt := httpapi.Options{Log: s.log, Version: s.opt.Version, CashierURL: "/cashier",
		Push: s.offers(), Refusals: httpapi.NewRefusals(s.Meter.Refused, s.auth, s.log, s.Clock),
		Limits: httpapi.NewLimits(s.Clock), Contact: s.opt.Contact, Acts: httpapi.NewActs(s.acts, s.Clock),
		Salts: s.opt.Salts, Sessions: s.Ledger}
	api := httpapi.Join(httpapi.NewBuy(s.Buy, s.auth, opt), httpapi.NewShop(s.Shop, s.auth, opt),
		httpapi.NewPay(s.Pay, s.auth, opt), httpapi.NewNotify(s.Notify, opt), httpapi.NewSignIn(s.SignIn, s.auth, opt),
		httpapi.NewAdmit(s.Admit, s.auth, opt))
	mux := http.NewServeMux()
	shop := s.traffic.count(s.stoppable(delayed(api)))
	for _, path := range []string{"/seckill/", "/order/", "/healthz", "/signin", "/signin/"} {
		mux.Handle(path, shop)
	}
	mux.Handle("/seckill/alipay/notify", api)
	for _, path := range fakegateway.Paths {
		mux.Handle(path, s.Gateway)
	}
	control := fakegateway.Control(s.Gateway)
	for _, path := range fakegateway.ControlPaths {
		mux.Handle(path, control)
	}
	mux.Handle("/seckill/buy", s.priority.purchases(s.traffic.purchases(shop)))
	mux.Handle(issuerPath+"/", http.StripPrefix(issuerPath, s.issuer))
	mux.Handle("/_local/", s.admin())
	mux.Handle("/admin/", s.dated(s.staff))
	pages := web.Options{Local: true, Compress: true, Items: s.Shop, URL: s.URL(), Contact: s.opt.Contact,
		Hold: s.opt.Hold}
	if s.live != nil {
		mux.Handle(livePath, s.live)
		pages.Push = opt.Push.URL
	}
	storefront := httpapi.ServePictures(s.pictures(), web.Handler(http.HandlerFunc(s.unknown), pages))
	mux.Handle("/admin", storefront) // else ServeMux would add a slash
	mux.Handle("/", storefront)
	return mux
}

// dated adds the header Date by the shop's clock, which may be moved: the back office's pages go by it.
func (s *System) dated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", s.Clock.Now().UTC().Format(http.TimeFormat))
		next.ServeHTTP(w, r)
	})
}

// stoppable answers 429 while the shop is stopped hard, as API Gateway does with a throttle of 0.
func (s *System) stoppable(api http.Handler) http.Handler {
	refusal, err := json.Marshal(map[string]any{"type": "urn:problem-type:seckill:unavailable", "title": "服务繁忙",
		"status": http.StatusTooManyRequests,
		"code":   seckill.CodeUnavailable, "detail": "系统繁忙，请稍后重试。", "retry_after_ms": 1000})
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.shut.Load() {
			api.ServeHTTP(w, r)
			return
		}
		for k, v := range map[string]string{"Content-Type": "application/problem+json", "Content-Language": "zh-CN",
			"Cache-Control": "no-store", "Retry-After": "1"} {
			w.Header().Set(k, v)
		}
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write(refusal) // an error means that the client has disconnected
	})
}

// postHardStop stops the whole shop hard, or reopens it.
func (s *System) postHardStop(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Stopped *bool `json:"stopped"`
	}
	if err := decode(r, &body); err != nil || body.Stopped == nil {
		s.refuse(w, r, seckill.Invalid("stopped", "true, false"))
		return
	}
	s.reply(w, map[string]any{"stopped": *body.Stopped, "changed": s.shut.Swap(*body.Stopped) != *body.Stopped})
}

// thisMachine passes on requests whose Host is this machine, with any port, and answers others with 421. Otherwise a
// web page could, by DNS rebinding, get the same origin as this system and use everything.
func (s *System) thisMachine(next http.Handler) http.Handler {
	refusal, err := json.Marshal(map[string]any{"type": "urn:problem-type:seckill:wrong_host",
		"title":  "Not a name of this machine",
		"status": http.StatusMisdirectedRequest, "code": "wrong_host",
		"detail": "Only requests to localhost or a loopback address are answered: use " + s.URL()})
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name := (&url.URL{Host: r.Host}).Hostname(); strings.EqualFold(name, "localhost") ||
			net.ParseIP(name).IsLoopback() {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusMisdirectedRequest)
		_, _ = w.Write(refusal) // an error means that the client has disconnected
	})
}

func (s *System) unknown(w http.ResponseWriter, r *http.Request) {
	s.refuse(w, r, seckill.Refuse(seckill.CodeNotFound))
}
