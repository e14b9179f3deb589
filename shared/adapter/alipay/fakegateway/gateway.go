// Package fakegateway stands in for Alipay in local runs and tests: real signatures with keys of its own, real answer
// codes, a cashier page, and notifies that are repeated on the system's clock. No money moves. In: order strings, calls
// to /gateway.do, a shopper's click. Out: signed answers and notifies.
//
// A trade exists only once its cashier was opened, as with the real one. Nothing runs by itself: whoever owns the gateway
// calls Tick when Next says so or Ready speaks.
package fakegateway

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"seckill/shared/adapter/alipay"
	"seckill/shared/seckill"
)

// Limits.
const (
	DefaultMaxTrades = 100_000
	maxOrderString   = 16 << 10        // bytes
	maxRequest       = 64 << 10        // bytes of a request's body
	notifyTimeout    = 5 * time.Second // one attempt, when Options.HTTP is nil
	keyBits          = 2048
)

// AlipayRetries is how long Alipay waits between the attempts of a notify ("异步通知说明": 4m, 10m, 10m, 1h, 2h, 6h, 15h).
var AlipayRetries = []time.Duration{4 * time.Minute, 10 * time.Minute, 10 * time.Minute, time.Hour, 2 * time.Hour,
	6 * time.Hour, 15 * time.Hour}

// Status is a trade's state by Alipay's name for it (trade_status).
type Status string

// The states of a trade here; nothing is refunded or finished.
const (
	StatusWait    Status = "WAIT_BUYER_PAY"
	StatusSuccess Status = "TRADE_SUCCESS"
	StatusClosed  Status = "TRADE_CLOSED"
)

// Refusal is one of Alipay's refusals; compare with errors.Is to the values below.
type Refusal struct{ Code, SubCode, Message string }

func (r *Refusal) Error() string { return "fakegateway: " + r.SubCode + ": " + r.Message }

// The refusals.
var (
	ErrForm         = &Refusal{"40002", "isv.invalid-parameter", "a parameter is missing, given twice or wrong"}
	ErrAppID        = &Refusal{"40002", "isv.invalid-app-id", "no such app"}
	ErrMethod       = &Refusal{"40002", "isv.invalid-method", "no such method"}
	ErrSignType     = &Refusal{"40002", "isv.invalid-signature-type", "sign_type is not RSA2"}
	ErrSignature    = &Refusal{"40002", "isv.invalid-signature", "signature does not match"}
	ErrContent      = &Refusal{"40004", "ACQ.INVALID_PARAMETER", "biz_content is wrong"}
	ErrExpired      = &Refusal{"40004", "ACQ.NOW_TIME_AFTER_EXPIRE_TIME_ERROR", "time_expire has passed"}
	ErrClosed       = &Refusal{"40004", "ACQ.TRADE_HAS_CLOSE", "the trade is closed"}
	ErrPaid         = &Refusal{"40004", "ACQ.TRADE_HAS_SUCCESS", "the trade is paid"}
	ErrInconsistent = &Refusal{"40004", "ACQ.CONTEXT_INCONSISTENT", "the trade was opened with other content"}
	ErrNoTrade      = &Refusal{"40004", "ACQ.TRADE_NOT_EXIST", "no such trade"}
	ErrNotWaiting   = &Refusal{"40004", "ACQ.REASON_TRADE_STATUS_INVALID", "only a trade that waits for payment can be closed"}
	ErrFull         = &Refusal{"20000", "isp.unknow-error", "too many trades; start afresh"}
)

// Options are a gateway's settings. The keys, the ids and the clock are required, but for PrivateKey.
type Options struct {
	Clock             seckill.Clock
	AppID, SellerID   string
	MerchantPublicKey string          // the shop's: PKIX or PKCS #1
	PrivateKey        string          // the gateway's own; "" makes a new one, which takes up to a second
	HTTP              *http.Client    // sends notifies; nil: one that gives up after 5 s
	Retries           []time.Duration // waits between the attempts of a notify; nil: AlipayRetries
	ReturnURL         string          // where the cashier's links lead back to, with out_trade_no added; "" for the page before
	LateGrace         time.Duration   // how long after time_expire an opened trade can still be paid
	MaxTrades         int             // 0: DefaultMaxTrades; beyond it old closed trades are dropped
}

// Trade is a trade as Trades shows it.
type Trade struct {
	TradeNo, OutTradeNo, Subject string
	Amount                       seckill.Fen
	Status                       Status
	Created, Expires             time.Time
	Paid                         time.Time // zero until paid
}

type trade struct {
	Trade
	notifyURL string
	token     string // proves that the cashier page came first
}

// Gateway is the stand-in. It is an http.Handler and safe for concurrent use.
type Gateway struct {
	opt      Options
	key      *rsa.PrivateKey
	merchant *rsa.PublicKey
	mux      *http.ServeMux
	ready    chan struct{}

	mu       sync.Mutex
	trades   map[string]*trade // by out_trade_no
	order    []*trade          // as created
	serial   int64             // of trade and notify numbers
	notifies []*notify         // not yet delivered
	drop     bool              // attempts are lost on the way
}

