package fakegateway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Open has the effect of opening the cashier with an order string: it checks the string and creates or finds the
// trade. ErrForm, ErrAppID, ErrMethod, ErrSignType, ErrSignature, ErrContent; ErrExpired, ErrClosed, ErrPaid,
// ErrInconsistent, ErrFull, ErrUnavailable.
func (g *Gateway) Open(orderString string) (tradeNo string, err error) {
	want, err := g.readOrderString(orderString)
	if err != nil {
		return "", err
	}
	r, err := g.open(context.Background(), want)
	return r.TradeNo, err
}

// open creates or finds the trade that an order string describes. It also returns a trade that is paid, expired or
// closed.
func (g *Gateway) open(ctx context.Context, want Record) (Record, error) {
	for range saveTries { // the second attempt finds a trade that another request has created
		now := g.opt.Clock.Now()
		trades, err := g.ofOrder(ctx, want.OutTradeNo)
		if err != nil {
			return Record{}, err
		}
		if len(trades) > 0 {
			r := pick(trades)
			if r.Amount != want.Amount || r.Subject != want.Subject || !r.Expires.Equal(want.Expires) {
				return r, ErrInconsistent
			}
			open := r.Status == StatusWait || r.Status == StatusSuccess
			if !open || len(trades) >= MaxOrderTrades || !now.Before(want.Expires) || !g.faults.draw(TwoTrades) {
				return r, unpayable(&r, now)
			}
		} else if !now.Before(want.Expires) {
			return want, ErrExpired
		}
		made := want
		made.N = len(trades) + 1
		made.TradeNo = now.In(seckill.Zone).Format("20060102") + "22001" + digits()
		made.Created, made.Status, made.Lapses, made.Token = now, StatusWait, want.Expires.Add(g.opt.LateGrace),
			rand.Text()
		switch err := g.store.Save(ctx, made); {
		case err == nil:
			if made.N > 1 {
				g.faults.count(TwoTrades)
			}
			return made, nil
		case errors.Is(err, ErrFull):
			return want, err
		case !errors.Is(err, ErrChanged):
			return Record{}, unavailable(err)
		}
	}
	return Record{}, unavailable(ErrChanged)
}

// Pay captures an order's waiting trade and makes its notification due. ErrNoTrade, ErrPaid, ErrExpired, ErrClosed,
// ErrUnavailable.
func (g *Gateway) Pay(outTradeNo string) error {
	trades, err := g.ofOrder(context.Background(), outTradeNo)
	if err != nil {
		return err
	}
	if len(trades) == 0 {
		return ErrNoTrade
	}
	r := pick(trades)
	for _, t := range trades {
		if t.Status == StatusWait {
			r = t
		}
	}
	return g.pay(context.Background(), r.Key())
}

// PayTrade is Pay for the trade with that number, for an order with two trades.
func (g *Gateway) PayTrade(tradeNo string) error {
	r, err := g.find(context.Background(), tradeNo, "")
	if err != nil {
		return err
	}
	return g.pay(context.Background(), r.Key())
}

func (g *Gateway) pay(ctx context.Context, k Key) error {
	s := g.drawStart()
	late, err := g.late(ctx, k)
	if err != nil {
		return err
	}
	r, err := g.change(ctx, k, func(r *Record, now time.Time) error {
		if err := unpayable(r, now); err != nil && (!late || !errors.Is(err, ErrExpired)) {
			return err
		}
		capture(r, s, now)
		return nil
	})
	if err != nil {
		return err
	}
	g.moved(s)
	if late {
		g.faults.count(PayLate)
	}
	if r.Amount > 1 && g.faults.draw(RefundPartial) {
		if _, _, err := g.refund(ctx, k, "console"+digits(), r.Amount/2); err == nil {
			g.faults.count(RefundPartial)
		}
	}
	return nil
}

// late reports whether an expired trade is paid all the same. The store holds such a trade as waiting, and one that
// the shop closed as closed. ErrUnavailable.
func (g *Gateway) late(ctx context.Context, k Key) (bool, error) {
	if !g.faults.planned(PayLate) {
		return false, nil
	}
	r, _, err := g.store.Load(ctx, k)
	if err != nil {
		return false, unavailable(err)
	}
	now := g.opt.Clock.Now()
	return r.Status == StatusWait && !now.Before(r.Lapses) && now.Before(r.Expires.Add(latest)) &&
		g.faults.draw(PayLate), nil
}

// capture marks the trade as paid; the caller calls moved after saving it.
func capture(r *Record, s start, now time.Time) {
	r.Status, r.Paid = StatusSuccess, now
	r.Notifications = []Notification{s.notification(now)}
}

// closeTrades closes waiting trades: the named one, or all of the order. ErrNoTrade, ErrNotWaiting, ErrUnavailable;
// with the fault CloseFailsPaid also an inconclusive answer.
func (g *Gateway) closeTrades(ctx context.Context, tradeNo, outTradeNo string) (Record, error) {
	named, err := g.find(ctx, tradeNo, outTradeNo)
	if err != nil {
		return named, err
	}
	trades := []Record{named}
	if tradeNo == "" {
		if trades, err = g.ofOrder(ctx, outTradeNo); err != nil {
			return named, err
		}
	}
	if !slices.ContainsFunc(trades, func(r Record) bool { return r.Status == StatusWait }) {
		return named, ErrNotWaiting
	}
	paid := g.faults.draw(ClosePaid)
	failing := !paid && g.faults.draw(CloseFailsPaid)
	err = ErrNotWaiting
	var s start
	if paid || failing {
		s = g.drawStart()
	}
	for i := range trades {
		closed, closeErr := g.change(ctx, trades[i].Key(), func(r *Record, now time.Time) error {
			switch {
			case r.Status != StatusWait:
				return ErrNotWaiting
			case paid || failing:
				capture(r, s, now)
			default:
				r.Status = StatusClosed
			}
			return nil
		})
		switch {
		case errors.Is(closeErr, ErrNotWaiting):
			continue
		case closeErr != nil:
			return named, closeErr
		}
		named, err = closed, nil
		if paid || failing {
			g.moved(s)
			if failing {
				g.faults.count(CloseFailsPaid)
				return named, g.faults.unknown(CloseFailsPaid)
			}
			g.faults.count(ClosePaid)
		}
	}
	return named, err
}

// Trades lists all trades, oldest first, if the gateway has its own Memory; with Options.Store it lists no trades.
func (g *Gateway) Trades() []Trade {
	if g.own == nil {
		return []Trade{}
	}
	return g.asNow(g.own.records())
}

// List lists all trades, oldest first. errors.ErrUnsupported if the store is not a Lister; otherwise the store's error.
func (g *Gateway) List(ctx context.Context) ([]Trade, error) {
	store, ok := g.store.(Lister)
	if !ok {
		return nil, fmt.Errorf("fakegateway: the trades are in a store that cannot be listed: %w",
			errors.ErrUnsupported)
	}
	records, err := store.All(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(records, func(a, b Record) int { return a.Created.Compare(b.Created) })
	return g.asNow(records), nil
}

// asNow returns trades with their current status.
func (g *Gateway) asNow(records []Record) []Trade {
	now := g.opt.Clock.Now()
	out := make([]Trade, len(records))
	for i := range records {
		records[i].Status = g.status(&records[i], now)
		out[i] = records[i].Trade
	}
	return out
}
