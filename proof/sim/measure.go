package sim

import (
	"hash/fnv"
	"math"
	"math/bits"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// outOfSale measures how long units of a running sale are neither sold, nor reserved, nor available: what a fault
// costs the shop. While a unit is out, time moves in small steps and no actor is idle.
type outOfSale struct {
	On    bool
	since map[unitKey]time.Time
	Spans []time.Duration // finished periods
	Open  int             // units still out at the end
}

// sketch estimates the number of distinct values in 4 KiB, with an error of about 2 % (HyperLogLog; Flajolet et al.
// 2007, with its small-range correction).
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

func mix(a seckill.State, b string, n int) uint64 {
	f := fnv.New64a()
	_, _ = f.Write([]byte(a))
	_, _ = f.Write([]byte(b))
	return (f.Sum64() + uint64(n)) * 0x9e3779b97f4a7c15
}
