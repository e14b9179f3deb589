package sim

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
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
	at, there := w.losses, w.installed()
	defer func() { s.under-- }()
	done, err := i.Block.Put(context.Background(), []seckill.Block{b}, "ann", false)
	known := b.Item == seckill.Everywhere || w.item(b.Item).ID != ""
	if err == nil && known == (len(done.Unknown) > 0) {
		w.truth.fail("A4 an operator who blocks %s for item %s is told %+v", b.Subject, b.Item, done)
	}
	mineStands := s.writes == writes || s.writes == writes+1 && s.row && s.spans[len(s.spans)-1].until.Equal(b.Until)
	if err == nil && len(done.Unknown) == 0 && alone && s.begun == mine && mineStands {
		s.told, s.since = &b, w.Clock.Now()
		s.losses, s.copied = at, there
		w.door.heard["block: yes"]++
	}
	return err
}

// installed returns the items that the stock has and the published list, too.
func (w *World) installed() map[string]bool {
	out := map[string]bool{}
	l, _ := w.items.Published(context.Background())
	for i := range l.Items {
		it := &l.Items[i]
		if n, err := w.numbersOf(it.ID); err == nil && n != nil {
			out[it.ID] = true
		}
	}
	return out
}

// checkCopied checks that one run of repair, once no list lags, makes all copies of blocks right.
func (w *World) checkCopied(i *Instance) error {
	w.Clock.Advance(seckill.BlocksLag + w.lag + 2*seckill.SkewBound)
	_ = i.Repair.Run(context.Background()) // also reports rows that nobody can read
	for _, it := range w.allItems() {
		if !it.CopiesBlocks(w.Clock.Now()) {
			continue
		}
		if err := w.checkCopies(it); err != nil {
			return err
		}
	}
	return nil
}

// checkCopies checks L3 for the copies of users' blocks beside an item: they are the ledger's that hold.
func (w *World) checkCopies(it *seckill.Item) error {
	want, got := map[blockKey]int64{}, map[blockKey]int64{}
	now := w.Clock.Now()
	for _, row := range w.Rows.Dump(ledger.TableBlocks) {
		k := blockKey{seckill.Subject(text(row, "subject")), text(row, "item")}
		b := seckill.Block{Subject: k.subject, Item: k.item}
		if ends := number(row, "until"); b.Copied(it.ID) && ends > now.UnixMilli() {
			want[k] = ends
		}
	}
	for cursor := uint64(0); ; {
		page, next, err := w.stock.CopiedBlocks(context.Background(), it.ID, cursor)
		if err != nil {
			return err
		}
		for _, b := range page {
			ends := int64(math.MaxInt64)
			if !b.Until.IsZero() {
				ends = b.Until.UnixMilli()
			}
			if b.Holds(now) {
				got[blockKey{b.Subject, b.Item}] = ends
			}
		}
		if cursor = next; cursor == 0 {
			break
		}
	}
	if !maps.Equal(got, want) {
		return fmt.Errorf("L3 the stock refuses %v for item %s, the ledger blocks %v", got, it.ID, want)
	}
	return nil
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
		if user, ok := k.subject.User(); ok {
			for _, it := range w.allItems() {
				w.refusedUsers[holder{user, it.ID}] = refusedUser{ever: w.refusedUsers[holder{user, it.ID}].ever}
			}
		}
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
	if err := w.checkCopied(i); err != nil {
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
	id, err := i.PurchaseOf(p)
	if seckill.CodeOf(err) == seckill.CodeSoldOut {
		return nil
	}
	if err != nil {
		return fmt.Errorf("A4 a fresh shopper's purchase: %w", err)
	}
	if err := i.block(w.blockOf(k, 0)); err != nil {
		return fmt.Errorf("A4 an operator's block: %w", err)
	}
	if err := i.handleAll(); err != nil {
		return err
	}
	if o := w.truth.orders[id]; o == nil || o.state != seckill.Rejected || o.reason != seckill.CodeBlocked {
		return fmt.Errorf("A4 order %s of blocked user %s is not rejected as blocked: %+v", id, user, o)
	}
	p.Key = "refused"
	if id, err := i.PurchaseOf(p); seckill.CodeOf(err) != seckill.CodeBlocked {
		return fmt.Errorf("A4 blocked user %s is not refused at once: order %q, %q", user, id, seckill.CodeOf(err))
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

// blockHoarder has the ledger block the hoarder, of which it does not tell the stock.
func (w *World) blockHoarder() error {
	k := blockKey{seckill.UserSubject(hoarder), seckill.Everywhere}
	b := w.blockOf(k, 0)
	w.door.block(k).untils[b.Until] = true
	return w.ledger.PutBlocks(context.Background(), []seckill.Block{b})
}
