package refund

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/your-org/seckill/shared/flow/internal/payment"
	"github.com/your-org/seckill/shared/seckill"
)

// Limits of the listings for operators.
const (
	maxListed    = 1000            // refunds per list; for due ones per shard
	maxLooked    = 64              // orders per shard: each is read singly
	unknownAfter = 2 * time.Minute // how long the provider may take to say whether a closing order is paid
)

// Open lists the money that is not yet where it belongs. Each list is complete up to its limit, marks if it is cut,
// and may lag. When the holds of a whole sale end, more orders are due than are read, and few appear as unknown: list
// again some minutes later.
type Open struct {
	Due     []seckill.Payment // the next sweeps refund these, sorted by order
	Refused []seckill.Payment // the provider refused these: an operator must act
	Outside []seckill.Payment // of these, money went back outside the shop: an operator must decide, or a query confirm
	Unknown []Unknown         // closing, and for minutes the provider has not said whether they are paid

	Waiting []seckill.Proposal // these wait for a second person, sorted by order

	MoreDue     bool // the list Due is cut
	MoreRefused bool
	MoreOutside bool
	MoreWaiting bool
	MoreUnknown bool // some orders were not read; they may be unknown too

	Unreadable []error // seckill.ErrUnreadable: rows that may belong in a list, at most maxListed
}

// Unknown is a closing order and the change that began the closing.
type Unknown struct {
	Order seckill.Order
	Since seckill.Change
}

// Open lists the money that may need an operator. The error is an *seckill.Error.
func (f *Flow) Open(ctx context.Context) (Open, error) {
	var out Open
	now := f.Clock.Now()
	var err error
	out.Refused, err = list(&out, maxListed, &out.MoreRefused,
		func(after string, limit int) (seckill.Page[seckill.Payment], error) {
			return f.Ledger.RefundsRefused(ctx, after, limit)
		})
	if err != nil {
		return Open{}, seckill.AsError(err)
	}
	out.Outside, err = list(&out, maxListed, &out.MoreOutside,
		func(after string, limit int) (seckill.Page[seckill.Payment], error) {
			return f.Ledger.RefundsOutside(ctx, after, limit)
		})
	if err != nil {
		return Open{}, seckill.AsError(err)
	}
	if out.Waiting, err = f.Ledger.Proposals(ctx, "", maxListed); err != nil {
		return Open{}, seckill.AsError(err)
	}
	out.MoreWaiting = len(out.Waiting) == maxListed
	for shard := range seckill.DueShards {
		due, err := list(&out, maxListed, &out.MoreDue, func(after string, limit int) (seckill.Page[seckill.Payment],
			error) {
			return f.Ledger.RefundsDue(ctx, shard, now.Add(2*lastRetry), after, limit)
		})
		if err != nil {
			return Open{}, seckill.AsError(err)
		}
		for _, p := range due {
			if p.State == seckill.Captured {
				out.Outside = append(out.Outside, p)
			} else {
				out.Due = append(out.Due, p)
			}
		}
		orders, err := list(&out, maxLooked, &out.MoreUnknown,
			func(after string, limit int) (seckill.Page[seckill.Order], error) {
				return f.dueOrders(ctx, shard, now, after, limit)
			})
		if err != nil {
			return Open{}, seckill.AsError(err)
		}
		for _, o := range orders {
			if since, closing := closingSince(&o); closing && now.Sub(since.At) >= unknownAfter {
				out.Unknown = append(out.Unknown, Unknown{o, since})
			}
		}
	}
	return out, nil
}

// dueOrders reads a page of due orders, each singly.
func (f *Flow) dueOrders(ctx context.Context, shard int, now time.Time, after string,
	limit int) (seckill.Page[seckill.Order], error) {
	// Each minute without an answer postpones such an order by a minute.
	ids, err := f.Ledger.DueOrders(ctx, shard, now.Add(unknownAfter), after, limit)
	out := seckill.Page[seckill.Order]{Unreadable: ids.Unreadable, Next: ids.Next}
	for _, id := range ids.Rows {
		o, err := f.Ledger.Order(ctx, id)
		switch {
		case errors.Is(err, seckill.ErrUnreadable):
			out.Unreadable = append(out.Unreadable, err)
		case err != nil:
			return out, err
		default:
			out.Rows = append(out.Rows, o)
		}
	}
	return out, err
}

