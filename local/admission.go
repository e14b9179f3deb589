package local

import (
	"crypto/hmac"
	"crypto/sha256"

	"github.com/your-org/seckill/shared/api/altcha"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/api/picture"
	"github.com/your-org/seckill/shared/flow/sale/admit"
	"github.com/your-org/seckill/shared/seckill"
)

// buildAdmission builds the step that gives tickets, and returns the checker of tickets. Its keys derive from the
// secret of tokens: whoever has that one may buy for anybody.
func (s *System) buildAdmission() (seckill.TicketChecker, error) {
	m := hmac.New(sha256.New, []byte(s.opt.JWTSecret))
	m.Write([]byte("tickets"))
	secret := m.Sum(nil)
	tickets, err := jwtauth.NewTickets(map[string]string{"run": string(secret)}, s.Clock)
	if err != nil {
		return nil, err
	}
	proofs, err := altcha.New([][]byte{secret}, s.Clock)
	if err != nil {
		return nil, err
	}
	s.Admit = admit.New(admit.Deps{Ledger: s.Ledger, Items: s.Items, Questions: s.Ledger, Proofs: proofs,
		Tickets: tickets, Picker: proofs, Clock: s.Clock, Meter: s.Meter, Work: s.opt.Work,
		Painter: picture.Painter{}})
	return tickets, nil
}
