package seckill

import (
	"context"
	"time"
)

// Stock hands out numbered units: Redis, or an embedded stand-in. Drivers implement all of it; a flow takes only the
// ports that it calls. Every method is one atomic step of the stock. Any error but those named is a fault: the effect
// is unknown. Times are the caller's clock.
type Stock interface {
	Reserver
	ReservationKeeper
	StockReader
	Outbox
	StockInstaller
	DriftCorrector
}

// Reserver hands out units.
type Reserver interface {
	// Reserve draws r.Count units for the request and stores it whole (the outbox), or says why not. keyed: r.Order
	// came from an idempotency key; without it a repeat with the same count and address is recognised while the user's
	// order is queued. resend is when repair first sends the message again. ErrNotInstalled.
	Reserve(ctx context.Context, now time.Time, r Request, keyed bool, resend time.Duration) (ReserveResult, error)
}

// ReservationKeeper changes a reservation as the ledger decides.
type ReservationKeeper interface {
	// Confirm records that the ledger has decided the order and which units it gives it (none when rejected): it is no
	// longer awaited, and every number held for it beyond these becomes free. It only ever lowers what counts against
	// the user. Repeating it changes nothing. ErrNotInstalled.
	Confirm(ctx context.Context, item, order, user string, units []int) error
	// Redraw replaces a number that the ledger refused (c.Unit; 0 to top up a short reservation): the number becomes
	// its owner's and another is drawn. A reservation that the stock has forgotten is taken up again from r.
	// ErrNotInstalled.
	Redraw(ctx context.Context, now time.Time, r Reservation, c Collision, resend time.Duration) (RedrawCode,
		Reservation, error)
	// Return moves those of the numbers that the order still holds to the free ones, and drops the order from what
	// counts against its user. Repeating it changes nothing. ErrNotInstalled.
	Return(ctx context.Context, item, order, user string, units []int) error
}

// StockReader reads an item's figures and its waiting reservations.
type StockReader interface {
	// Level reads the item's figures. ErrNotInstalled.
	Level(ctx context.Context, item string) (Level, error)
	// Queued returns the user's reservation with this order id, or with "" the newest, that waits to be placed; one
	// without an Order when there is none. ErrNotInstalled.
	Queued(ctx context.Context, item, user, order string) (Reservation, error)
}

// Outbox finds the reservations whose message may be lost.
type Outbox interface {
	// Due returns at most limit reservations whose message should be sent again, and doubles the wait of each up to
	// longest. ErrNotInstalled.
	Due(ctx context.Context, now time.Time, item string, limit int, longest time.Duration) ([]Reservation, error)
}

// StockInstaller puts an item into the stock, whole, and takes it out.
type StockInstaller interface {
	// Assert writes the item's window, price, limit, stop switch and stock (never a lower stock); an older version than
	// the stock has changes nothing and is no error. ErrNotInstalled.
	Assert(ctx context.Context, it Item) error
	// BuildStart begins a build beside the live keys, and takes it from a builder that has not touched it for
	// BuildPatience. ErrBuildBusy when another builder is at work.
	BuildStart(ctx context.Context, now time.Time, item, token string) error
	// BuildUnits adds sold units to the build; users is how many users it saw first. Many rows may take several
	// steps. ErrBuildLost.
	BuildUnits(ctx context.Context, now time.Time, item, token string, rows []UnitRow) (users int, err error)
	// BuildGaps adds the numbers from..to that no unit row has to the build's free numbers, in as many steps as it
	// takes. ErrBuildLost.
	BuildGaps(ctx context.Context, now time.Time, item, token string, from, to int) error
	// Install makes the build live if nothing is installed, the token still has it, and it holds exactly this many
	// units and users, and highWater-units free numbers; else the build is dropped. ErrBuildLost.
	Install(ctx context.Context, it Item, token string, units, users, highWater int) error
	// Remove forgets a retired item, if the stock has it.
	Remove(ctx context.Context, item string) error
}

// DriftCorrector compares the stock with the ledger and corrects it.
type DriftCorrector interface {
	// DriftBegin starts a drift pass: its number is what DriftEnd reports. ErrNotInstalled.
	DriftBegin(ctx context.Context, item, token string) (pass int64, err error)
	// Scan reads held, free and awaiting together for the numbers of one ledger bucket, 1..high-water. ErrNotInstalled.
	Scan(ctx context.Context, item string, bucket, buckets int) ([]Seen, error)
	// Correct carries a correction out if the number is still as seen and its holder does not wait to be placed;
	// changed reports whether it did. ErrNotInstalled.
	Correct(ctx context.Context, item string, c Correction) (changed bool, err error)
	// Users pages through the users that the stock counts units against; cursor 0 begins, next 0 ends. ErrNotInstalled.
	Users(ctx context.Context, item string, cursor uint64) (page []UserEntries, next uint64, err error)
	// CorrectUser replaces a user's entries if they are still as seen and none of their orders waits to be placed.
	// ErrNotInstalled.
	CorrectUser(ctx context.Context, item string, seen UserEntries, want map[string]int) (changed bool, err error)
	// DriftEnd records that the pass compared everything and corrected what differed; a pass that the stock has
	// forgotten is ignored. ErrNotInstalled.
	DriftEnd(ctx context.Context, item, token string, pass int64) error
}
