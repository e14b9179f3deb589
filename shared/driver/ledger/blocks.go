package ledger

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

func blockKey(s seckill.Subject, item string) Key {
	return Key{Table: TableBlocks, PK: string(s), SK: item}
}

// notBlocked are the parts of a transaction that fail while the user is blocked, for every item or for this item.
func notBlocked(user, item string, at time.Time) []Write {
	s := seckill.UserSubject(user)
	over := []Cond{AtMost("until", at.UnixMilli())}
	return []Write{{Key: blockKey(s, seckill.Everywhere), Op: OpCheck, If: over},
		{Key: blockKey(s, item), Op: OpCheck, If: over}}
}

// PutBlock implements seckill.Blocks in one write.
func (l *Ledger) PutBlock(ctx context.Context, b seckill.Block) error {
	return l.PutBlocks(ctx, []seckill.Block{b})
}

// PutBlocks implements seckill.BlockKeeper in one transaction.
func (l *Ledger) PutBlocks(ctx context.Context, blocks []seckill.Block) error {
	writes := make([]Write, len(blocks))
	for i := range blocks {
		b := &blocks[i]
		if err := b.Check(); err != nil {
			return fmt.Errorf("ledger: block: %w", err)
		}
		writes[i] = Write{Key: blockKey(b.Subject, b.Item), Op: OpPut, Row: encodeBlock(b)}
	}
	return l.change(ctx, "block", nil, writes...)
}

// DropBlock implements seckill.Blocks in one write.
func (l *Ledger) DropBlock(ctx context.Context, s seckill.Subject, item string) (dropped bool, err error) {
	c, err := l.transact(ctx, "drop a block", []Write{{Key: blockKey(s, item),
		Op: OpDelete, If: []Cond{Eq("v", Version)}}})
	return c == nil && err == nil, err
}

// UserBlocks implements seckill.BlockReader in one read.
func (l *Ledger) UserBlocks(ctx context.Context, user, item string) ([]seckill.Block, error) {
	return blocksAt(ctx, l.rows.GetBatch, blockKeys([]seckill.Subject{seckill.UserSubject(user)}, item))
}

// RangeBlocks implements seckill.BlockReader in one read.
func (l *Ledger) RangeBlocks(ctx context.Context, ranges []seckill.Subject, item string) ([]seckill.Block, error) {
	return blocksAt(ctx, l.rows.PeekBatch, blockKeys(ranges, item))
}

// Stored implements seckill.BlockKeeper in one read.
func (l *Ledger) Stored(ctx context.Context, blocks []seckill.Block) ([]seckill.Block, error) {
	keys := make([]Key, len(blocks))
	for i := range blocks {
		keys[i] = blockKey(blocks[i].Subject, blocks[i].Item)
	}
	return blocksAt(ctx, l.rows.GetBatch, keys)
}

func blocksAt(ctx context.Context, read func(context.Context, []Key) ([]Row, error), keys []Key) ([]seckill.Block,
	error) {
	if len(keys) == 0 {
		return nil, nil
	}
	rows, err := read(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("ledger: blocks: %w", err)
	}
	return decodeAll(rows, decodeBlock)
}

// BlocksOn implements seckill.BlockKeeper in one read.
func (l *Ledger) BlocksOn(ctx context.Context, s seckill.Subject, after string, limit int) ([]seckill.Block, error) {
	return query(ctx, l, "blocks on one", TableBlocks, string(s), after, limit, decodeBlock)
}

// blockKeys are the keys of these subjects' blocks for an item and for every item.
func blockKeys(subjects []seckill.Subject, item string) (keys []Key) {
	for _, s := range subjects {
		keys = append(keys, blockKey(s, seckill.Everywhere), blockKey(s, item))
	}
	return keys
}

// ListBlocks implements seckill.Blocks.
func (l *Ledger) ListBlocks(ctx context.Context, shard int, after string,
	limit int) (seckill.Page[seckill.Block], error) {
	return listed(ctx, l, "blocks", IndexBlocksListed, shardKey(shard), after, limit, decodeBlock)
}

// blockShard spreads the list over partitions: an import writes faster than one partition allows.
func blockShard(s seckill.Subject) int {
	h := fnv.New32a()
	h.Write([]byte(s))
	return int(h.Sum32() % seckill.BlockShards)
}

var blockCodec = &codec[seckill.Block]{table: TableBlocks, more: 3}

func encodeBlock(b *seckill.Block) Row {
	row := blockCodec.encode(b, 0)
	row["shard"], row["name"] = shardKey(blockShard(b.Subject)), string(b.Subject)+"#"+b.Item
	until := int64(math.MaxInt64)
	if !b.Until.IsZero() {
		until = b.Until.UnixMilli()
	}
	row["until"] = until
	return row
}

func decodeBlock(row Row) (seckill.Block, error) {
	d := decode(TableBlocks, row)
	b := blockCodec.take(d)
	if until := d.number("until"); until != math.MaxInt64 {
		b.Until = d.time("until")
	}
	return b, d.err
}
