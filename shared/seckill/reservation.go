package seckill

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"hash/fnv"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits of a purchase request.
const (
	MaxAddress = 500     // characters
	MaxKey     = 128     // characters of an Idempotency-Key, printable ASCII
	MaxBody    = 8 << 10 // bytes of a request's body
	MaxUser    = 20      // characters of a user id (a 64-bit integer)
	MaxName    = 64      // characters of a shopper's name
)

// Request is one purchase request of a shopper. A reservation stores it and a message carries it.
type Request struct {
	Order string // the order id
	Item  string
	User  string
	Count int
	Given
	Created time.Time // when buy received it, UTC, milliseconds
	Trace   string    // the request id of the HTTP call, for logs only
	Known   string    // the version of the item's buyers that the caller knows; not kept
}

// Given is what is known of a shopper with a purchase. Each step copies it as one, from the request to the order; the
// stock and the queue do not read it. It is erased as one.
type Given struct {
	Address string `json:"address,omitempty" row:"address,placed,personal"` // where to deliver; not in a rejected order
	// Name is the shopper's, as the sign-in tells it; "": it does not
	Name string `json:"shopper_name,omitempty" row:"shopper_name,placed,opt,personal"`
	// Network is the network address that the request came from, whole; zero: the shop does not keep it, or
	// has erased it before the rest
	Network netip.Addr `json:"network_address,omitzero" row:"network_address,placed,opt,personal"`
	// Session is the one in which they bought; "": the shop did not give their token. Once it has ended, no order of it
	// is placed
	Session string `json:"session,omitempty" row:"session,placed,opt,personal"`
}

// GivenNames are the names of Given's fields in JSON. What has one of them is not logged.
var GivenNames = []string{"address", "shopper_name", "network_address", "session"}

// Reservation is a request and the units that the stock drew for it.
type Reservation struct {
	Request
	Units []int // distinct, ascending
}

// BodyHash returns a hash of the request's body: equal for equal count and address.
func (r *Request) BodyHash() string {
	var buf [MaxAddress*4 + 24]byte
	b := strconv.AppendInt(buf[:0], int64(r.Count), 10)
	b = append(b, 0)
	b = append(b, r.Address...)
	sum := sha256.Sum256(b)
	return idEncoding.EncodeToString(sum[:10])
}

// Check looks at what can be checked without the item. The error is an *Error with CodeInvalid.
func (r *Request) Check() error {
	if err := r.shape(); err != nil {
		return err
	}
	if lost(r.Address) {
		return Invalid("address", "1.."+strconv.Itoa(MaxAddress))
	}
	return CheckText("address", r.Address, MaxAddress)
}

// shape is Check without a look at what the address says. Messages in the queue are checked by shape alone: an earlier
// release may have accepted an address that Check refuses.
func (r *Request) shape() error {
	switch {
	case !ValidItemID(r.Item):
		return Invalid("seckill_id", "1-19 digits")
	case r.Count < 1 || r.Count > MaxCount:
		return Invalid("count", "1.."+strconv.Itoa(MaxCount))
	case strings.TrimSpace(r.Address) == "" || !utf8.ValidString(r.Address) ||
		utf8.RuneCountInString(r.Address) > MaxAddress:
		return Invalid("address", "1.."+strconv.Itoa(MaxAddress))
	case r.User == "" || len(r.User) > MaxUser:
		return Refuse(CodeToken)
	}
	return nil
}

// PlainName returns a name as it is kept: what a line may hold of it, up to MaxName characters. Names come from other
// systems, and people read them in terminals and spreadsheets.
func PlainName(s string) string {
	kept := make([]rune, 0, MaxName)
	all := []rune(s)
	for i, r := range all {
		was, next := rune(0), rune(0)
		if i > 0 {
			was = all[i-1]
		}
		if i+1 < len(all) {
			next = all[i+1]
		}
		if r != utf8.RuneError && may(was, r, next) && (r == ' ' || !unicode.IsSpace(r)) && len(kept) < MaxName {
			kept = append(kept, r)
		}
	}
	name := strings.TrimFunc(string(kept), blank)
	if flaw(name, MaxName, false) != "" {
		return ""
	}
	return name
}

var idEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Lengths of an order id: "o", idName characters that name the order, and idTag characters that name its item.
// Payment providers allow at most 32.
const (
	idName = 26
	idTag  = 5
	idFull = 1 + idName + idTag
	idOld  = 1 + idName // length of ids made before ids named their item
)

// KeyedOrderID returns the order id of a request with an idempotency key. It depends on item, user and key alone, so
// the same key means the same order wherever and however often it arrives. Its 32 characters are valid as Alipay's
// out_trade_no.
func KeyedOrderID(item, user, key string) string {
	var buf [3*MaxKey + 2]byte
	b := append(buf[:0], item...)
	b = append(b, 0)
	b = append(b, user...)
	b = append(b, 0)
	b = append(b, key...)
	sum := sha256.Sum256(b)
	return orderID(item, sum[:])
}

// RandomOrderID returns an order id for the item from at least 130 random bits (17 bytes of entropy).
func RandomOrderID(item string, entropy [17]byte) string { return orderID(item, entropy[:]) }

func orderID(item string, name []byte) string {
	return "o" + idEncoding.EncodeToString(name)[:idName] + ItemTag(item)
}

// ItemTag returns the part of an order id that depends on its item: 25 bits of a hash. One in 33 million other items
// shares it.
func ItemTag(item string) string {
	sum := sha256.Sum256([]byte(item))
	return idEncoding.EncodeToString(sum[:4])[:idTag]
}

// OrderTag returns the ItemTag within an order id; "" for an old id without one, whose item only the ledger knows.
func OrderTag(id string) string {
	if len(id) != idFull {
		return ""
	}
	return id[idOld:]
}

