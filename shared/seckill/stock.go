package seckill

import (
	"context"
	"time"
)

// Stock hands out numbered units: Redis, or an embedded stand-in. Drivers implement all of it; a flow takes only the
// ports that it calls. Every method is one atomic step of the stock. Any error that a method does not name is a
// fault: the effect is unknown. All times come from the caller's clock.
type Stock interface {
	Reserver
	ReservationKeeper
	StockReader
	Outbox
	StockInstaller
	DriftCorrector
	BlockCopier
}

// Resend is when repair first sends a reservation's message again.
const Resend = 30 * time.Second

// AckWithin is the longest time from a reservation to its acknowledgement, with the sending of its message: if that
// takes longer, buy answers 503, and the repeat of the request begins anew.
const AckWithin = 2 * time.Second

// Reserver hands out units.
type Reserver interface {
	// Reserve draws r.Count units for the request and stores the request whole (the outbox), or answers why not.
	// keyed: r.Order came from an idempotency key; without one, a repeat with the same count and address is
	// recognised while the user's order is queued. resend is when repair may first send the message again.
	// ErrNotInstalled.
	Reserve(ctx context.Context, now time.Time, r Request, keyed bool, resend time.Duration) (ReserveResult, error)
}

// ReservationKeeper updates a reservation after the ledger's decision.
type ReservationKeeper interface {
	// Confirm records that the ledger has decided the order. The order no longer waits, and every other unit held for
	// it becomes free. While units are held back, the order gets the ledger's units: the stock may have lost it.
	// Confirm only ever lowers what counts against the user. Repeating it changes nothing. ErrNotInstalled.
	Confirm(ctx context.Context, v Verdict) error
	// Redraw replaces a unit that the ledger refused (c.Unit; 0 to top up a short reservation): the unit goes to its
	// owner, and another is drawn. It restores from r a reservation that the stock has lost. ErrNotInstalled.
	Redraw(ctx context.Context, now time.Time, r Reservation, c Collision, resend time.Duration) (RedrawCode,
		Reservation, error)
	// Return frees those of the units that the order still holds, and no longer counts the order against its user.
	// Repeating it changes nothing. ErrNotInstalled.
	Return(ctx context.Context, item, order, user string, units []int) error
}

// MaxRefusals is how many orders of an item may be reserved for a user and then rejected because of who they are.
// Reserve refuses the next one. RefusalsKept after the last one, the stock forgets them.
const (
	MaxRefusals  = 5
	RefusalsKept = 30 * time.Minute
)

// Verdict is what the ledger decided about an order.
type Verdict struct {
	Item, Order, User string
	Units             []int // none if the order is rejected
	// Refused is when the order was rejected for what the user did or is, not for want of units; the zero time means
	// not. Reserve refuses the user after MaxRefusals such orders and, as blocked, until BlockedUntil.
	Refused, BlockedUntil time.Time
}

// StockReader reads an item's figures and the reservations that wait for their placement.
type StockReader interface {
	// Level reads the item's figures. ErrNotInstalled.
	Level(ctx context.Context, item string) (Level, error)
	// Queued returns the user's waiting reservation with this order id or, if order is "", the newest one. The result
	// has no Order if there is none. ErrNotInstalled.
	Queued(ctx context.Context, item, user, order string) (Reservation, error)
}

// Outbox finds reservations whose message may be lost.
type Outbox interface {
	// Due returns at most limit reservations whose message should be sent again, and doubles the wait of each, up to
	// longest. ErrNotInstalled.
	Due(ctx context.Context, now time.Time, item string, limit int, longest time.Duration) ([]Reservation, error)
}

