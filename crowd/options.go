// Package crowd is a crowd of shoppers that comes to a sale at once, to see what the system does then. In: the sale's
// address, how many come, how fast, and what they do. Out: a report, and if wanted a journal of every request and
// answer. It talks to the sale only as browsers do: the routes that only `seckill run` has are for the report and for
// the time after the sale.
//
// It is an open-loop crowd: shoppers come by a schedule that the seed decides and that no answer can delay, and every
// latency counts from the moment at which the shopper meant to send, so that waiting for one of the connections is part
// of it.
//
// It shares its machine with the system that it measures, so it has to be cheap. A tiny request over a kept-alive
// connection cost 52 µs of processor time with net/http's client and 20 µs with fasthttp's at 512 connections, 38 and
// 16 µs at 32 (2 cores, 2026-11-21): hence fasthttp.
package crowd

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/your-org/seckill/record/journal"
	"github.com/your-org/seckill/shared/seckill"
)

// Limits.
const (
	MaxShoppers    = 5_000_000
	MaxConnections = 20_000
	MaxTimeout     = 5 * time.Minute
	MaxFlood       = 10 * time.Minute

	usersApart = 10_000_000 // user ids between the crowds of two seeds; more than shoppers and those of a flood
	firstUsers = 1_000_000_000_000
)

// Options are a crowd. Defaults are those of `seckill load`: every field has to be set unless it says otherwise.
type Options struct {
	URL      string // of the sale, perhaps with a path
	Item     string // "": the only one on sale
	Shoppers int
	Ramp     time.Duration // from the first shopper's press to the last one's
	// how long before it they open the page and ask the server's time; 0: they do not ask
	Lead    time.Duration
	Count   int     // units that each wants
	Pay     float64 // share of orders that are paid
	Cancel  float64 // that are cancelled
	Abandon float64 // whose page is closed; of the rest the page stays open, and nobody pays
	// share of those who pay: they open the cashier in time, and pay when the hold has ended. Only where the clock can
	// be moved
	Late  float64
	Twice float64 // of those who pay: they press "pay" twice
	// of those who pay: they pay at two cashiers of the order. This and the next two only where the gateway's faults
	// can be set
	TwoTrades         float64
	LostNotifications float64 // share of the gateway's notifications that never arrive, until no order is open
	// share of the calls to the gateway whose answer says nothing, until no order is open
	Unknown     float64
	Repeat      float64       // share of shoppers who press twice
	Key         float64       // who send an Idempotency-Key
	Think       time.Duration // how long a person takes before paying or cancelling, on average
	Connections int           // most at a time
	Timeout     time.Duration // of a request
	Patience    time.Duration // how long a shopper tries for an answer, and waits for an order to be placed
	For         time.Duration // of the whole crowd; shoppers who are still there then are sent home
	Flood       time.Duration // after the crowd, when all is sold: everybody at once, again and again; 0: none
	// how long to wait until no order is open, where the clock cannot be moved; 0: not at all
	WaitIdle time.Duration
	Seed     int64
	Secret   string

	Version string         // of this tool, for report and journal
	Journal io.Writer      // nil: none
	TLS     *tls.Config    // nil: the system's roots
	Watch   func(Progress) // told some times a second how it goes; nil: nobody
	Note    func(string)   // told what happens between, a line each; nil: nobody
}

// UsageError is an error that the caller can mend by asking otherwise.
type UsageError struct{ error }

// Unwrap gives the cause.
func (e UsageError) Unwrap() error { return e.error }

