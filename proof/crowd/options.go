// Package crowd simulates shoppers who come to a sale at once and reports what the system did. It talks to the sale as
// browsers do. Routes that only `seckill run` has serve the report, and bring the sale to rest afterwards.
//
// The load is open loop: seed and shopper number decide when each shopper acts, and no answer delays the others.
// Latency counts from the scheduled moment, so it includes waiting for a free connection.
//
// The crowd shares a machine with the system that it measures, so it has to be cheap. A small request over a kept-alive
// connection cost 52 µs of processor time with net/http's client and 20 µs with fasthttp's at 512 connections, 38 and
// 16 µs at 32 (2 cores, 2026-11-21): hence fasthttp.
package crowd

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/seckill"
)

// Limits of the options.
const (
	MaxShoppers    = 5_000_000
	MaxConnections = 20_000
	MaxTimeout     = 5 * time.Minute
	MaxFlood       = 10 * time.Minute

	// usersApart is the distance between the first user ids of two seeds. It exceeds the shoppers and flood users of
	// one run.
	usersApart = 10_000_000
	firstUsers = 1_000_000_000_000
)

// Options describe a crowd. Set every field that has no documented zero value; `seckill load` has defaults.
type Options struct {
	URL      string // address of the sale, optionally with a path
	Item     string // "" means the only item on sale
	Shoppers int
	Ramp     time.Duration // between the first and the last shopper's press
	// before the ramp; shoppers open the page in it and ask the server's time; if 0, they do not ask
	Lead time.Duration
	// Pages says that shoppers load the page's files and look at lists as the storefront's page does. Needs a Lead.
	Pages  bool
	NoPush bool // shoppers poll, also where they could hear of their orders
	Count  int  // units per order
	record.Shares
	Think       time.Duration // mean time before a shopper pays or cancels
	Connections int           // at most
	Timeout     time.Duration // limit of a request
	Patience    time.Duration // how long a shopper retries a purchase, and waits for an order to be placed
	For         time.Duration // after the opening; shoppers who remain are sent home
	Flood       time.Duration // closed-loop load after the sell-out; 0 if there is none
	Seed        int64
	Secret      string
	Bots        *Bots // if nil, everybody acts as Ramp says and passes no checks

	Version string         // of this tool, for report and journal
	Journal io.Writer      // nil if there is none
	TLS     *tls.Config    // nil means the system's roots
	Watch   func(Progress) // called several times a second; may be nil
	Note    func(string)   // called with a line about each phase; may be nil
}

// UsageError is an error in the options.
type UsageError struct{ error }

// Unwrap returns the cause.
func (e UsageError) Unwrap() error { return e.error }

// Validate returns an error of one line that names the flag.
func (o *Options) Validate() error {
	u, err := url.Parse(o.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.User != nil {
		return fmt.Errorf("--url %q: want an address such as http://localhost:8100", o.URL)
	}
	for _, err := range []error{
		share("pay", o.Pay), share("cancel", o.Cancel), share("abandon", o.Abandon), share("repeat", o.Repeat),
		share("key", o.Key),
		between("ramp", o.Ramp, 0, 24*time.Hour), between("lead", o.Lead, 0, time.Hour),
		between("think", o.Think, 0, time.Hour), between("timeout", o.Timeout, time.Millisecond, MaxTimeout),
		between("patience", o.Patience, 0, 24*time.Hour), between("for", o.For, time.Second, 48*time.Hour),
		between("flood", o.Flood, 0, MaxFlood),
		between("shoppers", o.Shoppers, 1, MaxShoppers), between("count", o.Count, 1, seckill.MaxCount),
		between("connections", o.Connections, 1, MaxConnections),
	} {
		if err != nil {
			return err
		}
	}
	if o.Bots != nil {
		if err := o.Bots.validate(); err != nil {
			return err
		}
	}
	switch {
	case o.Item != "" && !seckill.ValidItemID(o.Item):
		return fmt.Errorf("--item %q: want the id of an item, such as 2002", o.Item)
	case o.Pay+o.Cancel+o.Abandon > 1+1e-9:
		return fmt.Errorf(
			"--pay %v, --cancel %v and --abandon %v are %.4g together: want at most 1, because each "+
				"order has one outcome", o.Pay, o.Cancel, o.Abandon, o.Pay+o.Cancel+o.Abandon)
	case o.Pages && o.Lead == 0:
		return errors.New("--pages: pages open during --lead, which is 0")
	case o.For < o.Ramp:
		return fmt.Errorf("--for %v: want at least the ramp, %v", o.For, o.Ramp)
	case o.Secret == "":
		return errors.New("no secret to sign the shoppers' tokens with: want --secret, or --path for a stack")
	}
	return nil
}

func share(name string, v float64) error {
	if ok := v >= 0 && v <= 1; !ok { // also for NaN
		return fmt.Errorf("--%s %v: want a share, 0 to 1", name, v)
	}
	return nil
}

func between[T cmp.Ordered](name string, v, low, high T) error {
	if v < low || v > high {
		return fmt.Errorf("--%s %v: want %v to %v", name, v, low, high)
	}
	return nil
}

// firstUser returns the id of the first shopper.
func (o *Options) firstUser() int64 {
	const seeds = 1_000_000 // keeps ids below 2^53, so every JSON reader represents them exactly
	return firstUsers + (o.Seed%seeds+seeds)%seeds*usersApart
}

// base returns the address without a slash at its end.
func (o *Options) base() string { return strings.TrimRight(o.URL, "/") }

// start returns the options as journal and report show them.
func (o *Options) start() record.Start {
	return record.Start{Version: o.Version, URL: o.base(), Item: o.Item, Shoppers: o.Shoppers,
		FirstUser: o.firstUser(), LastUser: o.firstUser() + int64(o.Shoppers) - 1,
		Seed: o.Seed, Ramp: o.Ramp.String(), Lead: o.Lead.String(), Think: o.Think.String(),
		Timeout: o.Timeout.String(), Patience: o.Patience.String(),
		Flood: o.Flood.String(), Count: o.Count, Shares: o.Shares, Connections: o.Connections}
}

func (b *Bots) validate() error {
	if b.Work.Tries < 2 || b.KeyCPU <= 0 {
		return errors.New("no work that the delays stand for")
	}
	return share("bots", b.Share)
}