// StockInstaller installs a whole item into the stock and removes it.
type StockInstaller interface {
	// Assert writes the item's window, price, limit, stop switch and stock (never a lower stock). It ignores a
	// version older than the stock's, without an error. ErrNotInstalled.
	Assert(ctx context.Context, it Item) error
	// BuildStart begins a build beside the live keys, or takes over a build that was idle for BuildPatience.
	// It returns ErrBuildBusy if another builder is at work.
	BuildStart(ctx context.Context, now time.Time, item, token string) error
	// BuildUnits adds sold units to the build. users is how many users the build had not seen before. Many rows may
	// take several steps. ErrBuildLost.
	BuildUnits(ctx context.Context, now time.Time, item, token string, rows []UnitRow) (users int, err error)
	// BuildGaps adds those of the units from..to that have no unit row to the build's free units, in several steps if
	// needed. ErrBuildLost.
	BuildGaps(ctx context.Context, now time.Time, item, token string, from, to int) error
	// Install makes the build live if nothing is installed, token still owns the build, and the build has exactly
	// this many units and users, and highWater-units free units. Otherwise it drops the build. back units are held
	// back. ErrBuildLost.
	Install(ctx context.Context, it Item, token string, units, users, highWater, back int) error
	// HoldBack lowers the number of units that a build holds back to what this look and the one before found, and
	// returns it; 0 for another build, and for a look out of turn. Reserve leaves units that are held back to
	// acknowledged orders that the build did not see; Redraw and Confirm use them. ErrNotInstalled.
	HoldBack(ctx context.Context, item string, h HeldBack) (units int, err error)
	// Remove deletes a retired item from the stock, if it is there.
	Remove(ctx context.Context, item string) error
}

// DriftCorrector compares the stock with the ledger and corrects it.
type DriftCorrector interface {
	// DriftBegin starts a drift pass and returns its number for DriftEnd. ErrNotInstalled.
	DriftBegin(ctx context.Context, item, token string) (pass int64, err error)
	// Scan reads one consistent view of held, free and waiting units of one ledger bucket, within 1..high-water.
	// ErrNotInstalled.
	Scan(ctx context.Context, item string, bucket, buckets int) ([]Seen, error)
	// Correct applies a correction if the unit is still as seen and its holder does not wait for its placement.
	// changed reports whether it did. ErrNotInstalled.
	Correct(ctx context.Context, item string, c Correction) (changed bool, err error)
	// Users pages through the users that have units counted against them. Cursor 0 begins; next is 0 on the last
	// page. ErrNotInstalled.
	Users(ctx context.Context, item string, cursor uint64) (page []UserEntries, next uint64, err error)
	// CorrectUser replaces a user's entries if they are still as seen and none of the user's orders waits for its
	// placement. ErrNotInstalled.
	CorrectUser(ctx context.Context, item string, seen UserEntries, want map[string]int) (changed bool, err error)
	// DriftEnd records that the pass compared everything and corrected all differences. It ignores a pass that the
	// stock has lost. ErrNotInstalled.
	DriftEnd(ctx context.Context, item, token string, pass int64) error
}

// BlocksLag is how long the list of blocks may lack a change of a block: longer than any index lags.
const BlocksLag = time.Minute

// MaxCopied is about how many blocks of users the stock keeps beside an item, at most.
const MaxCopied = 10_000

// BlockCopier keeps a copy of users' blocks beside an item, by which Reserve refuses at once. The ledger decides: what
// the copy lacks, the placement refuses.
type BlockCopier interface {
	// CopyBlocks writes blocks of users that hold for the item, and forgets the dropped ones. The zero read says that
	// they were changed now; else they were listed then, and CopyBlocks does nothing if some were changed later than
	// BlocksLag before. Repeating it changes nothing. ErrNotInstalled.
	CopyBlocks(ctx context.Context, item string, now, read time.Time, put, drop []Block) error
	// CopiedBlocks pages through the copy: subject, item and end of each block. Cursor 0 begins; next is 0 on the last
	// page. ErrNotInstalled.
	CopiedBlocks(ctx context.Context, item string, cursor uint64) (page []Block, next uint64, err error)
}
