package fakegateway

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/your-org/seckill/shared/adapter/alipay"
	"github.com/your-org/seckill/shared/seckill"
)

// Limits.
const (
	DefaultMaxTrades = 100_000
	MaxOrderTrades   = 2               // of one order: TwoTrades makes no third
	maxOrderString   = 16 << 10        // bytes
	maxRequest       = 64 << 10        // bytes of a request's body
	notifyTimeout    = 5 * time.Second // one attempt, when Options.HTTP is nil
	keyBits          = 2048
)

// AlipayFinishes is the shorter of Alipay's usual times for Options.FinishAfter: contracts say 90 days or 12 months.
const AlipayFinishes = 90 * 24 * time.Hour

// Options are a gateway's settings. The keys, the ids and the clock are required, but for PrivateKey.
type Options struct {
	Clock             seckill.Clock
	AppID, SellerID   string
	MerchantPublicKey string // the shop's: PKIX or PKCS #1
	PrivateKey        string // the gateway's own; "" makes a new one, which takes up to a second
	Store             Store  // of the trades; nil: a Memory of its own
	// a payment's first notification is sent within the request that pays, for a process that sleeps between requests
	AtOnce  bool
	Log     *slog.Logger    // of what went wrong with the store; nil: nobody is told
	HTTP    *http.Client    // sends notifications; nil: one that gives up after 5 s and follows no redirect
	Retries []time.Duration // waits between the attempts of a notification; nil: AlipayRetries
	URL     string          // of /gateway.do as shops reach it: bills lie beside it. "": where a call came to
	// where the cashier's links lead back to, with out_trade_no added; "" for the page before
	ReturnURL string
	LateGrace time.Duration // how long after time_expire an opened trade can still be paid
	// how long after its payment a trade is finished (Alipay: AlipayFinishes or longer); 0: never
	FinishAfter time.Duration
	// what the seller's account has at first: payments fill it, refunds need it. nil: always enough. Only without Store
	Balance *seckill.Fen
	Faults  Faults // what goes wrong; SetFaults changes it
	Control bool   // serve /faults and /trades, to everybody who can call
	// of a Memory of its own. 0: DefaultMaxTrades; beyond it old closed trades are dropped
	MaxTrades int
}

// Gateway is the stand-in. It is an http.Handler and safe for concurrent use.
type Gateway struct {
	opt      Options
	key      *rsa.PrivateKey
	merchant *rsa.PublicKey
	mux      *http.ServeMux
	store    Store
	own      *Memory // the store, when it is the gateway's own
	ready    chan struct{}
	drop     atomic.Bool // attempts are lost on the way
	faults   faults
	account  account
}

// callPath is where calls come to.
const callPath = "/gateway.do"

// Paths are the patterns of what a gateway serves: for whoever mounts it beside other things.
var Paths = []string{callPath, "/cashier", "/cashier/", "/bill", "/faults", "/trades"}

// New checks the settings; the error names the one that is wrong.
func New(o Options) (*Gateway, error) {
	switch {
	case o.Clock == nil:
		return nil, errors.New("fakegateway: no clock")
	case o.AppID == "" || o.SellerID == "":
		return nil, errors.New("fakegateway: app id and seller id are required")
	case o.MaxTrades < 0 || o.LateGrace < 0 || o.FinishAfter < 0:
		return nil, errors.New("fakegateway: a limit is negative")
	case o.Balance != nil && o.Store != nil:
		return nil,
			errors.New(
				"fakegateway: a balance is kept in this process: it cannot go with a store that others may share")
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
	if o.Balance != nil {
		g.account.limited, g.account.balance = true, *o.Balance
	}
	if g.store == nil {
		g.own = NewMemory(o.Clock, o.MaxTrades)
		g.store = g.own
	}
	g.mux = http.NewServeMux()
	g.mux.HandleFunc(callPath, g.serveCall)
	g.mux.HandleFunc("GET /cashier", g.serveCashier)
	g.mux.HandleFunc("POST /cashier/pay", g.servePay)
	g.mux.HandleFunc("GET /bill", g.serveBill)
	if o.Control {
		g.mux.HandleFunc("GET /faults", g.serveFaults)
		g.mux.HandleFunc("PUT /faults", g.putFaults)
		g.mux.HandleFunc("GET /trades", g.serveTrades)
	}
	return g, nil
}

// ServeHTTP serves what the package's comment lists.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.mux.ServeHTTP(w, r) }

// KeyPair is an RSA key pair in PEM.
type KeyPair struct{ Private, Public string }

// GenerateKeys makes a key pair of 2048 bits: PKCS #8 and PKIX.
func GenerateKeys() (KeyPair, error) {
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return KeyPair{}, fmt.Errorf("fakegateway: make a key: %w", err)
	}
	return pairOf(key)
}

// PairOf gives the pair of a private key, which may be written as alipay.ParsePrivateKey reads it. The error never
// contains it.
func PairOf(private string) (KeyPair, error) {
	key, err := alipay.ParsePrivateKey(private)
	if err != nil {
		return KeyPair{}, err
	}
	return pairOf(key)
}

func pairOf(key *rsa.PrivateKey) (KeyPair, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return KeyPair{}, fmt.Errorf("fakegateway: write a key: %w", err)
	}
	return KeyPair{
		Private: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		Public:  publicPEM(&key.PublicKey),
	}, nil
}

func publicPEM(key *rsa.PublicKey) string {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		panic(err) // an RSA key always marshals
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// PublicKey is the gateway's public key in PEM: what alipay.Config.AlipayPublicKey wants.
func (g *Gateway) PublicKey() string { return publicPEM(&g.key.PublicKey) }

// returnURL is where the shopper goes back to after an order's cashier; "" when there is no such place.
func (g *Gateway) returnURL(outTradeNo string) string {
	if g.opt.ReturnURL == "" || outTradeNo == "" {
		return g.opt.ReturnURL
	}
	sep := "?"
	if strings.Contains(g.opt.ReturnURL, "?") {
		sep = "&"
	}
	return g.opt.ReturnURL + sep + "out_trade_no=" + url.QueryEscape(outTradeNo)
}
