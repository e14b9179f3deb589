package sim

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

var errFault = errors.New("fault")

// Hold is how long an unpaid order keeps its units in the world: the shortest that a real provider allows.
const Hold = seckill.MinHold

// World is the whole system in one goroutine: embedded drivers, a manual clock, a payment provider, and the true
// events, which Check compares with the rows.
type World struct {
	Clock    *memory.Clock
	Redis    *memory.Redis
	Rows     *memory.Rows
	Orders   *memory.Queue
	orders   seckill.Queue // Orders, as processes without a Hook see it
	Closings *memory.Queue
	Provider *Provider
	Item     seckill.Item   // the first item
	More     []seckill.Item // the other items
	Events   Events
	lag      time.Duration // lag of indexes
	// networkKeep is how long network addresses are kept after a sale; 0 if none are kept
	networkKeep time.Duration
	gone        bool // the provider never sends a lost notification again

	items *memory.Items
	// publications are the published lists, oldest first.
	publications []publication
	stock        seckill.Stock
	ledger       seckill.Ledger
	ids          *system.IDs
	truth        *truth

	anomalies   map[string]bool     // bodies of messages that no step can handle
	touched     bool                // a script ran since the last Check
	calls       int                 // port calls without faults
	forgot      bool                // the stock has lost data
	lostAt      time.Time           // when it last did
	losses      int                 // number of losses plus 1
	faultsEnded time.Time           // when the faults ended; zero before
	resuming    map[string]int      // by item, the number of operators that are resuming its sale
	resumed     map[string]int      // by item, how many ever resumed it
	onLoss      func()              // called after a loss of data
	onRedrive   func()              // called when parked messages are moved back
	grown       map[string]int      // by item, the stock acknowledged to an operator
	onRound     func()              // called in each round of Drain
	bySeconds   func() bool         // whether Drain advances by seconds instead of minutes
	read        map[string]*numbers // by item, the stock's current units; emptied by every script
	limited     map[holder]int      // how often the stock said that the limit is reached
	confirmed   map[string]int      // by order, the value of losses when the stock got the ledger's decision
	none        map[string]bool     // orders for which the stock had no unit
	reserved    string              // the item of the newest reservation
	// by order, the value of losses when it began to ask for other units
	drawing         map[string]int
	refusedUsers    map[holder]refusedUser
	asked           map[string][]ask // requests with a key, by order id
	keyless         map[ask]int      // requests without a key
	placed          map[ask]int      // orders made by those
	acked           map[string]bool  // order ids that buy returned
	promises        promises
	stoppedAt       map[string]time.Time     // when an item's stop was acknowledged; missing while on sale
	stopRequestedAt map[string]time.Time     // when that stop was requested
	signIns         int                      // requests to sign in
	signedOut       map[string]time.Time     // of users whose session was to end: when that was told; zero before
	userIDs         *counter                 // entropy of user ids
	numberOf        map[int]string           // by person, the user id that they were told
	proofs          map[string]seckill.Proof // by token, what its issuer confirmed

	door         *door
	stream       orderStream
	heardOf      map[string][]bool // by order, which of its changes other systems have heard of
	refusesEvent func(n int) bool  // whether the bus refuses the nth event of a call

	hasWebhook  bool                 // the shop's own systems have one
	webhookDead bool                 // it refuses everything
	postedAt    map[string]time.Time // when an event was posted first
	arrived     map[string]int       // by order, how many of its changes arrived
}

// addresses are the delivery addresses that shoppers use.
var addresses = []string{"杭州市西湖区1号", "上海市|浦东新区\"2号\"\\", "杭州市西湖区1号甲"}

// ask is a shopper's purchase request.
type ask struct {
	user, item string
	count      int
	address    string
}

// networkKeep is how long the simulated shops that keep network addresses do so after a sale.
const networkKeep = 24 * time.Hour

// networkOf returns the network address that a shopper buys from.
func networkOf(user string) netip.Addr {
	h := fnv.New64a()
	h.Write([]byte(user))
	sum := h.Sum64()
	if sum%2 == 0 {
		return netip.AddrFrom4([4]byte{203, 0, byte(sum >> 8), byte(sum >> 16)})
	}
	addr := [16]byte{0x20, 0x01, 0x0d, 0xb8}
	binary.BigEndian.PutUint64(addr[8:], sum)
	return netip.AddrFrom16(addr)
}

// nameOf returns the name that a shopper's token has; every third has none.
func nameOf(user string) string {
	if strings.HasSuffix(user, "3") || strings.HasSuffix(user, "6") || strings.HasSuffix(user, "9") {
		return ""
	}
	return "李|" + user
}

// anywhere returns the request without its address, like a rejected order, which stores none.
func (a ask) anywhere() ask {
	a.address = ""
	return a
}

// Setting configures a World.
type Setting struct {
	Items    []seckill.Item // from itemOf
	Queue    memory.QueueOptions
	IndexLag time.Duration
	// questions of each item with ChecksStrict
	Questions int
	NoTickets bool // buy asks nobody for a ticket
	Alone     seckill.AloneLimit
	Networks  bool // orders keep network addresses for networkKeep
}

