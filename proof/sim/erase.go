package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// erase makes an operator erase a shopper's addresses, and checks I9 after a success.
func (s *Sim) erase(t Act) {
	user := strconv.Itoa(1 + pick(t.A, 8, s.plan.Shoppers))
	s.spawn(t.ID, t.Kind, "operator erases shopper "+user, t.A, func(i *Instance) {
		p, atRest, waiting := s.current, s.atRest(user), s.waiting(user)
		s.signingOut(user)
		for after := ""; ; {
			step, err := i.Erase.User(context.Background(), user, after)
			if err != nil {
				s.trace.step(s.Clock.Now(), p, "is refused: ", err.Error())
				return
			}
			s.wasSignedOut(user)
			if after = step.Next; after == "" {
				break
			}
		}
		s.trace.step(s.Clock.Now(), p, "is told that all are erased", "")
		if s.plan.IndexLag == 0 { // otherwise the list of a user's orders may lack the newest
			for _, id := range atRest {
				if o := s.truth.orders[id]; o.address != "" {
					s.truth.fail("I9 shopper %s is erased, and order %s, which was over, has an address", user, id)
				}
			}
		}
		if s.forgot {
			return
		}
		still := s.waiting(user)
		for _, id := range waiting {
			if slices.Contains(still, id) {
				s.truth.fail("I9 shopper %s is erased while order %s waits in the stock with an address", user, id)
			}
		}
	})
}

// atRest returns a user's orders that will not be shipped any more.
func (s *Sim) atRest(user string) (ids []string) {
	for _, id := range s.truth.list {
		if o := s.truth.orders[id]; o.user == user && !slices.Contains(needAddress, o.state) {
			ids = append(ids, id)
		}
	}
	return ids
}

// waiting returns a user's acknowledged orders without a row, for items that the stock still has.
func (s *Sim) waiting(user string) (ids []string) {
	for _, o := range s.acknowledged {
		if o.user == user && s.truth.orders[o.id] == nil && s.item(o.item).Loadable(s.Clock.Now()) {
			ids = append(ids, o.id)
		}
	}
	return ids
}

// addressOver reports whether the retention of addresses for an item's orders is over.
func (w *World) addressOver(item string) bool {
	return !w.Clock.Now().Before(w.item(item).End.Add(seckill.MinAddressKeep))
}

// networkOver reports whether the retention of network addresses of an item's orders is over.
func (w *World) networkOver(item string) bool {
	return w.networkKeep > 0 && !w.Clock.Now().Before(w.item(item).End.Add(w.networkKeep))
}

// outliveNetworks lets the retention of network addresses pass. Runs must erase all of them, those of open orders, too,
// although a call of the first run fails; the truth notices what is erased too early, or with it.
func (s *Sim) outliveNetworks(first, last time.Time) error {
	s.Clock.Advance(max(0, first.Add(networkKeep-time.Minute).Sub(s.Clock.Now())))
	if err := s.Start(nil).Erase.Ended(context.Background()); err != nil {
		return err
	}
	s.Clock.Advance(max(0, last.Add(networkKeep).Sub(s.Clock.Now())))
	_ = s.Start(s.oneFails()).Erase.Ended(context.Background())
	if err := s.Start(nil).Erase.Ended(context.Background()); err != nil {
		return err
	}
	for _, id := range s.truth.list {
		if o := s.truth.orders[id]; o.network != "" {
			return fmt.Errorf("I9 order %s in %s has a network address though its time is over", id, o.state)
		}
	}
	for _, it := range s.allItems() {
		kept, err := s.items.Get(context.Background(), it.ID)
		if err != nil {
			return err
		}
		if kept.NetworksErased.IsZero() != (s.networkKeep == 0) {
			return fmt.Errorf("I9 item %s says that its network addresses were erased at %s", it.ID,
				kept.NetworksErased)
		}
	}
	return nil
}

// oneFails lets one call fail, or its answer be lost.
func (s *Sim) oneFails() Hook {
	calls := 1 + int(s.plan.Seed%9)
	return func(call string, do func() error) error {
		calls--
		switch {
		case calls == 0 && s.plan.Seed%2 == 0:
			return errors.New("no answer")
		case calls == 0:
			return errors.Join(do(), errors.New("the answer is lost"))
		}
		return do()
	}
}

// outlive lets the retention of addresses pass. A minute earlier, no run may erase an address; after it, runs must
// erase all except those of open orders, although a call of the first run fails.
func (s *Sim) outlive() error {
	first, last := s.Item.End, s.Item.End
	for _, it := range s.More {
		if it.End.Before(first) {
			first = it.End
		}
		if it.End.After(last) {
			last = it.End
		}
	}
	s.trace.say(s.Clock.Now(), "the time of addresses passes")
	if err := s.outliveNetworks(first, last); err != nil {
		return err
	}
	s.Clock.Advance(max(0, first.Add(seckill.MinAddressKeep-time.Minute).Sub(s.Clock.Now())))
	early := s.Start(nil)
	if err := early.Erase.Ended(context.Background()); err != nil {
		return err
	}
	if n := s.Events[seckill.EventErased]; n > 0 {
		return fmt.Errorf("I9 %d addresses are erased a minute before their time is over", n)
	}
	s.Clock.Advance(last.Sub(first) + time.Minute)
	_ = s.Start(s.oneFails()).Erase.Ended(context.Background())
	if err := s.Start(nil).Erase.Ended(context.Background()); err != nil {
		return err
	}
	for _, it := range s.allItems() {
		left := 0
		for _, id := range s.truth.list {
			o := s.truth.orders[id]
			if o.item != it.ID || o.address == "" {
				continue
			}
			if o.state != seckill.PendingPayment && o.state != seckill.Closing {
				return fmt.Errorf("I9 order %s in %s has an address though its time is over", id, o.state)
			}
			left++
		}
		kept, err := s.items.Get(context.Background(), it.ID)
		if err != nil {
			return err
		}
		if done := !kept.AddressesErased.IsZero(); done != (left == 0) {
			return fmt.Errorf("I9 item %s says that all its addresses are erased: %v; %d are there", it.ID, done, left)
		}
	}
	return s.Check()
}
