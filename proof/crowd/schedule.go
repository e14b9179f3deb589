package crowd

import (
	"math"
	"math/rand/v2"
	"strconv"
	"time"
)

// fate is what a shopper does with a placed order.
type fate uint8

const (
	looks fate = iota // leaves the page open and does not pay
	pays
	cancels
	abandons // closes the page
)

// visit is one shopper's schedule. Times are relative to the opening.
type visit struct {
	opens  time.Duration // when the page opens; negative
	press  time.Duration // when the shopper presses the button
	second time.Duration // from the first press to the second; 0 if the shopper presses once
	keyed  bool
	fate   fate
	random *rand.Rand // for later choices, which depend on answers

	// of a crowd with scripts
	kind    kind
	absent  bool // never presses
	machine int  // the machine that it sends from, from 1; 0 means this machine
}

// Bounds of visit.second.
const soonest, latest = 30 * time.Millisecond, 400 * time.Millisecond

// visitOf returns the schedule of shopper n of 1..o.Shoppers. It depends on options and n only.
func visitOf(o *Options, n int) visit {
	r := rand.New(rand.NewPCG(uint64(o.Seed), uint64(n)))
	// a random point in the n-th of o.Shoppers equal intervals
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
	if o.Bots != nil {
		o.Bots.cast(&v)
	}
	return v
}

// keyOf returns the Idempotency-Key of a shopper's purchase.
func keyOf(o *Options, n int) string {
	return "load-" + strconv.FormatInt(o.Seed, 10) + "-" + strconv.Itoa(n)
}

// cast makes visit n a person's or a script's. It depends on the seed and n only.
func (b *Bots) cast(v *visit) {
	r := v.random
	v.kind = person
	if r.Float64() < b.Share {
		v.kind = early + kind(r.IntN(int(kinds-early)))
	}
	v.second = 0
	v.press = latency
	switch v.kind {
	case person:
		v.absent = r.Float64() >= present
		v.press = time.Duration(float64(reaction) * math.Exp(spreads*r.NormFloat64()))
	case early:
		v.press = -earlyBy + time.Duration(r.Int64N(int64(earlyEvery)))
	case several:
		v.second = time.Nanosecond
	case few:
		if len(b.Machines) > 0 {
			v.machine = 1 + r.IntN(len(b.Machines))
		}
	}
	v.press = b.takes(v.press)
}