// epoch is when every world's sales begin.
var epoch = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)

// itemOf returns an item that is on sale for a day.
func itemOf(id string, stock, limit int) seckill.Item {
	return seckill.Item{ID: id, Commodity: seckill.Commodity{ID: "5", Title: "手机", Price: 99900}, Price: 8888,
		Start: epoch,
		End:   epoch.Add(24 * time.Hour), CreateTime: epoch.Add(-time.Hour),
		Stock: stock, Limit: limit, Buckets: 2, Version: 1}
}

// redises recycles the Redises of finished worlds: making their interpreters costs more than playing a short history.
var redises = sync.Pool{New: func() any { return memory.NewRedis() }}

// over recycles what the next world can use. The world is unusable after it.
func (w *World) over() {
	w.Redis.Flush()
	redises.Put(w.Redis)
	w.Redis = nil
}

func named(q memory.QueueOptions, name string) memory.QueueOptions { q.Name = name; return q }

// watched records that a script ran.
type watched struct {
	redisstock.Runner
	w *World
}

// reads lists the scripts that write nothing.
var reads = map[string]bool{"level": true, "queued": true, "scan": true, "users": true, "copied_blocks": true}

func (r watched) Run(ctx context.Context, s *redisstock.Script, keys, args []string) (any, error) {
	if !reads[s.Name] {
		r.w.touched = true
		clear(r.w.read)
	}
	return r.Runner.Run(ctx, s, keys, args)
}

// stopHolds reports whether an item's stop was acknowledged, and the stock has lost nothing since it was requested.
func (w *World) stopHolds(item string) bool {
	return !w.stoppedAt[item].IsZero() && w.stopRequestedAt[item].After(w.lostAt)
}

// allItems returns the world's items as the checks know them.
func (w *World) allItems() []*seckill.Item {
	list := []*seckill.Item{&w.Item}
	for i := range w.More {
		list = append(list, &w.More[i])
	}
	return list
}

// importedItem is the item that an operator imports.
const importedItem = "1003"

// item returns one of them; the zero item if there is none.
func (w *World) item(id string) *seckill.Item {
	for _, it := range w.allItems() {
		if it.ID == id {
			return it
		}
	}
	return &seckill.Item{}
}

// Forget makes Redis lose everything.
func (w *World) Forget() {
	w.Redis.Flush()
	w.lost()
}

// Recall restores an earlier state of Redis.
func (w *World) Recall(s *memory.Snapshot) {
	w.Redis.Restore(s)
	w.promises.wentBack = true
	w.lost()
}

func (w *World) lost() {
	w.lostAt = w.Clock.Now()
	w.losses++
	w.forgot, w.touched = true, true
	clear(w.read)
	w.onLoss()
}

// counter is entropy that repeats with the world: each read differs from the previous one.
type counter struct{ n uint64 }

func (c *counter) Read(p []byte) (int, error) {
	var b bytes.Buffer
	for b.Len() < len(p) {
		c.n++
		_ = binary.Write(&b, binary.BigEndian, c.n*0x9e3779b97f4a7c15)
	}
	return copy(p, b.Bytes()), nil
}

// plain is the hook of a process without faults.
func (w *World) plain(_ string, do func() error) error {
	w.calls++
	return do()
}

// Events counts events.
type Events map[seckill.Event]int

// Count implements seckill.Meter.
func (e Events) Count(what seckill.Event, n int) { e[what] += n }

// puzzle puts an unreadable row at the head of every shard of returns and of due refunds, and some into the stream of
// orders: it must not hide the others.
func (w *World) puzzle() error {
	later := ledger.SpanVersion + 1
	var errs []error
	for n := range 2 * streamShards {
		errs = append(errs, w.Rows.Transact(context.Background(), []ledger.Write{{Key: ledger.Key{
			Table: ledger.TableOrders, PK: fmt.Sprint("!", n)}, Op: ledger.OpPut, Row: ledger.Row{"v": later}}}))
	}
	for shard := range seckill.DueShards {
		in := fmt.Sprintf("%02d", shard)
		errs = append(errs, w.Rows.Transact(context.Background(), []ledger.Write{
			{Key: ledger.Key{Table: ledger.TableReturns, PK: in, SK: "!"}, Op: ledger.OpPut,
				Row: ledger.Row{"v": later}},
			{Key: ledger.Key{Table: ledger.TablePayments, PK: "!" + in, SK: "!"}, Op: ledger.OpPut,
				Row: ledger.Row{"v": later, "refund_shard": in, "refund_at": "000000000000001"}},
		}))
	}
	return errors.Join(errs...)
}

// readable returns the rest of an error without unreadable rows.
func readable(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // each part is inspected
		var errs []error
		for _, e := range joined.Unwrap() {
			errs = append(errs, readable(e))
		}
		return errors.Join(errs...)
	}
	if errors.Is(err, seckill.ErrUnreadable) {
		return nil
	}
	return err
}

