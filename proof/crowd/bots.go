package crowd

import (
	"net/netip"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Bots describe a crowd of people and scripts, who pass the item's checks before the opening. No order is paid: what
// counts is who gets units.
//
// Solving a proof of work is a drawn delay, for the real work of thousands of accounts would take this machine hours.
// The sale therefore makes proofs of Work.Cost that need two keys (Easy): making and checking them costs it what any
// proof does.
type Bots struct {
	Share    float64           // of accounts that are scripts'
	Answers  map[string]string // by question: people type them, answer farms have bought them
	Work     seckill.Work      // that the delays stand for
	KeyCPU   time.Duration     // processor time of one key of that work, on a core of a script's machine
	Machines []netip.Addr      // whose source addresses scripts on few machines use; if none, one address
	Faster   int               // for tests: divides every time that the crowd takes; 0 means 1
}

// takes returns how long the crowd takes for what takes people and scripts d.
func (b *Bots) takes(d time.Duration) time.Duration { return d / time.Duration(max(1, b.Faster)) }

// Easy returns work whose proofs cost their maker as much as those of w, and their solver nearly nothing.
func Easy(w seckill.Work) seckill.Work { return seckill.Work{Cost: w.Cost, Tries: 2} }

// kind is who uses an account.
type kind uint8

// A quarter of the scripts' accounts are of each kind.
const (
	person  kind = iota
	early        // presses from before the opening on
	several      // presses on several connections at the same time
	few          // one of many accounts on few machines, registered lately
	farm         // knows the answers to the questions

	kinds
)

var kindNames = [kinds]string{"people", "early hammering", "many connections", "few machines", "answer farm"}

// How people and scripts act.
const (
	present    = 0.7                     // share of people who come
	reaction   = 1500 * time.Millisecond // median of people, from when the button works
	spreads    = 0.5                     // standard deviation of the logarithm of that
	latency    = 10 * time.Millisecond   // of scripts
	earlyBy    = 2 * time.Second
	earlyEvery = 500 * time.Millisecond // a faster one would need more than this machine
	atOnce     = 4                      // connections of one account

	accountAge, youngAge = 365 * 24 * time.Hour, 2 * 24 * time.Hour
)
