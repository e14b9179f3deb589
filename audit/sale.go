package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/record/dump"
	"github.com/your-org/seckill/shared/adapter/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// sale is what is kept of everything that was read.
type sale struct {
	verdicts
	id      string
	now     int64 // Unix milliseconds, as are all times here
	ahead   int64 // of this machine's clock: that of a seckill run can be moved
	moved   int64 // how much of it was so already when the journal was kept
	item    item
	read    map[string]int    // lines, by part
	whole   map[string]bool   // parts that were read to their end
	missing map[string]string // parts that cannot be read, and why

	orders  []*order
	byID    map[string]int32
	foreign []uint64 // hashes of the ids of other items' orders, sorted after the last one
	users   []user
	byUser  map[string]int32

	owner   []int32 // by number 1..stock: whose unit row it is, as an index of orders and 1; 0: nobody's
	lister  []int32 // by number: which order that holds units lists it, likewise
	odd     int     // unit rows that name no order of this item
	money   money
	trades  []trade
	tradeOf map[string]int32 // an order's first
	returns []returned
	stock   stock
	queues  map[string]dump.Depth
}

// item is the row of the items table.
type item struct {
	title                 string
	price, start, end     int64
	stock, limit, buckets int
	version               int64
	stopped               bool
	stops                 []stop
	noted                 bool // the row has stops that can be read, be it none; an older release wrote none
}

// stop is a time in which the item was stopped.
type stop struct {
	from int64 // by the clock of who stopped it, just before it was written
	to   int64 // likewise of the resumption; 0 still stopped
}

// order is a row of the orders table, with what others say of it.
type order struct {
	id       string
	units    []int32 // that it lists
	state    seckill.State
	amount   int64
	created  int64
	payBy    int64
	changed  int64 // its last change of state
	released int64 // when it gave its units back, 0 never
	address  uint64
	erased   bool // the row has no address any more, or as a rejected one never had
	user     int32
	count    int32
	rows     int32 // unit rows that name it
	quota    int32 // units that its user's quota row lists for it
	entry    int32 // units that its user's entry in Redis lists for it, -1 none
	kept     int16 // payments by state
	back     int16
	refunded int16

	cancelled bool // closing, by its shopper
	due       bool // expire's sweep sees it
	awaited   bool // it has an entry in Redis' awaiting
	returning bool // it has a return row
}

// user is somebody who has a row of the item.
type user struct {
	id    string
	units int32 // by unit rows
	quota int64 // by the quota row, -1 none
}

// money is what payments brought, in fen.
type money struct {
	count                          int
	captured, kept, back, refunded int64
	taken, givenBack               int64 // by the provider's trades
	coming                         int   // refunds that the provider made and the ledger has as due
}

type trade struct {
	order    string
	no       uint64 // hash of its number
	amount   int64
	refunded int64
	next     int32 // another trade of the order, -1 none
	captured bool  // it was ever paid
	due      bool  // a notification is to come
	met      bool  // a payment row names it
}

type returned struct {
	order int32
	units []int32
}

func newSale(id string) *sale {
	return &sale{id: id, read: map[string]int{}, whole: map[string]bool{}, missing: map[string]string{},
		byID: map[string]int32{}, byUser: map[string]int32{},
		tradeOf: map[string]int32{}, queues: map[string]dump.Depth{}, stock: newStock(id)}
}

func (s *sale) installedItem() bool { return s.item.stock > 0 }

// add takes in one line.
func (s *sale) add(l *dump.Line) error {
	switch {
	case l.Table != "":
		return s.addRow(l)
	case l.Key != "":
		s.read[dump.PartRedis]++
		s.addKey(l)
	case l.Queue != "":
		s.queues[l.Queue] = l.Depth
		s.read[dump.PartQueues]++
	case l.Missing != "":
		s.missing[l.Missing] = l.Why
	case l.End != "":
		s.whole[l.End] = true
		if l.End == ledger.TableOrders {
			slices.Sort(s.foreign)
		}
	default:
		s.now = l.Now
		s.ahead = l.Now - time.Now().UnixMilli()
	}
	return nil
}

func (s *sale) addRow(l *dump.Line) error {
	first := l.Table == dump.PartItems || l.Table == dump.PartTrades
	switch {
	case !first && s.item.stock == 0:
		return fmt.Errorf("item %s: %w", s.id, ErrNoItem)
	case !first && l.Table != ledger.TableOrders && !s.whole[ledger.TableOrders]:
		return nil // whose they are cannot be told without all orders, and nothing will hold
	}
	d := &decoder{sale: s, row: l.Row}
	switch l.Table {
	case dump.PartItems:
		s.addItem(d)
	case dump.PartTrades:
		s.addTrade(d)
	case ledger.TableOrders:
		s.addOrder(d)
	case ledger.TableUnits:
		s.addUnit(d)
	case ledger.TableQuotas:
		s.addQuota(d)
	case ledger.TablePayments:
		s.addPayment(d)
	case ledger.TableReturns:
		s.addReturn(d)
	default:
		return fmt.Errorf("audit: a row of table %q, which is none that is known", l.Table)
	}
	if d.ours {
		s.read[l.Table]++
	}
	return nil
}

