package sim

import (
	"hash/fnv"
	"math"
	"math/bits"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// outOfSale measures how long units of a sale that is on are neither sold, nor reserved for somebody, nor to be had:
// what a fault costs the shop. While one is out, time goes in small steps, and nobody is idle.
type outOfSale struct {
	On    bool
	since map[unitKey]time.Time
	Spans []time.Duration // ended ones
	Open  int             // units that were still out when all was quiet
}

// look compares each unit of each item with what the stock offers now.
func (o *outOfSale) look(s *Sim) {
	if !o.On {
		return
	}
	if o.since == nil {
		o.since = map[unitKey]time.Time{}
	}
	now := s.Clock.Now()
	for _, it := range s.allItems() {
		num, err := s.numbersOf(it.ID)
		if err != nil {
			continue
		}
		for n := 1; n <= it.Stock; n++ {
			k := unitKey{it.ID, n}
			out := it.StateAt(now) == seckill.ItemOnline && s.truth.units[k] == "" &&
				(num == nil || !num.offers(s, it.ID, n))
			since, was := o.since[k]
			switch {
			case out && !was:
				o.since[k] = now
			case !out && was:
				o.Spans = append(o.Spans, now.Sub(since))
				delete(o.since, k)
			}
		}
	}
}

// offers says whether a number that is nobody's in the ledger can be had, or is reserved for an order that waits to be
// placed.
func (num *numbers) offers(s *Sim, item string, n int) bool {
	if holder := num.held[n]; holder != "" {
		score, _ := s.Redis.Do("ZSCORE", stockKey(item, "awaiting"), holder)
		return score != nil
	}
	return num.free[n] || n > num.highWater
}

func (o *outOfSale) end(s *Sim) {
	o.look(s)
	o.Open = len(o.since)
}

// sketch counts distinct values in 4 KiB, give or take 2 % (HyperLogLog; Flajolet et al. 2007, with its small-range
// correction).
type sketch [1 << sketchBits]uint8

const sketchBits = 12

func (k *sketch) add(h uint64) {
	h *= 0x9e3779b97f4a7c15
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	n := uint8(bits.LeadingZeros64(h<<sketchBits|1<<(sketchBits-1))) + 1
	if i := h >> (64 - sketchBits); k[i] < n {
		k[i] = n
	}
}

func (k *sketch) merge(other *sketch) {
	for i, n := range other {
		k[i] = max(k[i], n)
	}
}

func (k *sketch) count() int {
	sum, zeros, m := 0.0, 0.0, float64(len(k))
	for _, n := range k {
		if sum += math.Exp2(-float64(n)); n == 0 {
			zeros++
		}
	}
	if e := 0.7213 / (1 + 1.079/m) * m * m / sum; e > 2.5*m || zeros == 0 {
		return int(e)
	}
	return int(m * math.Log(m/zeros))
}

// fingerprint is what the world's state is told from others by: orders by state and units, processes by what they do
// and where they stand, and what is on its way.
func (s *Sim) fingerprint() uint64 {
	h := uint64(len(s.late))<<8 + uint64(len(s.truth.returns))<<16 + uint64(len(s.notifications()))<<24 +
		uint64(len(s.Provider.list))<<32
	for _, o := range s.truth.orders {
		h += mix(o.state, "", len(o.units))
	}
	for _, p := range s.processes {
		h += mix(seckill.State(p.call), p.method, int(p.what))
	}
	return h
}

func mix(a seckill.State, b string, n int) uint64 {
	f := fnv.New64a()
	_, _ = f.Write([]byte(a))
	_, _ = f.Write([]byte(b))
	return (f.Sum64() + uint64(n)) * 0x9e3779b97f4a7c15
}
