package drivertest

import (
	"fmt"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

func staffSession(n int) seckill.StaffSession {
	return seckill.StaffSession{Key: strings.Repeat(fmt.Sprintf("%02x", n), 32), Who: "id.example.com/ada",
		Name: "Ada 爱达", Roles: []seckill.Role{seckill.RoleViewer, seckill.RoleFinance}, Began: now,
		Proof: now.Add(-time.Minute), Confirmed: now.Add(time.Minute),
		Asked: now.Add(2 * time.Minute), Ends: now.Add(seckill.StaffLife), Issued: true, Refresh: "c2VhbGVk"}
}

var sessionCases = []ledgerCase{
	{"a session is saved only as it was read, and gone once it was ended", func(s *suite) {
		var l seckill.StaffSessions = ledger.New(s.Rows)
		first := staffSession(1)
		_, err := l.StaffSession(s.ctx, first.Key)
		s.same("none", isError(seckill.ErrNoStaffSession)(err), true)
		s.ok(l.SaveStaffSession(s.ctx, first))
		moved := isError(seckill.ErrStaffSessionMoved)
		s.same("made twice", moved(l.SaveStaffSession(s.ctx, first)), true)
		read, err := l.StaffSession(s.ctx, first.Key)
		s.ok(err)
		first.Version = 1
		s.same("as it was saved", read, first)
		read.Roles, read.Issued, read.Refresh = []seckill.Role{seckill.RoleViewer}, false, ""
		s.ok(l.SaveStaffSession(s.ctx, read))
		s.same("of an earlier reading", moved(l.SaveStaffSession(s.ctx, first)), true)
		read.Version = 2
		again, err := l.StaffSession(s.ctx, first.Key)
		s.ok(err)
		s.same("changed", again, read)
		s.ok(l.EndStaffSession(s.ctx, first.Key))
		s.ok(l.EndStaffSession(s.ctx, first.Key))
		s.same("after its end", moved(l.SaveStaffSession(s.ctx, again)), true)
		_, err = l.StaffSession(s.ctx, first.Key)
		s.same("ended", isError(seckill.ErrNoStaffSession)(err), true)
	}},
	{"sessions are listed by key, page by page", func(s *suite) {
		var l seckill.StaffSessions = ledger.New(s.Rows)
		var want, got []string
		for n := range 5 {
			s.ok(l.SaveStaffSession(s.ctx, staffSession(4-n)))
			want = append(want, staffSession(n).Key)
		}
		for after := ""; ; after = got[len(got)-1] {
			list, err := l.ListStaffSessions(s.ctx, after, 2)
			s.ok(err)
			for i := range list {
				got = append(got, list[i].Key)
			}
			if len(list) < 2 {
				break
			}
		}
		s.same("keys", got, want)
	}},
	{"of two who save a session at once, one does", func(s *suite) {
		var l seckill.StaffSessions = ledger.New(s.Rows)
		first := staffSession(1)
		s.ok(l.SaveStaffSession(s.ctx, first))
		first.Version = 1
		saved := 0
		for _, err := range allTogether(4, func(int) error { return l.SaveStaffSession(s.ctx, first) }) {
			if err == nil {
				saved++
			} else if !isError(seckill.ErrStaffSessionMoved)(err) {
				s.Errorf("got %v", err)
			}
		}
		s.same("saved", saved, 1)
	}},
}

var signInCases = []ledgerCase{
	{"a session of a shopper is renewed until it ends, and not begun again by that", func(s *suite) {
		var l seckill.Sessions = s.Ledger
		gone := isError(seckill.ErrNoSession)
		first := seckill.Session{User: "7", ID: strings.Repeat("0a", 16), Device: "Chrome, Android",
			Began: now, Renewed: now}
		_, err := l.Session(s.ctx, "7", first.ID)
		s.same("none", gone(err), true)
		s.same("renewed before it began", gone(l.RenewSession(s.ctx, first)), true)
		s.ok(l.BeginSession(s.ctx, first))
		first.Renewed, first.Device = now.Add(time.Hour), ""
		s.ok(l.RenewSession(s.ctx, first))
		read, err := l.Session(s.ctx, "7", first.ID)
		s.ok(err)
		s.same("as it was renewed", read, first)
		_, err = l.Session(s.ctx, "8", first.ID)
		s.same("another user's", gone(err), true)
		s.ok(l.EndSession(s.ctx, "8", first.ID))
		s.ok(l.RenewSession(s.ctx, first))
		s.ok(l.EndSession(s.ctx, "7", first.ID))
		s.ok(l.EndSession(s.ctx, "7", first.ID))
		s.same("renewed after its end", gone(l.RenewSession(s.ctx, first)), true)
		_, err = l.Session(s.ctx, "7", first.ID)
		s.same("ended", gone(err), true)
	}},
	{"a shopper's sessions are listed, and nobody else's", func(s *suite) {
		for n, user := range []string{"7", "7", "77", "7", "6"} {
			s.ok(s.Ledger.BeginSession(s.ctx, seckill.Session{User: user, ID: fmt.Sprintf("%032x", 9-n), Began: now,
				Renewed: now}))
		}
		list, err := s.Ledger.ListSessions(s.ctx, "7", 2)
		s.ok(err)
		s.same("at most", len(list), 2)
		list, err = s.Ledger.ListSessions(s.ctx, "7", 9)
		s.ok(err)
		var ids []string
		for i := range list {
			s.same("user", list[i].User, "7")
			ids = append(ids, list[i].ID)
		}
		s.same("ids", ids, []string{fmt.Sprintf("%032x", 6), fmt.Sprintf("%032x", 8), fmt.Sprintf("%032x", 9)})
		list, err = s.Ledger.ListSessions(s.ctx, "9", 9)
		s.ok(err)
		s.same("nobody's", len(list), 0)
	}},
	{"an order of a session is placed while there is that session", func(s *suite) {
		in := seckill.Session{User: "7", ID: strings.Repeat("0a", 16), Began: now, Renewed: now}
		order := func(units ...int) seckill.Order {
			o := s.order("1", "7", units...)
			o.Session = in.ID
			return o
		}
		ended := isError(seckill.ErrNoSession)
		place := func(o seckill.Order, limit int) func() error {
			return func() error { return s.Ledger.Place(s.ctx, o, limit) }
		}
		s.refused("before it began", ended, place(order(1), 9))
		s.ok(s.Ledger.BeginSession(s.ctx, in))
		first := order(1)
		s.ok(s.Ledger.Place(s.ctx, first, 9))
		read, err := s.Ledger.Order(s.ctx, first.ID)
		s.ok(err)
		s.same("session", read.Session, in.ID)
		others := order(2)
		others.User = "8"
		s.refused("of another's session", ended, place(others, 9))
		s.ok(s.Ledger.EndSession(s.ctx, "7", in.ID))
		s.refused("again", isError(seckill.ErrOrderExists), place(first, 9))
		s.refused("over the limit", isError(seckill.ErrQuota), place(order(2), 1))
		s.refused("a taken unit", ended, place(order(1), 9))
		spans := order(2)
		spans.Span = "9"
		s.refused("in a family", ended, place(spans, 9))
		s.ok(s.Ledger.Place(s.ctx, s.order("1", "7", 2), 9))
		s.block("user:7", "1", time.Time{})
		s.refused("blocked", isError(seckill.ErrBlocked), place(order(3), 9))
	}},
}
