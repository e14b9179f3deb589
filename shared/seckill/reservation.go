package seckill

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of a purchase request.
const (
	MaxAddress = 500     // characters
	MaxKey     = 128     // characters of an Idempotency-Key, printable ASCII
	MaxBody    = 8 << 10 // bytes of a request's body
	MaxUser    = 20      // characters of a user id (a 64-bit integer)
)

// Request is one purchase that a shopper asked for. It is what a reservation stores and a message carries.
type Request struct {
	Order   string // its order id
	Item    string
	User    string
	Count   int
	Address string
	Created time.Time // when buy received it, UTC, milliseconds
	Trace   string    // the request id of the call, for logs only
}

// Reservation is a request and the unit numbers that the stock handed out for it.
type Reservation struct {
	Request
	Units []int // distinct, ascending
}

// BodyHash names the request's body: the same for the same count and address.
func (r *Request) BodyHash() string {
	var buf [MaxAddress*4 + 24]byte
	b := strconv.AppendInt(buf[:0], int64(r.Count), 10)
	b = append(b, 0)
	b = append(b, r.Address...)
	sum := sha256.Sum256(b)
	return idEncoding.EncodeToString(sum[:10])
}

// Validate checks what can be checked without the item. The error is an *Error with CodeInvalid.
func (r *Request) Validate() error {
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

var idEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Lengths of an order id: "o", idName characters that name the order, and idTag that say its item. Payment providers
// take at most 32.
const (
	idName = 26
	idTag  = 5
	idFull = 1 + idName + idTag
	idOld  = 1 + idName // of orders from before ids said their item
)

// KeyedOrderID is the order id of a request that carries an idempotency key: a function of item, user and key, so that
// the same key is the same order wherever and however often it arrives. 32 characters that Alipay takes as
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

// RandomOrderID is an order id of the item made of 130 random bits or more (17 bytes of entropy).
func RandomOrderID(item string, entropy [17]byte) string { return orderID(item, entropy[:]) }

func orderID(item string, name []byte) string {
	return "o" + idEncoding.EncodeToString(name)[:idName] + ItemTag(item)
}

// ItemTag is the part of an order id that depends on its item: 25 bits of a hash. One of 33 million other items has the
// same.
func ItemTag(item string) string {
	sum := sha256.Sum256([]byte(item))
	return idEncoding.EncodeToString(sum[:4])[:idTag]
}

// OrderTag is the ItemTag of the item that an order with this id is of, "" when the id says none: then only the ledger
// knows the order.
func OrderTag(id string) string {
	if len(id) != idFull {
		return ""
	}
	return id[idOld:]
}

// ValidOrderID reports whether s has an order id's form, of today or from before ids said their item.
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

// ReserveCode is how the stock answered a reservation.
type ReserveCode string

// Answers of Stock.Reserve.
const (
	Reserved ReserveCode = "reserved" // new: Reservation holds its units
	// the same request still waits to be placed: Reservation is what is stored
	ReservedAgain  ReserveCode = "again"
	ReservedBefore ReserveCode = "before" // the same request was placed or rejected before: Order
	ReserveReused  ReserveCode = "reused" // the same order id with another body: Order
	// over the user's limit, which is Limit: Order is the user's newest, "" without one
	ReserveLimit   ReserveCode = "limit"
	ReserveNone    ReserveCode = "none"        // 0 units left
	ReserveFew     ReserveCode = "few"         // fewer left than asked for
	ReserveEarly   ReserveCode = "not_started" // before the window, which opens at Start
	ReserveLate    ReserveCode = "ended"       // after it
	ReserveStopped ReserveCode = "stopped"
)

// ReserveResult is the answer to a reservation.
type ReserveResult struct {
	Code        ReserveCode
	Order       string
	Start       time.Time // UTC
	Limit       int       // units
	Reservation Reservation
}

// RedrawCode is how the stock answered a redraw.
type RedrawCode string

// Answers of Stock.Redraw.
const (
	// place Reservation: the whole request as stored, with as many units as it asks for
	RedrawUnits     RedrawCode = "units"
	RedrawConfirmed RedrawCode = "confirmed" // confirmed meanwhile: the ledger's row decides
	RedrawWait      RedrawCode = "wait"      // no unit left, not yet believed: come back later
	// no unit left, and the lists were compared with the ledger since that was first seen
	RedrawNone RedrawCode = "none"
)

// Level is what the stock knows of an item, for display and for upkeep.
type Level struct {
	Left      int   // free and not yet issued units
	Held      int   // numbers held by orders, placed or not
	Awaiting  int   // reservations that wait to be placed
	HighWater int   // the highest number ever issued
	Stock     int   // N
	Version   int64 // of the item's state
	Stopped   bool
	Records   int // of reservations: of those that wait, and of orders that hold a number; at most Held + Awaiting
}

// Seen is one number as a drift scan saw it.
type Seen struct {
	Unit     int
	Holder   string // the order that holds it; "" when free or in no list
	Free     bool
	Awaiting bool // its holder waits to be placed
}

// Correction puts one number where the ledger says it belongs, provided that it is still as seen.
type Correction struct {
	Unit   int
	Holder string // as seen; "" when no order held it
	Owner  string // the order of the unit's row; "" when there is no row
	User   string // that order's user
}

// UserEntries is what the stock counts against one user: orders and how many units of each.
type UserEntries struct {
	User   string
	Orders map[string]int
	Busy   bool   // one of the orders waits to be placed
	AsSeen string // how the stock wrote them, for CorrectUser's comparison; opaque
}

// UnitRow is a unit that the ledger has sold.
type UnitRow struct {
	Unit  int
	Order string
	User  string
}

// BuildPatience is how long a build may lie untouched before another builder takes it. Without it, the wake messages of
// many instances would take the build from each other forever. It is longer than two clocks can lie apart (twice
// SkewBound).
const BuildPatience = 2*SkewBound + time.Second

// Body is the part of a request that the stock stores without reading it.
func (r *Request) Body() string {
	b, err := json.Marshal(requestBody{Address: r.Address, Trace: r.Trace})
	if err != nil {
		panic(err) // two strings always marshal
	}
	return string(b)
}

// SetBody reads what Body wrote.
func (r *Request) SetBody(s string) error {
	var b requestBody
	if err := json.Unmarshal([]byte(s), &b); err != nil {
		return err
	}
	r.Address, r.Trace = b.Address, b.Trace
	return nil
}

type requestBody struct {
	Address string `json:"address"`
	Trace   string `json:"trace,omitempty"`
}
