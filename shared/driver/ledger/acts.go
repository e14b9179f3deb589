package ledger

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

var actCodec = &codec[seckill.Act]{table: TableActs, more: 2}

// actKey returns the key of an act: its day and shard follow from its id.
func actKey(id string) (Key, error) {
	at, ok := seckill.ActTime(id)
	if !ok {
		return Key{}, seckill.ErrNoAct
	}
	h := fnv.New32a()
	h.Write([]byte(id))
	return Key{TableActs, dayShardKey(seckill.Day(at), int(h.Sum32()%seckill.ActShards)), id}, nil
}

// KeepAct implements seckill.ActKeeper in one write.
func (l *Ledger) KeepAct(ctx context.Context, a seckill.Act) error {
	k, err := actKey(a.ID)
	if err != nil {
		return fmt.Errorf("ledger: keep act %q: %w", a.ID, err)
	}
	// An act that is there already was delivered twice, and may have been handled since.
	row := actCodec.encode(&a, 0)
	row[attrExpires] = a.At.Add(seckill.ActLife).Unix()
	return l.change(ctx, "keep act "+a.ID, nil, Write{Key: k, Op: OpPut, If: []Cond{Absent()}, Row: row})
}

// Act implements seckill.ActHandler.
func (l *Ledger) Act(ctx context.Context, id string) (seckill.Act, error) {
	k, err := actKey(id)
	if err != nil {
		return seckill.Act{}, err
	}
	return get(ctx, l, "act "+id, k, seckill.ErrNoAct, actCodec.decode)
}

// ActsOn implements seckill.ActHandler.
func (l *Ledger) ActsOn(ctx context.Context, day string, shard int, after string, limit int) ([]seckill.Act, error) {
	in := dayShardKey(day, shard)
	return query(ctx, l, "acts of "+in, TableActs, in, after, limit, actCodec.decode)
}

// HandleAct implements seckill.ActHandler in one write.
func (l *Ledger) HandleAct(ctx context.Context, id, by, note string, at time.Time) error {
	k, err := actKey(id)
	if err != nil {
		return err
	}
	return l.change(ctx, "handle act "+id, seckill.ErrNoAct, Write{Key: k, Op: OpUpdate, If: []Cond{Eq("v", Version)},
		Set: Row{"handled": at.UnixMilli(), "by": by, "note": note}})
}
