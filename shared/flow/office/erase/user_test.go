package erase_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// signIn begins n sessions of a user.
func (s *shop) signIn(user string, n int) {
	s.Helper()
	for i := range n {
		must.OK(s, s.ledger.BeginSession(ctx, seckill.Session{User: user, ID: fmt.Sprintf("%032x", i), Began: opening,
			Renewed: opening}))
	}
}

func (s *shop) sessions(user string) int {
	s.Helper()
	return len(must.Get(s.ledger.ListSessions(ctx, user, 1000)))
}

// TestSignOut: all sessions of a user end, however many, and nobody else's. What the ledger does not do is not told as
// done.
func TestSignOut(t *testing.T) {
	s := newShop(t)
	s.signIn("1", 120)
	s.signIn("2", 1)
	must.Equal(t, 120, must.Get(s.flow.SignOut(ctx, "1")), "ended")
	must.Equal(t, 0, must.Get(s.flow.SignOut(ctx, "1")), "ended again")
	must.Equal(t, []int{0, 1}, []int{s.sessions("1"), s.sessions("2")}, "sessions left")
	s.ledger.away = errors.New("no answer")
	if n, err := s.flow.SignOut(ctx, "2"); n != 0 || seckill.CodeOf(err) != seckill.CodeUnavailable {
		t.Errorf("away: %d, %v", n, err)
	}
}

// TestAnErasureSignsOut: a user whose addresses are erased is signed out; one whose order is open is not.
func TestAnErasureSignsOut(t *testing.T) {
	s := newShop(t)
	s.signIn("1", 2)
	s.order("7", 1, seckill.PendingPayment)
	if _, err := s.flow.User(ctx, "1", ""); seckill.CodeOf(err) != seckill.CodeInvalid || s.sessions("1") != 2 {
		t.Errorf("an order is open: %v, %d sessions", err, s.sessions("1"))
	}
	s = newShop(t)
	s.signIn("1", 2)
	id := s.order("7", 1, seckill.Expired)
	step := must.Get(s.flow.User(ctx, "1", ""))
	if step.Erased != 1 || step.Ended != 2 || s.sessions("1") != 0 || s.has(id) {
		t.Errorf("%+v, %d sessions", step, s.sessions("1"))
	}
	s.signIn("1", 1)
	s.ledger.away = errors.New("no answer")
	if _, err := s.flow.User(ctx, "1", ""); seckill.CodeOf(err) != seckill.CodeUnavailable {
		t.Errorf("sessions cannot be ended: %v", err)
	}
}
