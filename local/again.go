package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// resend sends the message of every queued reservation, if the stock is real and the orders queue embedded: the queue
// has lost the messages of an earlier run, and repair resends them only when they are due, up to 15 minutes later. A
// message that is sent twice is handled once.
func (s *System) resend(ctx context.Context) error {
	if s.Orders == nil || s.Redis != nil {
		return nil
	}
	now := s.Clock.Now()
	items, err := s.Items.List(ctx, time.Time{})
	if err := s.readable(err); err != nil {
		return err
	}
	for i := range items {
		if it := &items[i]; it.Loadable(now) {
			if err := s.resendItem(ctx, it.ID); err != nil && !errors.Is(err, seckill.ErrNotInstalled) {
				return fmt.Errorf("item %s: %w", it.ID, err)
			}
		}
	}
	return nil
}

func (s *System) resendItem(ctx context.Context, item string) error {
	for cursor := uint64(0); ; {
		page, next, err := s.Stock.Users(ctx, item, cursor)
		if err != nil {
			return err
		}
		for _, u := range page {
			if err := s.resendUser(ctx, item, &u); err != nil {
				return err
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

func (s *System) resendUser(ctx context.Context, item string, u *seckill.UserEntries) error {
	if !u.Busy {
		return nil
	}
	for order := range u.Orders {
		r, err := s.Stock.Queued(ctx, item, u.User, order)
		if err != nil {
			return err
		}
		if r.Order == "" {
			continue
		}
		if err := s.orders.Send(ctx, seckill.Message{Kind: seckill.MessageOrder, Reservation: r}, 0); err != nil {
			return err
		}
		s.Meter.Count(seckill.EventResent, 1)
	}
	return nil
}
