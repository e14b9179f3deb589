package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

func liveKey(item string) Key { return Key{Table: TableLive, PK: item} }

// Live implements seckill.LiveRows in one read.
func (l *Ledger) Live(ctx context.Context, item string) (seckill.LiveRow, error) {
	out := seckill.LiveRow{Live: seckill.Live{Item: item}}
	row, found, err := l.rows.Get(ctx, liveKey(item))
	if err != nil {
		return out, fmt.Errorf("ledger: live row of item %s: %w", item, err)
	}
	if !found {
		return out, nil
	}
	d := decode(TableLive, row)
	out.Version, out.Until = d.number("version"), d.time("until")
	if json.Unmarshal([]byte(d.optional("figures")), &out.Live) != nil || d.err != nil { // a row of another release
		out.Live = seckill.Live{}
	}
	out.Item = item
	return out, nil
}

// LeaseLive implements seckill.LiveRows in one write.
func (l *Ledger) LeaseLive(ctx context.Context, r seckill.LiveRow, until time.Time) (seckill.LiveRow, error) {
	was := Eq("version", r.Version)
	if r.Version == 0 {
		was = Absent()
	}
	r.Version++
	r.Until = until
	return r, l.leased(ctx, "lease", r.Item, was, Row{"version": r.Version}, until)
}

// KeepLive implements seckill.LiveRows in one write. The version stays as it was leased.
func (l *Ledger) KeepLive(ctx context.Context, r seckill.LiveRow, at time.Time) error {
	figures, err := json.Marshal(r.Live)
	if err != nil {
		return fmt.Errorf("ledger: keep the live row of item %s: %w", r.Item, err)
	}
	return l.leased(ctx, "keep", r.Item, Eq("version", r.Version), Row{"figures": string(figures)}, at)
}

// leased executes a write of a live row. It is not a transaction, which would cost twice as much each second. A driver
// may execute it twice after a lost answer: then the holder of the lease is told that another viewer has it, and the
// lease ends by itself.
func (l *Ledger) leased(ctx context.Context, doing, item string, was Cond, set Row, until time.Time) error {
	set["v"], set["until"], set[attrExpires] = Version, until.UnixMilli(), until.Add(seckill.LiveKept).Unix()
	err := l.rows.Update(ctx, Write{Key: liveKey(item), Op: OpUpdate, Set: set, If: []Cond{was}})
	var canceled *Canceled
	switch {
	case errors.As(err, &canceled):
		return seckill.ErrLeased
	case err != nil:
		return fmt.Errorf("ledger: %s the live row of item %s: %w", doing, item, err)
	}
	return nil
}
