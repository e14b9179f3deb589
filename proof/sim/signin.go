package sim

import (
	"context"
	"fmt"
	"strconv"

	"github.com/your-org/seckill/shared/seckill"
)

// signIn makes a person sign in.
func (s *Sim) signIn(t Act) {
	person, life := pick(t.A, 8, persons), pick(t.A, 16, len(proofLives))
	s.spawn(t.ID, t.Kind, fmt.Sprintf("person %d signs in", person), t.A, func(i *Instance) {
		if err := i.signInAs(person, life); err != nil {
			s.trace.step(s.Clock.Now(), s.current, "is refused: ", err.Error())
		}
	})
}

// signInAs signs a person in, and checks I13 for what they get.
func (i *Instance) signInAs(person, life int) error {
	w := i.world
	w.signIns++
	grant := seckill.Grant{Kind: seckill.GrantToken, Token: fmt.Sprintf("person-%d-%d-%d", person, life, w.signIns)}
	got, err := i.SignIn.SignIn(context.Background(), grant)
	if err != nil {
		return err
	}
	if was := w.numberOf[person]; was != "" && was != got.User {
		w.truth.fail("I13 person %d was user %s, and is signed in as %s", person, was, got.User)
	}
	for other, user := range w.numberOf {
		if other != person && user == got.User {
			w.truth.fail("I13 persons %d and %d are both user %s", person, other, user)
		}
	}
	w.numberOf[person] = got.User
	p := w.proofs[grant.Token]
	if got.Expires.After(p.Expires) || got.Expires.After(p.Checked.Add(seckill.MaxSession)) {
		w.truth.fail("I13 a token ends at %s, the issuer's at %s, which was checked at %s", got.Expires, p.Expires,
			p.Checked)
	}
	return nil
}

// beginSessions begins the sessions in which shoppers buy.
func (w *World) beginSessions(shoppers int) error {
	for n := range shoppers + 1 {
		user := hoarder
		if n > 0 {
			user = strconv.Itoa(n)
		}
		if err := w.ledger.BeginSession(context.Background(), seckill.Session{User: user, ID: sessionOf(user),
			Began: w.Clock.Now(), Renewed: w.Clock.Now()}); err != nil {
			return err
		}
	}
	return nil
}

// checkIdentities checks I13 once everything is quiet: everybody can sign in, as the user they were before.
func (w *World) checkIdentities() error {
	if len(w.numberOf) == 0 {
		return nil
	}
	i := w.Start(nil)
	for person := range persons {
		for tries := 0; ; tries++ { // a number that is taken is drawn anew, three times per sign-in
			err := i.signInAs(person, 1)
			if err == nil {
				break
			}
			if tries == 20 {
				return fmt.Errorf("I13 person %d cannot sign in: %w", person, err)
			}
		}
	}
	return w.Check()
}
