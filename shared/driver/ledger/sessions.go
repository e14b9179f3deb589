package ledger

import (
	"context"

	"github.com/your-org/seckill/shared/seckill"
)

var _ seckill.StaffSessions = (*Ledger)(nil)

// sessionsList is the one partition of staff's sessions: they are few, and a list of them must be consistent.
const sessionsList = "staff"

var sessionCodec = &codec[seckill.StaffSession]{table: TableSessions, more: 2}

func sessionKey(key string) Key { return Key{TableSessions, sessionsList, key} }

// StaffSession implements seckill.StaffSessions.
func (l *Ledger) StaffSession(ctx context.Context, key string) (seckill.StaffSession, error) {
	return get(ctx, l, "a session of staff", sessionKey(key), seckill.ErrNoStaffSession, sessionCodec.decode)
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
	return l.change(ctx, "save a session of staff", seckill.ErrStaffSessionMoved,
		Write{Key: sessionKey(s.Key), Op: OpPut, Row: row, If: []Cond{as}})
}

// EndStaffSession implements seckill.StaffSessions.
func (l *Ledger) EndStaffSession(ctx context.Context, key string) error {
	return l.change(ctx, "end a session of staff", nil, Write{Key: sessionKey(key), Op: OpDelete})
}

// ListStaffSessions implements seckill.StaffSessions.
func (l *Ledger) ListStaffSessions(ctx context.Context, after string, limit int) ([]seckill.StaffSession, error) {
	return query(ctx, l, "sessions of staff", TableSessions, sessionsList, after, limit, sessionCodec.decode)
}
