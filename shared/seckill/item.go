package seckill

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// Limits of an item. Item.Check refuses an item beyond them.
const (
	MaxStock       = 1_000_000 // units of one item; a rebuild reads every sold one
	MaxLimit       = 1_000     // units of one item that one user may hold
	MaxCount       = 50        // units in one order: a transaction holds 100 rows, an order needs count+5
	MaxTitle       = 100       // characters
	MaxDetail      = 20_000    // characters of HTML
	MaxCovers      = 10        // URLs of pictures
	MaxCoverLength = 2_000     // characters of one URL
	MaxItems       = 1_000     // items in one list response
	MaxStops       = 10        // latest stops kept for an item; every read of the item includes them
)

// Times before and after an item's window.
const (
	StageLead  = 10 * time.Minute // how long before the start the stage step loads an item into the stock
	KeepLoaded = 48 * time.Hour   // how long after the end an item stays loaded: longer than the longest hold
	SkewBound  = 2 * time.Second  // largest error of an instance's clock; two clocks may differ by twice that (I10)
)

// ItemState is the phase of an item's sale. The window and the stop switch determine it.
type ItemState string

// The states of an item.
const (
	ItemWaiting ItemState = "waiting"
	ItemOnline  ItemState = "online"
	ItemStopped ItemState = "stopped"
	ItemEnded   ItemState = "ended"
)

// Commodity is the goods for sale, without their Description.
type Commodity struct {
	ID         string
	Title      string
	Price      Fen // the ordinary price, per unit
	CreateTime time.Time
}

// Description is the part of an item that only pages show. It makes up most of an item's size.
type Description struct {
	Covers []string // URLs of pictures
	Detail string   // HTML, sanitized when the item was imported
}

// Listing is a complete item, as it stands in a seller's file.
type Listing struct {
	Item
	Description
	// Questions are asked before a ticket of ChecksStrict is given. If nil, the item's questions stay as they are. Only
	// operators see them: the answers are the shop's secret.
	Questions []Question
	// Base is the version of the item that the listing was made from, 0 if it does not say. A save from another version
	// than the stored one is refused.
	Base    int64
	Removed []string // what sanitizing took out of Detail, for its author; not stored
	// KeepsVariant: the listing does not say whether the item is a variant, so Variant stays as it is. KeepsSpans: the
	// listing does not say whether a variant's limit spans its family, so LimitSpans stays as it is.
	KeepsVariant bool
	KeepsSpans   bool
	// Other fields that the listing does not have: they stay as they are. In a new item they are empty, but CommodityID
	// is the item's own id.
	KeepsCovers    bool
	KeepsDetail    bool
	KeepsChecks    bool
	KeepsCommodity bool
}

// Item is one flash sale of one commodity.
type Item struct {
	ID         string // decimal digits, 1 to 19, no leading zero
	Commodity  Commodity
	Price      Fen       // sale price per unit
	Start, End time.Time // UTC; the sale is open in [Start, End)
	CreateTime time.Time
	Stock      int // N: units are numbered 1..N; it never shrinks
	Limit      int // units that one user may hold, unpaid ones included
	// Buckets is B, the number of ledger partitions that hold the unit rows (unit n is in partition n mod B). It is
	// fixed when the item is made: if it grew with the stock, a unit would have two possible rows.
	Buckets int
	Checks  Checks // what a shopper has to pass to get a ticket
	Variant Variant
	Stopped bool
	Stops   []Stop // all stops since the item was made, oldest first, at most MaxStops: see SetStopped
	Version int64  // each Put raises it; the stock ignores an older version
	// Described is the item version that last wrote the Description, 0 if there is no description. A reader that has
	// the Description of that version or a later one need not read it again. Items.Put sets it.
	Described int64
	// Cover is the first of the description's Covers, or "" if it has no covers or an older release wrote it. Items.Put
	// sets it. Items of the published List have no Cover.
	Cover string
	// AddressesErased is when the last delivery address of the item's orders was erased; zero if some may remain. See
	// MarkErased.
	AddressesErased time.Time
	NetworksErased  time.Time // as AddressesErased, of network addresses
	StockErased     time.Time // when the ended item had left the stock for good; zero if it may be there
}

