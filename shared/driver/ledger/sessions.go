package ledger

import (
	"context"
	"fmt"

	"github.com/your-org/seckill/shared/seckill"
)

var _ seckill.StaffSessions = (*Ledger)(nil)

// sessionsList is the one partition of staff's sessions: they are few, and a list of them must be consistent.
const sessionsList = "staff"

var sessionCodec = &codec[seckill.StaffSession]{table: TableSessions, more: 2}

func sessionKey(key string) Key { return Key{TableSessions, sessionsList, key} }

// StaffSession implements seckill.StaffSessions.
func (l *Ledger) StaffSession(ctx context.Context, key string) (seckill.StaffSession, error) {
	row, found, err := l.rows.Get(ctx, sessionKey(key))
	switch {
	case err != nil:
		return seckill.StaffSession{}, fmt.Errorf("ledger: a session of staff: %w", err)
	case !found:
		return seckill.StaffSession{}, seckill.ErrNoStaffSession
	}
	return sessionCodec.decode(row)
}

// SaveStaffSession implements seckill.StaffSessions in one write.
func (l *Ledger) SaveStaffSession(ctx context.Context, s seckill.StaffSession) error {
	as := Absent()
	if s.Version > 0 {
		as = Eq("version", s.Version)
	}
	s.Version++
	row := sessionCodec.encode(&s, 0)
	row[attrExpires] = s.Ends.Unix() + 1
	c, err := l.transact(ctx, []Write{{Key: sessionKey(s.Key), Op: OpPut, Row: row, If: []Cond{as}}})
	switch {
	case err != nil:
		return fmt.Errorf("ledger: save a session of staff: %w", err)
	case c != nil:
		return seckill.ErrStaffSessionMoved
	}
	return nil
}

// EndStaffSession implements seckill.StaffSessions.
func (l *Ledger) EndStaffSession(ctx context.Context, key string) error {
	if _, err := l.transact(ctx, []Write{{Key: sessionKey(key), Op: OpDelete}}); err != nil {
		return fmt.Errorf("ledger: end a session of staff: %w", err)
	}
	return nil
}

// ListStaffSessions implements seckill.StaffSessions.
func (l *Ledger) ListStaffSessions(ctx context.Context, after string, limit int) ([]seckill.StaffSession, error) {
	rows, err := l.rows.Query(ctx, TableSessions, sessionsList, after, limit)
	if err != nil {
		return nil, fmt.Errorf("ledger: sessions of staff: %w", err)
	}
	return decodeAll(rows, sessionCodec.decode)
}
