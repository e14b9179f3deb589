// Package block keeps shoppers from buying, by an operator's command. In: blocks, by subject and item. Out: what each
// command changed, and the list of blocks. It writes blocks, with a copy beside each item of the stock by which a
// purchase is refused at once (ADR 54), and reads items; it touches no orders.
package block

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// MaxPut is the largest number of blocks of one call: five transactions.
const MaxPut = 5 * seckill.MaxBlockBatch

// Ledger is the part of the ledger that package block calls.
type Ledger interface {
	seckill.BlockKeeper
	seckill.Blocks
}

// Deps are the step's dependencies.
type Deps struct {
	Ledger Ledger
	Stock  seckill.BlockCopier
	Items  seckill.Items
	Clock  seckill.Clock
}

// Flow is one instance of the step. It is safe for concurrent use.
type Flow struct{ Deps }

// New returns an instance.
func New(d Deps) *Flow { return &Flow{d} }

// Done counts what became of the blocks of a call. If Unknown names items, nothing was written.
type Done struct {
	Made    int      `json:"made"`
	Changed int      `json:"changed"` // their reason or end
	Same    int      `json:"same"`    // they stood as they are
	Unknown []string `json:"unknown,omitempty"`
}

// Put makes blocks hold, up to MaxPut of distinct subjects and items, in the operator's name. Those that stand with
// the same reason and end are left alone, so a repetition is harmless, and goes on where a broken call ended. With dry
// nothing is written. The error is an *seckill.Error: CodeInvalid.
func (f *Flow) Put(ctx context.Context, blocks []seckill.Block, by string, dry bool) (Done, error) {
	blocks = slices.Clone(blocks)
	now := f.Clock.Now().UTC().Truncate(time.Millisecond)
	if len(blocks) == 0 || len(blocks) > MaxPut {
		return Done{}, seckill.Invalid("blocks", "1.."+strconv.Itoa(MaxPut))
	}
	seen := map[string]bool{}
	for i := range blocks {
		b := &blocks[i]
		b.By, b.Made, b.Until = by, now, b.Until.Truncate(time.Millisecond)
		if err := b.Check(); err != nil {
			return Done{}, seckill.AsError(err)
		}
		if seen[key(b)] {
			return Done{}, seckill.Invalid("subject", "")
		}
		seen[key(b)] = true
	}
	named, unknown, err := f.named(ctx, blocks)
	if err != nil || len(unknown) > 0 || dry {
		return Done{Unknown: unknown}, err
	}
	var done Done
	for batch := range slices.Chunk(blocks, seckill.MaxBlockBatch) {
		if err := f.put(ctx, batch, &done); err != nil {
			return done, seckill.AsError(err)
		}
	}
	if err := f.copy(ctx, named, blocks, nil); err != nil {
		return done, seckill.AsError(err)
	}
	return done, nil
}

// copy tells the stock of blocks that were written or dropped: for each named item, and if they hold for every item,
// for each of the published list, whose sale is near or on. Where the stock has no copy yet, repair makes it.
func (f *Flow) copy(ctx context.Context, named []seckill.Item, put, drop []seckill.Block) error {
	now, items := f.Clock.Now(), slices.Clone(named)
	everywhere := func(b seckill.Block) bool { return b.Copied(seckill.Everywhere) }
	if slices.ContainsFunc(put, everywhere) || slices.ContainsFunc(drop, everywhere) {
		l, err := f.Items.Published(ctx)
		if err != nil {
			return err
		}
		items = append(items, l.Items...)
	}
	done := map[string]bool{}
	for i := range items {
		it := &items[i]
		of := func(blocks []seckill.Block) []seckill.Block {
			return slices.DeleteFunc(slices.Clone(blocks), func(b seckill.Block) bool { return !b.Copied(it.ID) })
		}
		put, drop := of(put), of(drop)
		if done[it.ID] || !it.CopiesBlocks(now) || len(put)+len(drop) == 0 {
			continue
		}
		done[it.ID] = true
		err := f.Stock.CopyBlocks(ctx, it.ID, now, time.Time{}, put, drop)
		if err != nil && !errors.Is(err, seckill.ErrNotInstalled) {
			return err
		}
	}
	return nil
}

// key is equal for blocks of one subject and item.
func key(b *seckill.Block) string { return string(b.Subject) + " " + b.Item }

