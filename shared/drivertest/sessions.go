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
		Confirmed: now.Add(time.Minute),
		Asked:     now.Add(2 * time.Minute), Ends: now.Add(seckill.StaffLife), Issued: true, Refresh: "c2VhbGVk"}
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
