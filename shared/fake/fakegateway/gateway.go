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
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/seckill"
)

// Limits.
const (
	DefaultMaxTrades = 100_000
	MaxOrderTrades   = 2               // trades per order: TwoTrades makes no third
	maxOrderString   = 16 << 10        // bytes
	maxRequest       = 64 << 10        // bytes of a request's body
	notifyTimeout    = 5 * time.Second // one attempt, if Options.HTTP is nil
	keyBits          = 2048
)

// AlipayFinishes is the shorter of Alipay's usual values for Options.FinishAfter: contracts say 90 days or 12 months.
const AlipayFinishes = 90 * 24 * time.Hour

// Options are a gateway's settings. The keys except PrivateKey, the ids and the clock are required.
type Options struct {
	Clock             seckill.Clock
	AppID             string
	SellerID          string
	MerchantPublicKey string // the shop's public key: PKIX or PKCS #1
	PrivateKey        string // the gateway's own key; "" generates a key, which takes up to a second
	Store             Store  // keeps the trades; nil means a new Memory
	// send a payment's first notification within the request that pays, for a process that sleeps between requests
	AtOnce  bool
	Log     *slog.Logger    // logs faults of the store; nil means no log
	HTTP    *http.Client    // sends notifications; nil means a client with a timeout of 5 s that follows no redirects
	Retries []time.Duration // waits between attempts to deliver a notification; nil means AlipayRetries
	URL     string          // public URL of /gateway.do, whose prefix bills share; "" means the URL of the request
	// target of the cashier's return links, with out_trade_no added; "" for the previous page
	ReturnURL string
	LateGrace time.Duration // how long after time_expire an opened trade can still be paid
	// how long after its payment a trade becomes TRADE_FINISHED (Alipay: AlipayFinishes or longer); 0 means never
	FinishAfter time.Duration
	Faults      Faults // the fault plan; SetFaults changes it
	// capacity of the default Memory; above it old closed trades are dropped. 0 means DefaultMaxTrades
	MaxTrades int
}

// Gateway is the fake. It is an http.Handler and safe for concurrent use.
type Gateway struct {
	opt      Options
	key      *rsa.PrivateKey
	merchant *rsa.PublicKey
	mux      *http.ServeMux
	store    Store
	own      *Memory // the store, if it is the gateway's own
	ready    chan struct{}
	faults   faults
}

// callPath is the path of the calls.
const callPath = "/gateway.do"

// Paths lists the patterns that a gateway serves, for mounting it beside other handlers.
var Paths = []string{callPath, "/cashier", "/cashier/", "/bill"}

// ServeHTTP serves Paths.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.mux.ServeHTTP(w, r) }

// KeyPair is an RSA key pair in PEM.
type KeyPair struct{ Private, Public string }

// GenerateKeys generates a key pair of 2048 bits, as PKCS #8 and PKIX.
func GenerateKeys() (KeyPair, error) {
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return KeyPair{}, fmt.Errorf("fakegateway: make a key: %w", err)
	}
	return pairOf(key)
}

// PairOf returns the key pair of a private key, in any form that alipay.ParsePrivateKey reads. The error never
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
		panic(err) // cannot happen: an RSA key always marshals
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// PublicKey returns the gateway's public key in PEM, for alipay.Config.AlipayPublicKey.
func (g *Gateway) PublicKey() string { return publicPEM(&g.key.PublicKey) }

// returnURL returns where the cashier's links lead after an order, or "" if Options.ReturnURL is unset.
func (g *Gateway) returnURL(outTradeNo string) string {
	if g.opt.ReturnURL == "" || outTradeNo == "" {
		return g.opt.ReturnURL
	}
	return joined(g.opt.ReturnURL, "out_trade_no="+url.QueryEscape(outTradeNo))
}

// SetFaults replaces the fault plan and resets the counts. If a fault or a share is invalid, it returns an error and
// changes nothing.
func (g *Gateway) SetFaults(plan Faults) error {
	if err := plan.check(); err != nil {
		return err
	}
	g.faults.set(plan)
	return nil
}

// Faults returns the plan and how often each fault has happened.
func (g *Gateway) Faults() FaultReport {
	f := &g.faults
	f.mu.Lock()
	defer f.mu.Unlock()
	return FaultReport{Faults: Faults{f.report.Seed, maps.Clone(f.report.Shares)}, Landed: maps.Clone(f.report.Landed),
		Taken: maps.Clone(f.report.Taken)}
}

// load reads a trade with its current status. ErrNoTrade, ErrUnavailable.
func (g *Gateway) load(ctx context.Context, k Key) (Record, error) {
	r, found, err := g.store.Load(ctx, k)
	switch {
	case err != nil:
		return Record{}, unavailable(err)
	case !found:
		return Record{}, ErrNoTrade
	}
	r.Status = g.status(&r, g.opt.Clock.Now())
	return r, nil
}

// change loads a trade, applies f and saves it, and retries if another caller changed it in between. If f fails,
// change returns f's error with the trade and saves nothing. ErrNoTrade, ErrUnavailable, errNothing and f's errors.
func (g *Gateway) change(ctx context.Context, k Key, f func(r *Record, now time.Time) error) (Record, error) {
	err := ErrChanged
	for try := 0; try < saveTries && errors.Is(err, ErrChanged); try++ {
		var r Record
		if r, err = g.load(ctx, k); err != nil {
			return r, err
		}
		if err = f(&r, g.opt.Clock.Now()); err != nil {
			return r, err
		}
		if err = g.store.Save(ctx, r); err == nil {
			r.Version++
			return r, nil
		}
	}
	return Record{}, unavailable(err)
}

// status returns the trade's state at a time: a waiting trade closes at its expiry, a paid one finishes eventually.
func (g *Gateway) status(r *Record, now time.Time) Status {
	switch {
	case r.Status == StatusWait && !now.Before(r.Lapses):
		return StatusClosed
	case r.Status == StatusSuccess && g.opt.FinishAfter > 0 && !now.Before(r.Paid.Add(g.opt.FinishAfter)):
		return StatusFinished
	}
	return r.Status
}

// ofOrder reads an order's trades with their current status, oldest first; it may return none. ErrUnavailable.
func (g *Gateway) ofOrder(ctx context.Context, outTradeNo string) ([]Record, error) {
	var out []Record
	for n := 1; n <= MaxOrderTrades; n++ {
		r, err := g.load(ctx, Key{outTradeNo, n})
		if errors.Is(err, ErrNoTrade) {
			break
		}
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// find returns the trade that a call means; a trade number takes precedence over an order's. ErrNoTrade,
// ErrUnavailable.
func (g *Gateway) find(ctx context.Context, tradeNo, outTradeNo string) (Record, error) {
	if tradeNo == "" {
		trades, err := g.ofOrder(ctx, outTradeNo)
		switch {
		case err != nil:
			return Record{}, err
		case len(trades) == 0:
			return Record{}, ErrNoTrade
		}
		return pick(trades), nil
	}
	k, found, err := g.store.Find(ctx, tradeNo)
	switch {
	case err != nil:
		return Record{}, unavailable(err)
	case !found:
		return Record{}, ErrNoTrade
	}
	return g.load(ctx, k)
}
