package seckill

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// Limits of an item. Each is checked by Item.Validate.
const (
	MaxStock       = 1_000_000 // units of one item; a rebuild reads every sold one
	MaxLimit       = 1_000     // units one user may hold of one item
	MaxCount       = 50        // units in one order: a transaction holds 100 rows, an order takes count+2
	MaxTitle       = 100       // characters
	MaxDetail      = 20_000    // characters of HTML
	MaxCovers      = 10        // addresses of pictures
	MaxCoverLength = 2_000     // characters of one address
	MaxItems       = 1_000     // items that one list call may return
	MaxStops       = 10        // stops of an item that are kept, the latest: everybody reads them with its numbers
)

// Times around an item's window.
const (
	StageLead  = 10 * time.Minute // how long before the start stage loads an item into the stock
	KeepLoaded = 48 * time.Hour   // how long after the end an item stays loaded: longer than the longest hold
	SkewBound  = 2 * time.Second  // how far an instance's clock may be off; two may be twice that apart (I10)
)

// ItemState is where an item's sale is; it follows from the window and the stop switch.
type ItemState string

// The states of an item.
const (
	ItemWaiting ItemState = "waiting"
	ItemOnline  ItemState = "online"
	ItemStopped ItemState = "stopped"
	ItemEnded   ItemState = "ended"
)

// Commodity is what is sold: the goods, but for their Description.
type Commodity struct {
	ID         string
	Title      string
	Price      Fen // the ordinary price, per unit
	CreateTime time.Time
}

// Description is what only pages show of an item's goods, and what makes most of its size.
type Description struct {
	Covers []string // addresses of pictures
	Detail string   // HTML, sanitized when the item was imported
}

// Listing is an item whole: what a seller's file has of it.
type Listing struct {
	Item
	Description
}

// Item is one flash sale of one commodity.
type Item struct {
	ID         string // decimal digits, 1 to 19, no leading zero
	Commodity  Commodity
	Price      Fen       // sale price per unit
	Start, End time.Time // UTC; the sale is open in [Start, End)
	CreateTime time.Time
	Stock      int // N: units are numbered 1..N; it only grows
	Limit      int // units that one user may hold, unpaid ones included
	// Buckets is B, over how many ledger partitions the unit rows are spread (unit n lies in n mod B). It is fixed
	// when the item is made: were it to follow a growing stock, a unit would have two possible rows.
	Buckets int
	Stopped bool
	Stops   []Stop // since it was made, the first one first, at most MaxStops: see SetStopped
	Version int64  // rises with every Put; the stock ignores an older one
	// Described is the version with which the Description was written last; 0: it has none. Whoever has the Description
	// of that version, or a later one, need not read it again. Items.Put sets it.
	Described int64
	// AddressesErased is when the last address of the item's orders was erased because its time was over; zero: they
	// may have some. See MarkErased.
	AddressesErased time.Time
}

// Stop is a time in which an item was stopped, by the clock of who stopped it, just before it was written.
type Stop struct {
	From time.Time
	To   time.Time // zero: it still is
}

// SetStopped stops or resumes the sale, and notes when, for those who check afterwards what was placed meanwhile (I10).
// Of more than MaxStops the first are forgotten. It reports whether anything changed.
func (it *Item) SetStopped(stopped bool, now time.Time) (changed bool) {
	if it.Stopped == stopped {
		return false
	}
	it.Stopped, it.Stops = stopped, slices.Clone(it.Stops)
	if n := len(it.Stops); stopped {
		it.Stops = append(it.Stops[max(0, n+1-MaxStops):], Stop{From: now})
	} else if n > 0 {
		it.Stops[n-1].To = now
	}
	return true
}

// BucketsFor returns the number of partitions for an item made with this stock: about 500 rows in each.
func BucketsFor(stock int) int { return max(16, (stock+499)/500) }

// MaxPerOrder is the largest count that one purchase may ask for.
func (it *Item) MaxPerOrder() int { return min(it.Limit, MaxCount) }

// StateAt returns the item's state at a time.
func (it *Item) StateAt(now time.Time) ItemState {
	switch {
	case !now.Before(it.End):
		return ItemEnded
	case it.Stopped:
		return ItemStopped
	case now.Before(it.Start):
		return ItemWaiting
	default:
		return ItemOnline
	}
}

// Loadable reports whether the item belongs in the stock now: from StageLead before its start to KeepLoaded after its
// end.
func (it *Item) Loadable(now time.Time) bool {
	return !now.Before(it.Start.Add(-StageLead)) && !it.Retired(now)
}

