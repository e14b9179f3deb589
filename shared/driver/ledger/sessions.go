package ledger

import (
	"context"
	"fmt"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

var _ seckill.StaffSessions = (*Ledger)(nil)

// sessionsList is the one partition of staff's sessions: they are few, and a list of them must be consistent.
const sessionsList = "staff"

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
	return decodeSession(row)
}

// SaveStaffSession implements seckill.StaffSessions in one write.
func (l *Ledger) SaveStaffSession(ctx context.Context, s seckill.StaffSession) error {
	roles := make([]string, len(s.Roles))
	for i, r := range s.Roles {
		roles[i] = string(r)
	}
	row := Row{"v": Version, "who": s.Who, "name": s.Name, "roles": strings.Join(roles, ","),
		"began": s.Began.UnixMilli(), "confirmed": s.Confirmed.UnixMilli(), "asked": s.Asked.UnixMilli(),
		"ends": s.Ends.UnixMilli(), "issued": int64(0), "refresh": s.Refresh, "version": s.Version + 1,
		attrExpires: s.Ends.Unix() + 1}
	if s.Issued {
		row["issued"] = int64(1)
	}
	as := Absent()
	if s.Version > 0 {
		as = Eq("version", s.Version)
	}
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
	list := make([]seckill.StaffSession, len(rows))
	for i, row := range rows {
		if list[i], err = decodeSession(row); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func decodeSession(row Row) (seckill.StaffSession, error) {
	d := decode(TableSessions, row)
	s := seckill.StaffSession{Key: d.text("session"), Who: d.text("who"), Name: d.text("name"), Began: d.time("began"),
		Confirmed: d.time("confirmed"), Asked: d.time("asked"), Ends: d.time("ends"), Issued: d.number("issued") == 1,
		Refresh: d.text("refresh"), Version: d.number("version")}
	for name := range strings.SplitSeq(d.text("roles"), ",") {
		s.Roles = append(s.Roles, seckill.Role(name))
	}
	return s, d.err
}
