package local

import (
	"crypto/hmac"
	"crypto/sha256"

	"github.com/your-org/seckill/shared/api/altcha"
	"github.com/your-org/seckill/shared/api/jwtauth"
)

// buildAdmission makes the keys of tickets and proofs of work.
func (s *System) buildAdmission() (err error) {
	m := hmac.New(sha256.New, []byte(s.opt.JWTSecret))
	m.Write([]byte("tickets"))
	secret := m.Sum(nil)
	if s.drivers.tickets, err = jwtauth.NewTickets(map[string]string{"run": string(secret)}, s.Clock); err != nil {
		return err
	}
	s.drivers.proofs, err = altcha.New([][]byte{secret}, s.Clock)
	return err
}
