package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

// block makes an operator block, and records whether it was acknowledged. Operators who ask for different things at
// the same time cannot know whose request came last: an acknowledgement counts only if no other request ran.
func (i *Instance) block(b seckill.Block) error {
	w := i.world
	s := w.door.block(blockKey{b.Subject, b.Item})
	s.begun++
	alone, mine, writes := s.under == 0, s.begun, s.writes
	s.under++
	s.untils[b.Until] = true
	defer func() { s.under-- }()
	done, err := i.Block.Put(context.Background(), []seckill.Block{b}, "ann", false)
	known := b.Item == seckill.Everywhere || w.item(b.Item).ID != ""
	if err == nil && known == (len(done.Unknown) > 0) {
		w.truth.fail("A4 an operator who blocks %s for item %s is told %+v", b.Subject, b.Item, done)
	}
	mineStands := s.writes == writes || s.writes == writes+1 && s.row && s.spans[len(s.spans)-1].until.Equal(b.Until)
	if err == nil && len(done.Unknown) == 0 && alone && s.begun == mine && mineStands {
		s.told, s.since = &b, w.Clock.Now()
		w.door.heard["block: yes"]++
	}
	return err
}

// unblock makes an operator remove a block, and checks that it is removed once that was acknowledged.
func (i *Instance) unblock(k blockKey) error {
	w := i.world
	s := w.door.block(k)
	s.begun++
	alone, mine, writes := s.under == 0, s.begun, s.writes
	s.under++
	s.drops++
	s.told = nil
	defer func() { s.under-- }()
	_, err := i.Block.Drop(context.Background(), k.subject, k.item)
	if err == nil {
		s.drops--
		if alone && s.begun == mine && s.row && s.writes == writes {
			w.truth.fail("A4 the block of %s for %s stays, whose removal was acknowledged", k.subject, k.item)
		}
	}
	return err
}

// listBlocks makes an operator list the blocks of a subject: a block that was acknowledged before, and stays, must be
// among them.
func (i *Instance) listBlocks(k blockKey) error {
	w := i.world
	told := w.door.block(k).told
	rows, err := i.listed(k.subject)
	if err != nil {
		return err
	}
	in := slices.ContainsFunc(rows, func(b seckill.Block) bool { return b.Item == k.item })
	if told != nil && told == w.door.block(k).told && !in {
		w.truth.fail("A4 the block of %s for %s, which was acknowledged, is in no list", k.subject, k.item)
	}
	return nil
}

// listed lists the blocks of a subject, or of all subjects, in small pages.
func (i *Instance) listed(s seckill.Subject) (rows []seckill.Block, err error) {
	for after := ""; ; {
		page, err := i.Block.List(context.Background(), s, after, 2)
		if err != nil {
			return nil, err
		}
		rows = append(rows, page.Rows...)
		if after = page.Next; after == "" {
			return rows, nil
		}
	}
}

// checkAllListed checks that a list of all blocks has every block that was acknowledged.
func (w *World) checkAllListed(i *Instance) error {
	w.Clock.Advance(w.lag)
	rows, err := i.listed("")
	if err != nil {
		return err
	}
	in := map[blockKey]bool{}
	for _, b := range rows {
		in[blockKey{b.Subject, b.Item}] = true
	}
	for k, b := range w.door.blocks {
		if b.told != nil && !in[k] {
			return fmt.Errorf("A4 the list of all blocks lacks %s for %s, which was acknowledged", k.subject, k.item)
		}
	}
	return nil
}

// blockOf returns a block as an operator writes it.
func (w *World) blockOf(k blockKey, holds time.Duration) seckill.Block {
	b := seckill.Block{Subject: k.subject, Item: k.item, Reason: "too many accounts", By: "ann",
		Made: w.Clock.Now().Truncate(time.Millisecond).UTC()}
	if holds > 0 {
		b.Until = b.Made.Add(holds)
	}
	return b
}

// checkBlocking checks once everything is quiet that a block takes effect, that the units of an order that it rejects
// come back, and that its shopper can buy as soon as it is removed.
func (w *World) checkBlocking() error {
	i := w.Start(nil)
	if err := w.checkAllListed(i); err != nil {
		return err
	}
	for n, it := range w.allItems() {
		if w.Clock.Now().Before(it.Start.Add(seckill.SkewBound)) || !w.sells(it) || it.Stopped {
			continue
		}
		user := fmt.Sprint(8000 + n)
		if err := i.blockAndBuy(it, user, n%2 == 0); err != nil {
			return err
		}
	}
	return w.Check()
}

func (i *Instance) blockAndBuy(it *seckill.Item, user string, everywhere bool) error {
	w, k := i.world, blockKey{seckill.UserSubject(user), it.ID}
	if everywhere {
		k.item = seckill.Everywhere
	}
	w.Clock.Advance(2 * time.Second)
	p, err := i.admitted(buy.Purchase{Item: it.ID, User: user, Count: 1, Given: seckill.Given{Address: addresses[0]},
		Key: "blocked"})
	if err != nil {
		return fmt.Errorf("A1 a fresh shopper gets no ticket: %w", err)
	}
	if err := i.block(w.blockOf(k, 0)); err != nil {
		return fmt.Errorf("A4 an operator's block: %w", err)
	}
	id, err := i.PurchaseOf(p)
	if seckill.CodeOf(err) == seckill.CodeSoldOut {
		return i.unblock(k)
	}
	if err != nil {
		return fmt.Errorf("A4 a blocked shopper's purchase is refused at once: %w", err)
	}
	if err := i.handleAll(); err != nil {
		return err
	}
	if o := w.truth.orders[id]; o == nil || o.state != seckill.Rejected || o.reason != seckill.CodeBlocked {
		return fmt.Errorf("A4 order %s of blocked user %s is not rejected as blocked: %+v", id, user, o)
	}
	if _, err := i.challenge(user, it.ID); err == nil {
		return fmt.Errorf("A4 blocked user %s gets a challenge for item %s", user, it.ID)
	}
	if err := i.unblock(k); err != nil {
		return fmt.Errorf("A4 an operator removes a block: %w", err)
	}
	p.Key = "free"
	if id, err = i.PurchaseOf(p); err != nil {
		return fmt.Errorf("A4 a shopper who is blocked no more, and whose unit came back: %w", err)
	}
	if err := i.handleAll(); err != nil {
		return err
	}
	return i.PayNow(user, id)
}