// named returns the items that blocks name, and the ids of those that the shop does not have: a block of a misspelt
// item would hold nowhere. An item that cannot be read is in neither.
func (f *Flow) named(ctx context.Context, blocks []seckill.Block) (items []seckill.Item, unknown []string, err error) {
	looked := map[string]bool{seckill.Everywhere: true}
	for i := range blocks {
		item := blocks[i].Item
		if looked[item] {
			continue
		}
		looked[item] = true
		it, err := f.Items.Get(ctx, item)
		switch {
		case err == nil:
			items = append(items, it)
		case seckill.CodeOf(err) == seckill.CodeItemUnknown:
			unknown = append(unknown, item)
		case !errors.Is(err, seckill.ErrUnreadable):
			return nil, nil, seckill.AsError(err)
		}
	}
	return items, unknown, nil
}

// put writes those blocks of a batch that do not stand yet, and counts all of them.
func (f *Flow) put(ctx context.Context, batch []seckill.Block, done *Done) error {
	stored, err := f.Ledger.Stored(ctx, batch)
	if err != nil {
		return err
	}
	old := map[string]*seckill.Block{}
	for i := range stored {
		old[key(&stored[i])] = &stored[i]
	}
	var next Done
	var write []seckill.Block
	for _, b := range batch {
		switch o := old[key(&b)]; {
		case o == nil:
			next.Made++
		case o.Reason == b.Reason && o.Until.Equal(b.Until):
			next.Same++
			continue
		default:
			next.Changed++
		}
		write = append(write, b)
	}
	if len(write) > 0 {
		if err := f.Ledger.PutBlocks(ctx, write); err != nil {
			return err
		}
	}
	done.Made, done.Changed, done.Same = done.Made+next.Made, done.Changed+next.Changed, done.Same+next.Same
	return nil
}

// Drop removes a block. It reports whether the block was there. The error is an *seckill.Error: repeat the call.
func (f *Flow) Drop(ctx context.Context, s seckill.Subject, item string) (bool, error) {
	drop := []seckill.Block{{Subject: s, Item: item}}
	named, _, err := f.named(ctx, drop)
	if err != nil {
		return false, err
	}
	dropped, err := f.Ledger.DropBlock(ctx, s, item)
	if err == nil {
		err = f.copy(ctx, named, nil, drop)
	}
	if err != nil {
		return false, seckill.AsError(err)
	}
	return dropped, nil
}

// List lists blocks, also those that are over: of one subject or, if it is "", of all subjects, in no particular order.
// after is "" or the Next of an earlier page. A page may have fewer than limit rows. List returns an *seckill.Error:
// CodeInvalid for any other after.
func (f *Flow) List(ctx context.Context, s seckill.Subject, after string, limit int) (seckill.Page[seckill.Block],
	error) {
	if s != "" {
		return f.of(ctx, s, after, limit)
	}
	text, rest, _ := strings.Cut(after, ":")
	shard, err := strconv.Atoi(text)
	if after != "" && (err != nil || shard < 0 || shard >= seckill.BlockShards) {
		return seckill.Page[seckill.Block]{}, seckill.Invalid("after", "")
	}
	var out seckill.Page[seckill.Block]
	for ; shard < seckill.BlockShards; shard, rest = shard+1, "" {
		if len(out.Rows) == limit {
			out.Next = fmt.Sprintf("%d:", shard)
			break
		}
		p, err := f.Ledger.ListBlocks(ctx, shard, rest, limit-len(out.Rows))
		if err != nil {
			return out, seckill.AsError(err)
		}
		out.Rows, out.Unreadable = append(out.Rows, p.Rows...), append(out.Unreadable, p.Unreadable...)
		if p.Next != "" {
			out.Next = fmt.Sprintf("%d:%s", shard, p.Next)
			break
		}
	}
	return out, nil
}

func (f *Flow) of(ctx context.Context, s seckill.Subject, after string, limit int) (out seckill.Page[seckill.Block],
	err error) {
	if out.Rows, err = f.Ledger.BlocksOn(ctx, s, after, limit); err != nil {
		return out, seckill.AsError(err)
	}
	if n := len(out.Rows); n == limit {
		out.Next = out.Rows[n-1].Item
	}
	return out, nil
}
