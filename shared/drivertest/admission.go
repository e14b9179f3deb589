package drivertest

import (
	"fmt"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

var admissionCases = []ledgerCase{
	{"a shopper has so many answers a minute for each item", func(s *suite) {
		attempt := func(user, item string, at time.Time, want error) {
			s.Helper()
			must.Is(s, want, s.Ledger.CountAttempt(s.ctx, user, item, at), "user", user, "item", item, "at", at)
		}
		for range seckill.MaxAttempts {
			attempt("7", "1", now, nil)
		}
		attempt("7", "1", now.Add(59*time.Second), seckill.ErrAttempts)
		attempt("7", "2", now, nil)
		attempt("8", "1", now, nil)
		attempt("7", "1", now.Add(time.Minute), nil)
	}},
	{"of many answers at once, no more than the limit count", func(s *suite) {
		errs := allTogether(20, func(int) error { return s.Ledger.CountAttempt(s.ctx, "7", "1", now) })
		got := s.count(errs, func(err error) bool { return err == nil }, isError(seckill.ErrAttempts))
		s.same("counted and refused", got, []int{seckill.MaxAttempts, 20 - seckill.MaxAttempts})
	}},
	{"questions are kept in order, replaced and dropped", func(s *suite) {
		s.questions("1")
		var want []seckill.Question
		for i := range ledger.MaxBatch + 2 {
			q := seckill.Question{ID: fmt.Sprintf("q%03d", i), Text: "2 + 2?", Answers: []string{"4", "四"}}
			s.ok(s.Ledger.PutQuestion(s.ctx, "1", q))
			want = append(want, q)
		}
		s.ok(s.Ledger.PutQuestion(s.ctx, "2", seckill.Question{ID: "q", Text: "?", Answers: []string{"!"}}))
		want[3].Text = "1 + 3?"
		s.ok(s.Ledger.PutQuestion(s.ctx, "1", want[3]))
		s.questions("1", want...)
		for range 2 {
			s.ok(s.Ledger.DropQuestion(s.ctx, "1", want[0].ID))
		}
		s.questions("1", want[1:]...)
	}},
	{"a question that nobody can answer is not written", func(s *suite) {
		for _, q := range []seckill.Question{{ID: "q", Text: "?"}, {ID: "q", Text: "?", Answers: []string{" \u200b"}},
			{ID: "q", Answers: []string{"4"}}, {Text: "?", Answers: []string{"4"}},
			{ID: "q", Text: "?", Answers: []string{strings.Repeat("x", seckill.MaxAnswer+1)}}} {
			if err := s.Ledger.PutQuestion(s.ctx, "1", q); err == nil {
				s.Errorf("%+v was written", q)
			}
		}
		s.questions("1")
	}},
}

func (s *suite) questions(item string, want ...seckill.Question) {
	s.Helper()
	got, err := s.Ledger.Questions(s.ctx, item)
	s.ok(err)
	s.same("questions of "+item, got, want)
}
