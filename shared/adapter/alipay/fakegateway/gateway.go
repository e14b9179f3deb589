// Package fakegateway stands in for Alipay in local runs and tests: real signatures with keys of its own, real answer
// codes, a cashier page, and notifies that are repeated on the system's clock. No money moves. In: order strings, calls
// to /gateway.do, a shopper's click. Out: signed answers and notifies.
//
// A trade exists only once its cashier was opened, as with the real one. Trades are in a Store: the process's memory, or a table that any
// number of gateways share. Nothing runs by itself: whoever owns the gateway calls Tick when Next says so or Ready speaks, or, with a store
// that is shared, each minute.
//
// A notify goes to the address that its order string names, whichever that is: the string is signed, so only who has the shop's private key
// can name one. Redirects are not followed, which nobody has signed.
package fakegateway

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
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
	ErrUnavailable  = &Refusal{"20000", "isp.unknow-error", "the gateway cannot reach its trades; try again"}
)

// Options are a gateway's settings. The keys, the ids and the clock are required, but for PrivateKey.
type Options struct {
	Clock             seckill.Clock
	AppID, SellerID   string
	MerchantPublicKey string          // the shop's: PKIX or PKCS #1
	PrivateKey        string          // the gateway's own; "" makes a new one, which takes up to a second
	Store             Store           // of the trades; nil: a Memory of its own
	AtOnce            bool            // a payment's first notify is sent within the request that pays, for a process that sleeps between requests
	Log               *slog.Logger    // of what went wrong with the store; nil: nobody is told
	HTTP              *http.Client    // sends notifies; nil: one that gives up after 5 s and follows no redirect
	Retries           []time.Duration // waits between the attempts of a notify; nil: AlipayRetries
	ReturnURL         string          // where the cashier's links lead back to, with out_trade_no added; "" for the page before
	LateGrace         time.Duration   // how long after time_expire an opened trade can still be paid
	MaxTrades         int             // of a Memory of its own. 0: DefaultMaxTrades; beyond it old closed trades are dropped
}

// Trade is a trade as Trades shows it.
type Trade struct {
	TradeNo, OutTradeNo, Subject string
	Amount                       seckill.Fen
	Status                       Status
	Created, Expires             time.Time
	Paid                         time.Time // zero until paid
}

// status is the trade's state at a time: a waiting trade whose time is over is closed.
func (r *Record) status(now time.Time) Status {
	if r.Status == StatusWait && !now.Before(r.Lapses) {
		return StatusClosed
	}
	return r.Status
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
	if g.store == nil {
		g.own = NewMemory(o.Clock, o.MaxTrades)
		g.store = g.own
	}
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
// ErrFull, ErrUnavailable.
func (g *Gateway) Open(orderString string) (tradeNo string, err error) {
	r, err := g.open(context.Background(), orderString)
	return r.TradeNo, err
}

// open is Open, and gives the trade also when it is paid, expired or closed.
func (g *Gateway) open(ctx context.Context, orderString string) (Record, error) {
	want, err := g.readOrderString(orderString)
	if err != nil {
		return Record{}, err
	}
	for range saveTries { // a second try finds the trade that another request has made
		now := g.opt.Clock.Now()
		r, err := g.load(ctx, want.OutTradeNo)
		switch {
		case err == nil && (r.Amount != want.Amount || r.Subject != want.Subject || !r.Expires.Equal(want.Expires)):
			return r, ErrInconsistent
		case err == nil:
			return r, unpayable(&r, now)
		case !errors.Is(err, ErrNoTrade):
			return r, err
		case !now.Before(want.Expires):
			return want, ErrExpired
		}
		made := want
		made.TradeNo = now.In(alipay.Zone).Format("20060102") + "22001" + digits()
		made.Created, made.Status, made.Lapses, made.Token = now, StatusWait, want.Expires.Add(g.opt.LateGrace), rand.Text()
		switch err := g.store.Save(ctx, made); {
		case err == nil:
			return made, nil
		case errors.Is(err, ErrFull):
			return want, err
		case !errors.Is(err, ErrChanged):
			return Record{}, unavailable(err)
		}
	}
	return Record{}, unavailable(ErrChanged)
}

// digits are 15 random ones: gateways that share a store have no counter in common.
func digits() string {
	n, err := rand.Int(rand.Reader, big.NewInt(1e15))
	if err != nil {
		panic(err) // crypto/rand never fails
	}
	return fmt.Sprintf("%015d", n)
}

// unpayable says why a trade, as load gave it, cannot be paid now; nil when it can.
func unpayable(r *Record, now time.Time) error {
	switch {
	case r.Status == StatusWait:
		return nil
	case r.Status == StatusSuccess:
		return ErrPaid
	case !now.Before(r.Expires):
		return ErrExpired
	default:
		return ErrClosed
	}
}

// lapse closes a waiting trade whose time is over.
func (g *Gateway) lapse(r *Record) { r.Status = r.status(g.opt.Clock.Now()) }

// Pay captures an opened trade and makes its notify due. ErrNoTrade, ErrPaid, ErrExpired, ErrClosed, ErrUnavailable.
func (g *Gateway) Pay(outTradeNo string) error { return g.pay(context.Background(), outTradeNo) }

func (g *Gateway) pay(ctx context.Context, outTradeNo string) error {
	_, err := g.change(ctx, outTradeNo, func(r *Record, now time.Time) error {
		if err := unpayable(r, now); err != nil {
			return err
		}
		r.Status, r.Paid = StatusSuccess, now
		at := now.In(alipay.Zone)
		r.Notify = Notify{ID: at.Format("20060102") + "00222" + at.Format("150405") + digits(), Next: now}
		return nil
	})
	if err != nil {
		return err
	}
	select {
	case g.ready <- struct{}{}:
	default: // it has not been read yet and says the same
	}
	return nil
}

// closeTrade ends a trade that waits for payment. ErrNoTrade, ErrNotWaiting, ErrUnavailable.
func (g *Gateway) closeTrade(ctx context.Context, outTradeNo string) (Record, error) {
	return g.change(ctx, outTradeNo, func(r *Record, _ time.Time) error {
		if r.Status != StatusWait {
			return ErrNotWaiting
		}
		r.Status = StatusClosed
		return nil
	})
}

// Trades lists all trades, oldest first, of a gateway that keeps them in a Memory of its own; with Options.Store it lists none.
func (g *Gateway) Trades() []Trade {
	now := g.opt.Clock.Now()
	out := []Trade{}
	for _, r := range g.owned() {
		r.Status = r.status(now)
		out = append(out, r.Trade)
	}
	return out
}

func (g *Gateway) owned() []Record {
	if g.own == nil {
		return nil
	}
	return g.own.records()
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
