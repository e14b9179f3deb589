package crowd

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// fate is what a shopper does with an order.
type fate uint8

const (
	looks    fate = iota // leaves the page open, and does not pay
	pays                 //
	cancels              //
	abandons             // closes the page
)

// manner is how a shopper who pays does so.
type manner uint8

const (
	once  manner = iota
	late         // opens the cashier in time, and pays when the hold has ended
	twice        // presses "pay" once more
	both         // pays at two cashiers of the order
)

// visit is what one shopper is going to do; times are relative to the opening.
type visit struct {
	opens  time.Duration // the page; before the opening
	press  time.Duration // the button
	second time.Duration // after the first press, the impatient one; 0: none
	keyed  bool
	fate   fate
	manner manner
	random *rand.Rand // for what depends on answers
}

// Of the second press, after the first one.
const soonest, latest = 30 * time.Millisecond, 400 * time.Millisecond

// visitOf decides all about shopper n of 1..o.Shoppers. Options and n alone decide it.
func visitOf(o *Options, n int) visit {
	r := rand.New(rand.NewPCG(uint64(o.Seed), uint64(n)))
	// each has an n-th of the time, and comes anywhere in it
	share := func() float64 { return (float64(n-1) + r.Float64()) / float64(o.Shoppers) }
	v := visit{random: r}
	v.opens = time.Duration((share() - 1) * float64(o.Lead))
	v.press = time.Duration(share() * float64(o.Ramp))
	if r.Float64() < o.Repeat {
		v.second = soonest + time.Duration(r.Int64N(int64(latest-soonest)))
	}
	v.keyed = r.Float64() < o.Key
	switch x := r.Float64(); {
	case x < o.Pay:
		v.fate = pays
	case x < o.Pay+o.Cancel:
		v.fate = cancels
	case x < o.Pay+o.Cancel+o.Abandon:
		v.fate = abandons
	}
	if o.Late+o.Twice+o.TwoTrades == 0 {
		return v // and with the same seed what depends on answers is as ever
	}
	switch x := r.Float64(); {
	case x < o.Late:
		v.manner = late
	case x < o.Late+o.Twice:
		v.manner = twice
	case x < o.Late+o.Twice+o.TwoTrades:
		v.manner = both
	}
	return v
}

// keyOf names the purchase of a shopper; the same seed names the same one.
func keyOf(o *Options, n int) string {
	return "load-" + strconv.FormatInt(o.Seed, 10) + "-" + strconv.Itoa(n)
}