// stranger sends a message that no step can handle: by L5 it must be parked.
func (w *World) stranger(q *memory.Queue, body string) error {
	w.anomalies[body] = true
	return q.SendRaw([]byte(body), 0)
}

// redrive moves parked messages back as an operator does, if one of them is readable.
func (w *World) redrive() {
	if w.parked() {
		w.onRedrive()
		w.promises.park(w.Orders)
		for _, q := range []*memory.Queue{w.Orders, w.Closings} {
			_, _ = q.Redrive(context.Background()) // fails with a cancelled context only
		}
	}
}

// parked reports whether a readable message is in a dead-letter queue. One that wakes somebody may stay there.
func (w *World) parked() bool {
	return slices.ContainsFunc(append(w.Orders.Parked(), w.Closings.Parked()...), func(m memory.ParkedMessage) bool {
		got, _ := seckill.DecodeMessage(m.Body)
		return !w.anomalies[string(m.Body)] && got.Kind != seckill.MessageWake
	})
}

// idle returns how long nothing has to happen: until a message becomes visible, at least a minute.
func (w *World) idle() time.Duration {
	d := seckill.MaxDelay
	for _, q := range []*memory.Queue{w.Orders, w.Closings} {
		if at, ok := q.Next(); ok {
			d = min(d, at.Sub(w.Clock.Now()))
		}
	}
	if len(w.truth.returns) > 0 || d == seckill.MaxDelay {
		d = time.Minute
	}
	return max(d, time.Minute)
}

// numbers holds an item's units in the stock, read from its keys.
type numbers struct {
	held      map[int]string
	free      map[int]bool
	highWater int
	stock     int
	stopped   bool
	holdsBack bool
	awaiting  map[string]bool
	records   []string
	users     map[string]string
}

func stockKey(item, name string) string { return "{" + item + "}:" + name }

// numbers returns the units of the world's first item, or nil if it is not installed.
func (w *World) numbers() (*numbers, error) { return w.numbersOf(w.Item.ID) }

func (w *World) numbersOf(item string) (*numbers, error) {
	if s, ok := w.read[item]; ok {
		return s, nil
	}
	s, err := w.readNumbers(item)
	w.read[item] = s
	return s, err
}

func (w *World) readNumbers(item string) (*numbers, error) {
	list := func(cmd, name string, args ...string) []any {
		v, err := w.Redis.Do(cmd, append([]string{stockKey(item, name)}, args...)...)
		if err != nil {
			panic(err) // a key of another type: the scripts would fail on what they wrote
		}
		l, _ := v.([]any)
		return l
	}
	s := &numbers{held: map[int]string{}, free: map[int]bool{}, users: map[string]string{},
		awaiting: map[string]bool{}}
	fields := map[string]string{}
	for pair := range slices.Chunk(list("HGETALL", "item"), 2) {
		fields[pair[0].(string)] = pair[1].(string)
	}
	if fields["hw"] == "" {
		return nil, nil
	}
	s.highWater, _ = strconv.Atoi(fields["hw"])
	s.stock, _ = strconv.Atoi(fields["stock"])
	s.stopped, s.holdsBack = fields["stopped"] == "1", fields["back"] != ""
	for pair := range slices.Chunk(list("HGETALL", "held"), 2) {
		n, _ := strconv.Atoi(pair[0].(string))
		s.held[n] = pair[1].(string)
	}
	for _, f := range list("ZRANGE", "free", "0", "-1") {
		n, _ := strconv.Atoi(f.(string))
		s.free[n] = true
	}
	for pair := range slices.Chunk(list("HGETALL", "users"), 2) {
		s.users[pair[0].(string)] = pair[1].(string)
	}
	for _, order := range list("ZRANGE", "awaiting", "0", "-1") {
		s.awaiting[order.(string)] = true
	}
	for pair := range slices.Chunk(list("HGETALL", "res"), 2) {
		s.records = append(s.records, pair[0].(string))
	}
	return s, nil
}

// checkErased checks I9 once everything is quiet: no record of the stock has the address of an order whose row has
// none.
func (w *World) checkErased() error {
	for _, it := range w.allItems() {
		v, err := w.Redis.Do("HGETALL", stockKey(it.ID, "res"))
		if err != nil {
			return err
		}
		records, _ := v.([]any)
		for pair := range slices.Chunk(records, 2) {
			id, record := pair[0].(string), pair[1].(string)
			if o := w.truth.orders[id]; o != nil && o.address == "" && strings.HasPrefix(record, "q|") {
				return fmt.Errorf("I9 the stock keeps the request of order %s, whose row has no address", id)
			}
		}
	}
	return nil
}

// publication is a published list: its time and the items' versions.
type publication struct {
	at       time.Time
	versions map[string]int64
}

// checkAdmitted checks A1 for a new reservation.
func (w *World) checkAdmitted(ctx context.Context, r seckill.Request) {
	if w.item(r.Item).Checks == seckill.ChecksOff {
		return
	}
	if may, _ := ctx.Value(passKey{}).(bool); !may {
		w.truth.fail("A1 order %s of user %s for item %s is reserved without a good ticket", r.Order, r.User, r.Item)
	}
}
