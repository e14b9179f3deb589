package sim

import (
	"math"
	"slices"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/flow/sale/admit"
	"github.com/your-org/seckill/shared/seckill"
)

// wroteBlock checks that a row of blocks changes only as operators asked.
func (w *World) wroteBlock(was, is ledger.Row) {
	some := is
	if some == nil {
		some = was
	}
	k, now := blockKey{seckill.Subject(text(some, "subject")), text(some, "item")}, w.Clock.Now()
	b := w.door.block(k)
	b.writes++
	if n := len(b.spans); was != nil && n > 0 {
		b.spans[n-1].to = now
	}
	if b.row = is != nil; !b.row {
		if b.told = nil; b.drops <= 0 {
			w.truth.fail("A4 the block of %s for %s vanishes, which no operator removed", k.subject, k.item)
		}
		return
	}
	var until time.Time
	if n := number(is, "until"); n != math.MaxInt64 {
		until = time.UnixMilli(n).UTC()
	}
	if !b.untils[until] {
		w.truth.fail("A4 %s is blocked for %s until %s, which no operator asked for", k.subject, k.item, until)
	}
	if b.told != nil && !b.told.Until.Equal(until) {
		b.told = nil
	}
	b.spans = append(b.spans, blockSpan{from: now, until: until})
}

// heldBlocks are acknowledged blocks of a shopper at a moment.
type heldBlocks struct {
	at   time.Time
	list []heldBlock
}

type heldBlock struct {
	s *blockState
	b *seckill.Block
}

// rangesLag is the largest age, by an instance's clock, of the blocks of ranges that the instance uses.
const rangesLag = admit.RangesFresh + 2*seckill.SkewBound

// heldBlocks returns the acknowledged blocks of a shopper for an item. Blocks of ranges are among them as soon as every
// instance must know them.
func (w *World) heldBlocks(c *admit.Caller, item string) heldBlocks {
	h := heldBlocks{at: w.Clock.Now()}
	for _, subject := range subjectsOf(c) {
		for _, of := range []string{seckill.Everywhere, item} {
			s := w.door.blocks[blockKey{subject, of}]
			if s == nil || s.told == nil {
				continue
			}
			if _, isUser := subject.User(); isUser || h.at.Sub(s.since) >= rangesLag {
				h.list = append(h.list, heldBlock{s, s.told})
			}
		}
	}
	return h
}

// still returns one of the blocks that held all the time until now, by every clock, or nil if no block did.
func (h heldBlocks) still(w *World) *seckill.Block {
	for _, b := range h.list {
		if b.s.told == b.b && b.b.Holds(w.Clock.Now().Add(seckill.SkewBound)) {
			return b.b
		}
	}
	return nil
}

// copiedBlock reports whether the stock must refuse a request because of a block of its user: one that was acknowledged
// while the item was installed, and that no loss of data has taken from the stock since.
func (w *World) copiedBlock(r seckill.Request) bool {
	h := w.heldBlocks(&admit.Caller{User: r.User}, r.Item)
	h.list = slices.DeleteFunc(h.list, func(b heldBlock) bool {
		return b.s.losses != w.losses || !b.s.copied[r.Item]
	})
	return h.still(w) != nil
}

// everBlocked reports whether one of the subjects was blocked for an item at some moment since a time, by some clock.
func (w *World) everBlocked(subjects []seckill.Subject, item string, since time.Time) bool {
	for _, subject := range subjects {
		for _, of := range []string{seckill.Everywhere, item} {
			s := w.door.blocks[blockKey{subject, of}]
			if s == nil {
				continue
			}
			for _, span := range s.spans {
				stood := span.to.IsZero() || !span.to.Before(since)
				if stood && (span.until.IsZero() || span.until.Add(seckill.SkewBound).After(since)) {
					return true
				}
			}
		}
	}
	return false
}

// checkPlaced checks A1 and A4 for an order's first row, when it is written.
func (w *World) checkPlaced(o *orderRow) {
	if o.state == seckill.Rejected {
		since := o.created.Add(-seckill.SkewBound)
		w.door.heard["placing: "+string(o.reason)]++
		if o.reason == seckill.CodeBlocked &&
			!w.everBlocked([]seckill.Subject{seckill.UserSubject(o.user)}, o.item, since) {
			w.truth.fail("A4 order %s is rejected as blocked, and user %s was not", o.id, o.user)
		}
		return
	}
	if b := w.heldBlocks(&admit.Caller{User: o.user}, o.item).still(w); b != nil {
		w.truth.fail("A4 order %s is placed for user %s, whose block %+v was acknowledged", o.id, o.user, *b)
	}
	if w.item(o.item).Checks != seckill.ChecksOff && len(w.door.newest[holder{o.user, o.item}]) == 0 {
		w.truth.fail("A1 order %s is placed for user %s, who never passed the checks of item %s", o.id, o.user, o.item)
	}
}
