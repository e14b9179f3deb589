package ledger

import (
	"context"

	"github.com/your-org/seckill/shared/seckill"
)

var _ seckill.Sessions = (*Ledger)(nil)

var loginCodec = &codec[seckill.Session]{table: TableLogins, more: 1}

// Session implements seckill.Sessions.
func (l *Ledger) Session(ctx context.Context, user, id string) (seckill.Session, error) {
	return get(ctx, l, "a session", loginKey(user, id), seckill.ErrNoSession, loginCodec.decode)
}

// BeginSession implements seckill.Sessions in one write.
func (l *Ledger) BeginSession(ctx context.Context, s seckill.Session) error {
	return l.putSession(ctx, &s, nil)
}

// RenewSession implements seckill.Sessions in one write.
func (l *Ledger) RenewSession(ctx context.Context, s seckill.Session) error {
	return l.putSession(ctx, &s, []Cond{Eq("began", s.Began.UnixMilli())})
}

func (l *Ledger) putSession(ctx context.Context, s *seckill.Session, as []Cond) error {
	row := loginCodec.encode(s, 0)
	row[attrExpires] = s.Renewed.Add(seckill.SessionIdle).Unix()
	return l.change(ctx, "save a session", seckill.ErrNoSession,
		Write{Key: loginKey(s.User, s.ID), Op: OpPut, Row: row, If: as})
}

// EndSession implements seckill.Sessions.
func (l *Ledger) EndSession(ctx context.Context, user, id string) error {
	return l.change(ctx, "end a session", nil, Write{Key: loginKey(user, id), Op: OpDelete})
}

// ListSessions implements seckill.Sessions.
func (l *Ledger) ListSessions(ctx context.Context, user string, limit int) ([]seckill.Session, error) {
	return query(ctx, l, "sessions of a shopper", TableLogins, user, "", limit, loginCodec.decode)
}