// New checks the settings; the error names the one that is wrong.
func New(o Options) (*Gateway, error) {
	switch {
	case o.Clock == nil:
		return nil, errors.New("fakegateway: no clock")
	case o.AppID == "" || o.SellerID == "":
		return nil, errors.New("fakegateway: app id and seller id are required")
	case o.MaxTrades < 0 || o.LateGrace < 0:
		return nil, errors.New("fakegateway: a limit is negative")
	}
	if u, err := url.Parse(o.ReturnURL); err != nil || o.ReturnURL != "" && u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("fakegateway: return URL: want an http or https URL")
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
		o.HTTP = &http.Client{Timeout: notifyTimeout}
	}
	if o.Retries == nil {
		o.Retries = AlipayRetries
	}
	if o.MaxTrades == 0 {
		o.MaxTrades = DefaultMaxTrades
	}
	g := &Gateway{opt: o, key: key, merchant: merchant, ready: make(chan struct{}, 1), trades: map[string]*trade{}}
	g.mux = http.NewServeMux()
	g.mux.HandleFunc("/gateway.do", g.serveCall)
	g.mux.HandleFunc("GET /cashier", g.serveCashier)
	g.mux.HandleFunc("POST /cashier/pay", g.servePay)
	return g, nil
}

// ServeHTTP serves /gateway.do, /cashier and /cashier/pay.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.mux.ServeHTTP(w, r) }

// KeyPair is an RSA key pair in PEM.
type KeyPair struct{ Private, Public string }

// GenerateKeys makes a key pair of 2048 bits: PKCS #8 and PKIX.
func GenerateKeys() (KeyPair, error) {
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return KeyPair{}, fmt.Errorf("fakegateway: make a key: %w", err)
	}
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

// Open does what opening the cashier with an order string does: it checks the string and makes the trade, or finds it.
// ErrForm, ErrAppID, ErrMethod, ErrSignType, ErrSignature, ErrContent; ErrExpired, ErrClosed, ErrPaid, ErrInconsistent,
// ErrFull.
func (g *Gateway) Open(orderString string) (tradeNo string, err error) {
	t, err := g.open(orderString)
	return t.TradeNo, err
}

// open is Open, and gives the trade also when it is paid, expired or closed.
func (g *Gateway) open(orderString string) (trade, error) {
	want, err := g.readOrderString(orderString)
	if err != nil {
		return trade{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.opt.Clock.Now()
	if t := g.trades[want.OutTradeNo]; t != nil {
		if t.Amount != want.Amount || t.Subject != want.Subject || !t.Expires.Equal(want.Expires) {
			return *t, ErrInconsistent
		}
		return *t, g.unpayable(t, now)
	}
	if !now.Before(want.Expires) {
		return want, ErrExpired
	}
	if len(g.order) >= g.opt.MaxTrades {
		g.dropClosed(now)
	}
	if len(g.order) >= g.opt.MaxTrades {
		return want, ErrFull
	}
	g.serial++
	want.TradeNo = fmt.Sprintf("%s22001%015d", now.In(alipay.Zone).Format("20060102"), g.serial)
	want.Created, want.Status, want.token = now, StatusWait, rand.Text()
	t := &want
	g.trades[t.OutTradeNo] = t
	g.order = append(g.order, t)
	return *t, nil
}

// unpayable says why the trade cannot be paid now; nil when it can. It closes a trade whose time is over.
func (g *Gateway) unpayable(t *trade, now time.Time) error {
	g.lapse(t, now)
	switch {
	case t.Status == StatusWait:
		return nil
	case t.Status == StatusSuccess:
		return ErrPaid
	case !now.Before(t.Expires):
		return ErrExpired
	default:
		return ErrClosed
	}
}

// lapse closes a waiting trade whose time is over.
func (g *Gateway) lapse(t *trade, now time.Time) {
	if t.Status == StatusWait && !now.Before(t.Expires.Add(g.opt.LateGrace)) {
		t.Status = StatusClosed
	}
}

// dropClosed forgets the oldest closed trades, a hundredth of the limit at once so that the walk is rarely made. Only those
// past time_expire go: no order string can bring them back.
func (g *Gateway) dropClosed(now time.Time) {
	left := g.opt.MaxTrades/100 + 1
	kept := g.order[:0]
	for _, t := range g.order {
		g.lapse(t, now)
		if left > 0 && t.Status == StatusClosed && !now.Before(t.Expires) {
			delete(g.trades, t.OutTradeNo)
			left--
			continue
		}
		kept = append(kept, t)
	}
	clear(g.order[len(kept):])
	g.order = kept
}

// Pay captures an opened trade and queues its notify. ErrNoTrade, ErrPaid, ErrExpired, ErrClosed.
func (g *Gateway) Pay(outTradeNo string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.trades[outTradeNo]
	if t == nil {
		return ErrNoTrade
	}
	now := g.opt.Clock.Now()
	if err := g.unpayable(t, now); err != nil {
		return err
	}
	t.Status, t.Paid = StatusSuccess, now
	g.queueNotify(t, now)
	return nil
}

// find gives a copy of a trade as it is now.
func (g *Gateway) find(outTradeNo string) (trade, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.trades[outTradeNo]
	if t == nil {
		return trade{}, ErrNoTrade
	}
	g.lapse(t, g.opt.Clock.Now())
	return *t, nil
}

// closeTrade ends a trade that waits for payment. ErrNoTrade, ErrNotWaiting.
func (g *Gateway) closeTrade(outTradeNo string) (trade, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.trades[outTradeNo]
	if t == nil {
		return trade{}, ErrNoTrade
	}
	if g.unpayable(t, g.opt.Clock.Now()) != nil {
		return *t, ErrNotWaiting
	}
	t.Status = StatusClosed
	return *t, nil
}

// Trades lists all trades, oldest first.
func (g *Gateway) Trades() []Trade {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.opt.Clock.Now()
	out := make([]Trade, 0, len(g.order))
	for _, t := range g.order {
		g.lapse(t, now)
		out = append(out, t.Trade)
	}
	return out
}

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
