// Package livescreen assembles what the viewers of an item's live screen see. In: a viewer's request. Out: a row per
// item and one of the shop, which all viewers share, each renewed by one of them at a time, at most once a second. It
// reads the ledger and, through Source, what other machines know; it writes only those rows.
//
// Nothing scans: figures are counters, or lists that are counted up to a limit. A part that cannot be read keeps its
// last figures and their time, and fails no other part.
package livescreen

import (
	"context"
	"errors"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// How old figures get before a viewer renews them.
const (
	secondAge = time.Second
	// MinuteAge is for figures that only metrics have.
	MinuteAge = time.Minute
	// leaseTime is longer than all sources take.
	leaseTime = 5 * time.Second
)

// Deps are the step's dependencies.
type Deps struct {
	Ledger Ledger
	Source Source
	Clock  seckill.Clock
	// MetricsAge is how old metrics may get: MinuteAge where they are made each minute.
	MetricsAge time.Duration
	// Each calls do for 0 to n-1, several at once, and returns when all have ended.
	Each func(n int, do func(i int))
	// Failed is told of each part that cannot be read; may be nil.
	Failed func(ctx context.Context, part string, err error)
}

// Ledger is the part of the ledger that the live screen calls.
type Ledger interface {
	seckill.LiveRows
	seckill.Counter
	seckill.DueLister
	auditReader
}

// Source reads figures that are not in the ledger. Each method ends within two seconds.
type Source interface {
	// LiveStock reads an item. CodeItemUnknown.
	LiveStock(ctx context.Context, item string) (seckill.LiveStock, error)
	Queues(ctx context.Context) ([]seckill.LiveQueue, error)
	Metrics(ctx context.Context) (seckill.LiveMetrics, error)
	Servers(ctx context.Context) ([]seckill.LiveServer, error)
}

// Flow is one instance of the step. It has no memory.
type Flow struct{ Deps }

// New returns an instance.
func New(d Deps) *Flow { return &Flow{d} }

// Seen is what a viewer sees.
type Seen struct {
	Now   time.Time `json:"now"` // figures are as old as this is after their At
	Ready []Check   `json:"ready"`
	seckill.Live
}

// part is a part of a row that is to be renewed.
type part struct {
	name  string
	renew func(ctx context.Context) error
}

// Of returns what a viewer sees of an item. It returns CodeItemUnknown for an unknown item, of which only its stock was
// asked for.
func (f *Flow) Of(ctx context.Context, item string) (Seen, error) {
	of, err := f.row(ctx, item, f.ofItem)
	if err != nil {
		return Seen{}, err
	}
	if of.Stock.Failed == seckill.CodeItemUnknown {
		return Seen{}, seckill.Refuse(seckill.CodeItemUnknown)
	}
	shop, err := f.row(ctx, seckill.LiveShop, f.ofShop)
	if err != nil {
		return Seen{}, err
	}
	all := of.Live
	all.Queues, all.Money, all.Metrics, all.Servers = shop.Queues, shop.Money, shop.Metrics, shop.Servers
	return Seen{f.Clock.Now(), ready(&all), all}, nil
}

// chooser returns the parts of a row that are old.
type chooser func(*seckill.Live, time.Time) []part

// row returns a row, renewed if parts of it are old and nobody else renews it.
func (f *Flow) row(ctx context.Context, id string, old chooser) (seckill.LiveRow, error) {
	row, err := f.Ledger.Live(ctx, id)
	if err != nil {
		return row, err
	}
	now := f.Clock.Now()
	if len(old(&row.Live, now)) == 0 || now.Before(row.Until) {
		return row, nil
	}
	return f.renew(ctx, row, now, old)
}

// renew renews the old parts of a row, unless another viewer is faster.
func (f *Flow) renew(ctx context.Context, row seckill.LiveRow, now time.Time, old chooser) (seckill.LiveRow, error) {
	leased, err := f.Ledger.LeaseLive(ctx, row, now.Add(leaseTime))
	if errors.Is(err, seckill.ErrLeased) {
		return row, nil
	}
	if err != nil {
		return row, err
	}
	f.read(ctx, old(&leased.Live, now))
	f.read(ctx, old(&leased.Live, now)) // parts that ofItem holds back until the stock has reported the item
	err = f.Ledger.KeepLive(ctx, leased, f.Clock.Now())
	if errors.Is(err, seckill.ErrLeased) { // this took longer than the lease; the figures are good
		err = nil
	}
	return leased, err
}

// read reads parts, several at once.
func (f *Flow) read(ctx context.Context, old []part) {
	errs := make([]error, len(old))
	f.Each(len(old), func(i int) { errs[i] = old[i].renew(ctx) })
	for i, err := range errs {
		if err != nil && f.Failed != nil {
			f.Failed(ctx, old[i].name, err)
		}
	}
}

// ofItem returns the old parts of an item's row. Of an item that the stock has never reported it returns only the
// stock.
func (f *Flow) ofItem(l *seckill.Live, now time.Time) []part {
	var parts []part
	add(f, &parts, "stock", &l.Stock, now, secondAge, func(ctx context.Context) (seckill.LiveStock, error) {
		return f.Source.LiveStock(ctx, l.Item)
	})
	if l.Stock.Tried.IsZero() || l.Stock.Failed == seckill.CodeItemUnknown {
		return parts
	}
	add(f, &parts, "counts", &l.Counts, now, secondAge, func(ctx context.Context) (seckill.LiveCounts, error) {
		return f.counts(ctx, l.Item)
	})
	add(f, &parts, "acts", &l.Acts, now, secondAge, func(ctx context.Context) (seckill.LiveActs, error) {
		return acts(ctx, f.Ledger, l.Item, l.Acts.Value, now)
	})
	return parts
}

// ofShop returns the old parts of the shop's row.
func (f *Flow) ofShop(l *seckill.Live, now time.Time) []part {
	var parts []part
	add(f, &parts, "queues", &l.Queues, now, secondAge, f.Source.Queues)
	add(f, &parts, "money", &l.Money, now, secondAge, f.money)
	add(f, &parts, "metrics", &l.Metrics, now, f.MetricsAge, f.Source.Metrics)
	add(f, &parts, "servers", &l.Servers, now, MinuteAge, f.Source.Servers)
	return parts
}

// add adds a part if it is old, or from a clock that is ahead. A part that failed is read again after a second.
func add[T any](f *Flow, to *[]part, name string, of *seckill.Figures[T], now time.Time, life time.Duration,
	read func(context.Context) (T, error)) {
	if of.Failed != "" {
		life = min(life, secondAge)
	}
	if age := now.Sub(of.Tried); age < life && age > -2*seckill.SkewBound {
		return
	}
	*to = append(*to, part{name, func(ctx context.Context) error {
		of.Tried = f.Clock.Now()
		value, err := read(ctx)
		if err != nil {
			of.Failed = seckill.CodeOf(err)
			return err
		}
		of.At, of.Failed, of.Value = of.Tried, "", value
		return nil
	}})
}

// counts reads an item's counts, of the newest minutes.
func (f *Flow) counts(ctx context.Context, item string) (seckill.LiveCounts, error) {
	c, err := f.Ledger.Counts(ctx, item)
	minutes := c.Minutes[max(0, len(c.Minutes)-seckill.LiveMinutes):]
	return seckill.LiveCounts{Recounting: c.Recounting, Total: c.Total, Minutes: minutes}, err
}

// money counts the payments that have to go back.
func (f *Flow) money(ctx context.Context) (seckill.LiveMoney, error) {
	now := f.Clock.Now().Add(seckill.MaxHold) // also those that are tried again later
	pages := make([]seckill.Page[seckill.Payment], seckill.DueShards+1)
	errs := make([]error, len(pages))
	f.Each(len(pages), func(i int) {
		if i == seckill.DueShards {
			pages[i], errs[i] = f.Ledger.RefundsRefused(ctx, "", seckill.MaxLiveListed)
			return
		}
		pages[i], errs[i] = f.Ledger.RefundsDue(ctx, i, now, "", seckill.MaxLiveListed)
	})
	var m seckill.LiveMoney
	for i := range pages {
		n, more := len(pages[i].Rows)+len(pages[i].Unreadable), pages[i].Next != ""
		if i == seckill.DueShards {
			m.Refused, m.MoreRefused = n, more
			break
		}
		m.Due += n
		m.MoreDue = m.MoreDue || more
	}
	return m, errors.Join(errs...)
}