// Validate says in one line what is wrong with the options.
func (o *Options) Validate() error {
	u, err := url.Parse(o.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.User != nil {
		return fmt.Errorf("--url %q: want an address such as http://localhost:8100", o.URL)
	}
	for _, s := range []struct {
		name  string
		share float64
	}{{"pay", o.Pay}, {"cancel", o.Cancel}, {"abandon", o.Abandon}, {"repeat", o.Repeat}, {"key", o.Key},
		{"late", o.Late}, {"twice", o.Twice}, {"two-trades", o.TwoTrades}, {"lost-notifications", o.LostNotifications},
		{"unknown", o.Unknown}} {
		if !(s.share >= 0 && s.share <= 1) {
			return fmt.Errorf("--%s %v: want a share, 0 to 1", s.name, s.share)
		}
	}
	for _, d := range []struct {
		name      string
		d         time.Duration
		low, high time.Duration
	}{
		{"ramp", o.Ramp, 0, 24 * time.Hour}, {"lead", o.Lead, 0, time.Hour}, {"think", o.Think, 0, time.Hour},
		{"timeout", o.Timeout, time.Millisecond, MaxTimeout},
		{"patience", o.Patience, 0, 24 * time.Hour}, {"for", o.For, time.Second, 48 * time.Hour},
		{"flood", o.Flood, 0, MaxFlood}, {"wait", o.WaitIdle, 0, 48 * time.Hour},
	} {
		if d.d < d.low || d.d > d.high {
			return fmt.Errorf("--%s %v: want %v to %v", d.name, d.d, d.low, d.high)
		}
	}
	switch {
	case o.Item != "" && !seckill.ValidItemID(o.Item):
		return fmt.Errorf("--item %q: want the id of an item, such as 2002", o.Item)
	case o.Shoppers < 1 || o.Shoppers > MaxShoppers:
		return fmt.Errorf("--shoppers %d: want 1 to %d", o.Shoppers, MaxShoppers)
	case o.Count < 1 || o.Count > seckill.MaxCount:
		return fmt.Errorf("--count %d: want 1 to %d", o.Count, seckill.MaxCount)
	case o.Connections < 1 || o.Connections > MaxConnections:
		return fmt.Errorf("--connections %d: want 1 to %d", o.Connections, MaxConnections)
	case o.Pay+o.Cancel+o.Abandon > 1+1e-9:
		return fmt.Errorf(
			"--pay %v, --cancel %v and --abandon %v are %.4g together: want at most 1, an order has one fate", o.Pay,
			o.Cancel, o.Abandon, o.Pay+o.Cancel+o.Abandon)
	case o.Late+o.Twice+o.TwoTrades > 1+1e-9:
		return fmt.Errorf(
			"--late %v, --twice %v and --two-trades %v are %.4g together: want at most 1, a shopper pays in one way",
			o.Late, o.Twice, o.TwoTrades, o.Late+o.Twice+o.TwoTrades)
	case o.For < o.Ramp:
		return fmt.Errorf("--for %v: want at least the ramp, %v", o.For, o.Ramp)
	case o.Secret == "":
		return errors.New("no secret to sign the shoppers' tokens with: want --secret, or --path for a stack")
	}
	return nil
}

// firstUser is the id of the first shopper.
func (o *Options) firstUser() int64 {
	const seeds = 1_000_000 // so that ids stay below 2^53, which every JSON reader keeps
	return firstUsers + (o.Seed%seeds+seeds)%seeds*usersApart
}

// base is the address without a slash at the end.
func (o *Options) base() string { return strings.TrimRight(o.URL, "/") }

// start is what the journal and the report say of the options.
func (o *Options) start() journal.Start {
	return journal.Start{Version: o.Version, URL: o.base(), Item: o.Item, Shoppers: o.Shoppers,
		FirstUser: o.firstUser(), LastUser: o.firstUser() + int64(o.Shoppers) - 1,
		Seed: o.Seed, Ramp: o.Ramp.String(), Lead: o.Lead.String(), Think: o.Think.String(),
		Timeout: o.Timeout.String(), Patience: o.Patience.String(),
		Flood: o.Flood.String(), Count: o.Count, Pay: o.Pay, Cancel: o.Cancel, Abandon: o.Abandon, Late: o.Late,
		Twice: o.Twice, TwoTrades: o.TwoTrades, LostNotifications: o.LostNotifications, Unknown: o.Unknown,
		Repeat: o.Repeat, Key: o.Key, Connections: o.Connections}
}
