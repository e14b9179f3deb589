package drivertest

import (
	"fmt"
	"strings"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

const issuer = "https://id.example.com"

var identityCases = []ledgerCase{
	{"an identity has one user id, whatever is offered later", func(s *suite) {
		id := seckill.Identity{Issuer: issuer, Subject: "a"}
		s.user(id, "")
		s.enrolled(id, "9223372036854775807", "9223372036854775807")
		s.enrolled(id, "8", "9223372036854775807")
		s.enrolled(id, "9223372036854775807", "9223372036854775807")
		s.user(id, "9223372036854775807")
		// what was offered in vain is free
		s.enrolled(seckill.Identity{Issuer: issuer, Subject: "b"}, "8", "8")
	}},
	{"a user id belongs to one identity", func(s *suite) {
		s.enrolled(seckill.Identity{Issuer: issuer, Subject: "a"}, "7", "7")
		other := seckill.Identity{Issuer: issuer, Subject: "b"}
		if got, err := s.Ledger.Enrol(s.ctx, other, "7", now); !isError(seckill.ErrUserTaken)(err) {
			s.Errorf("got %q, %v, want %v", got, err, seckill.ErrUserTaken)
		}
		s.user(other, "")
	}},
	{"subjects are told apart by their issuer and by each byte", func(s *suite) {
		for i, id := range []seckill.Identity{
			{Issuer: issuer, Subject: "a"}, {Issuer: issuer + "/", Subject: "a"}, {Issuer: issuer, Subject: "A"},
			{Issuer: issuer, Subject: "a "}, {Issuer: issuer + "a", Subject: "b"}, {Issuer: issuer, Subject: "ab"},
			{Issuer: issuer, Subject: "ä"}, {Issuer: issuer, Subject: "a\u0308"},
			{Issuer: issuer, Subject: strings.Repeat("长", 85)},
		} {
			s.enrolled(id, fmt.Sprint(100+i), fmt.Sprint(100+i))
		}
	}},
	{"an identity without a name is not an identity", func(s *suite) {
		for _, id := range []seckill.Identity{{Issuer: issuer}, {Subject: "a"}} {
			if got, err := s.Ledger.Enrol(s.ctx, id, "7", now); !isPlain(err) {
				s.Errorf("%+v: got %q, %v, want a fault", id, got, err)
			}
		}
		if _, err := s.Ledger.Enrol(s.ctx, seckill.Identity{Issuer: issuer, Subject: "a"}, "", now); !isPlain(err) {
			s.Errorf("no user id: got %v, want a fault", err)
		}
	}},
	{"of many who sign in at once, all get the same user id", func(s *suite) {
		id := seckill.Identity{Issuer: issuer, Subject: "a"}
		got := make([]string, 8)
		for _, err := range allTogether(len(got), func(i int) (err error) {
			got[i], err = s.Ledger.Enrol(s.ctx, id, fmt.Sprint(1+i), now)
			return err
		}) {
			s.ok(err)
		}
		for _, user := range got {
			s.user(id, user)
		}
	}},
	{"of many who are offered one user id, one gets it", func(s *suite) {
		s.same("got it, and taken", s.count(allTogether(8, func(i int) error {
			_, err := s.Ledger.Enrol(s.ctx, seckill.Identity{Issuer: issuer, Subject: fmt.Sprint(i)}, "7", now)
			return err
		}), func(err error) bool { return err == nil }, isError(seckill.ErrUserTaken)), []int{1, 7})
	}},
	{"both rows say who it is, and no error does", func(s *suite) {
		id := seckill.Identity{Issuer: issuer, Subject: "13800138000"}
		s.enrolled(id, "7", "7")
		row, found, err := s.Rows.Get(s.ctx, ledger.Key{Table: ledger.TableIdentities, PK: "user:7"})
		s.ok(err)
		s.same("found", found, true)
		s.same("the row of the user id", row, ledger.Row{"id": "user:7", "v": ledger.Version, "issuer": issuer,
			"subject": id.Subject, "at": now.UnixMilli()})
		// SHA-256 of the issuer, a zero byte and the subject, by other means
		const key = "identity:995a18834290712dbbb3f963ee163cab753476810bcc2f9918ff1d5c2fb6a3ba"
		s.transact(ledger.Write{Key: ledger.Key{Table: ledger.TableIdentities, PK: key}, Op: ledger.OpUpdate,
			Set: ledger.Row{"v": int64(2)}, If: []ledger.Cond{ledger.Eq("user", "7")}})
		for _, err := range []error{second(s.Ledger.UserOf(s.ctx, id)), second(s.Ledger.Enrol(s.ctx, id, "8", now))} {
			if !isError(seckill.ErrUnreadable)(err) || strings.Contains(err.Error(), id.Subject) {
				s.Errorf("got %v, want an unreadable row, without the subject", err)
			}
		}
	}},
}

func second[T any](_ T, err error) error { return err }

// user checks an identity's user id; a want of "" means that it has no user id.
func (s *suite) user(id seckill.Identity, want string) {
	s.Helper()
	got, err := s.Ledger.UserOf(s.ctx, id)
	if want == "" && !isError(seckill.ErrNoUser)(err) || want != "" && (err != nil || got != want) {
		s.Errorf("%+v has user id %q, %v; want %q", id, got, err, want)
	}
}

// enrolled enrols an identity and checks which user id it has then.
func (s *suite) enrolled(id seckill.Identity, user, want string) {
	s.Helper()
	if got, err := s.Ledger.Enrol(s.ctx, id, user, now); err != nil || got != want {
		s.Errorf("enrol %+v as %s: got %q, %v; want %q", id, user, got, err, want)
	}
	s.user(id, want)
}