// Retired reports whether the sale ended so long ago that the stock may have removed the item.
func (it *Item) Retired(now time.Time) bool { return !now.Before(it.End.Add(KeepLoaded)) }

// ValidItemID reports whether s may be an item's id: 1 to 19 decimal digits without a leading zero.
func ValidItemID(s string) bool {
	if len(s) == 0 || len(s) > 19 || s[0] == '0' {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// Validate returns what is wrong with the item in one sentence, or nil.
func (it *Item) Validate() error {
	switch {
	case !ValidItemID(it.ID):
		return fmt.Errorf("id %q: want 1 to 19 digits without a leading zero", it.ID)
	case !ValidItemID(it.Commodity.ID):
		return fmt.Errorf("commodity id %q: want 1 to 19 digits without a leading zero", it.Commodity.ID)
	case it.Commodity.Title == "" || utf8.RuneCountInString(it.Commodity.Title) > MaxTitle:
		return fmt.Errorf("title: want 1 to %d characters", MaxTitle)
	case it.Price < 1 || it.Price > MaxFen/MaxCount:
		return fmt.Errorf("sk_price %s: want 0.01 to %s yuan", it.Price.Yuan(), (MaxFen / MaxCount).Yuan())
	case it.Commodity.Price < 0 || it.Commodity.Price > MaxFen:
		return fmt.Errorf("price %s: want 0 to %s yuan", it.Commodity.Price.Yuan(), MaxFen.Yuan())
	case it.Start.IsZero() || it.End.IsZero() || !it.Start.Before(it.End):
		return fmt.Errorf("start_time %s, end_time %s: the start must lie before the end",
			it.Start.Format(time.RFC3339), it.End.Format(time.RFC3339))
	case it.Stock < 1 || it.Stock > MaxStock:
		return fmt.Errorf("stock %d: want 1 to %d", it.Stock, MaxStock)
	case it.Limit < 1 || it.Limit > MaxLimit:
		return fmt.Errorf("limit %d: want 1 to %d", it.Limit, MaxLimit)
	case it.Buckets < 1:
		return fmt.Errorf("buckets %d: want at least 1", it.Buckets)
	}
	return nil
}

// Validate returns what is wrong with the description in one sentence, or nil.
func (d *Description) Validate() error {
	switch {
	case utf8.RuneCountInString(d.Detail) > MaxDetail:
		return fmt.Errorf("detail: want at most %d characters", MaxDetail)
	case len(d.Covers) > MaxCovers:
		return fmt.Errorf("covers: want at most %d", MaxCovers)
	}
	for _, c := range d.Covers {
		if c == "" || len(c) > MaxCoverLength {
			return fmt.Errorf("cover %.40q: want 1 to %d characters", c, MaxCoverLength)
		}
	}
	return nil
}

// Equal reports whether both show the same.
func (d *Description) Equal(other *Description) bool {
	return d.Detail == other.Detail && slices.Equal(d.Covers, other.Covers)
}

// Validate returns what is wrong with the item or its description in one sentence, or nil.
func (l *Listing) Validate() error {
	if err := l.Item.Validate(); err != nil {
		return err
	}
	return l.Description.Validate()
}

// Items is the table of items and their state, and beside it the catalog of their descriptions.
type Items interface {
	// Get reads one item consistently. CodeItemUnknown; Fault.
	Get(ctx context.Context, id string) (Item, error)
	// List returns the items that end after the given time, at most MaxItems, in no order. An item is as it was when
	// List began, or newer. It reads the whole table: for schedules. ErrUnreadable: the list has every item but those
	// whose rows cannot be read. Fault.
	List(ctx context.Context, endsAfter time.Time) ([]Item, error)
	// ListEnded returns the items that ended at the given time or before and have no AddressesErased, the first to end
	// first, at most MaxItems. It reads the whole table: for schedules. ErrUnreadable as with List. Fault.
	ListEnded(ctx context.Context, endedBy time.Time) ([]Item, error)
	// Description reads an item's description as it was with this version of the item, its Described, or a later one.
	// ErrUnreadable: what is there is older, or cannot be read; Fault.
	Description(ctx context.Context, id string, described int64) (Description, error)
	// Put makes an item, or replaces the one with version it.Version-1, together with its description; nil: the
	// description stays as it is. ErrStateChanged when there is another version, or one whose Described is another;
	// CodeInvalid; Fault.
	Put(ctx context.Context, it Item, d *Description) error
	// MarkErased sets an item's AddressesErased and nothing else, not its version either: a Put of what was read before
	// undoes it, and the walk through the orders is done again. CodeItemUnknown; Fault.
	MarkErased(ctx context.Context, id string, at time.Time) error
	Lists
}
