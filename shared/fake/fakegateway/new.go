package fakegateway

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/your-org/seckill/shared/driver/alipay"
)

// New checks the settings; the error names the invalid setting.
func New(o Options) (*Gateway, error) {
	switch {
	case o.Clock == nil:
		return nil, errors.New("fakegateway: no clock")
	case o.AppID == "" || o.SellerID == "":
		return nil, errors.New("fakegateway: app id and seller id are required")
	case o.MaxTrades < 0 || o.LateGrace < 0 || o.FinishAfter < 0:
		return nil, errors.New("fakegateway: a limit is negative")
	}
	if err := o.Faults.check(); err != nil {
		return nil, err
	}
	if u, err := url.Parse(o.ReturnURL); err != nil || o.ReturnURL != "" && u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("fakegateway: return URL: want an http or https URL")
	}
	if u, err := url.Parse(o.URL); err != nil || o.URL != "" && (u.Scheme != "http" && u.Scheme != "https" ||
		u.Host == "" || !strings.HasSuffix(o.URL, callPath)) {
		return nil, errors.New("fakegateway: URL: want an http or https URL that ends in " + callPath)
	}
	merchant, err := alipay.ParsePublicKey(o.MerchantPublicKey)
	if err != nil {
		return nil, fmt.Errorf("fakegateway: merchant's public key: %w", err)
	}
	if o.PrivateKey == "" {
		pair, err := GenerateKeys()
		if err != nil {
			return nil, err
		}
		o.PrivateKey = pair.Private
	}
	key, err := alipay.ParsePrivateKey(o.PrivateKey)
	if err != nil {
		return nil, fmt.Errorf("fakegateway: private key: %w", err)
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{Timeout: notifyTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Retries == nil {
		o.Retries = AlipayRetries
	}
	if o.MaxTrades == 0 {
		o.MaxTrades = DefaultMaxTrades
	}
	g := &Gateway{opt: o, key: key, merchant: merchant, store: o.Store, ready: make(chan struct{}, 1)}
	g.faults.set(o.Faults)
	if g.store == nil {
		g.own = NewMemory(o.Clock, o.MaxTrades)
		g.store = g.own
	}
	g.mux = http.NewServeMux()
	g.mux.HandleFunc(callPath, g.serveCall)
	g.mux.HandleFunc("GET /cashier", g.serveCashier)
	g.mux.HandleFunc("POST /cashier/pay", g.servePay)
	g.mux.HandleFunc("GET /bill", g.serveBill)
	return g, nil
}
