package shop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Newest returns the state of the shopper's newest order of an item. The stock answers while the order is queued, the
// ledger once it is placed. CodeItemUnknown; CodeNotReady while the stock is being rebuilt and the ledger has no
// order.
func (f *Flow) Newest(ctx context.Context, user, item string) (Status, error) {
	if !seckill.ValidItemID(item) {
		return Status{}, seckill.Refuse(seckill.CodeItemUnknown)
	}
	it, _, err := f.item(ctx, item)
	if err != nil {
		return Status{}, seckill.AsError(err)
	}
	queued, stockErr := f.Stock.Queued(ctx, item, user, "")
	id := queued.Order
	if id == "" {
		q, err := f.Ledger.Quota(ctx, user, item)
		if err != nil {
			return Status{}, seckill.AsError(err)
		}
		id = q.Newest
	}
	if id != "" {
		o, err := f.Ledger.Order(ctx, id)
		if err == nil {
			return f.status(&o)
		}
		if !errors.Is(err, seckill.ErrNoOrder) {
			return Status{}, seckill.AsError(err)
		}
		if queued.Order != "" {
			return Status{Order: id, State: seckill.Queued, RetryAfter: again(queued.Created, f.Clock.Now())}, nil
		}
	}
	switch {
	case stockErr == nil:
		return Status{}, nil
	case !errors.Is(stockErr, seckill.ErrNotInstalled):
		return Status{}, seckill.AsError(stockErr)
	case f.mayHaveQueued(it, f.Clock.Now()):
		return Status{}, errNotReady
	}
	return Status{}, nil
}

func (f *Flow) status(o *seckill.Order) (Status, error) {
	s := Status{Order: o.ID, State: o.State, Reason: o.Reason}
	switch o.State {
	case seckill.PendingPayment:
		s.PayBy = o.PayBy
		if !o.Payable(f.Clock.Now()) {
			s.RetryAfter = pollClosing
			return s, nil
		}
		var err error
		if s.PayString, err = f.prepare(*o); err != nil {
			return s, seckill.AsError(err)
		}
		if s.PayString == "" {
			s.RetryAfter = again(o.Placed, f.Clock.Now())
		}
	case seckill.Closing:
		s.RetryAfter = pollClosing
	}
	return s, nil
}

// again returns how long to wait before the next poll: as long as the order has taken so far, within bounds. So
// shoppers who wait long poll rarely, and twenty thousand of them leave the system its capacity.
func again(begun, now time.Time) time.Duration {
	return min(max(now.Sub(begun), pollSoonest), pollLatest)
}

// prepare returns an order's pay string, "" if it cannot be signed now.
func (f *Flow) prepare(o seckill.Order) (string, error) {
	f.mu.Lock()
	known, ok := f.prepared[o.ID]
	f.mu.Unlock()
	if ok {
		return known, nil
	}
	fresh, err := f.Payments.Prepare(o)
	if errors.Is(err, seckill.ErrSignLater) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("pay string of %s: %w", o.ID, err)
	}
	f.mu.Lock()
	if len(f.prepared) >= maxPrepared {
		clear(f.prepared)
	}
	f.prepared[o.ID] = fresh
	f.mu.Unlock()
	return fresh, nil
}

// Order returns one of the shopper's own orders. CodeOrderUnknown, also for another shopper's order.
func (f *Flow) Order(ctx context.Context, user, id string) (OrderView, error) {
	o, err := f.own(ctx, user, id)
	if err != nil {
		return OrderView{}, seckill.AsError(err)
	}
	v, err := f.view(ctx, o)
	if err == nil && o.State != seckill.Queued {
		v.Payments, err = f.Ledger.Payments(ctx, id)
	}
	if err != nil {
		return OrderView{}, seckill.AsError(err)
	}
	return v, nil
}

// Has refuses an order that is not the shopper's. CodeOrderUnknown; CodeNotReady if no stock can tell.
func (f *Flow) Has(ctx context.Context, user, id string) error {
	if _, err := f.own(ctx, user, id); err != nil {
		return seckill.AsError(err)
	}
	return nil
}

// own finds an order of the user, placed or queued.
func (f *Flow) own(ctx context.Context, user, id string) (seckill.Order, error) {
	if !seckill.ValidOrderID(id) {
		return seckill.Order{}, errUnknownOrder
	}
	o, err := f.placed(ctx, user, id)
	if !errors.Is(err, seckill.ErrNoOrder) {
		return o, err
	}
	queued, stockErr := f.queued(ctx, user, id)
	if stockErr == nil {
		return queued, nil
	}
	// If it is not queued, it may have been placed since the ledger was read.
	if o, err = f.placed(ctx, user, id); errors.Is(err, seckill.ErrNoOrder) {
		return o, stockErr
	}
	return o, err
}

// placed finds an order of the user in the ledger. ErrNoOrder; CodeOrderUnknown for another user's order.
func (f *Flow) placed(ctx context.Context, user, id string) (seckill.Order, error) {
	o, err := f.Ledger.Order(ctx, id)
	if err == nil && o.User != user {
		return seckill.Order{}, seckill.RefuseForeign()
	}
	return o, err
}