// ValidOrderID reports whether s has the form of an order id, with or without an item tag.
func ValidOrderID(s string) bool {
	if len(s) != idFull && len(s) != idOld || s[0] != 'o' {
		return false
	}
	for i := 1; i < len(s); i++ {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}

// ValidKey reports whether s may be an Idempotency-Key: 1 to 128 printable ASCII characters.
func ValidKey(s string) bool {
	if len(s) == 0 || len(s) > MaxKey {
		return false
	}
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// ReserveCode is the stock's answer to a reservation.
type ReserveCode string

// Answers of Stock.Reserve.
const (
	Reserved ReserveCode = "reserved" // new: Reservation has its units
	// the same request still waits for its placement: Reservation is as stored
	ReservedAgain  ReserveCode = "again"
	ReservedBefore ReserveCode = "before" // the same request was already placed or rejected: see Order
	ReserveReused  ReserveCode = "reused" // the order id was used with another body: see Order
	// over the user's limit: see Limit; Order is the user's newest order, "" if there is none
	ReserveLimit   ReserveCode = "limit"
	ReserveNone    ReserveCode = "none"        // 0 units left
	ReserveHeld    ReserveCode = "held_back"   // the units left are held back for orders that a rebuild did not see
	ReserveFew     ReserveCode = "few"         // fewer units left than asked for
	ReserveEarly   ReserveCode = "not_started" // before the window: see Start
	ReserveLate    ReserveCode = "ended"       // after the window
	ReserveStopped ReserveCode = "stopped"
	ReserveBlocked ReserveCode = "blocked" // a block of the user holds
)

// ReserveResult is the answer to a reservation.
type ReserveResult struct {
	Code        ReserveCode
	Order       string
	Start       time.Time // UTC
	Limit       int       // units
	Reservation Reservation
	Waiting     bool   // none are left, while reservations wait for the ledger's decision
	Buyers      Buyers // with ReserveNone, ReserveHeld, ReserveLate and ReserveStopped
}

// Buyers are those who may have bought an item: all whose purchase the stock saw since it was built, or who held a unit
// then; and a few others.
type Buyers struct {
	Version string // changes with them
	Bits    string // a bitmap; "" if the caller knows the version, and for more than 16,384 buyers
}

// buyerBits is how many bits the bitmap of an item's buyers has: 16 KiB. Of those who did not buy, 1 % look as if they
// had when there are 1,000 buyers, 7 % when there are 10,000, and 12 % at most.
const buyerBits = 1 << 17

// BuyerBit returns a user's bit in the bitmap of an item's buyers.
func BuyerBit(user string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(user)) // never fails
	n := h.Sum32()
	return int((n ^ n>>17) % buyerBits)
}

// May reports whether the user may have bought.
func (b *Buyers) May(user string) bool {
	n := BuyerBit(user)
	return n/8 < len(b.Bits) && b.Bits[n/8]>>(7-n%8)&1 == 1
}

// RedrawCode is the stock's answer to a redraw.
type RedrawCode string

// Answers of Stock.Redraw.
const (
	// place Reservation: the whole request as stored, with all the units that it asks for
	RedrawUnits     RedrawCode = "units"
	RedrawConfirmed RedrawCode = "confirmed" // confirmed meanwhile: the ledger's row is authoritative
	RedrawWait      RedrawCode = "wait"      // no unit left, but this is not verified yet: try again later
	// no unit left, and a drift pass since has verified it against the ledger
	RedrawNone RedrawCode = "none"
)

// HeldBack are units that the build of an item holds back for orders that it did not see.
type HeldBack struct {
	Units int
	Build string // its token
	Looks int    // how often somebody looked whether there are such orders
}

// Level is the stock's figures for an item, for display and maintenance.
type Level struct {
	Left      int   // units free or never issued
	Held      int   // units held by orders, placed or not
	Awaiting  int   // reservations that wait for their placement
	HighWater int   // the highest unit ever issued
	Stock     int   // N, the item's units
	Version   int64 // version of the item's state
	Stopped   bool
	Back      HeldBack
	// stored records of orders: those that wait for their placement and those that hold a unit; at
	// most Held + Awaiting
	Records int
}

// Seen is one unit as a drift pass read it.
type Seen struct {
	Unit     int
	Holder   string // the order that holds it; "" if it is free or in no list
	Free     bool
	Awaiting bool // it waits for the placement of its holder, whose reservation has it
}

// Correction moves one unit to where the ledger has it, provided that the stock is still as the pass read it.
type Correction struct {
	Unit   int
	Holder string // the holder that was read; "" if there was none
	Owner  string // the order in the unit's row; "" if it has no row
	User   string // the owner's user
}

// UserEntries is what the stock counts against one user: for each order, its number of units.
type UserEntries struct {
	User   string
	Orders map[string]int
	Busy   bool   // one of the orders waits for its placement
	AsSeen string // the stored form, opaque; CorrectUser compares it
}

// UnitRow is a unit that the ledger has sold.
type UnitRow struct {
	Unit  int    `row:"unit,key,sorted"`
	Order string `row:"order"`
	User  string `row:"user"`
}

// BuildPatience is how long a build must be idle before another builder takes it over. Without it the wake messages
// of many instances would take over each other's builds forever. It exceeds the largest difference of two clocks
// (twice SkewBound).
const BuildPatience = 2*SkewBound + time.Second

// Body returns the part of a request that the stock stores without reading it.
func (r *Request) Body() string {
	b, err := json.Marshal(requestBody{r.Given, r.Trace})
	if err != nil {
		panic(err) // cannot happen: strings always marshal
	}
	return string(b)
}

// SetBody reads what Body wrote.
func (r *Request) SetBody(s string) error {
	var b requestBody
	if err := json.Unmarshal([]byte(s), &b); err != nil {
		return err
	}
	r.Given, r.Trace = b.Given, b.Trace
	return nil
}

type requestBody struct {
	Given
	Trace string `json:"trace,omitempty"`
}