// use says whether a part was read; every judgement that rests on it is unknown otherwise.
func (s *sale) use(g int, parts ...string) bool {
	all := true
	for _, p := range parts {
		if s.whole[p] {
			continue
		}
		all = false
		why := s.missing[p]
		if why == "" {
			why = "they were not read to their end"
		}
		s.needs(g, "%s: %s", p, why)
	}
	return all
}

// userOf gives the index of a user, made when it is new.
func (s *sale) userOf(id string) int32 {
	if i, ok := s.byUser[id]; ok {
		return i
	}
	id = strings.Clone(id)
	s.users = append(s.users, user{id: id, quota: -1})
	s.byUser[id] = int32(len(s.users) - 1)
	return int32(len(s.users) - 1)
}

// orderOf gives the order with an id: -1 when there is none of this item. other says that it is another item's.
func (s *sale) orderOf(id string) (i int32, other bool) {
	if i, ok := s.byID[id]; ok {
		return i, false
	}
	_, other = slices.BinarySearch(s.foreign, hashOf(id))
	return -1, other
}

// nameOf says of an order's id what is known of it.
func (s *sale) nameOf(id string) string {
	i, other := s.orderOf(id)
	switch {
	case other:
		return "order " + id + " of another item"
	case i < 0:
		return "order " + id + ", which has no row"
	}
	return "order " + id + " (" + string(s.orders[i].state) + ")"
}

func hashOf(id string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return h.Sum64()
}

// addressOf is what the journal's hash of an address begins with.
func addressOf(address string) uint64 {
	sum := sha256.Sum256([]byte(address))
	return binary.BigEndian.Uint64(sum[:])
}

// decoder reads a row's attributes by docs/DATA.md and notes the first that is not as it should be.
type decoder struct {
	sale *sale
	row  ledger.Row
	bad  string
	ours bool // the row is about the item
}

func (d *decoder) fail(attr, want string) {
	if d.bad == "" {
		d.bad = fmt.Sprintf("attribute %s is not %s", attr, want)
	}
}

func (d *decoder) text(attr string) string {
	s, ok := d.row[attr].(string)
	if !ok || s == "" {
		d.fail(attr, "a text")
	}
	return s
}

func (d *decoder) optional(attr string) string {
	if d.row[attr] == nil {
		return ""
	}
	return d.text(attr)
}

func (d *decoder) number(attr string) int64 {
	n, ok := d.row[attr].(int64)
	if !ok {
		d.fail(attr, "a number")
	}
	return n
}

// units reads "2,3,6": different numbers, in any order.
func (d *decoder) units(attr string) []int32 {
	list := d.optional(attr)
	if list == "" {
		return nil
	}
	out := make([]int32, 0, strings.Count(list, ",")+1)
	for part := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseInt(part, 10, 32)
		if err != nil || n < 1 || slices.Contains(out, int32(n)) {
			d.fail(attr, "a list of different numbers")
			continue
		}
		out = append(out, int32(n))
	}
	return out
}

// stops reads "1794362400000-1794362460000": from, to; without the second it lasts.
func (d *decoder) stops() (out []stop, ok bool) {
	list, ok := d.row["stops"].([]string)
	if !ok {
		d.fail("stops", "a list of times")
	}
	for _, text := range list {
		from, to, _ := strings.Cut(text, "-")
		var s stop
		var err, ended error
		s.from, err = strconv.ParseInt(from, 10, 64)
		if to != "" {
			s.to, ended = strconv.ParseInt(to, 10, 64)
		}
		if err != nil || ended != nil {
			d.fail("stops", "a list of times")
			return nil, false
		}
		out = append(out, s)
	}
	return out, ok
}

// done says what is wrong with a row of this schema, against a guarantee; a row of another schema is not guessed at.
func (d *decoder) done(g int, row string, others ...int) {
	if v, ok := d.row["v"].(int64); ok && v != ledger.Version {
		for _, g := range append(others, g) {
			d.sale.needs(g, "a newer audit: %s has schema version %d", row, v)
		}
		return
	}
	if d.row["v"] == nil {
		d.fail("v", "there")
	}
	if d.bad != "" {
		d.sale.broken(g, row, "%s", d.bad)
	}
}

func (s *sale) addItem(d *decoder) {
	if id, _ := d.row["id"].(string); id != s.id {
		return
	}
	d.ours = true
	s.item = item{title: strings.Clone(d.text("title")), price: d.number("sk_price"), start: d.number("start"),
		end:   d.number("end"),
		stock: int(d.number("stock")), limit: int(d.number("limit")), buckets: int(d.number("buckets")),
		version: d.number("version"), stopped: d.number("stopped") != 0}
	if d.row["stops"] != nil {
		s.item.stops, s.item.noted = d.stops()
	}
	s.item.stock = min(max(s.item.stock, 0), seckill.MaxStock)
	s.owner, s.lister = make([]int32, s.item.stock+1), make([]int32, s.item.stock+1)
	s.stock.held = make([]int32, s.item.stock+1)
	d.done(i3, "items "+s.id)
}
