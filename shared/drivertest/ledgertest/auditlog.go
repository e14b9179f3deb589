package ledgertest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// auditEntry returns an entry that follows a head.
func auditEntry(head seckill.AuditHead, id string, at time.Time) seckill.AuditEntry {
	e := seckill.AuditEntry{At: at, Kind: seckill.AuditBegun, ID: id, Who: "ada", Roles: "operator", Act: "stop",
		Subject: "item=1", Before: "stopped=false", After: "stopped=true", Why: "a <test> 试", Result: "changed"}
	e.Follow(head)
	return e
}

// appended appends an entry after whatever is the last one.
func (s *suite) appended(id string, at time.Time) seckill.AuditEntry {
	s.Helper()
	head, err := s.Ledger.AuditHead(s.ctx)
	s.ok(err)
	e := auditEntry(head, id, at)
	s.ok(s.Ledger.AppendAudit(s.ctx, e))
	return e
}

// audited reads a day's entries, a few at a time.
func (s *suite) audited(day string) (all []seckill.AuditEntry) {
	s.Helper()
	for {
		list, err := s.Ledger.AuditOn(s.ctx, day, len(all), 3)
		s.ok(err)
		all = append(all, list...)
		if len(list) < 3 {
			return all
		}
	}
}

var errAuditMoved = isError(seckill.ErrAuditMoved)

var auditCases = []testCase{
	{"entries are a chain, also from one day to the next", func(s *suite) {
		head, err := s.Ledger.AuditHead(s.ctx)
		s.ok(err)
		s.same("head of an empty log", head, seckill.AuditHead{})
		at := now.UTC().Truncate(time.Millisecond)
		var first, second []seckill.AuditEntry
		for i := range 7 {
			first = append(first, s.appended(fmt.Sprint("a", i), at.Add(time.Duration(i)*time.Millisecond)))
		}
		for i := range 2 {
			second = append(second, s.appended(fmt.Sprint("b", i), at.Add(24*time.Hour)))
		}
		late := s.appended("c", at) // of a machine whose clock is behind
		s.same("first day", s.audited(seckill.Day(at)), first)
		s.same("second day", s.audited(second[0].Day), append(second, late))
		s.same("where a day begins", []any{second[0].Seq, second[0].Prev, late.Seq}, []any{1, first[6].Hash, 3})
		head, err = s.Ledger.AuditHead(s.ctx)
		s.ok(err)
		s.same("head", head, late.Head())
	}},
	{"two who append at once never fork the chain", func(s *suite) {
		const n, each = 4, 5
		var lost atomic.Int64
		s.same("errors", together(n, func(i int) error {
			for j := 0; j < each; {
				head, err := s.Ledger.AuditHead(s.ctx)
				if err != nil {
					return err
				}
				err = s.Ledger.AppendAudit(s.ctx, auditEntry(head, fmt.Sprint(i, "-", j), now))
				switch {
				case err == nil:
					j++
				case errors.Is(err, seckill.ErrAuditMoved):
					lost.Add(1)
				default:
					return err
				}
			}
			return nil
		}), make([]error, n))
		prev, ids := "", map[string]bool{}
		for i, e := range s.audited(seckill.Day(now)) {
			s.same("place and link", []any{e.Seq, e.Prev, e.Hash}, []any{i + 1, prev, e.Sum()})
			prev, ids[e.ID] = e.Hash, true
		}
		s.same("entries", len(ids), n*each)
		s.Logf("%d appends had to follow another head", lost.Load())
	}},
	{"an entry that follows no head, or an old one, is not appended", func(s *suite) {
		first := s.appended("a", now)
		old := auditEntry(first.Head(), "b", now)
		s.appended("c", now)
		for _, e := range []seckill.AuditEntry{old, auditEntry(seckill.AuditHead{}, "d", now),
			auditEntry(seckill.AuditHead{}, "d", now.Add(48*time.Hour)),
			auditEntry(seckill.AuditHead{Day: first.Day, Seq: 7, Hash: first.Hash}, "d", now)} {
			if err := s.Ledger.AppendAudit(s.ctx, e); !errAuditMoved(err) {
				s.Errorf("%s after %d: got %v, want that it moved", e.ID, e.Seq-1, err)
			}
		}
		forged := old
		forged.Who = "bob"
		if err := s.Ledger.AppendAudit(s.ctx, forged); err == nil || errAuditMoved(err) {
			s.Errorf("an entry with another's hash: got %v, want a fault", err)
		}
		s.same("entries", len(s.audited(first.Day)), 2)
	}},
	{"an entry whose answer was lost is appended once", func(s *suite) {
		a := s.appended("a", now)
		s.ok(s.Ledger.AppendAudit(s.ctx, a)) // repeated at once
		s.appended("b", now)
		s.ok(s.Ledger.AppendAudit(s.ctx, a)) // and after another one
		s.same("entries", len(s.audited(a.Day)), 2)
	}},
	{"no entry is written without its head", func(s *suite) {
		a := s.appended("a", now)
		// A fault between the two writes would leave an entry that the head does not name: the transaction forbids it.
		s.ok(s.Rows.Transact(s.ctx, []ledger.Write{{Key: ledger.Key{Table: ledger.TableAudit, PK: "head",
			SK: "0000000"}, Op: ledger.OpUpdate, Set: ledger.Row{"hash": "00"}}}))
		if err := s.Ledger.AppendAudit(s.ctx, auditEntry(a.Head(), "b", now)); !errAuditMoved(err) {
			s.Errorf("got %v, want that it moved", err)
		}
		s.same("entries", s.audited(a.Day), []seckill.AuditEntry{a})
	}},
}