// queued finds an order of the user in the stock. CodeOrderUnknown; CodeNotReady if no stock can tell. The order id
// names its item by a tag: of a thousand items the stock is asked about one, and for an invented id mostly about no
// item.
func (f *Flow) queued(ctx context.Context, user, id string) (seckill.Order, error) {
	now := f.Clock.Now()
	list, asOf, err := f.list.current(ctx)
	if err != nil {
		return seckill.Order{}, err
	}
	unsure := !asOf.IsZero() // an item may have been added since
	for _, it := range list.byTag[seckill.OrderTag(id)] {
		if !it.Loadable(now) {
			continue
		}
		r, err := f.Stock.Queued(ctx, it.ID, user, id)
		switch {
		case errors.Is(err, seckill.ErrNotInstalled) && f.mayHaveQueued(it, now):
			unsure = true
		case err != nil && !errors.Is(err, seckill.ErrNotInstalled):
			return seckill.Order{}, err
		}
		if r.Order == id {
			return seckill.Order{ID: id, Item: it.ID, User: user, Count: r.Count, Price: it.Price,
				Amount: it.Price * seckill.Fen(r.Count),
				Given:  r.Given, State: seckill.Queued, Created: r.Created, Title: it.Commodity.Title}, nil
		}
	}
	if unsure {
		return seckill.Order{}, errNotReady
	}
	return seckill.Order{}, errUnknownOrder
}

// mayHaveQueued reports whether the item may have a reservation under way, so that a stock without the item cannot
// rule it out.
func (f *Flow) mayHaveQueued(it *seckill.Item, now time.Time) bool {
	return !now.Before(it.Start.Add(-seckill.SkewBound)) && now.Before(it.End.Add(seckill.MaxUnplaced))
}

var errNotReady = &seckill.Error{Code: seckill.CodeNotReady, RetryAfter: seckill.RetryAfterFault}

var errUnknownOrder = seckill.Refuse(seckill.CodeOrderUnknown)

func (f *Flow) view(ctx context.Context, o seckill.Order) (OrderView, error) {
	it, asOf, err := f.item(ctx, o.Item)
	if err != nil {
		return OrderView{}, err
	}
	v := OrderView{Order: o, Item: f.look(ctx, it, asOf, f.Clock.Now()), AsSold: o.ItemVersion > 0}
	if v.AsSold {
		v.Item.asSold(&o)
	}
	if o.Payable(f.Clock.Now()) {
		v.PayString, err = f.prepare(o)
	}
	return v, err
}

// asSold gives the item the title, prices, options and first picture that the order keeps. If there was no picture,
// today's stay.
func (v *View) asSold(o *seckill.Order) {
	v.Item.Commodity.Title, v.Item.Commodity.Price, v.Item.Price = o.Title, o.ListPrice, o.Price
	v.Item.Variant.Options = o.Options
	if o.Cover != "" {
		v.Description.Covers = []string{o.Cover}
	}
}

// Orders lists the shopper's placed orders, newest first, size per page; page counts from 1. It may lag by seconds.
func (f *Flow) Orders(ctx context.Context, user string, page, size int) ([]OrderView, error) {
	skip, after := (page-1)*size, ""
	out := []OrderView{}
	for len(out) < size {
		p, err := f.Ledger.OrdersByUser(ctx, user, after, min(skip+size-len(out), 100))
		if err != nil {
			return nil, seckill.AsError(err)
		}
		drop := min(skip, len(p.Orders))
		skip -= drop
		for _, o := range p.Orders[drop:] {
			if o.State == seckill.PendingPayment { // the list lags: do not offer to pay an order that is closing
				if o, err = f.Ledger.Order(ctx, o.ID); err != nil {
					return nil, seckill.AsError(err)
				}
			}
			v, err := f.view(ctx, o)
			if err != nil {
				return nil, seckill.AsError(err)
			}
			out = append(out, v)
		}
		if after = p.Next; after == "" {
			break
		}
	}
	return out, nil
}

// Cancel closes an unpaid order; its units go back once the payment provider agrees. CodeOrderUnknown;
// CodeStillQueued; CodeNotCancelable; CodeCancelLimit.
func (f *Flow) Cancel(ctx context.Context, user, id string) (Status, error) {
	for range 2 {
		o, err := f.own(ctx, user, id)
		if err != nil {
			return Status{}, seckill.AsError(err)
		}
		switch o.State {
		case seckill.Queued:
			return Status{}, &seckill.Error{Code: seckill.CodeStillQueued, Order: id,
				RetryAfter: seckill.RetryAfterFault}
		case seckill.Closing, seckill.Cancelled:
			return f.status(&o)
		case seckill.PendingPayment:
			err := f.Ledger.BeginClosing(ctx, o, seckill.Cancelled, f.Clock.Now(), "cancelled by the shopper")
			if errors.Is(err, seckill.ErrStateChanged) {
				continue
			}
			if errors.Is(err, seckill.ErrCancels) {
				return Status{}, &seckill.Error{Code: seckill.CodeCancelLimit, Order: id, PayBy: o.PayBy}
			}
			if err != nil {
				return Status{}, seckill.AsError(err)
			}
			f.Meter.Count(seckill.EventClosing, 1)
			// The row is due now: if this message is lost, the sweep closes the order within a minute.
			_ = f.Closings.Send(ctx, seckill.Message{Kind: seckill.MessageClose, Order: id, Trace: seckill.Trace(ctx)},
				0)
			return Status{Order: id, State: seckill.Closing, RetryAfter: pollClosing}, nil
		default:
			return Status{}, &seckill.Error{Code: seckill.CodeNotCancelable, Order: id}
		}
	}
	return Status{}, &seckill.Error{Code: seckill.CodeNotCancelable, Order: id}
}