// list reads a listing up to its limit; it sets more if the listing is longer and adds unreadable rows to out.
func list[T any](out *Open, limit int, more *bool, read func(after string, limit int) (seckill.Page[T],
	error)) (rows []T, err error) {
	for after := ""; ; {
		page, err := read(after, limit+1)
		if err != nil {
			return nil, err
		}
		out.Unreadable = append(out.Unreadable,
			page.Unreadable[:min(len(page.Unreadable), maxListed-len(out.Unreadable))]...)
		if rows = append(rows, page.Rows...); len(rows) > limit {
			*more = true
			return rows[:limit], nil
		}
		if after = page.Next; after == "" {
			return rows, nil
		}
	}
}

// closingSince returns the change that began an order's closing, and whether the order is closing.
func closingSince(o *seckill.Order) (seckill.Change, bool) {
	i := slices.IndexFunc(o.History, func(c seckill.Change) bool { return c.State == seckill.Closing })
	if o.State != seckill.Closing || i < 0 {
		return seckill.Change{}, false
	}
	return o.History[i], true
}

// Case is everything that the ledger has about one order's money.
type Case struct {
	Order         seckill.Order
	Payments      []seckill.Payment
	Notifications []seckill.KeptNotification
}

// Case reads one order's money. The error is an *seckill.Error: CodeOrderUnknown.
func (f *Flow) Case(ctx context.Context, id string) (Case, error) {
	o, err := seckill.ReadOrder(ctx, f.Ledger, id)
	if err != nil {
		return Case{}, err
	}
	out := Case{Order: o}
	out.Payments, err = f.Ledger.Payments(ctx, id)
	if err == nil {
		out.Notifications, err = f.Ledger.Notifications(ctx, id)
	}
	if err != nil {
		return Case{}, seckill.AsError(err)
	}
	return out, nil
}

// Ask makes expire ask the provider at once about a closing order. An operator requests it: who, and why. The error
// is an *seckill.Error: CodeOrderUnknown; CodeInvalid, also for an order that is not closing.
func (f *Flow) Ask(ctx context.Context, id, who, why string) error {
	if err := seckill.CheckWords(who, why, maxWhy); err != nil {
		return err
	}
	o, err := seckill.ReadOrder(ctx, f.Ledger, id)
	if err != nil {
		return err
	}
	if o.State != seckill.Closing {
		return seckill.Invalid("order", "closing; it is "+string(o.State))
	}
	err = f.Ledger.RescheduleNow(ctx, id, f.Clock.Now(), "asked again by "+who+": "+why)
	if errors.Is(err, seckill.ErrStateChanged) {
		return nil // it has just left closing, which is what the operator wanted
	}
	if err != nil {
		return seckill.AsError(err)
	}
	return nil
}

// RecordTrade queries one trade of an order and, if it is paid, records it as its notification would have. An
// operator uses it for a payment that is on the bill but not in the ledger; who and why go into the order's history.
// It reports whether the payment was new. The error is an *seckill.Error: CodeOrderUnknown; CodeInvalid, also for a
// trade that belongs to another order, is not paid or has another amount.
func (f *Flow) RecordTrade(ctx context.Context, id, tradeNo, who, why string) (bool, error) {
	if err := seckill.CheckWords(who, why, maxWhy); err != nil {
		return false, err
	}
	if _, err := seckill.ReadOrder(ctx, f.Ledger, id); err != nil {
		return false, err
	}
	t, err := f.Trades.Trade(ctx, id, tradeNo)
	if err != nil {
		f.Meter.Count(seckill.EventUnknown, 1)
		return false, seckill.AsError(err)
	}
	if t.State != seckill.TradePaid {
		return false, seckill.Invalid("trade_no", "a paid trade of the order; the provider says "+string(t.State))
	}
	before, err := f.Ledger.Payments(ctx, id)
	if err != nil {
		return false, seckill.AsError(err)
	}
	recorder := payment.Recorder{Ledger: f.Ledger, Clock: f.Clock, Meter: f.Meter}
	err = recorder.Record(ctx, id, t.TradeNo, t.Amount, "query by "+who+": "+why)
	if seckill.CodeOf(err) == seckill.CodeNotOurs {
		return false, seckill.Invalid("trade_no", "a trade over the order's amount; the provider says "+t.Amount.Yuan()+
			" yuan")
	}
	if err != nil {
		return false, seckill.AsError(err)
	}
	return !slices.ContainsFunc(before, func(p seckill.Payment) bool { return p.TradeNo == t.TradeNo }), nil
}
