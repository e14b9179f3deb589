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
	Log     *slog.Logger    // of faults of the store; nil: none
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

// Paths are the patterns that a gateway serves, for mounting it beside other handlers.
var Paths = []string{callPath, "/cashier", "/cashier/", "/bill", "/faults", "/trades"}

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

// PairOf returns the pair of a private key, which may be written as alipay.ParsePrivateKey reads it. The error never
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

// SetFaults changes what goes wrong from now on; counts begin anew. The error says which fault or share is wrong, and
// nothing is changed then.
func (g *Gateway) SetFaults(plan Faults) error {
	if err := plan.check(); err != nil {
		return err
	}
	g.faults.set(plan)
	return nil
}

// Faults returns the plan and how often each fault has landed.
func (g *Gateway) Faults() FaultReport {
	f := &g.faults
	f.mu.Lock()
	defer f.mu.Unlock()
	return FaultReport{Faults: Faults{f.report.Seed, maps.Clone(f.report.Shares)}, Landed: maps.Clone(f.report.Landed),
		Taken: maps.Clone(f.report.Taken)}
}

// load reads a trade as it stands now. ErrNoTrade, ErrUnavailable.
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

// change loads a trade, has it changed and saves it, again while others change it in between. An error of f is returned
// with the trade, and nothing is saved then. ErrNoTrade, ErrUnavailable, errNothing and f's.
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

// status is the trade's state at a time: one that waits is closed when its time is over, one that is paid is finished
// in the end.
func (g *Gateway) status(r *Record, now time.Time) Status {
	switch {
	case r.Status == StatusWait && !now.Before(r.Lapses):
		return StatusClosed
	case r.Status == StatusSuccess && g.opt.FinishAfter > 0 && !now.Before(r.Paid.Add(g.opt.FinishAfter)):
		return StatusFinished
	}
	return r.Status
}

// ofOrder reads an order's trades as they stand now, the oldest first; there may be none. ErrUnavailable.
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

// find is the trade that a call means; a trade number counts before an order's. ErrNoTrade, ErrUnavailable.
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
