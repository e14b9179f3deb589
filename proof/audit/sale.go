package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/fnv"
	"time"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/seckill"
)

// sale is the state of an audit: what it keeps of everything it reads.
type sale struct {
	verdicts
	id      string
	now     int64 // Unix milliseconds, as are all times here
	ahead   int64 // of this machine's clock, because the clock of a seckill run can be moved
	moved   int64 // part of ahead that was already so when the journal was written
	item    item
	read    map[string]int    // lines by part
	whole   map[string]bool   // parts that were read completely
	missing map[string]string // why a part cannot be read

	orders  []*order
	byID    map[string]*order
	foreign map[string]bool // ids of other items' orders
	users   []*user
	byUser  map[string]*user
	spans   map[string]*span // by user

	blocks   map[string][]block // by user
	owner    []*order           // by unit number: the order that the unit row names; nil if there is none
	lister   []*order           // by unit number: the order that lists the unit; nil if there is none
	money    money
	trades   []*trade
	tradesOf map[string][]*trade // by order
	returns  []returned
	stock    stock
	queues   map[string]record.Depth
}

// item is the row of the items table.
type item struct {
	title, cover, options string
	span                  string // the family that the limit spans; "" if the limit counts the item alone
	price, listPrice      int64
	start, end            int64
	stock, limit, buckets int
	version               int64
	checks                string // "" if there is none
	stopped               bool
	stops                 []stop
	noted                 bool // the row has the attribute stops, which older releases did not write
}

// stop is a period in which the item was stopped, by the clocks of the operators' machines.
type stop struct {
	from int64 // just before the stop was written
	to   int64 // just before the resumption was written; 0 if it is still stopped
}

// order is a row of the orders table, and what other rows and keys say about it.
type order struct {
	id       string
	units    []int32 // as listed
	state    seckill.State
	amount   int64
	created  int64
	payBy    int64
	changed  int64 // its last change of state
	placed   int64 // when it was placed
	released int64 // when it returned its units; 0 if never
	address  uint64
	erased   bool // no address: erased, or rejected without an address
	user     *user
	count    int32
	rows     int32 // unit rows that name it
	quota    int32 // units by its user's quota row
	entry    int32 // units by its user's entry in Redis; -1 means no entry
	kept     int16 // payment rows in state captured
	back     int16 // in state refund_due
	refunded int16 // in state refunded
	outside  int64 // what went back outside the shop, by the kept payment's row
	wentBack int64 // the same by its own row

	undecided bool // waits for somebody to decide about that
	cancelled bool // closing because its shopper cancelled
	due       bool // in the index that expire's sweep reads
	awaited   bool // has an entry in Redis' awaiting
	returning bool // has a return row
}

// user is a user who has a row of the item.
type user struct {
	id    string
	units int32 // by unit rows
	quota int64 // by the quota row; -1 means no row
}

// money sums up payments, in fen.
type money struct {
	count                          int
	captured, kept, back, refunded int64
	taken, givenBack               int64 // by the provider's trades
	coming                         int   // refunds that the provider made but the ledger still has as due
}

type trade struct {
	order    string
	no       string
	amount   int64
	refunded int64
	captured bool // was paid at some time
	due      bool // its notification is still to come
	met      bool // a payment row names it
}

type returned struct {
	order *order
	units []int32
}

func newSale(id string) *sale {
	return &sale{id: id, read: map[string]int{}, whole: map[string]bool{}, missing: map[string]string{},
		byID: map[string]*order{}, foreign: map[string]bool{}, byUser: map[string]*user{},
		blocks: map[string][]block{}, spans: map[string]*span{},
		tradesOf: map[string][]*trade{}, queues: map[string]record.Depth{}, stock: newStock(id)}
}

// use reports whether all parts were read. Otherwise the guarantee needs them.
func (s *sale) use(g int, parts ...string) bool {
	all := true
	for _, p := range parts {
		if s.whole[p] {
			continue
		}
		all = false
		why := s.missing[p]
		if why == "" {
			why = "not read completely"
		}
		s.needs(g, "%s: %s", p, why)
	}
	return all
}

// userOf returns a user, whom it adds if new.
func (s *sale) userOf(id string) *user {
	u := s.byUser[id]
	if u == nil {
		u = &user{id: id, quota: -1}
		s.users, s.byUser[id] = append(s.users, u), u
	}
	return u
}

// nameOf describes an order in a finding.
func (s *sale) nameOf(id string) string {
	o := s.byID[id]
	switch {
	case o != nil:
		return "order " + id + " (" + string(o.state) + ")"
	case s.foreign[id]:
		return "order " + id + " of another item"
	}
	return "order " + id + ", which has no row"
}

func hashOf(id string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return h.Sum64()
}

// addressOf returns the first eight bytes of the journal's hash of an address.
func addressOf(address string) uint64 {
	sum := sha256.Sum256([]byte(address))
	return binary.BigEndian.Uint64(sum[:])
}

// Times within which a working system acts, in milliseconds.
const (
	skew = int64(seckill.SkewBound / time.Millisecond)
	// upkeep bounds a scheduled step: a minute until it starts, and a minute at work.
	upkeep = int64(2 * time.Minute / time.Millisecond)
	// resend bounds the time until a reservation's message is sent again: repair's longest wait is 15 minutes.
	resend   = int64(15*time.Minute/time.Millisecond) + upkeep
	unplaced = int64(seckill.MaxUnplaced / time.Millisecond)
	grace    = int64(seckill.Grace / time.Millisecond)
	// stopHeld is the time after stop.from in which orders may still be placed: up to 5 s for the write
	// (dynamoledger.DefaultCallTimeout), and 2 s after its acknowledgement (I10).
	stopHeld = int64((2 + 5) * time.Second / time.Millisecond)
)

// info is seckill.State.Info as a map, because an audit calls it for millions of rows.
var info = func() map[seckill.State]seckill.StateInfo {
	out := map[seckill.State]seckill.StateInfo{}
	for _, i := range seckill.States {
		out[i.State] = i
	}
	return out
}()

// keeps reports whether an order in this state keeps the money of exactly one trade.
func keeps(s seckill.State) bool {
	switch s {
	case seckill.Paid, seckill.Confirmed, seckill.Shipped, seckill.Received, seckill.Completed:
		return true
	}
	return false
}

func open(s seckill.State) bool { return s == seckill.PendingPayment || s == seckill.Closing }

func (s *stop) span() string {
	if s.to == 0 {
		return "from " + dated(s.from) + " on"
	}
	return dated(s.from) + " to " + dated(s.to)
}