// Kept is what is kept of an ended item for a time: what orders keep of their shoppers, and its stock.
type Kept int

// What is kept.
const (
	KeptAddresses Kept = iota // with names
	KeptNetworks              // network addresses
	KeptStock                 // in Redis
)

// Erased returns the field that says when the last of these was erased; it is zero if some may remain.
func (it *Item) Erased(what Kept) *time.Time {
	return []*time.Time{&it.AddressesErased, &it.NetworksErased, &it.StockErased}[what]
}

// Stop is a period in which an item was stopped. Its times come from the clock of the instance that stopped it, read
// just before the write.
type Stop struct {
	From time.Time
	To   time.Time // zero if it is still stopped
}

// SetStopped stops or resumes the sale and records when, so that the audit can check what was placed meanwhile (I10).
// Beyond MaxStops it drops the oldest stops. It reports whether anything changed.
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

// Check returns what is wrong with the item in one sentence, or nil.
func (it *Item) Check() error {
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
	case !it.Checks.Valid():
		return fmt.Errorf("checks %.40q: want off, standard or strict", it.Checks)
	case it.Buckets < 1:
		return fmt.Errorf("buckets %d: want at least 1", it.Buckets)
	}
	return it.Variant.Check()
}

// Check returns what is wrong with the description in one sentence, or nil.
func (d *Description) Check() error {
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

// FirstCover returns the first picture's address, "" if there is none.
func (d *Description) FirstCover() string {
	if len(d.Covers) == 0 {
		return ""
	}
	return d.Covers[0]
}

// Equal reports whether both descriptions have the same content.
func (d *Description) Equal(other *Description) bool {
	return d.Detail == other.Detail && slices.Equal(d.Covers, other.Covers)
}

// Check returns what is wrong with the item, its description or its questions in one sentence, or nil.
func (l *Listing) Check() error {
	if err := l.Item.Check(); err != nil {
		return err
	}
	if why := flaw(l.Commodity.Title, MaxTitle, false); why != "" {
		return fmt.Errorf("title: want 1 to %d characters on one line; it has %s", MaxTitle, why)
	}
	for _, o := range l.Variant.Options {
		if why := cmp.Or(flaw(o.Name, MaxOptionName, false), flaw(o.Value, MaxOptionValue, false)); why != "" {
			return fmt.Errorf("options: want names and values of letters that people see; one has %s", why)
		}
	}
	if err := l.Description.Check(); err != nil {
		return err
	}
	return CheckQuestions(l.Questions)
}

// Items is the table of items and, beside it, the table of their descriptions.
type Items interface {
	// Get reads one item consistently. CodeItemUnknown, or a fault.
	Get(ctx context.Context, id string) (Item, error)
	// List returns at most MaxItems items that end after the given time, in no order. Each item is at least as new as
	// when List began. It reads the whole table, so only schedules call it. With ErrUnreadable the list has every
	// item whose row can be read. Any other error is a fault.
	List(ctx context.Context, endsAfter time.Time) ([]Item, error)
	// ListEnded returns at most MaxItems items that ended by the given time and are not marked as erased of this,
	// earliest end first. It reads the whole table, so only schedules call it. ErrUnreadable as in List; any other
	// error is a fault.
	ListEnded(ctx context.Context, what Kept, endedBy time.Time) ([]Item, error)
	// Description reads an item's description as of version described or later. ErrUnreadable: the stored one is
	// older or cannot be read; any other error is a fault.
	Description(ctx context.Context, id string, described int64) (Description, error)
	// Put makes an item, or replaces version it.Version-1, together with its description. A nil description
	// keeps the stored description: then it must have Described and Cover as they were read. ErrStateChanged: another
	// version is stored, or its Described differs; CodeInvalid; any other error is a fault.
	Put(ctx context.Context, it Item, d *Description) error
	// MarkErased sets only the time of this; the version stays. A Put of an item that was read before resets it, and
	// the next sweep erases again. CodeItemUnknown; any other error is a fault.
	MarkErased(ctx context.Context, id string, what Kept, at time.Time) error
	Lists
}
