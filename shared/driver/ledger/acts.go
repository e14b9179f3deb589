package ledger

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

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
	_, err = l.transact(ctx, []Write{{Key: k, Op: OpPut, If: []Cond{Absent()}, Row: Row{"v": Version,
		"at": a.At.UnixMilli(), "item": a.Item, "action": string(a.Action), "result": string(a.Result),
		"rules": a.Rules.String(), "user": a.User, "user_hash": a.UserKey, "network_hash": a.Network, "agent": a.Agent,
		"referrer": a.Referrer, "took": a.Took.Milliseconds(), attrExpires: a.At.Add(seckill.ActLife).Unix()}}})
	if err != nil {
		return fmt.Errorf("ledger: keep act %s: %w", a.ID, err)
	}
	return nil
}

// Act implements seckill.ActHandler.
func (l *Ledger) Act(ctx context.Context, id string) (seckill.Act, error) {
	k, err := actKey(id)
	if err != nil {
		return seckill.Act{}, err
	}
	row, found, err := l.rows.Get(ctx, k)
	switch {
	case err != nil:
		return seckill.Act{}, fmt.Errorf("ledger: act %s: %w", id, err)
	case !found:
		return seckill.Act{}, seckill.ErrNoAct
	}
	return decodeAct(row)
}

// ActsOn implements seckill.ActHandler.
func (l *Ledger) ActsOn(ctx context.Context, day string, shard int, after string, limit int) ([]seckill.Act, error) {
	rows, err := l.rows.Query(ctx, TableActs, dayShardKey(day, shard), after, limit)
	if err != nil {
		return nil, fmt.Errorf("ledger: acts of %s, shard %d: %w", day, shard, err)
	}
	acts := make([]seckill.Act, len(rows))
	for i, row := range rows {
		if acts[i], err = decodeAct(row); err != nil {
			return nil, err
		}
	}
	return acts, nil
}

// HandleAct implements seckill.ActHandler in one write.
func (l *Ledger) HandleAct(ctx context.Context, id, by, note string, at time.Time) error {
	k, err := actKey(id)
	if err != nil {
		return err
	}
	c, err := l.transact(ctx, []Write{{Key: k, Op: OpUpdate, If: []Cond{Eq("v", Version)},
		Set: Row{"handled": at.UnixMilli(), "by": by, "note": note}}})
	switch {
	case err != nil:
		return fmt.Errorf("ledger: handle act %s: %w", id, err)
	case c != nil:
		return seckill.ErrNoAct
	}
	return nil
}

func decodeAct(row Row) (seckill.Act, error) {
	d := decode(TableActs, row)
	a := seckill.Act{ID: d.text("id"), At: d.time("at"), Item: d.text("item"), Action: seckill.Action(d.text("action")),
		Result: seckill.Reason(d.text("result")), Rules: seckill.ParseRules(d.text("rules")), User: d.text("user"),
		UserKey: d.text("user_hash"), Network: d.text("network_hash"), Agent: d.text("agent"),
		Referrer: d.text("referrer"), Took: time.Duration(d.number("took")) * time.Millisecond}
	if _, handled := row["handled"]; handled {
		a.Handled, a.By, a.Note = d.time("handled"), d.text("by"), d.text("note")
	}
	return a, d.err
}
