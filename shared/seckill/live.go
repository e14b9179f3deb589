package seckill

import (
	"context"
	"errors"
	"time"
)

// Limits of live rows.
const (
	LiveMinutes   = 60 // that a row has, the newest ones
	LiveKept      = 24 * time.Hour
	MaxLiveListed = 25 // refunds that are counted in a shard; there may be more
	MaxLiveActs   = 5  // acts of staff that a row names
)

// LiveShop is the id of the row with the figures of the whole shop. It is not an item's id.
const LiveShop = "shop"

// LiveImport is the id of the row that is leased while an import is carried out. It is not an item's id.
const LiveImport = "import"

// Figures are one part of a live row.
type Figures[T any] struct {
	At     time.Time `json:"at,omitzero"`      // when they were true; zero if they were never read
	Tried  time.Time `json:"tried,omitzero"`   // the newest reading
	Failed Code      `json:"failed,omitempty"` // why it failed; the figures are those of an earlier one
	Value  T         `json:"value"`
}

// Live is what the live screen shows of an item, and of the whole shop. It decides nothing. It is kept in two rows: the
// item's row, and the row of LiveShop.
type Live struct {
	Item    string                `json:"item"`
	Stock   Figures[LiveStock]    `json:"stock"`
	Counts  Figures[LiveCounts]   `json:"counts"`
	Acts    Figures[LiveActs]     `json:"acts"`
	Queues  Figures[[]LiveQueue]  `json:"queues"`
	Money   Figures[LiveMoney]    `json:"money"`
	Metrics Figures[LiveMetrics]  `json:"metrics"`
	Servers Figures[[]LiveServer] `json:"servers"`
}

// LiveStock is an item as seen by whoever has the stock. The units are 0 while the stock does not have the item.
type LiveStock struct {
	Title     string    `json:"title"`
	State     ItemState `json:"state"`
	Opens     time.Time `json:"opens"`
	Closes    time.Time `json:"closes"`
	Stock     int       `json:"stock"` // of the item
	Installed bool      `json:"installed"`
	Left      int       `json:"left"`
	Held      int       `json:"held"`
	Awaiting  int       `json:"awaiting"` // reservations that wait for their placement
	Clock     time.Time `json:"clock"`    // of the machine that answered
}

// LiveCounts are an item's counts, and those of the newest minutes.
type LiveCounts struct {
	Recounting bool          `json:"recounting"`
	Total      Count         `json:"total"`
	Minutes    []MinuteCount `json:"minutes"`
}

// LiveActs are what staff did about an item's sale, and about the queues, by the audit log.
type LiveActs struct {
	Until time.Time `json:"until,omitzero"` // when the log was read
	List  []LiveAct `json:"list"`           // the newest first, at most MaxLiveActs
}

// LiveAct is an act that has ended.
type LiveAct struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Who     string    `json:"who"`
	Act     string    `json:"act"`
	Subject string    `json:"subject"`
	Result  string    `json:"result"`
}

// LiveQueue is a queue of the shop.
type LiveQueue struct {
	Name     string `json:"name"`
	Visible  int    `json:"visible"`
	InFlight int    `json:"in_flight"`
	Delayed  int    `json:"delayed"`
	Parked   int    `json:"parked"`
}

// LiveMoney is how many payments of the shop have to go back.
type LiveMoney struct {
	Due         int  `json:"refunds_due"`
	MoreDue     bool `json:"more_due"` // there are more than counted
	Refused     int  `json:"refunds_refused"`
	MoreRefused bool `json:"more_refused"`
}

// LiveMetrics are the figures of the shop that only metrics know. A nil pointer means that a figure is not known.
type LiveMetrics struct {
	Since     time.Time      `json:"since"`    // of the sums
	Requests  int            `json:"requests"` // without those of the back office, whose screens ask each second
	Presses   int            `json:"presses"`  // requests to buy
	Errors    int            `json:"errors"`   // answers with a 5xx status
	Refusals  map[Reason]int `json:"refusals"`
	PerSecond float64        `json:"requests_per_second"` // of the newest time that metrics tell apart

	Drift int `json:"drift"` // differences that repair found

	P99     *float64       `json:"p99_ms"`            // of requests to buy, newest minute that had some
	Lag     *float64       `json:"lag_ms"`            // of the counts behind the orders, when they were last made
	LagAt   time.Time      `json:"lag_at,omitzero"`   // the minute that Lag is of; zero if it is as old as the rest
	Age     map[string]int `json:"queue_age_seconds"` // of the oldest message, by queue
	Unknown int            `json:"unknown_payments"`  // see SetMinutes

	Minutes []LiveMinute `json:"minutes"` // ascending; metrics may lack the newest ones
}

// LiveMinute is a minute of the shop.
type LiveMinute struct {
	Minute   time.Time `json:"minute"`
	Requests int       `json:"requests"`
	Presses  int       `json:"presses"`
	Refused  int       `json:"refused"`
	Errors   int       `json:"errors"`
	Unknown  int       `json:"unknown_payments"` // answers that the payment provider did not give
	P99      *float64  `json:"p99_ms"`
}

// unknownMinutes is how many minutes SetMinutes looks at for unknown payments: metrics come late, and each such payment
// is asked about once a minute.
const unknownMinutes = 3

// SetMinutes sets the newest minutes, and what follows from them: P99, and as the number of unknown payments the most
// questions without an answer in one of the newest minutes.
func (m *LiveMetrics) SetMinutes(minutes []LiveMinute) {
	m.Minutes, m.P99, m.Unknown = minutes[max(0, len(minutes)-LiveMinutes):], nil, 0
	for i, one := range m.Minutes {
		if one.P99 != nil {
			m.P99 = one.P99
		}
		if i >= len(m.Minutes)-unknownMinutes {
			m.Unknown = max(m.Unknown, one.Unknown)
		}
	}
}

// LiveServer is a server of the stock.
type LiveServer struct {
	Address string `json:"address"`
	Problem string `json:"problem,omitempty"` // no_answer, replica, evicts, full
}

// LiveRow is a live row with its lease: its holder renews the row, and everybody else takes the row as it is.
type LiveRow struct {
	Live
	Version int64     // of the lease, 0 without a row
	Until   time.Time // when the lease ends
}

// ErrLeased: another viewer has the lease.
var ErrLeased = errors.New("seckill: another viewer renews the live row")

// LiveRows keeps the live rows, for LiveKept. They may vanish at any time.
type LiveRows interface {
	// Live reads an item's row. A row that this code cannot read has no figures.
	Live(ctx context.Context, item string) (LiveRow, error)
	// LeaseLive takes the lease of the row, as read, until a time. ErrLeased.
	LeaseLive(ctx context.Context, r LiveRow, until time.Time) (LiveRow, error)
	// KeepLive writes the row and ends its lease. It returns ErrLeased if another lease began.
	KeepLive(ctx context.Context, r LiveRow, at time.Time) error
}
