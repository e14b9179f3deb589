// Package plan says what a sale needs and costs before it is held: requests by second, quotas to raise, settings of the
// deployed stack, waits, the bill. In: numbers about the sale (Sale). Out: numbers (Plan), as text, JSON and parameter
// overrides. It is pure: it asks nobody and touches nothing.
//
// It is a fluid model: crowds are amounts, not people, moved in steps of 10 ms from the page through the API's token
// bucket, Lambda's instances, Redis and the queue into the tables. What is assumed of AWS stands in limits.go, what of
// this system in speeds.go, prices in prices.go, each with its source. docs/DEPLOY.md shows a plan and says what of it
// was checked.
package plan

import (
	"fmt"
	"math"
	"time"
)

// Sale is what is known of a sale, and what is assumed of its crowd.
type Sale struct {
	Shoppers int       `json:"shoppers"`
	Units    int       `json:"units"`
	Count    int       `json:"count"` // units of an order
	Items    int       `json:"items"` // on the lists, this one among them
	At       time.Time `json:"at"`
	// Edge is the share of two kinds of calls that something before API Gateway answers, for good: looks at lists,
	// items and the time, by a CDN; purchases, by a waiting page that tells so many shoppers that all is sold. Neither
	// is part of template.yaml.
	Edge float64 `json:"edge"`

	First  float64       `json:"first"`  // share of shoppers who wait for the opening; the rest come afterwards
	Within time.Duration `json:"within"` // in which the first press the button, evenly
	Rest   time.Duration `json:"rest"`   // in which 95 in 100 of the rest come, fewer and fewer
	Before time.Duration `json:"before"` // over which the first open their pages, evenly
	Looks  float64       `json:"looks"`  // calls a second of an open page
	Paying time.Duration `json:"paying"` // that a buyer takes on average, its page asking for the order meanwhile
	Wait   time.Duration `json:"wait"`   // the longest that somebody may wait for an answer, and an order for its row
}

// What is assumed unless said otherwise.
const (
	DefaultFirst  = 0.5
	DefaultWithin = 2 * time.Second
	DefaultRest   = time.Minute
	DefaultBefore = 10 * time.Minute
	// DefaultLooks is the storefront's home page (web/items.js, web/clock.js): two lists each 5 to 7.5 s, and the time
	// four times a minute.
	DefaultLooks  = 2/6.25 + 4.0/60
	DefaultPaying = time.Minute
	DefaultItems  = 10
	DefaultWait   = 10 * time.Second
)

// Limits of a sale, so that a plan takes no more than a moment and no figure overflows.
const (
	MaxShoppers = 100_000_000
	MaxUnits    = 1_000_000 // seckill.MaxStock
	MaxCount    = 50        // seckill.MaxCount
	MaxItems    = 1_000
	MaxSpan     = time.Hour
	maxRest     = 10 * time.Minute // a longer tail has no rush
	MaxLooks    = 10
)

// Validate says in a line what is wrong; the names are those of the command's flags.
func (s *Sale) Validate() error {
	share := func(name string, v float64) error {
		if math.IsNaN(v) || v < 0 || v > 1 {
			return fmt.Errorf("--%s %v: want a share, 0 to 1", name, v)
		}
		return nil
	}
	span := func(name string, d, least, most time.Duration) error {
		if d < least || d > most {
			return fmt.Errorf("--%s %v: want %v to %v", name, d, least, most)
		}
		return nil
	}
	number := func(name string, n, most int) error {
		if n < 1 || n > most {
			return fmt.Errorf("--%s %d: want 1 to %d", name, n, most)
		}
		return nil
	}
	for _, err := range []error{
		number("shoppers", s.Shoppers, MaxShoppers), number("units", s.Units, MaxUnits),
		number("count", s.Count, MaxCount),
		number("items", s.Items, MaxItems),
		share("edge", s.Edge), share("first", s.First),
		span("within", s.Within, 0, MaxSpan), span("rest", s.Rest, time.Second, maxRest),
		span("before", s.Before, 0, 24*time.Hour),
		span("paying", s.Paying, time.Second, MaxSpan), span("wait", s.Wait, 2*time.Second, giveUp),
	} {
		if err != nil {
			return err
		}
	}
	switch {
	case math.IsNaN(s.Looks) || s.Looks < 0 || s.Looks > MaxLooks:
		return fmt.Errorf("--looks %v: want 0 to %d calls a second", s.Looks, MaxLooks)
	case s.Edge == 1:
		return fmt.Errorf("--edge 1: nobody would reach the shop")
	case s.Count > s.Units:
		return fmt.Errorf("--count %d: the sale has %d units", s.Count, s.Units)
	}
	return nil
}

// arrived is how many have pressed the button, seconds after the opening.
func (s *Sale) arrived(t float64) float64 {
	first, within := 1.0, s.Within.Seconds()
	if t < within {
		first = t / within
	}
	rest := 1 - math.Exp(-3*t/s.Rest.Seconds()) // e^-3 is 5 in 100
	n := float64(s.Shoppers)
	if all := n * (s.First*first + (1-s.First)*rest); all < n-0.5 {
		return all
	}
	return n
}

// Plan is what a sale needs.
type Plan struct {
	Sale    Sale    `json:"sale"`
	Today   Setting `json:"today"` // defaults of template.yaml, and a new account's quotas
	Planned Setting `json:"planned"`
	Free    Outcome `json:"unlimited"` // were nothing limited: how many calls there are
	Redis   Redis   `json:"redis"`
	Tables  []Table `json:"tables"`
	Reads   Reads   `json:"reads"`
	Bill    []Line  `json:"bill"`
	Total   float64 `json:"total_usd"`
	// Overrides are the parameters of template.yaml that differ from their defaults.
	Overrides []Override `json:"overrides"`
	// Quotas are those that AWS has to raise on request.
	Quotas []Quota  `json:"quotas"`
	Notes  []string `json:"notes"` // what the plan cannot mend
}

// Setting is limits and what comes of them.
type Setting struct {
	Limits  Limits  `json:"limits"`
	Outcome Outcome `json:"outcome"`
}

// Override is one parameter of template.yaml.
type Override struct {
	Name  string `json:"name"`
	Value int    `json:"value"`
}

// Quota is one of the account's, per region.
type Quota struct {
	Name string `json:"name"`
	Code string `json:"code"` // of Service Quotas; empty: AWS sets it itself
	Have int    `json:"default"`
	Want int    `json:"want"`
}

// Make plans a valid sale.
func Make(s Sale) *Plan {
	p := &Plan{Sale: s, Today: Setting{Limits: Today}, Free: simulate(&s, unlimited)}
	p.Today.Outcome = simulate(&s, Today)
	p.Planned.Limits = need(&s, &p.Free)
	p.Planned.Outcome = simulate(&s, p.Planned.Limits)
	p.Redis = redis(&s, &p.Planned)
	p.Tables = tables(&s, &p.Planned)
	p.Reads = reads(&s, &p.Planned)
	p.overrides()
	p.Bill = bill(p)
	for _, l := range p.Bill {
		p.Total += l.USD
	}
	p.notes()
	return p
}
