package sim

import (
	"cmp"
	"net/netip"
	"time"

	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/flow/sale/admit"
	"github.com/your-org/seckill/shared/seckill"
)

// door is what the world knows of admission, from the answers to shoppers and operators and from the rows of blocks.
type door struct {
	closed    bool                   // no step checks tickets
	rotations []rotation             // of the keys of tickets
	hurries   []time.Time            // rotations before the previous key's time
	numbers   map[string]int         // by kid, the rotation that made it
	pictures  map[string]seckill.Sum // what they show
	painted   map[painting][]byte
	given     map[string]given              // by ticket
	newest    map[holder][]string           // tickets, oldest first
	pool      map[string][]seckill.Question // by item
	asked     map[attempt]int               // answers that were sent
	taken     map[attempt]int               // answers that were looked at
	blocks    map[blockKey]*blockState
	heard     map[string]int // answers, by step and reason
}

// rotation is one change of the keys by an operator.
type rotation struct {
	at   time.Time
	keys jwtauth.TicketKeys // all keys that exist from now on
}

// painting is what a picture is made of.
type painting struct {
	sum  seckill.Sum
	seed int
}

// given is a ticket that admit gave for a right answer.
type given struct {
	holder
	expires time.Time
}

// attempt is a minute of a shopper and an item, by the clock of the instance.
type attempt struct {
	holder
	minute int64
}

func newDoor() *door {
	return &door{numbers: map[string]int{}, pictures: map[string]seckill.Sum{}, painted: map[painting][]byte{},
		given:  map[string]given{},
		newest: map[holder][]string{}, pool: map[string][]seckill.Question{}, asked: map[attempt]int{},
		taken: map[attempt]int{}, blocks: map[blockKey]*blockState{}, heard: map[string]int{}}
}

// hear counts an answer.
func (d *door) hear(step string, err error) {
	reason := "yes"
	if err != nil {
		e := seckill.AsError(err)
		reason = string(cmp.Or(e.Token, seckill.Reason(e.Code)))
	}
	d.heard[step+": "+reason]++
}

// passKey is the key of a context of a purchase; its value says whether the purchase's ticket is good.
type passKey struct{}

// blockKey is the subject and the item of a block.
type blockKey struct {
	subject seckill.Subject
	item    string
}

// blockState is what operators asked about a block, what they were told, and what its row said at which times.
type blockState struct {
	begun, under int                // requests that were made; those without an answer
	drops        int                // removals that may still take effect
	untils       map[time.Time]bool // ends that were asked for
	told         *seckill.Block     // acknowledged, and neither removed nor replaced since
	since        time.Time          // when it was acknowledged
	losses       int                // of the stock's data, when the acknowledged request began
	copied       map[string]bool    // the items that the stock had then
	row          bool
	writes       int
	spans        []blockSpan // of the row, oldest first; the last one may go on
}

// blockSpan is how long a block's row stood.
type blockSpan struct{ from, to, until time.Time }

func (d *door) block(k blockKey) *blockState {
	b := d.blocks[k]
	if b == nil {
		b = &blockState{untils: map[time.Time]bool{}}
		d.blocks[k] = b
	}
	return b
}

func subjectsOf(c *admit.Caller) []seckill.Subject {
	return append([]seckill.Subject{seckill.UserSubject(c.User)}, c.Networks...)
}

// networksOf returns the ranges of a shopper's network address; every fourth shopper shares one.
func networksOf(n int) []seckill.Subject {
	return seckill.NetworkSubjects(netip.AddrFrom4([4]byte{10, 0, byte(n >> 2 & 0xff), byte(1 + n>>10)}))
}
