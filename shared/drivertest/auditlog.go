package drivertest

import (
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// auditEntry returns an entry of a moment.
func auditEntry(id string, at time.Time) seckill.AuditEntry {
	e := seckill.AuditEntry{Kind: seckill.AuditBegun, ID: id, Who: "ada", Roles: "operator", Act: "stop",
		Subject: "item=1", Before: "stopped=false", After: "stopped=true", Why: "a <test> 试", Result: "changed"}
	e.Stamp(at)
	return e
}

// appended appends an entry.
func (s *suite) appended(id string, at time.Time) seckill.AuditEntry {
	s.Helper()
	e := auditEntry(id, at)
	s.ok(s.Ledger.AppendAudit(s.ctx, e))
	return e
}

// audited reads a day's entries after a place, a few at a time.
func (s *suite) audited(day, after string) (all []seckill.AuditEntry) {
	s.Helper()
	for {
		list, err := s.Ledger.AuditOn(s.ctx, day, after, 3)
		s.ok(err)
		all = append(all, list...)
		if len(list) < 3 {
			return all
		}
		after = list[2].Seq
	}
}

var auditCases = []ledgerCase{
	{"entries of a day in the order of their time", func(s *suite) {
		at := now.UTC().Truncate(time.Millisecond)
		var first []seckill.AuditEntry
		for i := range 7 {
			first = append(first, s.appended(fmt.Sprint("a", i), at.Add(time.Duration(i)*time.Millisecond)))
		}
		second := s.appended("b", at.Add(24*time.Hour))
		early := s.appended("c", at.Add(-time.Second)) // from a machine whose clock is behind
		s.same("first day", s.audited(seckill.Day(at), ""), append([]seckill.AuditEntry{early}, first...))
		s.same("since a moment", s.audited(seckill.Day(at), seckill.AuditPlace(at.Add(2*time.Millisecond))), first[2:])
		s.same("second day", s.audited(second.Day, ""), []seckill.AuditEntry{second})
	}},
	{"an entry whose answer was lost is appended once", func(s *suite) {
		a := s.appended("a", now)
		s.ok(s.Ledger.AppendAudit(s.ctx, a)) // repeated at once
		b := s.appended("b", now)
		s.ok(s.Ledger.AppendAudit(s.ctx, a)) // and after another entry
		s.same("entries", s.audited(a.Day, ""), []seckill.AuditEntry{a, b})
	}},
	{"two entries of an act in one millisecond", func(s *suite) {
		began, ended := auditEntry("a", now), auditEntry("a", now)
		ended.Kind = seckill.AuditEnded
		ended.Stamp(now)
		s.ok(s.Ledger.AppendAudit(s.ctx, ended))
		s.ok(s.Ledger.AppendAudit(s.ctx, began))
		s.same("entries", s.audited(began.Day, ""), []seckill.AuditEntry{began, ended})
	}},
	{"an entry takes no other's place", func(s *suite) {
		a := s.appended("a", now)
		forged := a
		forged.Who = "bob"
		if err := s.Ledger.AppendAudit(s.ctx, forged); err == nil {
			s.Error("a forged entry was appended")
		}
		s.same("entries", s.audited(a.Day, ""), []seckill.AuditEntry{a})
	}},
	{"rows of earlier releases, which had numbers and hashes, come first", func(s *suite) {
		e := s.appended("b", now)
		old := auditEntry("a", now.Add(-time.Hour))
		old.Seq = "0000017"
		s.ok(s.Rows.Transact(s.ctx, []ledger.Write{{Key: ledger.Key{Table: ledger.TableAudit, PK: old.Day, SK: old.Seq},
			Op: ledger.OpPut, Row: ledger.Row{"v": ledger.Version, "at": old.At.UnixMilli(), "kind": string(old.Kind),
				"id": old.ID, "who": old.Who, "roles": old.Roles, "act": old.Act, "subject": old.Subject,
				"before": old.Before, "after": old.After, "why": old.Why, "result": old.Result, "prev": "00",
				"hash": "01"}}, {Key: ledger.Key{Table: ledger.TableAudit, PK: "head", SK: "0000000"}, Op: ledger.OpPut,
			Row: ledger.Row{"v": ledger.Version, "last_day": old.Day, "last_seq": int64(17), "hash": "01"}}}))
		s.same("entries", s.audited(e.Day, ""), []seckill.AuditEntry{old, e})
	}},
}
